"""The tables of `tf.contrib`: each name has a home, and they are the names that programs use."""

from __future__ import annotations

import importlib
import pathlib
import sys

import pytest

from estimator_trainer.compat import contrib as tables  # Before TensorFlow.
from estimator_trainer.compat.contrib import moved
from estimator_trainer.compat.tensorflow1 import homes, namespace, supplied
from estimator_trainer.compat.tensorflow1.stand_in import GoneError, StandIn
from tests.support import jobs

# isort: split
import tensorflow as tf

# How often 18 published repositories with an Estimator in them use each name.
COUNTS = pathlib.Path(__file__).with_name("contrib_counts.txt")
MANUAL = jobs.REPO / "docs" / "tf1.md"
PACKAGES = {
    **{name: importlib.import_module(f"{tables.__name__}.{name}") for name in tables.PACKAGES},
    **moved.TABLES}


@pytest.fixture
def contrib():
    """Yields `tf.contrib`, and leaves no trace of it."""
    finders = list(sys.meta_path)
    namespace.install()
    yield namespace.contrib()
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name.startswith("tensorflow.contrib")]:
        del sys.modules[name]


def _rows():
    """Yields the lines of the manual's table."""
    everything = {**PACKAGES, **moved.WHOLE}
    for name in sorted(everything):
        if name in moved.WHOLE:
            yield f"| `{name}` | all of `{moved.WHOLE[name]}` |"
            continue
        names = [f"`{each}`" for each in sorted(everything[name].NAMES, key=str.lower)
                 if not each.startswith("_")]
        names += [f"what `{module}` has" for module in getattr(everything[name], "MODULES", ())]
        if names:
            yield f"| `{name}` | {', '.join(names)} |"


def _has_home(name):
    """Returns whether a name works, or would with tf_slim."""
    try:
        return namespace.is_living(name)
    except AttributeError as error:
        return "install tf_slim" in str(error)


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_each_name_lives_where_its_table_has_it(package):
    table = PACKAGES[package]
    lost = []
    for name, home in table.NAMES.items():
        if homes.missing_package(home) in (None, "tensorboard"):
            try:
                assert homes.resolve(home) is not None
            except (ImportError, AttributeError) as error:
                lost.append(f"{name}: {error}")
    assert not lost or package in ("gan", "tensorboard"), lost
    for module in getattr(table, "MODULES", ()):
        assert homes.resolve(module)
    # A replacement is for what is gone.
    assert not set(getattr(table, "INSTEAD", ())) & set(table.NAMES)


def test_what_moved_as_a_whole_and_what_is_supplied_is_there():
    for home in (*moved.WHOLE.values(), *supplied.NAMES.values()):
        assert homes.resolve(home) is not None, home
    for name in supplied.NAMES:
        assert importlib.import_module(name.rpartition(".")[0])


def test_nine_of_ten_uses_in_published_programs_are_covered(contrib):
    found = [line.split() for line in COUNTS.read_text().splitlines()]
    total = sum(int(number) for number, _ in found)
    gone = {name: int(number) for number, name in found
            if not _has_home(name) and "install tf_slim" not in _sentence(contrib, name)}
    covered = 1 - sum(gone.values()) / total
    assert total > 1300 and covered >= 0.9, gone
    assert f"; {covered:.0%} of the occurrences".replace("%", " %") in MANUAL.read_text(), covered


def _sentence(contrib, name):
    value = contrib
    for part in name.split("."):
        value = getattr(value, part, value)
    return vars(value).get("_sentence", "") if isinstance(value, StandIn) else ""


def test_the_manual_lists_what_is_covered():
    text = MANUAL.read_text()
    assert not [row for row in _rows() if row not in text.splitlines()]


@pytest.mark.parametrize("use", [
    lambda contrib: contrib.labeled_tensor.LabeledTensor(3),
    lambda contrib: type(contrib)("tensorflow.contrib.labeled_tensor.reshape")(3),
    lambda contrib: contrib.labeled_tensor.LabeledTensor.zero_state,
    lambda contrib: contrib.labeled_tensor.LabeledTensor == 3,
    lambda contrib: exec("class A(B): pass", {"B": contrib.labeled_tensor.LabeledTensor}),
    lambda contrib: list(contrib.labeled_tensor.python.ops.core.LabeledTensor),
])
def test_what_is_gone_fails_by_name_when_it_is_used(contrib, use):
    with pytest.raises(GoneError, match=r"^tf\.contrib\.labeled_tensor\.[\w.]+ went with "
                       "TensorFlow 1, .*; instead, copy it from TensorFlow 1.15's source, tens"):
        use(contrib)


def test_what_is_gone_can_be_looked_up(contrib):
    assert not hasattr(contrib.labeled_tensor.LabeledTensor, "zero_state")
    assert not isinstance(3, contrib.labeled_tensor.LabeledTensor)
    assert "gone" in repr(contrib.labeled_tensor.LabeledTensor)


def test_a_module_of_a_package_is_importable_by_each_of_its_names(contrib):
    deep = importlib.import_module("tensorflow.contrib.tpu.python.tpu.tpu_estimator")
    assert deep.TPUEstimator is contrib.tpu.TPUEstimator is tf.compat.v1.estimator.tpu.TPUEstimator
    module = importlib.import_module("tensorflow.contrib.training.python.training.hparam")
    assert module.HParams is contrib.training.HParams
    assert contrib.keras.layers.Dense is tf.compat.v1.keras.layers.Dense
    assert "scalar" in importlib.import_module("tensorflow.contrib.summary").__all__


if __name__ == "__main__":
    print("\n".join(_rows()))
