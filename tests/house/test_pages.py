"""The manual's commands: each runs, or its block says what it needs and it parses at least."""

from __future__ import annotations

import pathlib
import re
import shlex

import pytest

from estimator_trainer import cli
from estimator_trainer.settings import command_line
from tests.support import jobs, pages

pytestmark = pytest.mark.any_tensorflow

_LIMIT_SECS = 240
_ALL = [jobs.REPO / "README.md", jobs.REPO / "CONTRIBUTING.md", *pages.MANUAL,
        *sorted((jobs.REPO / "examples").rglob("README.md"))]
_LANGUAGES = {"sh", "python", "text", "yaml", "json", "csv", "dockerfile"}


def _id(path: pathlib.Path) -> str:
    return str(path.relative_to(jobs.REPO))


def _commands(path):
    """Returns each `estimator-trainer` command of a page's blocks: its variables, its words."""
    found = []
    for block in pages.blocks(path):
        if block.language != "sh":
            continue
        for line in block.lines:
            for part in re.split(r"(?:^|\s)(?:\|\|?|&&|;)(?:\s|$)", line.split(" #")[0]):
                words = re.split(r"(?:^|\s|/)estimator-trainer(?=\s|$)", part, maxsplit=1)
                if len(words) == 2 and not part.startswith("#"):
                    variables = dict(re.findall(r"\b([A-Z_]+)=(\S+)", words[0]))
                    found.append((variables, re.sub(r"\s(?:[12]?>|<|&).*", "", words[1])))
    return found


@pytest.mark.parametrize("path", _ALL, ids=_id)
def test_every_block_has_a_language_and_a_mark_where_it_does_not_run(path):
    for block in pages.blocks(path):
        assert block.language in _LANGUAGES, block
        is_marked = block.is_file or block.title == "Sketch" or block.title.startswith("Needs ")
        assert is_marked or not block.title, block


@pytest.mark.parametrize("path", pages.MANUAL, ids=_id)
def test_a_page_begins_with_a_command_that_runs(path):
    first = next(block for block in pages.blocks(path) if block.is_run)
    assert "\n## " not in first.before, first


@pytest.mark.parametrize("path", _ALL, ids=_id)
def test_every_command_of_a_page_parses(path, monkeypatch):
    for variables, command in _commands(path):
        words = shlex.split(command)
        # A trial takes more flags than other tasks.
        monkeypatch.setenv("CLOUD_ML_TRIAL_ID", variables.get("CLOUD_ML_TRIAL_ID", ""))
        if cli.help_topic(words) is None and not cli.wants_version(words):
            command_line.parse(words)


@pytest.mark.cluster
@pytest.mark.parametrize("path", [
    pytest.param(path, id=_id(path),
                 marks=[] if path.stem == "README" else [pytest.mark.soak])
    for path in [jobs.REPO / "README.md", *pages.MANUAL]])
def test_a_page_does_what_it_shows(path, tmp_path, data_dir):
    printed = pages.run(path, tmp_path, _LIMIT_SECS, TFDS_DATA_DIR=str(data_dir))
    assert "Traceback" not in printed, printed[-6000:]
