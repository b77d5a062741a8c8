"""A TrainerConfig checks the values of its settings."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.settings.trainer_config import TrainerConfig


@pytest.mark.parametrize("settings, expected", [
    ({"train_distribute": "miror"}, "train_distribute is 'miror' (from --train_distribute)"),
    ({"train_distribute": "mirored"}, "Did you mean 'mirrored'?"),
    ({"eval_distribute": "gpu"}, "expected one of central_storage, mirrored"),
    ({"train_steps": -1}, "train_steps is -1 (from --train_steps); expected a number of at least"),
    ({"log_every_steps": -1}, "at least 0"),
    ({"exporters": ("final", "bets")}, "Did you mean 'best'?"),
    ({"exporters": ("none", "final")}, "`none` stands alone"),
    ({"serving_input": "raw,exmple"}, "Did you mean 'example'?"),
    ({"serving_input": "raw,raw"}, "some of raw, example, csv, each once"),
    ({"checkpoint": "newest"}, "expected latest, best, average, all or step=N"),
    ({"save_checkpoints_steps": 5, "save_checkpoints_secs": 5}, "expected one of them"),
    ({"eval_every_steps": 10, "save_checkpoints_steps": 20}, "save_checkpoints_steps is 20 ("),
    ({"best_mode": "maximum"}, "best_mode is 'maximum' (from --best_mode)"),
])
def test_config_refuses_a_value_out_of_range_in_one_sentence(settings, expected):
    with pytest.raises(errors.ConfigError) as raised:
        TrainerConfig(**settings)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_config_reports_every_value_out_of_range_at_once():
    with pytest.raises(errors.ConfigError) as raised:
        TrainerConfig(train_steps=-1, collective="mpi", keep_checkpoint_max=-2)
    assert len(str(raised.value).splitlines()) == 3


def test_checkpoints_are_by_steps_if_set_and_else_by_time():
    assert TrainerConfig().checkpoints == (100, 600)
    assert TrainerConfig(save_checkpoints_secs=30).checkpoints == (None, 30)
    by_steps = TrainerConfig(save_checkpoints_steps=50)
    assert by_steps.checkpoints == (50, None)
    assert TrainerConfig(eval_every_steps=20).checkpoints == (20, None)
    assert TrainerConfig(train_steps=0).max_steps is None
