"""A mistake in a call is one sentence, in the words of Python."""

from __future__ import annotations

import traceback

import pytest

import estimator_trainer
from estimator_trainer import errors
from estimator_trainer.python import call

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("flags, python", [
    ("For example: --param units=5", "For example: params={'units': 5}"),
    ("--param units=[5,3] --param label='a b'.", "params={'units': [5, 3], 'label': 'a b'}."),
    ("--param columns='{\"age\": 0.0}'", "params={'columns': {'age': 0.0}}"),
    ("use --train_steps=100, or", "use train_steps=100, or"),
    ("with --exporters=final,best", "with exporters=['final', 'best']"),
    ("--noreport or --report; --model_dir is", "report=False or report=True; model_dir= is"),
    ("iconv --from-code=UTF-16 x", "iconv --from-code=UTF-16 x"),
    ("run the same command", "run the same call"),
    ("'memory-table://5f' was memory-table://a0", "the table in memory was another one"),
])
def test_messages_have_keyword_arguments_in_place_of_flags(flags, python):
    assert call.in_words(flags) == python


def test_messages_name_the_argument_that_was_passed():
    text = "train_files is 'x', which matches no file. For example: --param train_files=y"
    assert call.in_words(text, {"data"}) == (
        "data is 'x', which matches no file. For example: data='y'")
    assert "'eval_files': 'y'" in call.in_words("--param eval_files=y", {"params"})


class _Mistake(ValueError):
    exit_code = 2


@call.with_short_errors
def _function(data, error):
    raise error


def test_an_error_of_one_sentence_has_no_frames_below_the_call():
    with pytest.raises(estimator_trainer.ConfigError) as caught:
        _function(5, errors.ConfigError("no --train_steps=5"))
    assert str(caught.value) == "no train_steps=5" and caught.value.__suppress_context__
    assert len(traceback.format_exception(caught.value)) < 6
    assert caught.value._render_traceback_() == ["ConfigError: no train_steps=5"]


def test_an_error_of_a_plugin_is_of_its_class_and_of_this_package():
    with pytest.raises(estimator_trainer.ConfigError, match="params={'x': 1}") as caught:
        _function(5, _Mistake("--param x=1"))
    assert isinstance(caught.value, _Mistake) and type(caught.value).__name__ == "_Mistake"
    with pytest.raises(KeyError, match="mine"):
        _function(5, KeyError("mine"))


@pytest.mark.parametrize("keywords, expected", [
    ({"train_stepz": 5}, "Did you mean 'train_steps'"),
    ({"learning_rate": 0.5}, r"For example: params=\{'learning_rate': 0.5\}"),
    ({"train_steps": 5.0}, "expected an integer"),
    ({"report": "no"}, "expected True or False"),
    ({"on_evaluation": 5}, "expected a function that takes a dict of metrics"),
])
def test_a_keyword_that_is_wrong_is_met_with_what_to_write(keywords, expected):
    with pytest.raises(estimator_trainer.ConfigError, match=expected):
        estimator_trainer.train(**keywords)
