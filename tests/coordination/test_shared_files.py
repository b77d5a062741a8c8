"""Tasks talk through small files, and nobody believes half of one, or a size of before."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
from unittest import mock

import pytest
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.checks import probe
from estimator_trainer.coordination import (checkpoints, evaluator_heartbeat, job_state, sequel,
                                            shared_files)
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.roles import evaluator
from estimator_trainer.roles.final_evaluation import FinalEvaluation
from estimator_trainer.roles.task_run import FollowerRun
from tests.support import cloud_storage, jobs


def test_write_json_pads_to_one_length(tmp_path):
    path = str(tmp_path / "deep" / "job.json")
    lengths = set()
    for content in ({}, {"status": "running"}, {"reason": "é" * 300, "step": 7}):
        shared_files.write_json(path, content)
        assert shared_files.read_json(path) == content
        text = (tmp_path / "deep" / "job.json").read_text()
        assert json.loads(text).items() >= content.items() and text.endswith("\n")
        lengths.add(len(text))
    assert len(lengths) == 1
    with pytest.raises(ValueError, match="a shared file takes"):
        shared_files.write_json(path, {"reason": "x" * 5000})
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["job.json"]


def test_write_json_writes_an_object_once_a_second(monkeypatch):
    slept, written = mock.Mock(), []
    monkeypatch.setattr(shared_files.time, "sleep", slept)
    monkeypatch.setattr(shared_files, "write_text", lambda path, text: written.append(path))
    for _ in range(2):
        shared_files.write_json("gs://bucket/job/job.json", {})
    shared_files.write_json("gs://bucket/job/evaluator.beat", {})
    assert len(written) == 3
    assert [0 < call.args[0] <= 1 for call in slept.call_args_list] == [False, True, False]


def test_read_json_believes_no_part_and_no_mixture(tmp_path):
    path = tmp_path / "job.json"
    shared_files.write_json(str(path), {"status": "running", "step": 0})
    running = path.read_bytes()
    shared_files.write_json(str(path), {"status": "stopped", "step": 9})
    stopped = path.read_bytes()
    for length in range(0, 80):
        path.write_bytes(stopped[:length])
        assert shared_files.read_json(str(path)) in (None, {"status": "stopped", "step": 9})
        path.write_bytes(running[:length] + stopped[length:])
        assert shared_files.read_json(str(path)) in (None, {"status": "running", "step": 0},
                                                     {"status": "stopped", "step": 9})
    path.write_bytes(b"\xff\xfe")
    assert shared_files.read_json(str(path)) is None
    path.write_text("[]\n")
    assert shared_files.read_json(str(path)) is None
    assert shared_files.read_json(str(tmp_path / "none")) is None


def test_read_json_of_a_file_that_cannot_be_read_now(tmp_path, caplog):
    (tmp_path / "job.json").mkdir()
    assert shared_files.read_json(str(tmp_path / "job.json")) is None
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=1)
    assert state_reader.poll_final_state() is None


@pytest.mark.cluster
def test_read_text_of_a_file_whose_size_changed_in_a_bucket(tmp_path):
    program = """if True:
        import sys, tensorflow as tf
        from estimator_trainer.coordination import checkpoints, shared_files
        for line in sys.stdin:
            tf.io.gfile.stat("gs://bucket/job/checkpoint"), tf.io.gfile.stat("gs://bucket/job/note")
            print("remembered", flush=True)
            sys.stdin.readline()
            print(checkpoints.latest_step("gs://bucket/job"),
                  shared_files.read_json("gs://bucket/job/note"), flush=True)
        """
    shared_files.write_json(str(tmp_path / "note"), {"reason": "so"})
    note = (tmp_path / "note").read_bytes()
    with cloud_storage.CloudStorage(tmp_path) as bucket:
        for step in (7, 100000):
            bucket.objects.write(f"job/model.ckpt-{step}.index", b"x")
        reader = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, cwd=jobs.REPO,
            env=jobs.environment(GCS_STAT_CACHE_MAX_AGE="60", **bucket.environment()))
        with reader:
            for before, after in itertools.permutations((7, 100000)):
                bucket.objects.write("job/checkpoint", _state(before))
                bucket.objects.write("job/note", note)
                assert _request(reader, "look") == "remembered"
                bucket.objects.write("job/checkpoint", _state(after))
                assert _request(reader, "read") == f"{after} {{'reason': 'so'}}"
            reader.stdin.close()
            reader.kill()


def _request(process, line):
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def _state(step):
    return f'model_checkpoint_path: "model.ckpt-{step}"\n'.encode()


def test_messages_of_all_workers_need_one_request(tmp_path):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    chief.announce("running")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    for worker in range(100):
        state_reader.leave(worker)
    with mock.patch.object(tf.io.gfile, "glob", wraps=tf.io.gfile.glob) as listing, \
            mock.patch.object(tf.io.gfile, "GFile", wraps=tf.io.gfile.GFile) as opening:
        chief.receive(is_waiting=True)
        assert all(chief.has_left(worker) for worker in range(100)) and not chief.has_left(100)
    assert listing.call_count == 1 and not opening.called


def test_messages_to_an_earlier_run_are_dropped(tmp_path):
    first = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    first.announce("running")
    job_state.JobStateReader(str(tmp_path), max_steps=None).leave(0)
    assert len(list((tmp_path / "tasks").iterdir())) == 1
    job_state.JobStateWriter(str(tmp_path), is_shared=True).announce("running")
    assert not list((tmp_path / "tasks").iterdir())


def test_messages_that_cannot_be_read_now_are_read_later(tmp_path):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    chief.announce("running")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    state_reader.request_end("stopped", "SIGTERM", "worker:3")
    [path] = (tmp_path / "tasks").iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    chief.receive(is_waiting=True)
    assert chief.request is None
    path.write_bytes(whole)
    chief._polled_at = 0.0
    chief.receive(is_waiting=True)
    assert (chief.request.by, chief.request.reason) == ("worker:3", "SIGTERM")
    assert job_state.received_messages(str(tmp_path), state_reader.poll().run) == {"worker-3.stop"}


@pytest.fixture(name="evaluation")
def fixture_evaluation(tmp_path, monkeypatch):
    """Returns a function that runs the evaluator's loop and returns the steps it evaluated."""
    evaluated = []

    def evaluate(final, path):
        evaluated.append(checkpoints.step_of(path))
        final.evaluations.checkpoint_path = path

    monkeypatch.setattr(FinalEvaluation, "evaluate", evaluate)
    monkeypatch.setattr(deadlines, "FINAL_CHECKPOINT_SECS", 1.0)
    final = FinalEvaluation(mock.Mock(throttle_secs=0, exporters=[]),
                            mock.Mock(model_dir=str(tmp_path)), EvaluationLog(), [], max_steps=None)
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True)

    def run(step):
        state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
        chief.announce("running")
        chief.announce("done", step, "train_steps")
        run = FollowerRun(mock.Mock(), Stop(), mock.Mock(spec=Watchdog), state_reader)
        evaluator.evaluate_all(run, final)
        return evaluated

    return run


def _save(tmp_path, step):
    (tmp_path / f"model.ckpt-{step}.index").write_text("x")
    (tmp_path / "checkpoint").write_bytes(_state(step))


@pytest.mark.parametrize("seen_step", [None, 50])
def test_evaluator_without_the_final_checkpoint_is_not_done(tmp_path, evaluation, seen_step):
    if seen_step:
        _save(tmp_path, seen_step)
    with pytest.raises(errors.Interrupted) as raised:
        evaluation(100)
    assert raised.value.status == "lost" and "a checkpoint of step 100" in raised.value.reason


def test_evaluator_polls_for_the_final_checkpoint(tmp_path, evaluation, monkeypatch):
    _save(tmp_path, 50)
    poll_intervals = deadlines.poll_intervals(str(tmp_path))
    sleeps = itertools.count()

    def sleep(self, secs):
        assert secs == poll_intervals.evaluator_secs
        if next(sleeps) == 1:
            (tmp_path / "checkpoint").write_bytes(_state(100)[:-3])
        _save(tmp_path, 100)

    monkeypatch.setattr(Stop, "sleep", sleep)
    assert evaluation(100)[-1] == 100


def test_evaluator_of_a_training_without_a_step_does_not_wait(evaluation):
    assert evaluation(0) == []


@pytest.mark.parametrize("content", [
    {}, {"run": 5, "status": "running"}, {"run": "a", "status": "odd"},
    {"run": "a", "status": "done", "step": "9"},
    {"run": "a", "status": "done", "cluster": {"ps": "x"}},
    {"run": "a", "status": ["done"]}])
def test_read_as_takes_another_shape_as_missing(tmp_path, content):
    path = str(tmp_path / job_state.JOB_FILE)
    shared_files.write_json(path, content)
    reader = job_state.JobStateReader(str(tmp_path), 10)
    assert reader.poll() is None and reader.poll_final_state() is None
    # A newer version may say more.
    shared_files.write_json(path, {"run": "a", "status": "running", "newer": [1]})
    assert reader.poll() == job_state.JobState("a", "running")


def test_messages_of_another_shape_end_no_job(tmp_path):
    writer = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    writer.announce("running")
    run = writer._state.run
    job_state.send_message(str(tmp_path), run, "worker-0.stop", {"status": 5, "reason": None})
    writer.receive(is_waiting=True)
    assert writer.request is None
    job_state.send_message(str(tmp_path), run, "worker-1.stop",
                           {"status": "stopped", "reason": "SIGTERM", "by": "worker:1"})
    writer._polled_at = 0.0
    writer.receive(is_waiting=True)
    assert writer.request and writer.request.by == "worker:1"


@pytest.mark.parametrize("kind, right, wrong", [
    (evaluator_heartbeat._Heartbeat, {"evaluated": 10}, {"evaluated": "10"}),
    (sequel._ScriptState, {"trainings": 1, "beat": 0, "is_over": True}, {"trainings": 1}),
    (sequel._ScriptState, {"trainings": 1, "beat": 0, "is_over": True},
     {"trainings": "2", "beat": 0, "is_over": True}),
    (probe._Mark, {"task": "local", "host": "a", "time": 1.0}, {"task": [], "host": 1, "time": {}}),
])
def test_read_as_has_a_schema_for_each_file(tmp_path, kind, right, wrong):
    path = str(tmp_path / "note")
    shared_files.write_json(path, wrong)
    assert shared_files.read_json(path) == wrong and shared_files.read_as(kind, path) is None
    shared_files.write_json(path, {**right, "newer": None})
    assert shared_files.read_as(kind, path) == kind(**right)


def test_many_files_of_a_bucket_are_handled_together():
    at_once, arrived = 4, threading.Barrier(4)

    def step(path):
        arrived.wait(20)  # Breaks unless four steps are under way together.
        return path.upper()

    names = [f"part{i}" for i in range(2 * at_once)]
    assert shared_files.in_parallel(step, names) == [name.upper() for name in names]
