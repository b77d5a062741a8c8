"""Patterns of variables' names: what each stands for, and what is wrong with one."""

from __future__ import annotations

import pytest

from estimator_trainer import api, errors
from estimator_trainer.settings import conflicts

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("text, patterns", [
    ("", ()), ("body", ("body",)), ("body, head/kernel", ("body", "head/kernel")),
    ("block_{1,2}/.*,head", ("block_{1,2}/.*", "head")), ("[a,b]x,(c,d)", ("[a,b]x", "(c,d)"))])
def test_split_at_commas_outside_of_brackets(text, patterns):
    assert conflicts.split(text) == patterns


def test_matches_all_below_a_scope_and_a_tensors_name():
    assert conflicts.matches("body", "body/dense/kernel")
    assert conflicts.matches("body/dense/kernel:0", "body/dense/kernel")
    assert not conflicts.matches("dense", "body/dense/kernel")
    assert not conflicts.matches("(?!body)", "body/dense/kernel")


@pytest.mark.parametrize("settings, problem", [
    ({"freeze": "body("}, "'body(' is no regular expression"),
    ({"warm_start_from": "old", "warm_start_rename": ("a",)}, "expected OLD=NEW"),
    ({"warm_start_from": "old", "warm_start_rename": ("a/=b",)}, "expected OLD=NEW"),
    ({"warm_start_missing": True}, "warm_start_from is missing"),
    ({"warm_start_from": "old", "train_distribute": "central_storage"}, "takes nothing"),
])
def test_problem_is_found_without_tensorflow(settings, problem):
    with pytest.raises(errors.ConfigError) as raised:
        api.config_of(settings)
    assert problem in str(raised.value)


def test_split_takes_a_list_from_python():
    assert api.config_of({"freeze": ["a", "b"]}).freeze == "a,b"


@pytest.mark.parametrize("settings, sentence", [
    ({"stop_at": "accuracy"}, "stop_at is 'accuracy' (from --stop_at); expected a metric, one of"
     " >=, <=, > and <, and a number"),
    ({"keep_checkpoint_every_n_hours": float("nan")}, "expected a number of at least 1e-06"),
    ({"keep_checkpoint_every_n_hours": "2"}, "expected a number")])
def test_an_end_or_a_number_that_cannot_be_read_is_one_sentence(settings, sentence):
    with pytest.raises(errors.ConfigError) as raised:
        api.config_of(settings)
    assert sentence in str(raised.value)


def test_an_integer_is_a_number_of_hours():
    assert api.config_of({"keep_checkpoint_every_n_hours": 2}).keep_checkpoint_every_n_hours == 2.0
