"""Params are merged from files, flags and defaults, and serve as a dict and as HParams."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from estimator_trainer import errors
from estimator_trainer.plugins import params
from estimator_trainer.plugins.params import PluginParams
from estimator_trainer.plugins.plugin import Plugin


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("copied", [lambda params: params, copy.deepcopy, copy.copy,
                                    lambda params: pickle.loads(pickle.dumps(params))])
def test_plugin_params_are_a_dict_with_attributes(copied):
    params = copied(PluginParams(units=3, rate=0.5))
    assert isinstance(params, dict) and params == {"units": 3, "rate": 0.5}
    assert json.dumps(params) == '{"units": 3, "rate": 0.5}'
    assert params.units == params["units"] == params.get("units") == 3
    assert params.get("other", 7) == 7 and not hasattr(params, "other") and "other" not in params
    params.units, params["rate"] = 4, 0.1
    params.add_hparam("depth", 2)
    assert {**params} == {"units": 4, "rate": 0.1, "depth": 2}
    assert list(params.values()) == [4, 0.1, 2] and len(params.values()) == 3
    assert dict(params.values().items()) == params and params.values()["units"] == 4


@pytest.mark.any_tensorflow
def test_plugin_params_name_a_missing_param_in_a_sentence():
    params = PluginParams(units=3)
    with pytest.raises(AttributeError, match="param unit is missing.*of which 'units' is the most"):
        params.unit
    with pytest.raises(errors.ConfigError, match="(?s)^param batch_size.*--global_batch_size=64"):
        params["batch_size"]
    with pytest.raises(KeyError):
        params["batch_size"]


def _plugin(kind, default_params):
    return Plugin(kind, "mine", "mine", f"/{kind}.py", kind, False, default_params, "")


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
def test_merge_takes_a_params_type_from_its_default(pair, key, value):
    merged = params.merge([MODEL, DATA], [pair], "")
    assert merged.values[key] == value and type(merged.values[key]) is type(value)
    assert merged.user_set == {key}


@pytest.mark.parametrize("pair, expected", [
    ("learning_rat=1", "Did you mean 'learning_rate'?"),
    ("learning_rate=fast", "expected a number. For example: --param learning_rate=0.1"),
    ("batch_size=1.5", "expected an integer"),
    ("batch_size=", "param batch_size is '' (from --param batch_size)"),
    ("shuffle=maybe", "expected true or false"),
    ("layers=3", "expected a JSON list"),
    ("learning_rate", "expected key=value"),
])
def test_merge_refuses_a_bad_param_in_one_sentence(pair, expected):
    with pytest.raises(errors.ConfigError) as raised:
        params.merge([MODEL, DATA], [pair], "")
    assert expected in str(raised.value)


def test_merge_lets_a_later_param_win(tmp_path):
    file = tmp_path / "params.json"
    file.write_text('{"batch_size": 16, "learning_rate": 2, "shuffle": false}')
    merged = params.merge([MODEL, DATA], ["batch_size=8", "batch_size=4"], str(file))
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
def test_merge_refuses_a_bad_params_file_in_one_sentence(tmp_path, text, expected):
    file = tmp_path / "params.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(errors.ConfigError) as raised:
        params.merge([MODEL, DATA], [], str(file))
    assert expected in str(raised.value) and str(file) in str(raised.value)


def test_merge_names_both_files_of_two_defaults():
    other = _plugin("input_fn", {"learning_rate": 0.5})
    with pytest.raises(errors.ConfigError) as raised:
        params.merge([MODEL, other], [], "")
    assert "0.1 in /model_fn.py but to 0.5 in /input_fn.py" in str(raised.value)


def test_merge_takes_any_param_without_default_params():
    merged = params.merge([MODEL, _plugin("input_fn", None)], ["rows=5", "path=x"], "")
    assert merged.values["rows"] == 5 and merged.values["path"] == "x"


def test_with_data_fills_what_the_user_did_not_set():
    merged = params.merge([_plugin("model_fn", {"num_classes": 0, "width": 0}), DATA],
                          ["width=3"], "")
    filled = merged.with_data({"num_classes": 10, "width": 7, "unasked": 1})
    assert filled["num_classes"] == 10 and filled["width"] == 3 and "unasked" not in filled
