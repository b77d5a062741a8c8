"""Flags that a plug-in's module defines have their values after the import, or a sentence says why.
"""

from __future__ import annotations

from absl import flags
import pytest

from estimator_trainer import errors
from estimator_trainer.compat import estimator_training  # noqa: F401  Before TensorFlow.
from estimator_trainer.plugins import importing

# isort: split
import tensorflow as tf


@pytest.fixture
def define():
    """Returns a function that defines flags as a plug-in does at its import; they end with the
    test."""
    before = set(flags.FLAGS)

    def definitions(required=False):
        if "my_hidden" not in flags.FLAGS:
            flags.DEFINE_integer("my_hidden", 5, "Units.")
            flags.DEFINE_multi_string("my_tag", [], "Tags.")
            tf.compat.v1.flags.DEFINE_string("my_data", None, "Where the data is.")
        if required:
            flags.mark_flag_as_required("my_data")

    yield definitions
    for name in set(flags.FLAGS) - before:
        delattr(flags.FLAGS, name)


def test_parsed_flags_sets_flags_to_defaults_or_values_each_time(define):
    with importing.parsed_flags(()):
        define()
    assert flags.FLAGS.my_hidden == 5
    for _ in range(2):
        with importing.parsed_flags(("my_hidden=3", "my_tag=a", "my_tag=b")):
            define()
            # As modules of TensorFlow 1 do, this reads a flag when it is imported.
            assert tf.compat.v1.flags.FLAGS.my_hidden == 3
        assert (flags.FLAGS.my_hidden, flags.FLAGS.my_tag) == (3, ["a", "b"])


@pytest.mark.parametrize("words, required, sentence", [
    (("my_hiden=3",), False, "--my_hiden .*is unknown.*--my_hidden.*Did you mean '--my_hidden'"),
    (("my_hidden=x",), False, "cannot be taken: flag --my_hidden=x"),
    ((), True, r"--my_data .*is missing.*Where the data is.*-- --my_data=VALUE"),
])
def test_parsed_flags_refuses_in_one_sentence(words, required, sentence, define):
    with pytest.raises(errors.ConfigError, match=sentence):
        with importing.parsed_flags(words):
            define(required)
