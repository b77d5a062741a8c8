"""By the evaluator's beat a chief learns of an evaluator that TF_CONFIG does not list."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from unittest import mock

import pytest

from estimator_trainer import deadlines
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import evaluator_heartbeat, shared_files
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from tests.support import jobs

CHIEF = task_config.parse(json.dumps({
    "cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
    "task": {"type": "chief", "index": 0}}))


@pytest.fixture
def record():
    return EvaluationLog()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    poll_intervals = dataclasses.replace(deadlines.poll_intervals(""), evaluator_lost_secs=1.5)
    monkeypatch.setattr(deadlines, "poll_intervals", lambda model_dir: poll_intervals)


def _chief_is_relieved(tmp_path, step):
    return evaluator_heartbeat.wait(str(tmp_path), CHIEF, step, Stop())


def test_wait_ends_at_once_without_an_evaluator(tmp_path):
    assert not _chief_is_relieved(tmp_path, 10)


@pytest.mark.cluster
def test_wait_for_a_living_evaluator(tmp_path, record):
    def evaluate():
        with evaluator_heartbeat.sending_heartbeats(str(tmp_path), lambda: record.step):
            time.sleep(3)  # The chief would notice a lost beat in less.
            record.metrics = {"global_step": 10}

    evaluator = threading.Thread(target=evaluate)
    evaluator.start()
    jobs.wait_for((tmp_path / "evaluator.beat").exists, 10)
    assert _chief_is_relieved(tmp_path, 10)
    evaluator.join()


def test_presence_of_an_evaluator_that_ended(tmp_path, record):
    with evaluator_heartbeat.sending_heartbeats(str(tmp_path), lambda: record.step):
        record.metrics = {"global_step": 10}
    assert _chief_is_relieved(tmp_path, 10)
    assert not _chief_is_relieved(tmp_path, 11)


def test_presence_of_a_killed_evaluator(tmp_path):
    shared_files.write_json(str(tmp_path / "evaluator.beat"), {"process": "killed", "count": 7})
    assert not _chief_is_relieved(tmp_path, 10)


def test_wait_polls_with_pauses_after_early_stopping(tmp_path, monkeypatch):
    """A request of status "done" once ended every later pause at once."""
    shared_files.write_json(str(tmp_path / "evaluator.beat"), {"process": "lives", "count": 1})
    read, polls = shared_files.read_json, []

    def poll(path):
        polls.append(path)
        return {"process": "lives", "count": len(polls)} if len(polls) < 5 else {"evaluated": 10}

    monkeypatch.setattr(shared_files, "read_json", poll)
    stop = Stop()
    stop.request_end("done", "early_stopping", "evaluator:0")
    slept = mock.Mock()
    monkeypatch.setattr(time, "sleep", slept)
    assert evaluator_heartbeat.wait(str(tmp_path), CHIEF, 10, stop)
    assert slept.call_count == len(polls) - 1 == 4 and read(str(tmp_path / "evaluator.beat"))


def test_presence_of_an_evaluator_outside_of_the_cluster(tmp_path, monkeypatch):
    with evaluator_heartbeat.sending_heartbeats(str(tmp_path), lambda: 7):
        jobs.wait_for((tmp_path / "evaluator.beat").exists, 5)
        presence = evaluator_heartbeat.Presence(str(tmp_path))
        assert not presence.poll()  # The beat may be an old one.
        jobs.wait_for(presence.poll, 5)
    assert not presence.poll()
    assert not evaluator_heartbeat.Presence(str(tmp_path / "other")).poll()
