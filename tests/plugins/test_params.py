"""Params are a dict, and bear how code for HParams uses them, and the copies that Estimator makes.
"""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from estimator_trainer import errors
from estimator_trainer.plugins.params import PluginParams

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("copied", [lambda params: params, copy.deepcopy, copy.copy,
                                    lambda params: pickle.loads(pickle.dumps(params))])
def test_params_are_a_dict_and_an_object_with_attributes(copied):
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


def test_a_param_that_is_not_there_is_named_in_a_sentence():
    params = PluginParams(units=3)
    with pytest.raises(AttributeError, match="param unit is missing.*Did you mean 'units'"):
        params.unit
    with pytest.raises(errors.ConfigError, match="(?s)^param batch_size.*--global_batch_size=64"):
        params["batch_size"]
    with pytest.raises(KeyError):
        params["batch_size"]
