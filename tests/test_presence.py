"""The evaluator's beat: how a chief learns of an evaluator that TF_CONFIG does not list."""

from __future__ import annotations

import jobs
import pytest

from estimator_trainer import checkpoints
from estimator_trainer import exporters
from estimator_trainer import presence


@pytest.fixture
def record():
    return exporters.EvaluationRecord()


def test_without_an_evaluator_the_chief_does_not_wait(tmp_path):
    assert not presence.evaluator_covers(str(tmp_path), 10)


def test_a_living_evaluator_is_seen(tmp_path, record):
    with presence.beating(str(tmp_path), record):
        jobs.wait_for((tmp_path / "evaluator.beat").exists, 10)
        assert presence.evaluator_covers(str(tmp_path), 10)


def test_an_evaluator_that_ended_covers_the_steps_it_evaluated(tmp_path, record):
    with presence.beating(str(tmp_path), record):
        record.metrics = {"global_step": 10}
    assert presence.evaluator_covers(str(tmp_path), 10)
    assert not presence.evaluator_covers(str(tmp_path), 11)


def test_the_beat_of_a_killed_evaluator_is_not_taken_for_a_living_one(tmp_path, monkeypatch):
    monkeypatch.setattr(presence, "_PATIENCE_SECS", 1.5)
    checkpoints.write_text(str(tmp_path / "evaluator.beat"), "killed 7\n")
    assert not presence.evaluator_covers(str(tmp_path), 10)
