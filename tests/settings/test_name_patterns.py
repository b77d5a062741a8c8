"""Patterns of variables' names: what each stands for, and what is wrong with one."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.settings import keyword_settings, name_patterns

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("text, patterns", [
    ("", ()), ("body", ("body",)), ("body, head/kernel", ("body", "head/kernel")),
    ("block_{1,2}/.*,head", ("block_{1,2}/.*", "head")), ("[a,b]x,(c,d)", ("[a,b]x", "(c,d)"))])
def test_split_at_commas_outside_of_brackets(text, patterns):
    assert name_patterns.split(text) == patterns


def test_matches_all_below_a_scope_and_a_tensors_name():
    assert name_patterns.matches("body", "body/dense/kernel")
    assert name_patterns.matches("body/dense/kernel:0", "body/dense/kernel")
    assert not name_patterns.matches("dense", "body/dense/kernel")
    assert not name_patterns.matches("(?!body)", "body/dense/kernel")


@pytest.mark.parametrize("settings, problem", [
    ({"freeze": "body("}, "'body(' is no regular expression"),
    ({"warm_start_from": "old", "warm_start_rename": ("a",)}, "expected OLD=NEW"),
    ({"warm_start_from": "old", "warm_start_rename": ("a/=b",)}, "expected OLD=NEW"),
    ({"warm_start_missing": True}, "warm_start_from is missing"),
    ({"warm_start_from": "old", "train_distribute": "central_storage"}, "takes nothing"),
])
def test_problem_is_found_without_tensorflow(settings, problem):
    with pytest.raises(errors.ConfigError) as told:
        keyword_settings.config_of(settings)
    assert problem in str(told.value)


def test_split_takes_a_list_from_python():
    assert keyword_settings.config_of({"freeze": ["a", "b"]}).freeze == "a,b"
