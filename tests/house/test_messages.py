"""Messages that a notebook may show as well as a terminal name a setting by errors.Setting."""

from __future__ import annotations

import ast
import dataclasses
import re

from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

_PACKAGE = jobs.REPO / "estimator_trainer"
_FLAG = re.compile(r"--(no)?(%s)\b" % "|".join(
    sorted((field.name for field in dataclasses.fields(TrainerConfig)), key=len, reverse=True)))
# Rooms and modules of the command line alone, and why a module of another room names a flag.
_COMMAND_LINE = {"settings", "launcher", "manifest", "script", "starter"}
_REASONS = {
    "errors.py": "makes the words of each caller",
    "python/call.py": "replaces flags",
    "plugins/importing.py": "has the words of each caller, by errors.worded",
    "checks/model_dir_name.py": "prints a command that opens a page",
    "beam.py": "prints its own command line",
    "checks/probe.py": "answers `check --probe`, which no Python function does",
    "checks/run_plan.py": "answers `launch`, whose flags stand after `--`",
    "reports/task_load.py": "has a style of CSS, --share",
    "prediction/rest_server.py": "answers `serve`, which no Python function does",
    "plugins/param_defaults.py": "answers `manifest`",
}


def _texts(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
            and isinstance(node.value, str) and id(node) not in docs]


def test_no_message_for_both_callers_names_a_flag():
    found = {path.relative_to(_PACKAGE).as_posix(): text for path in _PACKAGE.rglob("*.py")
             for text in _texts(path) if _FLAG.search(text)}
    others = {name: text for name, text in found.items()
              if name.split("/")[0] not in _COMMAND_LINE and name not in _REASONS}
    assert not others, others
    assert found.keys() >= _REASONS.keys()
