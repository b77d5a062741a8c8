"""Runs this project: its command line, its model_fn and its input_fn, with its defaults.

The time is measured between the arrivals of two lines of the trainer's log; the speeds that the
trainer logs are not used.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks import fashion_mnist
from benchmarks.suite.peers import work

_MODELS = {"cnn": ["--model_fn=cnn", "--param=learning_rate=0.01"],
           "sigmoid": ["--model_fn=mlp", "--param=optimizer=adam", "--param=learning_rate=0.001"]}
_LINE = re.compile(r"step (\d+)/\S+  loss (\S+) .*  (\S+) steps/s  (\S+) examples/s")


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    timed_end = work.WARM_UP_STEPS + todo.steps
    with tempfile.TemporaryDirectory() as folder:
        lines = _run(todo, folder, f"--train_steps={timed_end}")
        peak_rss_mb = work.peak_rss_mb(resource.RUSAGE_CHILDREN)
        # Logging every loss costs time, so a second run does it: it resumes the first, with another
        # seed for another order of the data.
        late = _run(todo, folder, f"--train_steps={todo.all_steps}", "--log_every_steps=1",
                    "--param=seed=1", "--eval_steps=1")
        trained = _trained(folder)
    work.report(todo, lines[timed_end][0] - lines[work.WARM_UP_STEPS][0],
                float(np.mean([float(line[2]) for _, line in late.values()])),
                batch_size=_batch_size(lines[timed_end][1]), threads=work.cores(),
                peak_rss_mb=peak_rss_mb, **trained)


def _run(todo: work.Work, folder: str, *flags: str) -> dict[int, tuple[float, re.Match[str]]]:
    """Returns, by step, the time in seconds at which a line of progress came, and its match."""
    command = [
        sys.executable, "-m", "estimator_trainer", *_MODELS[todo.case],
        *fashion_mnist.flags(todo.records), f"--param=batch_size={todo.batch_size}",
        f"--model_dir={folder}", "--exporters=none", "--noreport", "--num_evaluations=0", *flags]
    log, found = [], {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        for line in process.stderr:
            now = time.perf_counter()
            log.append(line)
            if match := _LINE.search(line):
                found[int(match[1])] = now, match
    if process.returncode:
        sys.exit("".join(log))
    return found


def _batch_size(line: re.Match[str]) -> int:
    return round(float(line[4].replace(",", "")) / float(line[3]))


def _trained(folder: str) -> dict[str, Any]:
    """Returns the number of parameters and the loss's dtype, from the last checkpoint's graph."""
    import tensorflow as tf  # Late, because a child starts with this process's memory.

    checkpoint = tf.train.latest_checkpoint(folder)
    with tf.Graph().as_default():
        tf.compat.v1.train.import_meta_graph(f"{checkpoint}.meta")
        variables = tf.compat.v1.trainable_variables()
        [loss] = tf.compat.v1.losses.get_losses()
    return {"parameters": sum(v.shape.num_elements() for v in variables), "dtype": loss.dtype}


if __name__ == "__main__":
    main()
