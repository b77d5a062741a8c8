"""A training ends where --max_secs or --stop_at says, in every role, and can be run again."""

from __future__ import annotations

import re
import sys
import textwrap

import pytest
import tensorflow as tf

from benchmarks.chaos.job import MODEL
import estimator_trainer
from estimator_trainer import cli
from estimator_trainer.coordination import checkpoints, stop
from tests.support import jobs, slow_jobs

pytestmark = pytest.mark.cluster

# The loss of an evaluation is its global step.
_MODULE = """
    import tensorflow as tf
    TRAINS_UNTIL = "no_improvement"
    DEFAULT_PARAMS = {"batch_size": 8}

    def model_fn(features, labels, mode):
        w = tf.compat.v1.get_variable("w", [], initializer=tf.zeros_initializer())
        y = features["x"] * w
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        step = tf.compat.v1.train.get_or_create_global_step()
        with tf.control_dependencies([tf.compat.v1.assign_add(w, 1.0), y]):
            train_op = tf.compat.v1.assign_add(step, 1).op
        loss = tf.cast(step, tf.float32) + 0 * tf.reduce_mean(y)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def data_params(params):
        return {"train_examples": 64}

    def input_fn(mode):
        x = tf.data.Dataset.range(64).map(lambda i: ({"x": tf.cast(i, tf.float32)}, i)).batch(8)
        return x.repeat() if mode == "train" else x.take(2)
"""


@pytest.fixture(name="run")
def _run(tmp_path, capfd):
    """Trains in this process with the module above and some flags; returns the last line."""
    path = tmp_path / "own.py"
    path.write_text(textwrap.dedent(_MODULE))

    def train(*flags):
        sys.modules.pop("own", None)
        code = cli.main([f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path}/m",
                         "--noreport", *flags])
        err = capfd.readouterr().err
        assert code == 0 and "Traceback" not in err, err
        return err.rstrip().rpartition("\n")[2]

    return train


@pytest.fixture(name="limit_secs")
def _limit_secs(monkeypatch):
    """Lets limits pass soon after training has begun; returns the seconds that they had left."""
    left, calling_after = [], stop.calling_after

    def soon(secs, function):
        left.append(secs)
        return calling_after(None if secs is None else 0.2, function)

    monkeypatch.setattr(stop, "calling_after", soon)
    return left


def test_a_run_saves_at_its_limit_and_the_same_command_goes_on(run, limit_secs, tmp_path):
    line = run("--train_steps=100000000", "--max_secs=600")
    step = jobs.saved_step(tmp_path / "m")
    assert step > 0 and line == f"role=local status=stopped step={step} reason=max_secs"
    ended = jobs.result(tmp_path / "m")
    assert (ended["status"], ended["reason"], ended["exports"]) == ("stopped", "max_secs", [])
    assert not (tmp_path / "m" / "export").exists()
    # The limit is of one run: a later one has none.
    line = run(f"--train_steps={step + 10}")
    assert line == f"role=local status=done step={step + 10} reason=train_steps"
    assert len(jobs.result(tmp_path / "m")["exports"]) == 1
    # Training is over, and so the limit stops nothing.
    assert run(f"--train_steps={step + 10}", "--max_secs=1") == line
    assert 0 < limit_secs[0] < 600 and limit_secs[1:] == [None]


@pytest.mark.soak
def test_a_python_program_gets_the_result_of_a_run_that_reached_its_limit(limit_secs, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(textwrap.dedent(_MODULE))
    ended = estimator_trainer.train(str(path), str(path), tmp_path / "m", max_secs=9,
                                    train_steps=0, report=False)
    assert (ended.status, ended.reason, ended.exit_code) == ("stopped", "max_secs", 0)
    assert ended.step == jobs.saved_step(tmp_path / "m")


@pytest.mark.parametrize("rule", [
    "--train_steps=5000", slow_jobs.soak("--train_until=no_improvement")])
def test_the_checkpoint_that_reaches_the_target_is_the_model(rule, run, tmp_path):
    flags = (rule, "--stop_at=loss>=60", "--eval_every_steps=20")
    line = "role=local status=done step=60 reason=stop_at"
    assert run(*flags) == line
    found = jobs.result(tmp_path / "m")
    assert found["metrics"]["loss"] == 60 and len(found["exports"]) == 1
    assert run(*flags) == line
    again = jobs.result(tmp_path / "m")
    assert again["was_finished"] and again["exports"] == found["exports"]
    assert run(rule, "--stop_at=loss>=99") == line.replace("60", "100")


@pytest.mark.soak
def test_checkpoints_of_every_n_hours_stay_after_a_resume_and_a_repair(run, tmp_path):
    flags = ("--keep_checkpoint_every_n_hours=1e-6", "--keep_checkpoint_max=1",
             "--save_checkpoints_steps=10", "--exporters=none")
    run("--train_steps=30", *flags)
    (tmp_path / "m" / "checkpoint").write_text("cut off")
    run("--train_steps=60", *flags)
    kept = [checkpoints.step_of(path) for path in checkpoints.paths_in(str(tmp_path / "m"))]
    assert kept == [0, 10, 20, 30, 40, 50, 60]
    # By the Estimator's default, training deletes what its list names, and no older ones.
    run("--train_steps=80", "--keep_checkpoint_every_n_hours=10000")
    kept = [checkpoints.step_of(path) for path in checkpoints.paths_in(str(tmp_path / "m"))]
    assert kept == [0, 10, 20, 30, 40, 50, 80]


def _numbers(tasks):
    """Returns the last lines of tasks, without their names and steps."""
    return {task.last_line.partition(" ")[2].replace(
        task.last_line.partition("step=")[2].partition(" ")[0], "N") for task in tasks.values()}


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["asynchronous", "synchronous", "parameter_server", "all-reduce"])
def test_every_role_ends_with_0_at_the_limit_and_a_rerun_goes_on(kind, tmp_path):
    hosts, extra = slow_jobs.cluster("asynchronous" if kind == "synchronous" else kind)
    if kind == "synchronous":
        extra = ["--sync_replicas=2", f"--model_fn={MODEL}", f"--input_fn={MODEL}"]
    args = slow_jobs.flags(tmp_path, "--train_steps=100000", *extra)
    with jobs.running(tmp_path, hosts, [*args, "--max_secs=25"], evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
    assert _numbers(tasks) == {"status=stopped step=N reason=max_secs"}
    assert not any("Traceback" in task.log for task in tasks.values())
    step = jobs.saved_step(tmp_path / "model")
    assert step >= max((step for task in tasks.values() for step, _ in task.losses), default=1)
    assert not (tmp_path / "model" / "export").exists()
    assert jobs.result(tmp_path / "model")["status"] == "stopped"
    args = slow_jobs.flags(tmp_path, f"--train_steps={step + 50}", *extra)
    assert slow_jobs.rerun(tmp_path, hosts, args, evaluator=True) >= step
    assert jobs.result(tmp_path / "model")["status"] == "done"


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["asynchronous", "parameter_server", "all-reduce"])
def test_a_job_ends_at_its_target_and_a_rerun_finds_it_finished(kind, tmp_path):
    hosts, extra = slow_jobs.cluster(kind)
    args = slow_jobs.flags(tmp_path, "--train_steps=5000", "--stop_at=loss<=1e9",
                           "--save_checkpoints_steps=50", *extra)
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        with jobs.running(tmp_path / turn, hosts, args, evaluator=True) as tasks:
            jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
        assert _numbers(tasks) == {"status=done step=N reason=stop_at"}
    step, ended = jobs.saved_step(tmp_path / "model"), jobs.result(tmp_path / "model")
    assert step < 5000 and ended["step"] == step and ended["was_finished"]
    assert jobs.evaluated_steps(tmp_path / "model").count(step) == 1
    assert len(list((tmp_path / "model" / "export" / "final").iterdir())) == 1


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["asynchronous", "parameter_server", "all-reduce"])
def test_checkpoints_of_every_n_hours_stay_in_a_cluster(kind, tmp_path):
    _, extra = slow_jobs.CLUSTERS[kind]
    saved = set()
    for steps in (80, 160):
        (tmp_path / str(steps)).mkdir()
        hosts, _ = slow_jobs.cluster(kind)
        args = slow_jobs.flags(tmp_path, f"--train_steps={steps}", "--save_checkpoints_steps=20",
                               "--keep_checkpoint_every_n_hours=1e-6", "--keep_checkpoint_max=1",
                               *extra)
        with jobs.running(tmp_path / str(steps), hosts, args, evaluator=True) as tasks:
            jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
            saved.update(map(int, re.findall(r"Saving checkpoints for (\d+)",
                                             tasks["chief:0"].log)))
    found = [checkpoints.step_of(path) for path in checkpoints.paths_in(str(tmp_path / "model"))]
    listed = tf.train.get_checkpoint_state(str(tmp_path / "model")).all_model_checkpoint_paths
    assert found == sorted(saved) and len(found) > 4 and len(listed) == 1
