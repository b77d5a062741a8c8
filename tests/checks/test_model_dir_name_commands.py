"""A job tells how to look at it, with what is installed here."""

from __future__ import annotations

import importlib.util
import shlex

import pytest

from estimator_trainer.checks import model_dir_name
from estimator_trainer.settings import command_line


def test_the_command_that_is_shown_can_be_typed():
    line = model_dir_name.while_it_runs("/tmp/my runs/a;b")
    assert "/tmp/my runs/a;b/report.html" in line
    words = shlex.split(line.partition("estimator-trainer ")[2])
    page = command_line.parse(words).page
    assert page.model_dir == ("/tmp/my runs/a;b",) and page.serve


@pytest.mark.parametrize("is_installed", [True, False])
def test_tensorboard_is_shown_or_how_to_install_it(is_installed, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: is_installed or None)
    line = model_dir_name.tensorboard("/tmp/digits")
    assert line.endswith("tensorboard --logdir=/tmp/digits")
    assert ("pip install tensorboard" in line) == (not is_installed)
