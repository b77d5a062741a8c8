"""Texts of errors: the near match of a misspelt name."""

from __future__ import annotations

import pytest

from estimator_trainer import errors


@pytest.mark.parametrize("got, allowed, expected", [
    ("cn", ("cnn", "linear"), " Did you mean 'cnn'?"),
    ("digit", ("csv", "digits"), " Did you mean 'digits'?"),
    ("mirror", ("mirrored", "one_device"), " Did you mean 'mirrored'?"),
    ("finale", iter(("best", "final")), " Did you mean 'final'?"),
    ("acuracy", {"accuracy": 1, "loss": 2}, " Did you mean 'accuracy'?"),
    ("x", ("cnn", "linear"), ""), ("", ("cnn",), ""), ("cn", (), "")])
def test_near_match(got, allowed, expected):
    assert errors.near_match(got, allowed) == expected
