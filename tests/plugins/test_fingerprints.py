"""The parts of a passed function: what of it changed is named, and what did not is not."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.plugins import fingerprints

pytestmark = pytest.mark.any_tensorflow

_CELL = """
import argparse
import functools
import numpy as np
FLAGS = argparse.Namespace(depth=2)
WIDTH = 8
SHAPES = {"units": [8, 4], "password": "one"}
def layer(features): return features * 2
def network(features): return layer(features) * FLAGS.depth + WIDTH + SHAPES["units"][0]
def model_fn(features, labels, mode, rate=0.1): return network(features)
short = lambda features: network(features)
bound = functools.partial(model_fn, rate=0.2)
def make(data):
    def input_fn(): return data
    return input_fn
of_data = make(np.arange(5))
class Model:
    def __init__(self, units): self.units = units
    def __call__(self, features): return network(features) * self.units
    def method(self, features): return network(features)
called = Model(3)
method = Model(3).method
"""


def _parts(name, *edits):
    """Returns the parts of what a notebook's cell, edited, calls `name`."""
    text = _CELL
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    names = {"__name__": "cell"}
    exec(compile(text, "<cell>", "exec"), names)  # pylint: disable=exec-used
    return fingerprints.of(names[name], f"cell:{name}")


def _changed(name, *edits):
    before, after = _parts(name), _parts(name, *edits)
    return {part for part in before if after.get(part) != before[part]}


@pytest.mark.parametrize("name", ["model_fn", "short", "bound", "of_data", "called", "method"])
def test_of_an_unchanged_function_is_the_same(name):
    assert _parts(name) and not _changed(name)
    assert not _changed(name, ("WIDTH = 8", "\n# A comment moves the lines.\nWIDTH = 8"))


@pytest.mark.parametrize("name, edit, part", [
    ("model_fn", ("return network(features)\nshort", "return 2 * network(features)\nshort"),
     "cell:model_fn"),
    ("model_fn", ("rate=0.1", "rate=0.3"), "cell:model_fn.rate"),
    ("model_fn", ("* 2", "* 3"), "cell:layer"),
    ("model_fn", ("WIDTH = 8", "WIDTH = 9"), "cell:WIDTH"),
    ("model_fn", ("[8, 4]", "[8, 5]"), "cell:SHAPES"),
    ("model_fn", ("depth=2", "depth=3"), "cell:FLAGS"),
    ("short", ("short = lambda features: network(features)",
               "short = lambda features: network(features) + 1"), "cell:short"),
    ("short", ("* 2", "* 3"), "cell:layer"),
    ("bound", ("rate=0.2", "rate=0.3"), "cell:bound.rate"),
    ("of_data", ("np.arange(5)", "np.arange(6)"), "cell:of_data.data"),
    ("called", ("Model(3)\nmethod", "Model(4)\nmethod"), "cell:called.units"),
    ("called", ("* self.units", "+ self.units"), "cell:Model.__call__"),
    ("method", ("features): return network(features)\ncalled",
                "features): return -network(features)\ncalled"), "cell:method"),
    ("method", ("* 2", "* 3"), "cell:layer"),
])
def test_of_a_changed_function_names_the_change(name, edit, part):
    assert _changed(name, edit) == {part}


def test_of_arrays_depends_on_their_values():
    for array in (np.float32(1.0), np.zeros([2, 0]), np.arange(6).reshape(2, 3).T,
                  np.array(["a", "b"]), np.array(["2020-01-01"], "datetime64[D]"),
                  np.array([b"a", None, "b"]), np.ma.array([1, 2])):
        assert fingerprints.of(array, "a") == fingerprints.of(array.copy(), "a") != {}


def test_of_leaves_out_what_raises():
    class Raising:
        @property
        def __dict__(self):
            raise ValueError("no")

    raising = Raising()

    def model_fn(features):
        return raising, features

    assert "mine" in fingerprints.of(model_fn, "mine")


def test_of_leaves_out_secrets():
    assert not _changed("model_fn", ('"one"', '"two"'))


def test_of_leaves_out_installed_packages():
    def model_fn(features):
        return tf.nn.relu(np.mean(features))

    assert list(fingerprints.of(model_fn, "mine")) == ["mine"]


def _keras_model(units=3, rate=0.1):
    model = tf.keras.Sequential([tf.keras.layers.Dense(units, input_shape=(2,)),
                                 tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.legacy.SGD(rate), "mse")
    return model


def test_of_a_keras_model_covers_layers_and_compilation():
    before = fingerprints.of(_keras_model(), "m")
    assert before and before == fingerprints.of(_keras_model(), "m")
    assert before != fingerprints.of(_keras_model(units=4), "m")
    assert before != fingerprints.of(_keras_model(rate=0.2), "m")


def _estimator(units=4, **others):
    return tf.estimator.DNNClassifier(
        [units], [tf.feature_column.numeric_column("x")], optimizer="SGD", **others)


def test_of_an_estimator_covers_model_fn_and_params(tmp_path):
    before = fingerprints.of(_estimator(), "m")
    assert before and before == fingerprints.of(_estimator(model_dir=str(tmp_path)), "m")
    assert before != fingerprints.of(_estimator(units=5), "m")


def test_of_wrapped_functions_and_cycles():
    def log(function):
        @functools.wraps(function)
        def logged(*args):
            return function(*args)
        return logged

    @log
    def model_fn(features):
        return model_fn and features

    assert {"m", "m.function"} <= set(fingerprints.of(model_fn, "m"))
