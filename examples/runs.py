"""Runs the program as a user does, and reads its files."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import pathlib
import re
import shlex
import socket
import statistics
import subprocess
import sys
from typing import Any, Callable

EXAMPLES = pathlib.Path(__file__).resolve().parent
_NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?|nan)"
_TIMEOUT_SECS = 3600
# Variables of optimizers and of training, which are not part of a model.
_SLOTS = re.compile(r"^training/|global_step|_power|/Adam|/Momentum|/ExponentialMovingAverage"
                    r"|moving_|sync_rep|local_step")


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that has ended.

    Attributes:
      code: Exit code.
      log: Its whole output.
      model_dir: Directory of the training.
    """

    code: int
    log: str
    model_dir: pathlib.Path

    @functools.cached_property
    def result(self) -> dict[str, Any]:
        """Content of `result.json`."""
        return json.loads((self.model_dir / "result.json").read_text())

    @functools.cached_property
    def params(self) -> dict[str, Any]:
        """Params of the plug-ins, from `record.json`."""
        return json.loads((self.model_dir / "record.json").read_text())["params"]

    @property
    def tasks(self) -> dict[str, int]:
        """Number of tasks of each role that are done, from the last table of `launch`."""
        lines = re.findall(r"^launch +\| (\w+):\d+ .* done ", self.log, re.M)
        return dict(collections.Counter(lines))

    @property
    def step(self) -> int:
        """The global step of the last checkpoint."""
        return self.result["step"]

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of the last evaluation."""
        return self.result["metrics"]

    @property
    def accuracy(self) -> str:
        """Accuracy of the last evaluation, as a table shows it."""
        return f"{self.metrics['accuracy']:.4f}"

    @functools.cached_property
    def losses(self) -> dict[int, float]:
        """The loss of the reported steps: the mean of the tasks that report one."""
        found = collections.defaultdict(list)
        for step, loss in re.findall(rf"  step (\d+)\S*  loss {_NUMBER}", self.log):
            found[int(step)].append(float(loss))
        return {step: statistics.mean(losses) for step, losses in found.items()}

    @functools.cached_property
    def accuracies(self) -> dict[int, float]:
        """The accuracy of the evaluated steps."""
        return {int(step): float(accuracy) for step, accuracy in
                re.findall(rf"evaluated step (\d+)  accuracy {_NUMBER}", self.log)}

    @functools.cached_property
    def variables(self) -> dict[str, Any]:
        """The trained variables of the last checkpoint, as NumPy arrays."""
        import tensorflow as tf
        reader = tf.train.load_checkpoint(str(self.model_dir))
        return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()
                if not _SLOTS.search(name)}

    @property
    def parameters(self) -> str:
        """Number of values in those variables."""
        return f"{sum(value.size for value in self.variables.values()):,}"

    def difference(self, other: Run) -> str:
        """Returns the largest difference between a trained variable of this and of another run."""
        largest = max(abs(value - other.variables[name]).max()
                      for name, value in self.variables.items())
        return f"{largest:.1g}"

    def speed(self, since_step: int = 0) -> float:
        """Returns the mean of the reported examples per second after `since_step`."""
        found = re.findall(r"  step (\d+)\S* .*?([\d,]+) examples/s", self.log)
        speeds = [float(value.replace(",", "")) for step, value in found if int(step) > since_step]
        return sum(speeds) / len(speeds)


class Runs:
    """Runs the program, each time with its own model_dir.

    Attributes:
      folder: Where the runs of this page are.
      use_mnist: Whether any of them has needed MNIST so far.
    """

    def __init__(self, folder: pathlib.Path, records: Callable[[], pathlib.Path]):
        self.folder = folder
        self.use_mnist = False
        self._records = records

    @property
    def records(self) -> pathlib.Path:
        """Folder of MNIST's TFRecords, files of 5,000 images in its order: train-*, test-*."""
        self.use_mnist = True
        return self._records()

    @property
    def mnist(self) -> tuple[str, ...]:
        """Flags that train on the 60,000 images of MNIST, and evaluate its 10,000."""
        return self._trained_on(f"{self.records}/train-*")

    @property
    def mnist_of_tensorflow_1(self) -> tuple[str, ...]:
        """The same, on the 55,000 images that `read_data_sets` of TensorFlow 1 trained on."""
        return self._trained_on(self.files_of_tensorflow_1)

    @property
    def files_of_tensorflow_1(self) -> str:
        """The patterns of those 55,000 images' files."""
        return f"{self.records}/train-0000[1-9]*,{self.records}/train-0001*"

    @property
    def validation_files(self) -> str:
        """Pattern of the first 5,000 images, which `read_data_sets` kept apart."""
        return f"{self.records}/train-00000*"

    @property
    def test_files(self) -> str:
        """Pattern of the 10,000 test images."""
        return f"{self.records}/test-*"

    def _trained_on(self, files: str) -> tuple[str, ...]:
        return ("--input_fn=tfrecord", f"--param=train_files={files}",
                f"--param=eval_files={self.test_files}")

    def program(self, name: str, *words: str, log_name: str = "") -> Run:
        """Runs `estimator-trainer WORDS --model_dir=...`; the rows decide about a failure."""
        model_dir = self.folder / name
        command = [sys.executable, "-m", "estimator_trainer", *words, f"--model_dir={model_dir}"]
        print("$ estimator-trainer", shlex.join(command[3:]), file=sys.stderr, flush=True)
        ran = subprocess.run(command, cwd=EXAMPLES.parent, text=True, check=False,
                             timeout=_TIMEOUT_SECS, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{log_name or name}.log").write_text(ran.stdout)
        return Run(ran.returncode, ran.stdout, model_dir)

    def train(self, name: str, *flags: str) -> Run:
        """Trains in one process."""
        return self._succeeded(self.program(name, *flags))

    def launch(self, name: str, job: str, *flags: str) -> Run:
        """Trains in a process for each task of `job`, such as "--worker=2 --ps=1"."""
        return self._succeeded(self.program(name, "launch", *job.split(), "--", *flags))

    def _succeeded(self, run: Run) -> Run:
        if run.code:
            sys.exit(f"{run.log}\nthe run ended with {run.code}")
        return run


def free_addresses(count: int) -> list[str]:
    """Returns free addresses of this machine."""
    holders = [socket.socket() for _ in range(count)]
    try:
        for holder in holders:
            holder.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{holder.getsockname()[1]}" for holder in holders]
    finally:
        for holder in holders:
            holder.close()


def inputs_and_outputs(export: str) -> str:
    """Returns the names of the inputs and outputs of a SavedModel's only function."""
    import tensorflow as tf
    [function] = set(tf.saved_model.load(export).signatures.values())
    inputs = sorted(function.structured_input_signature[1])
    return f"{', '.join(inputs)}; {', '.join(sorted(function.structured_outputs))}"
