"""The public names of Estimator on TensorFlow 2.15 exist on every TensorFlow.

`public_names.txt` is the output of `python -m tests.compat.test_public_names` on 2.15: the names
of each namespace that a program may use, a line each.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import pkgutil

import pytest

from estimator_trainer import compat  # Before TensorFlow.
from estimator_trainer import versions

# isort: split
import tensorflow as tf

NATIVE = versions.installed().mode == "native"
RECORD = pathlib.Path(__file__).with_name("public_names.txt")
IMPORTS = [
    "import tensorflow.estimator",
    "from tensorflow.estimator.export import ServingInputReceiver",
    "from tensorflow.compat.v1 import estimator",
    "import tensorflow.compat.v1.estimator",
    "from tensorflow.compat.v1.estimator.tpu import TPUEstimator",
    "from tensorflow.compat.v2 import estimator",
    "from tensorflow.compat.v1.compat.v1 import estimator",
    "import tensorflow._api.v2.compat.v1.estimator",
    "from tensorflow.keras.estimator import model_to_estimator",
    "from tensorflow.compat.v1.keras.estimator import model_to_estimator",
    "import tensorflow.compat.v2.keras.estimator",
    "import tensorflow.python.estimator.canned.dnn as dnn; dnn.DNNClassifier",
    "from tensorflow.python.estimator import keras; keras.model_to_estimator",
    "from tensorflow.python.estimator.inputs.queues import feeding_functions",
]


def _is_estimators(value):
    return getattr(value, "__module__", None) is not None and (
        value.__module__.startswith("tensorflow_estimator."))


def _public(module, name):
    """Yields a line for a module of the public API, and for each in it."""
    names = sorted(attribute for attribute in dir(module) if not attribute.startswith("_"))
    yield f"{name}: {' '.join(names)}"
    for attribute in names:
        if inspect.ismodule(getattr(module, attribute)):
            yield from _public(getattr(module, attribute), f"{name}.{attribute}")


def _private():
    """Yields a line for each module of 2.15's `tensorflow.python.estimator`."""
    package = importlib.import_module("tensorflow.python.estimator")
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        names = [attribute for attribute in dir(module)
                 if _is_estimators(getattr(module, attribute))]
        yield f"{found.name}: {' '.join(sorted(names))}"


def _walk():
    yield from _public(tf.estimator, "tf.estimator")
    yield from _public(tf.compat.v1.estimator, "tf.compat.v1.estimator")
    yield from _public(tf.keras.estimator, "tf.keras.estimator")
    yield from _public(tf.compat.v1.keras.estimator, "tf.compat.v1.keras.estimator")
    yield from _private()


def _namespace(name):
    if not name.startswith("tf."):
        return importlib.import_module(name)
    value = tf
    for attribute in name.split(".")[1:]:
        value = getattr(value, attribute)
    return value


@pytest.mark.skipif(not NATIVE, reason="it is what the others are compared to")
def test_the_record_is_that_of_tensorflow_2_15():
    assert list(_walk()) == RECORD.read_text().splitlines()


def test_each_name_of_2_15_is_there():
    assert compat.install()
    missing = []
    for line in RECORD.read_text().splitlines():
        name, _, names = line.partition(":")
        namespace = _namespace(name)
        missing += [f"{name}.{each}" for each in names.split() if not hasattr(namespace, each)]
    assert not missing


@pytest.mark.parametrize("statement", IMPORTS)
def test_each_way_of_importing_it_works(statement):
    exec(statement, {})  # pylint: disable=exec-used


def test_a_class_is_the_same_by_each_of_its_names():
    from tensorflow.python.estimator import estimator
    from tensorflow.python.estimator.canned import dnn

    assert estimator.EstimatorV2 is tf.estimator.Estimator
    assert dnn.DNNClassifierV2 is tf.estimator.DNNClassifier
    with pytest.raises(ModuleNotFoundError, match="tensorflow.python.estimator.not_there"):
        importlib.import_module("tensorflow.python.estimator.not_there")
    with pytest.raises(ModuleNotFoundError, match="gc.not_there"):
        importlib.import_module("tensorflow.python.estimator.gc.not_there")


if __name__ == "__main__":
    print("\n".join(_walk()))
