"""A TrainerConfig and params take what a user may set, and answer each mistake with a remedy."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.plugins import loader, params
from estimator_trainer.settings.trainer_config import TrainerConfig


@pytest.mark.parametrize("settings, expected", [
    ({"train_distribute": "miror"}, "train_distribute is 'miror' (from --train_distribute)"),
    ({"train_distribute": "mirored"}, "Did you mean 'mirrored'?"),
    ({"eval_distribute": "gpu"}, "expected one of central_storage, mirrored"),
    ({"train_steps": -1}, "train_steps is -1 (from --train_steps); expected a number of at least"),
    ({"log_every_steps": 0}, "at least 1"),
    ({"exporters": ("final", "bets")}, "Did you mean 'best'?"),
    ({"exporters": ("none", "final")}, "`none` stands alone"),
    ({"checkpoint": "newest"}, "expected latest, best, all or step=N"),
    ({"save_checkpoints_steps": 5, "save_checkpoints_secs": 5}, "expected one of them"),
    ({"eval_every_steps": 10, "save_checkpoints_steps": 20}, "leave out --save_checkpoints_steps"),
    ({"best_mode": "maximum"}, "best_mode is 'maximum' (from --best_mode)"),
])
def test_a_setting_out_of_range_is_one_sentence(settings, expected):
    with pytest.raises(errors.ConfigError) as raised:
        TrainerConfig(**settings)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_setting_out_of_range_is_reported_at_once():
    with pytest.raises(errors.ConfigError) as raised:
        TrainerConfig(train_steps=-1, collective="mpi", keep_checkpoint_max=-2)
    assert len(str(raised.value).splitlines()) == 3


def test_checkpoints_go_by_steps_when_steps_are_set_and_every_600_seconds_otherwise():
    assert TrainerConfig().checkpoints == (100, 600)
    assert TrainerConfig(save_checkpoints_secs=30).checkpoints == (None, 30)
    by_steps = TrainerConfig(save_checkpoints_steps=50)
    assert by_steps.checkpoints == (50, None)
    assert TrainerConfig(eval_every_steps=20).checkpoints == (20, None)
    assert TrainerConfig(train_steps=0).max_steps is None


def _plugin(kind, default_params):
    return loader.Plugin(kind, "mine", "mine", f"/{kind}.py", kind, False, default_params, "")


MODEL = _plugin("model_fn", {"learning_rate": 0.1, "layers": [8, 4], "name": "net"})
DATA = _plugin("input_fn", {"batch_size": 64, "shuffle": True, "extra": None})


@pytest.mark.parametrize("pair, key, value", [
    ("learning_rate=0.05", "learning_rate", 0.05),
    ("learning_rate=1", "learning_rate", 1.0),
    ("learning_rate=1e-4", "learning_rate", 1e-4),
    ("batch_size=8", "batch_size", 8),
    ("shuffle=false", "shuffle", False),
    ("shuffle=1", "shuffle", True),
    ("name=a=b", "name", "a=b"),
    ("name=12", "name", "12"),
    ("layers=[1, 2]", "layers", [1, 2]),
    ("extra=3", "extra", 3),
    ("extra=three", "extra", "three"),
])
def test_a_params_type_comes_from_its_default(pair, key, value):
    merged = params.merge(MODEL, DATA, [pair], "")
    assert merged.values[key] == value and type(merged.values[key]) is type(value)
    assert merged.given == {key}


@pytest.mark.parametrize("pair, expected", [
    ("learning_rat=1", "Did you mean 'learning_rate'?"),
    ("learning_rate=fast", "expected a number. For example: --param learning_rate=0.1"),
    ("batch_size=1.5", "expected an integer"),
    ("batch_size=", "param batch_size is '' (from --param batch_size)"),
    ("shuffle=maybe", "expected true or false"),
    ("layers=3", "expected a JSON list"),
    ("learning_rate", "expected key=value"),
])
def test_a_bad_param_is_one_sentence(pair, expected):
    with pytest.raises(errors.ConfigError) as raised:
        params.merge(MODEL, DATA, [pair], "")
    assert expected in str(raised.value)


def test_a_later_param_wins_over_an_earlier_one_and_over_the_file(tmp_path):
    file = tmp_path / "params.json"
    file.write_text('{"batch_size": 16, "learning_rate": 2, "shuffle": false}')
    merged = params.merge(MODEL, DATA, ["batch_size=8", "batch_size=4"], str(file))
    assert merged.values["batch_size"] == 4
    assert merged.values["learning_rate"] == 2.0
    assert merged.values["shuffle"] is False


@pytest.mark.parametrize("text, expected", [
    (None, "cannot be read: No such file"),
    ("{'a': 1}", "which is not JSON"),
    ("[1]", "holds a JSON list; expected an object"),
    ('{"batch_size": true}', "expected an integer"),
    ('{"batch_size": 1.5}', "expected an integer"),
    ('{"shuffle": 1}', "expected true or false"),
    ('{"name": 1}', "expected a string"),
    ('{"btch_size": 1}', "Did you mean 'batch_size'?"),
])
def test_a_bad_params_file_is_one_sentence(tmp_path, text, expected):
    file = tmp_path / "params.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(errors.ConfigError) as raised:
        params.merge(MODEL, DATA, [], str(file))
    assert expected in str(raised.value) and str(file) in str(raised.value)


def test_two_defaults_of_one_key_are_an_error_that_names_both_files():
    other = _plugin("input_fn", {"learning_rate": 0.5})
    with pytest.raises(errors.ConfigError) as raised:
        params.merge(MODEL, other, [], "")
    assert "0.1 in /model_fn.py but to 0.5 in /input_fn.py" in str(raised.value)


def test_a_module_without_default_params_takes_any_param():
    merged = params.merge(MODEL, _plugin("input_fn", None), ["rows=5", "path=x"], "")
    assert merged.values["rows"] == 5 and merged.values["path"] == "x"


def test_the_data_fills_what_the_user_did_not_give():
    merged = params.merge(_plugin("model_fn", {"num_classes": 0, "width": 0}), DATA,
                          ["width=3"], "")
    filled = merged.with_data({"num_classes": 10, "width": 7, "unasked": 1})
    assert filled["num_classes"] == 10 and filled["width"] == 3 and "unasked" not in filled
