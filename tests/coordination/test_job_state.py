"""Every ending of training reaches every role."""

from __future__ import annotations

import json
import os
import signal
import textwrap
from unittest import mock

import pytest
import tensorflow as tf

from estimator_trainer import deadlines
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import job_state
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import end_of_training, loop
from tests.support import jobs, slow_jobs

_TIMEOUT_SECS = 90


def _received(chief):
    """Returns the chief after a look, however soon after the last."""
    chief._polled_at = 0.0
    chief.receive(is_waiting=True)
    return chief


def test_reader_returns_the_end_of_the_run_that_it_saw_begin(tmp_path):
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    assert state_reader.poll_final_state() is None
    chief.announce("running")
    assert state_reader.poll_final_state() is None
    chief.announce("done", 70, "input_exhausted")
    end = state_reader.poll_final_state()
    assert (end.step, end.reason) == (70, "input_exhausted")


def test_reader_ignores_the_end_of_an_earlier_run(tmp_path, monkeypatch):
    job_state.JobStateWriter(str(tmp_path), is_shared=True).announce("done", 70, "input_exhausted")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=100)
    assert state_reader.poll_final_state() is None
    job_state.JobStateWriter(str(tmp_path), is_shared=True).announce("running")
    monkeypatch.setattr(deadlines, "STALE_STATE_SECS", 0.0)
    assert state_reader.poll_final_state() is None


def test_reader_of_a_late_task_returns_the_end(tmp_path, monkeypatch):
    job_state.JobStateWriter(str(tmp_path), is_shared=True).announce("done", 100, "train_steps")
    assert job_state.JobStateReader(str(tmp_path), max_steps=100).poll_final_state().step == 100
    without_limit = job_state.JobStateReader(str(tmp_path), max_steps=None)
    assert without_limit.poll_final_state() is None
    monkeypatch.setattr(deadlines, "STALE_STATE_SECS", 0.0)
    assert without_limit.poll_final_state().step == 100


def test_reader_waits_for_a_failed_chief_to_come_back(tmp_path, monkeypatch):
    job_state.JobStateWriter(str(tmp_path), is_shared=True).announce("failed", 100, "OSError")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=100)
    assert state_reader.poll_final_state() is None
    monkeypatch.setattr(deadlines, "STALE_STATE_SECS", 0.0)
    assert state_reader.poll_final_state().status == "failed"


def test_writer_of_a_killed_chief_stops_no_later_run(tmp_path):
    job_state.JobStateWriter(str(tmp_path), is_shared=True).announce("stopping", reason="SIGTERM")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=100)
    assert state_reader.poll() is None
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    chief.announce("running")
    assert state_reader.poll().status == "running" and state_reader.has_seen_chief
    chief.announce("stopping", reason="SIGTERM")
    assert state_reader.poll().status == "stopping" and state_reader.poll_final_state() is None


def test_writer_receives_requests_of_its_own_run_alone(tmp_path):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=100)
    state_reader.request_end("stopped", "SIGTERM", "ps:0")
    assert _received(chief).request is None
    chief.announce("running")
    state_reader.request_end("stopped", "SIGTERM", "ps:0")
    assert _received(chief).request.by == "ps:0"
    later = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    later.announce("running")
    assert _received(later).request is None


def test_reader_of_a_worker_leaves_its_run(tmp_path):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    chief.announce("running")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=100)
    state_reader.leave(1)
    assert _received(chief).has_left(1) and not chief.has_left(0)
    later = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    later.announce("running")
    assert not _received(later).has_left(1)


def test_reader_of_a_second_process_does_not_join_the_run(tmp_path):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    chief.announce("running")
    first, second = (job_state.JobStateReader(str(tmp_path), max_steps=100) for _ in range(2))
    assert first.join(0) and first.joined_run and not _received(chief).is_joined_twice(0)
    assert not second.join(0) and second.joined_run == ""
    with mock.patch.object(tf.io.gfile, "glob") as listing:
        assert not second.join(0) and not listing.called
    assert _received(chief).is_joined_twice(0) and not chief.is_joined_twice(1)
    again = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    again.announce("running")
    second.poll()
    assert second.join(0) and not _received(again).is_joined_twice(0)


def test_reader_takes_the_place_of_a_worker_that_ended_early(tmp_path):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    chief.announce("running")
    first, second = (job_state.JobStateReader(str(tmp_path), max_steps=100) for _ in range(2))
    first.withdraw(0)
    assert first.join(0)
    first.withdraw(0)
    assert second.join(0) and not _received(chief).is_joined_twice(0)


@pytest.mark.parametrize("kind, text, lost", [
    (tf.errors.UnavailableError, "From /job:ps/replica:0/task:2:\nfailed to connect", "ps:2"),
    (tf.errors.AbortedError, 'this worker ("/job:ps/replica:0/task:0") just restarted.', "ps:0"),
    (tf.errors.UnavailableError, "the bucket does not answer", ""),
    (tf.errors.InvalidArgumentError, "[[/job:ps/replica:0/task:0/add]] shapes differ", "")])
def test_lost_ps_is_named_by_an_error(kind, text, lost):
    assert end_of_training.lost_ps(kind(None, None, text)) == lost


@pytest.mark.parametrize("step, reason", [(100, "train_steps"), (101, "train_steps"),
                                          (99, "input_exhausted")])
def test_goal_of_others_is_not_the_end_of_the_input(step, reason):
    """The Estimator's own hook looks later, and may end training by another trainer's step."""
    task = task_config.parse(json.dumps({
        "cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
        "task": {"type": "worker", "index": 0}}))
    hook = end_of_training.EndOfTraining(TrainerConfig(train_steps=100), task, Stop(),
                                         mock.Mock(spec=Watchdog),
                                         mock.Mock(spec=job_state.JobStateReader))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        global_step = tf.compat.v1.train.create_global_step()
        loop.Step(global_step.assign(step), tf.constant(0.0), tf.constant(False),
                  tf.constant(2), tf.constant(1, tf.int64)).make_known()
        hook.begin()
        session.run(global_step.assign(step))
        hook.end(session)
    assert (hook.step, hook.reason) == (step, reason)


def test_reader_ignores_half_a_file(tmp_path):
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=1)
    (tmp_path / "job.json").write_text('{"run": "x", "sta')
    assert state_reader.poll_final_state() is None


def test_writer_of_a_run_alone_writes_nothing(tmp_path):
    job_state.JobStateWriter(str(tmp_path), is_shared=False).announce("done", 1, "train_steps")
    assert not list(tmp_path.iterdir())


def _flags(tmp_path, data_dir, *extra):
    return ["--model_fn=linear", f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model",
            *extra]


@pytest.mark.soak
@pytest.mark.cluster
def test_job_ends_in_every_role_when_the_input_does(tmp_path, data_dir):
    flags = _flags(tmp_path, data_dir, "--train_steps=0", "--param=epochs=4")
    with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), flags, evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    steps = 4 * 1442 // 64
    for task in tasks.values():
        assert task.last_line == f"role={task.name} status=done step={steps} reason=input_exhausted"
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == steps
    assert len(list((tmp_path / "model" / "export" / "final").iterdir())) == 1


@pytest.mark.soak
@pytest.mark.cluster
def test_job_is_not_ended_by_an_earlier_one(tmp_path, data_dir):
    for steps in (50, 100):
        flags = _flags(tmp_path, data_dir, f"--train_steps={steps}")
        with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), flags, evaluator=True) as tasks:
            jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        assert all(f"step={steps} reason=train_steps" in t.last_line for t in tasks.values())
    flags = _flags(tmp_path, data_dir, "--train_steps=100")
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    late = json.dumps({"cluster": hosts, "task": {"type": "worker", "index": 0}})
    ran = jobs.trainer(*flags, TF_CONFIG=late)
    assert ran.returncode == 0 and "training has ended at step 100" in ran.stderr


@pytest.mark.cluster
def test_job_fails_in_every_role_when_the_chief_does(tmp_path, data_dir):
    (tmp_path / "broken.py").write_text(textwrap.dedent("""
        from model_fns import linear
        def model_fn(features, labels, mode, config):
            if config.is_chief and mode == "train":
                raise ZeroDivisionError("a bug in the model")
            return linear.model_fn(features, labels, mode, {"num_classes": 10,
                                                           "learning_rate": 0.1})
        """))
    flags = [*_flags(tmp_path, data_dir), f"--model_fn={tmp_path}/broken.py"]
    with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), flags, evaluator=True) as tasks:
        jobs.wait_for(lambda: all(t.code is not None for t in tasks.values()), _TIMEOUT_SECS)
    assert [t.code for t in tasks.values()] == [1, 1, 1]
    assert "ZeroDivisionError: a bug in the model" in tasks["chief:0"].log
    for name in ("ps:0", "evaluator:0"):
        assert "training failed in chief:0 (ZeroDivisionError: a bug" in tasks[name].log
        assert "Traceback" not in tasks[name].log


@pytest.mark.soak
@pytest.mark.cluster
def test_job_is_evaluated_by_the_chief_without_its_evaluator(tmp_path):
    flags = slow_jobs.flags(tmp_path, "--train_steps=400")
    with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), flags, evaluator=True) as tasks:
        jobs.wait_for((tmp_path / "model" / "evaluator.beat").exists, _TIMEOUT_SECS)
        os.killpg(tasks["evaluator:0"].process.pid, signal.SIGKILL)
        jobs.wait([tasks["chief:0"], tasks["ps:0"]], _TIMEOUT_SECS)
    assert "the evaluator is gone: chief:0 evaluates and exports" in tasks["chief:0"].log
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == 400
    assert len(list((tmp_path / "model" / "export" / "final").iterdir())) == 1
