"""Measures what an evaluation between two checkpoints costs, beside a bare pass over the set.

    python -m benchmarks.evaluation --idx=/usr/share/datasets/fashion-mnist [--work=/tmp/benchmarks]

The tutorial's CNN trains on Fashion-MNIST's TFRecords and saves every --every steps: without
evaluations between, with the Estimator's own (graph, session and input built again), and with those
of this project. The seconds between the same two checkpoints, less those without evaluations, are
what the evaluations cost; all three must end with the same metrics. A bare pass runs the metrics'
updates over the 10,000 test images in a session whose graph and variables exist already; its input
starts over each time. The four take turns, --repeats times. The table has the medians, and the
median ratio to the bare pass of the same turn.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import benchmarks
from benchmarks import fashion_mnist

_EVALUATIONS = 20
_PASSES = 10
# The number of checkpoints to leave out: the first evaluation and steps have much to prepare.
_FIRST = 2
_NEVER = "--eval_throttle_secs=1000000"
_KINDS = {"own": "Estimator.evaluate", "kept": "this project"}


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser("python -m benchmarks.evaluation",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--idx", help="folder of the set as IDX files")
    parser.add_argument("--work", default="/tmp/benchmarks")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--run", choices=["bare", "none", *_KINDS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    records = fashion_mnist.records(options.idx, pathlib.Path(options.work))
    if options.run == "bare":
        print(json.dumps({"secs": _bare_pass(records)}))
        return
    if options.run:
        print(json.dumps(_training(records, options.run, options.every)))
        return
    secs: dict[str, list[float]] = {"bare": [], **{kind: [] for kind in _KINDS}}
    peaks = {kind: 0.0 for kind in _KINDS}
    for _ in range(options.repeats):
        secs["bare"].append(_in_a_process("bare", options)["secs"])
        without = _in_a_process("none", options)
        for kind in _KINDS:
            ran = _in_a_process(kind, options)
            if ran["metrics"] != without["metrics"]:
                sys.exit(f"{kind} ended with {ran['metrics']}, without evaluations it was"
                         f" {without['metrics']}")
            secs[kind].append((ran["secs"] - without["secs"]) / _EVALUATIONS)
            peaks[kind] = max(peaks[kind], ran["peak_rss_mb"])
    _print_table(secs, peaks)


def _in_a_process(run: str, options: argparse.Namespace) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.evaluation", f"--run={run}", f"--work={options.work}",
         f"--every={options.every}"], capture_output=True, text=True, check=False,
        cwd=benchmarks.REPO)
    if ran.returncode:
        sys.exit(f"{run} failed:\n{ran.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    print(f"{run:5} {result['secs']:8.3f} s", flush=True)
    return result


def _bare_pass(records: pathlib.Path) -> float:
    """Returns the median seconds of a bare pass."""
    import estimator_trainer.compat  # noqa: F401  Gives a newer TensorFlow its Estimator back.

    # isort: split
    import tensorflow as tf

    from input_fns import tfrecord
    from model_fns import cnn
    params = {**tfrecord.DEFAULT_PARAMS, **cnn.DEFAULT_PARAMS, "num_classes": 10,
              "eval_files": f"{records}/test-*"}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = tfrecord.input_fn("eval", params)
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        spec = cnn.model_fn(*iterator.get_next(), "eval", params)
        metrics = [*spec.eval_metric_ops.values(), tf.compat.v1.metrics.mean(spec.loss)]
        update = tf.group(*(update for _, update in metrics))
        session.run([tf.compat.v1.global_variables_initializer(),
                     tf.compat.v1.local_variables_initializer()])
        secs = []
        for _ in range(1 + _PASSES):
            start = time.perf_counter()
            session.run(iterator.initializer)
            try:
                while True:
                    session.run(update)
            except tf.errors.OutOfRangeError:
                secs.append(time.perf_counter() - start)
    return statistics.median(secs[1:])


def _training(records: pathlib.Path, kind: str, every: int) -> dict[str, Any]:
    """Returns the seconds between two checkpoints, with _EVALUATIONS evaluations between them."""
    from estimator_trainer import cli
    if kind == "own":
        _keep_nothing()
    with tempfile.TemporaryDirectory() as folder:
        last = _FIRST + _EVALUATIONS
        code = cli.main([
            "--model_fn=cnn", *fashion_mnist.flags(records), f"--model_dir={folder}",
            "--exporters=none",
            f"--train_steps={last * every}", f"--eval_every_steps={every}", "--seed=1",
            "--keep_checkpoint_max=100", *([_NEVER] if kind == "none" else [])])
        if code:
            sys.exit(code)
        first, end = (pathlib.Path(folder, f"model.ckpt-{n * every}.index").stat().st_mtime_ns
                      for n in (_FIRST, last))
        metrics = json.loads(pathlib.Path(folder, "result.json").read_text())["metrics"]
    return {"secs": (end - first) / 1e9, "metrics": metrics,
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _keep_nothing() -> None:
    """Makes the trainer use the Estimator's own `evaluate`."""
    import contextlib

    import estimator_trainer.compat  # noqa: F401  Gives a newer TensorFlow its Estimator back.
    from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
    KeptEvaluation.used_by = lambda *_: contextlib.nullcontext()


def _print_table(secs: dict[str, list[float]], peaks: dict[str, float]) -> None:
    print("\n| 10,000 images | seconds | bare passes | min-max | peak MB of the training |\n"
          "|---|---|---|---|---|")
    print(f"| bare pass | {statistics.median(secs['bare']):.3f} | 1 | | |")
    for kind, title in _KINDS.items():
        ratios = [own / bare for own, bare in zip(secs[kind], secs["bare"])]
        median = statistics.median(ratios)
        print(f"| {title} | {statistics.median(secs[kind]):.3f} | {median:.2f}x |"
              f" {min(ratios):.2f}-{max(ratios):.2f} | {peaks[kind]:.0f} |")


if __name__ == "__main__":
    main()
