"""JSON lines with anything in them become the values that they say, or a sentence refuses them."""

from __future__ import annotations

import json
import math
import time

import hypothesis
from hypothesis import strategies
import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.prediction import json_instances
from estimator_trainer.prediction.json_instances import JsonInstances
from tests.support import rereading

SPECS = {"f": tf.TensorSpec([None], tf.float32), "h": tf.TensorSpec([None], tf.float16),
         "i": tf.TensorSpec([None], tf.int64), "u": tf.TensorSpec([None], tf.uint8),
         "b": tf.TensorSpec([None], tf.bool), "p": tf.TensorSpec([None, 2], tf.float32),
         "s": tf.TensorSpec([None], tf.string), "m": tf.TensorSpec([None, None, None], tf.string),
         "r": tf.RaggedTensorSpec([None, None], tf.int32)}
DENSE = sorted(SPECS.keys() - {"r"})
scalars = strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats(
) | strategies.text(max_size=4) | strategies.sampled_from(
    [1 << 63, -(1 << 63), 1 << 64, 1e39, 70000, 256, "\ud800", {"b64": "AA=="}, {"b64": "?"},
     {"b64": 5}, {"b64": None}, {"b64": "", "x": 1}])
values = strategies.recursive(
    scalars, lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(
        strategies.text(max_size=2), inner, max_size=2), max_leaves=6)
default = hypothesis.settings(derandomize=True, deadline=None, database=None, max_examples=400)
wide = hypothesis.settings(default, max_examples=20_000, suppress_health_check=list(
    hypothesis.HealthCheck))


def _read(line: str | bytes, names: list[str]) -> dict | str:
    """Returns the batch that a line makes, or the sentence that refuses it."""
    began = time.process_time()
    try:
        [batch] = JsonInstances([line], {name: SPECS[name] for name in names}, "line").batches()
        return batch
    except errors.ConfigError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
        return str(error)
    finally:
        assert time.process_time() - began < rereading.MOST_CPU_SECS


def _judge(name: str, value: object) -> None:
    """Asserts that a value is taken as it is, or refused."""
    found = _read(json.dumps({name: value}), [name])
    if isinstance(found, str):
        assert f"wrong value for {name!r}" in found
        return
    [got] = found[name].tolist()
    if name in "sm":
        assert got == _as_bytes(value)
    elif name in "iub":
        assert got == value and type(got) is type(value)
    else:
        wanted = np.array(value, SPECS[name].dtype.as_numpy_dtype)
        np.testing.assert_array_equal(got, wanted)
        assert np.isinf(wanted).any() <= any(map(math.isinf, np.ravel(value)))


def _as_bytes(value: object) -> object:
    if isinstance(value, list):
        return [_as_bytes(each) for each in value]
    return b"\0" if isinstance(value, dict) else value.encode()


@default
@hypothesis.given(strategies.sampled_from(DENSE), values)
@hypothesis.example("p", [1, True])
@hypothesis.example("f", 3.5e38)
@hypothesis.example("h", 65520)
@hypothesis.example("i", 1 << 63)
@hypothesis.example("s", "\ud800")
def test_json_instances_give_the_value_of_the_line_or_refuse(name, value):
    _judge(name, value)


@pytest.mark.soak
@wide
@hypothesis.given(strategies.sampled_from(DENSE), values)
def test_json_instances_of_very_many_values(name, value):
    _judge(name, value)


@default
@hypothesis.given(strategies.binary(max_size=12), strategies.integers(0, 30))
def test_lines_that_are_damaged_are_read_or_refused(noise, place):
    line = b'{"f": 1.5, "s": "text"}'
    assert _read(b"{" + noise + line[1:], ["f", "s"])
    assert _read(line[:1 + place] + noise, ["f", "s"])
    assert _read(line[:place] + noise + line[place:], ["f", "s"])


@pytest.mark.parametrize("line, expected", [
    ("[" * 200_000, "is not JSON: "), ('{"s": ' + "[" * 200_000, "is not JSON: "),
    ('{"s": %s}' % ("[" * 3000 + "]" * 3000), "data to predict "),
    ('{"f": 1e999}', "1e999 is too large a number"), ('{"f": 1e39}', "got 1e+39"),
    ('{"f": %s}' % ("9" * 5000), "is not JSON: "), ('{"f": 1, "f": 2}', "'f' is twice in one"),
    ('{"f": 1_000}', "is not JSON: "), ('{"f": \u0661}', "is not JSON: "),
    ('{"f": 1}{"f": 2}', "is not JSON: Extra data"), ('{"f": 1', "is not JSON: "),
    ('{"f": null}', "got None"), ('{"f": "1"}', "got '1'"), ("5", "is a int"),
    ('{"%s": 1}' % ("n" * 1_000_000), "which is no feature"),
    ('{"f": "%s"}' % ("y" * 1_000_000), "got 'yyy"), (b"\0", "is not JSON: "),
    ('{"f": [%s]}' % ",".join(["1.5"] * 100_000), "got shape [100000]")])
def test_lines_refuse_in_a_short_sentence(line, expected):
    names = ["s"] if isinstance(line, str) and '"s"' in line else ["f"]
    found = _read(line, names)
    assert isinstance(found, str) and found.startswith("line 1 of the data to predict ")
    assert expected in found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_lines_in_another_unicode_encoding(encoding):
    found = _read('{"s": "\u00e9", "f": 1e-60}'.encode(encoding), ["s", "f"])
    assert found["s"].tolist() == ["\u00e9".encode()] and found["f"].tolist() == [0.0]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_lines_with_a_number_that_is_not_finite_are_refused(number):
    found = _read('{"f": %s}' % number, ["f"])
    assert found == ("line 1 of the data to predict has a wrong value for 'f': expected a number,"
                     f" got {float(number)}.")


def test_a_missing_number_of_a_prepared_table_is_null():
    spec = tf.TensorSpec([None], tf.float64)
    assert np.isnan(json_instances.array(None, spec))
    with pytest.raises(ValueError, match="expected a number, got nan"):
        json_instances.array(float("nan"), spec)
