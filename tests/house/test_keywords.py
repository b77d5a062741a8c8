"""The keywords of the Python functions are the flags of the commands, for editors and `help`."""

from __future__ import annotations

import inspect
import pydoc
import re
import typing

import pytest

from docs.site import keywords
import estimator_trainer
from estimator_trainer.python import keyword_settings, keywords as typed

pytestmark = pytest.mark.any_tensorflow


def test_the_typed_keywords_are_those_of_the_flags():
    assert keywords.FILE.read_text(encoding="utf-8") == keywords.source(), keywords.COMMAND


@pytest.mark.parametrize("name", keywords.COMMANDS)
def test_a_type_checker_sees_the_settings(name):
    hints = typing.get_type_hints(getattr(typed, name.capitalize()))
    fields = {field.name for field in keyword_settings.fields_of(name)}
    assert set(hints) <= fields and fields - set(hints) <= {"model_fn", "input_fn", "model_dir"}


@pytest.mark.parametrize("name", keywords.COMMANDS)
def test_signature_and_help_name_every_setting(name):
    function = getattr(estimator_trainer, name)
    parameters = inspect.signature(function).parameters
    assert not [each for each in parameters.values() if each.kind is each.VAR_KEYWORD]
    fields = [each.name for each in keyword_settings.fields_of(name)]
    assert not set(fields) - parameters.keys() and len(fields) > 5
    page = pydoc.render_doc(function, renderer=pydoc.plaintext)
    own = ("model_fn", "input_fn", "model_dir")
    assert not [field for field in fields if f"{field}: " not in page and field not in own]
    assert set(re.findall(r"--[a-z]\w+", page)) <= {"--json"}  # The command's, for `check`.


def test_completion_of_the_package_offers_the_public_names_alone():
    assert set(dir(estimator_trainer)) == {*estimator_trainer.__all__, "__version__"}
