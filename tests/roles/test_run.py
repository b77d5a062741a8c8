"""A job on Vertex AI leaves its events where the service's TensorBoard reads."""

from __future__ import annotations

import pytest

import estimator_trainer
from estimator_trainer import environment
from estimator_trainer.checks import run_plan
from estimator_trainer.roles import run
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import line_model

_TENSORBOARD = {"AIP_TENSORBOARD_RESOURCE_NAME": "projects/p/tensorboards/1"}


@pytest.mark.parametrize("log_dir, variables, is_copied", [
    ("logs", {}, True), ("model/logs", {}, False), ("model/logs", _TENSORBOARD, True),
    ("model", _TENSORBOARD, False), ("", _TENSORBOARD, False)])
def test_a_copy_of_events_is_made_where_no_reader_sees_them_twice(log_dir, variables, is_copied,
                                                                  tmp_path, monkeypatch):
    for name, value in {**variables, "AIP_TENSORBOARD_LOG_DIR": f"{tmp_path}/{log_dir}/"}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "events.out.tfevents.1.vm").write_text("events")
    config = TrainerConfig(model_dir=str(tmp_path / "model"))
    with run._mirrored_events(run_plan.for_training(config, environment.read())):
        pass
    assert len(list(tmp_path.rglob("events.*"))) == 1 + is_copied


@pytest.mark.cluster
def test_the_copy_has_all_events_of_a_training(tmp_path, monkeypatch):
    line, model_dir, copy = str(line_model.write(tmp_path)), tmp_path / "model", tmp_path / "logs"
    monkeypatch.setenv("AIP_TENSORBOARD_LOG_DIR", f"{copy}/")
    estimator_trainer.train(line, line, model_dir, train_steps=2, exporters=["none"],
                            report=False)
    written = {path.relative_to(model_dir): path.read_bytes()
               for path in model_dir.rglob("events.*")}
    copied = {path.relative_to(copy): path.read_bytes() for path in copy.rglob("events.*")}
    assert len(written) == 2 and copied == written
