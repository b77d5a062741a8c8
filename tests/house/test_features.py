"""Forty features of six tools in the manual: each that is here has a command that runs."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

import pytest

from estimator_trainer.settings import command_line
from tests.support import pages

pytestmark = pytest.mark.any_tensorflow

_PAGE = pages.DOCS / "coming_from.md"
_HEADING = "## Forty features"
_LIMIT_SECS = 240
_NOT_HERE = "not here: "


class _Row(NamedTuple):
    feature: str
    there: str
    here: str

    @property
    def command(self):
        """Returns the words after `estimator-trainer`, or "" for a feature that is not here."""
        found = re.fullmatch(r"`([^`]+)`", self.here)
        return found[1] if found else ""


def _rows():
    section = _PAGE.read_text(encoding="utf-8").partition(_HEADING)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \|$", section, re.MULTILINE)
    return [_Row(*row) for row in rows if row[0] not in ("feature", "---")]


def test_forty_features_are_here_but_five_with_a_reason():
    rows = _rows()
    assert len(rows) == 40
    missing = [row for row in rows if not row.command]
    assert len(missing) <= 5 and all(row.here.startswith(_NOT_HERE) for row in missing)


@pytest.mark.parametrize(
    "row", [row for row in _rows() if row.command], ids=lambda row: row.feature)
def test_the_command_of_a_feature_parses(row):
    assert command_line.parse(shlex.split(row.command))


@pytest.mark.soak
def test_the_command_of_each_feature_runs(tmp_path):
    """All in one folder, as a reader types them; all that fail are named."""
    reader = pages.Reader(tmp_path, _LIMIT_SECS)
    text = _PAGE.read_text(encoding="utf-8")
    for block in pages.blocks(_PAGE):
        if block.is_file or block.before.rpartition("\n## ")[2].startswith(_HEADING[3:]):
            reader.do(block)
    failed = {}
    for row in filter(lambda row: row.command, _rows()):
        line = f"estimator-trainer {row.command}"
        if row.command.startswith("serve "):
            line = f"timeout --preserve-status --signal=TERM 30 {line}"
        try:
            printed = reader.do(pages.Block("sh", "", line, text))
            assert "Traceback" not in printed, printed[-3000:]
        except AssertionError as error:
            failed[row.feature] = str(error)
    assert not failed, "\n\n".join(f"{name}: {error}" for name, error in failed.items())
