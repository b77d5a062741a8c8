"""Measures how fast this project trains on a GPU: ResNet-50, and the tutorial's small CNN.

    python -m benchmarks.gpu [--json=gpu.json]
    python -m benchmarks.gpu --device=cpu     # only to try it out: tiny images, few steps

ResNet-50 runs in 32 and 16 bit, with and without XLA; the CNN, whose steps are short, with one and
more steps in a session run. Both are compared with a plain tf.function around a model of the
environment's Keras (suite/peers/keras_step.py). Images are noise, made once, so that only a step
and what surrounds it is timed. The rows of a model run in turn, --repeats times; each model has a
table, printed and written as JSON. With --device=cpu, 16 bit means bfloat16: TensorFlow has float16
only on GPUs.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

import benchmarks
from benchmarks import repetitions

_LINE = re.compile(r"  loss (\S+).*?(\S+) steps/s")
_LOOK = """
import json
import tensorflow as tf
print(json.dumps([tf.__version__, len(tf.config.list_physical_devices("GPU"))]))
"""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of a model's data and runs.

    Attributes:
      image_size: Height and width of an image, in pixels.
      channels: Number of channels of an image.
      classes: Number of labels.
      batch_size: Number of images in a step.
      steps: Number of steps to time, after a warm-up of as many.
      looped: Numbers of steps in one session run, or in one call, beside 1.
    """

    image_size: int
    channels: int
    classes: int
    batch_size: int
    steps: int
    looped: tuple[int, ...] = ()


_SIZES = {("resnet50", "gpu"): Sizes(224, 3, 1000, 128, 100),
          ("resnet50", "cpu"): Sizes(32, 3, 10, 2, 3),
          ("cnn", "gpu"): Sizes(28, 1, 10, 64, 5000, (10, 100, 1000)),
          ("cnn", "cpu"): Sizes(28, 1, 10, 64, 200, (10, 100))}
_FLAGS = {
    # Loss and update are those of the peer, not those of the ResNet paper.
    "resnet50": ["--model_fn=resnet", "--param=learning_rate=0.01", "--param=decay=constant",
                 "--param=reference_batch_size=0", "--param=warmup_steps=0",
                 "--param=weight_decay=0.0", "--param=label_smoothing=0.0"],
    "cnn": ["--model_fn=cnn", "--param=learning_rate=0.01"]}


def main() -> int:
    """Runs all rows; returns 2 where there is no GPU."""
    parser = argparse.ArgumentParser("python -m benchmarks.gpu",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--model", choices=sorted(_FLAGS), action="append")
    parser.add_argument("--rows", default="", help="regular expression of those to run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--json", default="gpu.json")
    options = parser.parse_args()
    machine = _machine(options.device)
    if options.device == "gpu" and not machine["gpus"]:
        print(f"TensorFlow {machine['tensorflow']} finds no GPU here (nvidia-smi:"
              f" {machine['gpu'] or 'none'}); run this where it does, or try it out, in tiny sizes,"
              " with --device=cpu.", file=sys.stderr)
        return 2
    print(", ".join(f"{name} {value}" for name, value in machine.items()), flush=True)
    tables = {model: _measured(model, options) for model in options.model or _FLAGS}
    pathlib.Path(options.json).write_text(json.dumps({**machine, "tables": tables}, indent=2))
    return 0


def _machine(device: str) -> dict[str, Any]:
    """Returns what the numbers depend on."""
    looked = subprocess.run([sys.executable, "-c", _LOOK], env=_environment(device), text=True,
                            capture_output=True, check=False)
    if looked.returncode:
        sys.exit(f"{sys.executable} cannot import TensorFlow:\n{looked.stderr[-3000:]}")
    version, gpus = json.loads(looked.stdout.splitlines()[-1])
    name, _, driver = _nvidia_smi().partition(", ")
    return {"gpu": name, "driver": driver, "gpus": gpus, "tensorflow": version,
            "python": sys.version.partition(" ")[0],
            "date": datetime.date.today().isoformat(), "device": device}


def _nvidia_smi() -> str:
    """Returns the name and driver of the first GPU, or ""."""
    try:
        ran = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                              "--format=csv,noheader"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return next(iter(ran.stdout.splitlines()), "")


def _environment(device: str) -> dict[str, str]:
    hidden = {"CUDA_VISIBLE_DEVICES": "-1"} if device == "cpu" else {}
    folders = [str(benchmarks.REPO), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **hidden,
            "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def _measured(model: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Runs a model's rows and prints their table; returns it."""
    user_set = {name: getattr(options, name) for name in ("batch_size", "steps")
                if getattr(options, name)}
    sizes = dataclasses.replace(_SIZES[model, options.device], **user_set)
    rows = {name: command for name, command in _rows(model, sizes, options.device).items()
            if re.search(options.rows, name)}
    losses: dict[str, float] = {}

    def measure(row: str) -> float:
        result = _run(rows[row], options.device, sizes.batch_size)
        losses[row] = result["loss"]
        print(f"{row:40} {result['images_per_sec']:10,.1f} images/s", flush=True)
        return float(result["images_per_sec"])

    speeds = repetitions.measured(rows, options.repeats, measure)
    print(f"\n| {model}, batch {sizes.batch_size} | images/s | min-max | step ms | to the first |"
          " min-max | last loss |\n|---|---|---|---|---|---|---|")
    table = []
    for row, values in speeds.values.items():
        step_ms = 1000 * sizes.batch_size / speeds.median(row)
        print(f"| {row} | {speeds.median(row):,.1f} | {speeds.span(row, ',.1f')} |"
              f" {step_ms:.3g} | {speeds.ratio(row)} | {losses[row]:.3g} |")
        table.append({"row": row, "images_per_sec": values, "step_ms": step_ms,
                      "ratios": speeds.ratios(row), "loss": losses[row]})
    print(flush=True)
    return table


def _rows(model: str, sizes: Sizes, device: str) -> dict[str, list[str]]:
    """Returns the command of each row, by the row's name."""
    rows = {}
    for suffix, xla in ("", []), (", XLA", ["--xla"]):
        if model == "cnn":
            for count in (1, *sizes.looped):
                rows[f"trainer, {count} steps a run{suffix}"] = _trainer(
                    model, sizes, f"--steps_per_loop={count}", *xla)
                rows[f"keras, {count} steps a call{suffix}"] = _keras(
                    model, sizes, f"--steps_per_call={count}", *xla)
            continue
        for bits, precision in (32, "none"), (16, "float16" if device == "gpu" else "bfloat16"):
            policy = "float32" if bits == 32 else f"mixed_{precision}"
            rows[f"trainer, {bits} bit{suffix}"] = _trainer(
                model, sizes, f"--mixed_precision={precision}", *xla)
            rows[f"keras, {bits} bit{suffix}"] = _keras(
                model, sizes, "--steps_per_call=1", f"--precision={policy}", *xla)
    return rows


def _trainer(model: str, sizes: Sizes, *flags: str) -> list[str]:
    data = {name: getattr(sizes, name) for name in ("image_size", "channels", "classes",
                                                    "batch_size")}
    return [sys.executable, "-m", "estimator_trainer", *_FLAGS[model],
            f"--input_fn={benchmarks.REPO / 'benchmarks' / 'synthetic.py'}",
            *(f"--param={name}={value}" for name, value in data.items()), "--exporters=none",
            "--noreport", "--num_evaluations=0",
            f"--train_steps={2 * sizes.steps}", f"--log_every_steps={sizes.steps}", *flags]


def _keras(model: str, sizes: Sizes, *flags: str) -> list[str]:
    data = dataclasses.asdict(sizes)
    del data["looped"]
    return [sys.executable, "-m", "benchmarks.suite.peers.keras_step", f"--model={model}",
            *(f"--{name}={value}" for name, value in data.items()),
            f"--warm_up={sizes.steps}", *flags]


def _run(command: list[str], device: str, batch_size: int) -> dict[str, float]:
    """Runs a row once; exits where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        is_trainer = "estimator_trainer" in command
        ran = subprocess.run([*command, f"--model_dir={folder}"] if is_trainer else command,
                             env=_environment(device), capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{ran.stderr[-3000:]}")
    if not is_trainer:
        result: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
        return result
    loss, steps_per_sec = _LINE.findall(ran.stderr)[-1]
    return {"images_per_sec": float(steps_per_sec) * batch_size, "loss": float(loss)}


if __name__ == "__main__":
    sys.exit(main())
