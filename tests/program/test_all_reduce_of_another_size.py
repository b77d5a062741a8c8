"""An all-reduce goes on from its checkpoint with another number of trainers."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import textwrap

import pytest
import tensorflow as tf

from estimator_trainer.record import record_file
from tests.support import jobs, plain_lines

pytestmark = pytest.mark.cluster

_TIMEOUT_SECS = 120
_STEPS = 500
# All examples are in each step, so a resumed training sees what an uninterrupted one would.
_LINE = textwrap.dedent('''
    import time
    import tensorflow as tf

    DEFAULT_PARAMS = {"batch_size": 60, "step_secs": 0.0}


    def model_fn(features, labels, mode):
        slope = tf.compat.v1.get_variable("slope", [3], initializer=tf.zeros_initializer())
        y = tf.linalg.matvec(features["x"], slope)
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean((y - labels) ** 2)
        optimizer = tf.compat.v1.train.AdamOptimizer(0.003)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(
            loss, tf.compat.v1.train.get_global_step()))


    def input_fn(mode, params, input_context=None):
        x = tf.math.sin(tf.reshape(tf.range(180, dtype=tf.float32), [60, 3]))
        y = tf.linalg.matvec(x, [1.0, -2.0, 3.0])
        context = input_context or tf.distribute.InputContext()
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
        if mode == "train":
            dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id).repeat()
            def wait(label):
                time.sleep(params["step_secs"])
                return label
            dataset = dataset.batch(context.get_per_replica_batch_size(params["batch_size"]))
            return dataset.map(lambda features, label: (features, tf.ensure_shape(
                tf.numpy_function(wait, [label], tf.float32), label.shape)))
        return dataset.batch(60)
''')


def _flags(tmp_path, model_dir, *flags):
    path = tmp_path / "line.py"
    path.write_text(_LINE, encoding="utf-8")
    return [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path}/{model_dir}",
            f"--train_steps={_STEPS}", "--global_batch_size=60", "--save_checkpoints_steps=300",
            "--log_every_steps=10", "--noreport", *flags]


def _launch(tmp_path, job_flags, task_flags):
    args = plain_lines.of(["launch", *job_flags, "--", *_flags(
        tmp_path, "model", "--train_distribute=multi_worker_mirrored", "--param=step_secs=0.04",
        *task_flags)])
    log_path = tmp_path / "launch.log"
    with log_path.open("wb") as log:
        return jobs.Task("launch", subprocess.Popen(
            [*jobs.PROGRAM, *args], stdout=log, stderr=log, env=jobs.environment(),
            start_new_session=True), log_path)


@contextlib.contextmanager
def _running(tmp_path, *job_flags, flags=()):
    launcher = _launch(tmp_path, job_flags, flags)
    try:
        yield launcher
        jobs.wait_for(lambda: launcher.code is not None, _TIMEOUT_SECS)
    finally:
        jobs.kill(launcher)
    assert launcher.code == 0, launcher.log


def _wait_for_training(launcher, num_trainers):
    """Waits until the last start of the chief trains, among that many trainers."""
    def is_training():
        assert launcher.code is None, launcher.log
        _, found, after = launcher.log.rpartition(f"cluster: 1 chief, {num_trainers - 1} worker")
        return found and re.search(rf"^chief:0 +\| .* step \d+/{_STEPS}  loss", after, re.MULTILINE)

    jobs.wait_for(is_training, _TIMEOUT_SECS)


def _pid(launcher, name):
    """Returns the pid of a task, by the name that lists of processes show."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            comm, _, rest = path.read_text().partition(" (")[2].rpartition(")")
            if comm == name and int(rest.split()[1]) == launcher.process.pid:
                return int(path.parent.name)
    raise AssertionError(f"no process of {name}")


def _values(model_dir):
    reader = tf.train.load_checkpoint(str(model_dir))
    return {name: reader.get_tensor(name).tolist() for name in reader.get_variable_to_shape_map()}


@pytest.mark.soak
def test_two_then_three_then_one_workers_learn_what_one_process_does(tmp_path):
    wanted = tmp_path / "model" / "logs" / "workers"
    with _running(tmp_path, "--worker=1:3", "--evaluator=1") as launcher:
        for number, before in ((2, 1), (3, 2), (1, 3)):
            _wait_for_training(launcher, before + 1)
            wanted.write_text(f"{number}\n")
            jobs.wait_for(lambda: f"{number} workers are wanted" in launcher.log, _TIMEOUT_SECS)
    ran = jobs.trainer(*_flags(tmp_path, "alone"))
    assert ran.returncode == 0, ran.stderr
    resized, alone = _values(tmp_path / "model"), _values(tmp_path / "alone")
    assert resized.keys() == alone.keys() and resized["global_step"] == _STEPS
    for name, value in alone.items():
        assert resized[name] == pytest.approx(value, rel=1e-3, abs=1e-6), name
    sizes = [sum(run["cluster"].values()) for run in record_file.read(
        str(tmp_path / "model")).runs]
    assert sizes == [2, 3, 4, 2]
    assert "the number of trainers is 3, and was 2; a step has 60 examples in all" in launcher.log


@pytest.mark.soak
def test_an_all_reduce_goes_on_without_a_worker_that_is_killed_too_often(tmp_path):
    with _running(tmp_path, "--worker=1:2", "--max_restarts=0") as launcher:
        _wait_for_training(launcher, 2)
        (tmp_path / "model" / "logs" / "workers").write_text("2\n")
        jobs.wait_for(lambda: "2 workers are wanted" in launcher.log, _TIMEOUT_SECS)
        _wait_for_training(launcher, 3)
        os.kill(_pid(launcher, "worker:1"), signal.SIGKILL)
    assert re.search(r"worker:\d: .*: gives up; the job goes on with 1 workers", launcher.log) or (
        re.search(r"chief:0: exit 142 .*; the job goes on with 1 workers", launcher.log))
    assert "job done, exit 0" in launcher.last_line
    assert jobs.saved_step(tmp_path / "model") == _STEPS


@pytest.mark.soak
def test_the_same_model_dir_goes_on_in_a_job_of_another_size(tmp_path):
    """The user stops a job, and starts it with another number of workers."""
    flags = ["--train_distribute=multi_worker_mirrored", "--global_batch_size=0"]
    hosts = jobs.cluster(chief=1, worker=1)
    with jobs.running(tmp_path, hosts, _flags(tmp_path, "model", *flags, "--train_steps=100")
                      ) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    ran = jobs.trainer(*_flags(tmp_path, "model", "--global_batch_size=0", "--train_steps=200"))
    assert ran.returncode == 0, ran.stderr
    assert "the number of trainers is 1, and was 2; if the input_fn makes a batch" in ran.stderr
    assert jobs.saved_step(tmp_path / "model") == 200
