"""Jobs of real processes whose steps take a while serve the tests of faults, signals and ends."""

from __future__ import annotations

import os
import re

import pytest
import tensorflow as tf

from tests.support import jobs

TIMEOUT_SECS = 90


def patient_flags(*extra):
    """Returns the flags of a job of slow steps that waits for its peers as long as any."""
    plugin = jobs.REPO / "tests" / "support" / "slow.py"
    return [f"--model_fn={plugin}", f"--input_fn={plugin}", "--log_every_steps=10", *extra]


def flags(tmp_path, *extra):
    """Returns the flags of a job of slow steps."""
    return patient_flags(f"--model_dir={tmp_path}/model", "--peer_timeout_secs=10",
                         "--stall_timeout_secs=30", *extra)


def codes(tasks):
    return {name: task.code for name, task in tasks.items()}


def assert_codes(tasks, code):
    """Asserts that every task ended with `code`; shows their logs if one did not."""
    assert codes(tasks) == dict.fromkeys(tasks, code), [t.log[-3000:] for t in tasks.values()]


def wait_for_all(tasks, timeout_secs=TIMEOUT_SECS):
    try:
        jobs.wait_for(lambda: all(t.code is not None for t in tasks.values()), timeout_secs)
    except AssertionError as error:
        logs = "\n".join(f"--- {t.name} {t.code}\n{t.log[-3000:]}" for t in tasks.values())
        raise AssertionError(f"{codes(tasks)}\n{logs}") from error


def trains(task, least_step=20):
    return any(step >= least_step for step, _ in task.losses)


def has_saved(tmp_path, least_step):
    """Returns whether a checkpoint is there; a line of the log comes before the save it is due."""
    latest = tf.train.latest_checkpoint(str(tmp_path / "model"))
    return latest is not None and int(latest.rpartition("-")[2]) >= least_step


def send(task, number):
    os.kill(task.process.pid, number)


def rerun(tmp_path, hosts, args, evaluator=False):
    """Runs the job again to its end; returns the step that its first trainer resumed from."""
    (tmp_path / "again").mkdir()
    with jobs.running(tmp_path / "again", hosts, args, evaluator) as tasks:
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
        logs = [t.log for name, t in tasks.items() if name.startswith(("chief", "worker"))]
        return min(int(re.search(r"training from step (\d+)", log)[1]) for log in logs)


def soak(*values, any_tensorflow=False):
    """Returns a case of the whole matrix of faults, beyond the one of each kind."""
    marks = [pytest.mark.soak, *([pytest.mark.any_tensorflow] if any_tensorflow else [])]
    return pytest.param(*values, marks=marks)


CLUSTERS = {
    "asynchronous": (dict(chief=1, worker=1, ps=1), []),
    "parameter_server": (dict(chief=1, worker=1, ps=1), ["--train_distribute=parameter_server"]),
    "all-reduce": (dict(chief=1, worker=1), ["--train_distribute=multi_worker_mirrored"]),
}
# Both ways of training with a ps end alike.
KINDS = ["asynchronous", soak("parameter_server", any_tensorflow=True), soak("all-reduce")]


def cluster(kind):
    counts, extra = CLUSTERS[kind]
    return jobs.cluster(**counts), extra
