"""Kills random tasks of one job, restarts them as a scheduler would, and checks how it ends.

    python -m benchmarks.chaos [--kills=20] [--seed=0]

A job of chief, two workers, ps and evaluator runs on loopback. Every few seconds a random task gets
SIGKILL or SIGTERM. A task is started again unless it ended with 0; codes 1 and 2 are a failure. The
program prints each event with its time, and whether the final step, evaluation and export are
right.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import signal
import sys
import tempfile
import time

from tests.support import jobs

_STEPS = 20000
_LIMIT_SECS = 1500


def main() -> int:
    """Runs the job; returns 0 if it ended as it should."""
    parser = argparse.ArgumentParser("python -m benchmarks.chaos",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    dice, start = random.Random(options.seed), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        tasks, restarts = _run(root, options.kills, dice, start)
        print(f"ended after {time.monotonic() - start:.0f} s and {restarts} restarts:")
        for task in tasks.values():
            print("  " + task.last_line)
        return _check(root / "model")


def _run(root: pathlib.Path, kills: int, dice: random.Random,
         start: float) -> tuple[dict[str, jobs.Task], int]:
    plugin = jobs.REPO / "tests" / "support" / "slow.py"
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    args = [f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={root}/model",
            f"--train_steps={_STEPS}", "--param=examples=10000000", "--param=step_secs=0.01",
            "--save_checkpoints_steps=200", "--peer_timeout_secs=20", "--stall_timeout_secs=60"]
    configs = {f"{role}:{index}": json.dumps({"cluster": hosts,
                                              "task": {"type": role, "index": index}})
               for role, index in [("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0),
                                   ("evaluator", 0)]}
    tasks = {name: jobs.start(_folder(root, name, 0), name, args, text, is_forked=False)
             for name, text in configs.items()}
    restarts, next_kill = 0, time.monotonic() + 10
    try:
        while any(task.code != 0 for task in tasks.values()):
            if time.monotonic() - start > _LIMIT_SECS:
                raise SystemExit("the job did not end in time")
            for name, task in list(tasks.items()):
                if task.code in (1, 2):
                    raise SystemExit(f"{name} failed:\n{task.log[-5000:]}")
                if task.code not in (None, 0):
                    restarts += 1
                    tasks[name] = jobs.start(_folder(root, name, restarts), name, args,
                                             configs[name], is_forked=False)
            if kills and time.monotonic() > next_kill:
                kills -= 1
                next_kill = time.monotonic() + dice.uniform(2, 8)
                _kill(tasks[dice.choice(sorted(tasks))], dice, time.monotonic() - start)
            time.sleep(0.2)
        return tasks, restarts
    finally:
        for task in tasks.values():
            jobs.kill(task)


def _kill(task: jobs.Task, dice: random.Random, secs: float) -> None:
    number = dice.choice([signal.SIGKILL, signal.SIGTERM])
    if task.code is None:
        task.process.send_signal(number)
        print(f"{secs:6.1f} s  {number.name} to {task.name}", flush=True)


def _folder(root: pathlib.Path, name: str, count: int) -> pathlib.Path:
    folder = root / f"{name.replace(':', '-')}-{count}"
    folder.mkdir()
    return folder


def _check(model_dir: pathlib.Path) -> int:
    import tensorflow as tf
    step = jobs.saved_step(model_dir)
    evaluated = jobs.evaluated_steps(model_dir)[-1]
    exports = list((model_dir / "export" / "final").iterdir())
    signature = tf.saved_model.load(str(exports[0])).signatures["serving_default"]
    answer = float(signature(x=tf.constant([0.5]))["y"][0])
    is_right = _STEPS <= step <= _STEPS + 3 and evaluated == step and len(exports) == 1
    print(f"step {step} of {_STEPS}, evaluated {evaluated}, {len(exports)} export,"
          f" predicts {answer:.3f} for 0.5: {'right' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
