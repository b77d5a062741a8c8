"""An evaluation that reaches the target of --stop_at ends training, and a later run finds that."""

from __future__ import annotations

import pytest

from estimator_trainer import errors, result
from estimator_trainer.coordination import checkpoints
from estimator_trainer.evaluation import target
from estimator_trainer.record import record_file, run_record
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import saved


def _config(model_dir="", stop_at="accuracy>=0.9"):
    return TrainerConfig(model_dir=str(model_dir), stop_at=stop_at)


def _requests(stop_at, *evaluations):
    requests = []
    exporter = target.StopAt(_config(stop_at=stop_at), lambda *request: requests.append(request),
                             "evaluator:0")
    for step, metrics in enumerate(evaluations):
        exporter.export(None, "", "", {**metrics, "global_step": step}, False)
    return requests


def test_the_first_evaluation_that_reaches_the_target_requests_the_end():
    assert not _requests("accuracy>=0.9", {"accuracy": 0.89}, {"accuracy": float("nan")})
    assert _requests("accuracy>=0.9", {"accuracy": 0.1}, {"accuracy": 0.9}) == [
        ("done", "stop_at", "evaluator:0")]


def test_a_metric_that_no_evaluation_has_is_a_sentence():
    with pytest.raises(errors.ConfigError, match="stop_at is 'acuracy'.* Did you mean 'accuracy'"):
        _requests("acuracy>=0.9", {"accuracy": 0.89})


@pytest.mark.parametrize("reason, accuracy, stop_at, is_reached", [
    ("stop_at", 0.95, "accuracy>=0.9", True),
    # The last checkpoint of a cluster is a few steps later than the one that was evaluated.
    ("stop_at", 0.89, "accuracy>=0.9", True),
    ("stop_at", 0.95, "accuracy>=0.99", False),
    ("train_steps", 0.95, "accuracy>=0.9", True),
    ("train_steps", 0.89, "accuracy>=0.9", False)])
def test_a_later_run_finds_a_training_that_has_reached_its_target(
        reason, accuracy, stop_at, is_reached, tmp_path):
    saved.checkpoints(tmp_path, 20)
    record_file.write(str(tmp_path), run_record.RunRecord(settings={"stop_at": "accuracy>=0.9"}))
    checkpoints.write_result(str(tmp_path), result.Result(
        "local", "done", 20, reason, {"accuracy": accuracy, "global_step": 20}))
    assert target.had_reached(_config(tmp_path, stop_at)) is is_reached
    saved.checkpoints(tmp_path, 40)
    assert not target.had_reached(_config(tmp_path, stop_at))
