"""Unit tests of a user's own TensorFlow 1 code run with one command: those of docs/tf1.md."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from tests.support import jobs

_PAGE = (jobs.REPO / "docs" / "tf1.md").read_text()


def _run(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "estimator_trainer.compat.tf1", *words], cwd=folder, text=True,
        capture_output=True, check=False, env=jobs.environment())


def test_the_page_has_a_command_for_each_runner() -> None:
    commands = re.search(r"Needs your tests\"\n(.*?)```", _PAGE, re.S)
    assert commands and [line.split()[3:5] for line in commands[1].splitlines()] == [
        ["-m", "pytest"], ["-m", "unittest"], ["test_old_model.py"]]


@pytest.mark.soak
@pytest.mark.parametrize("words, expected", (
    (["-m", "pytest", "-q", "test_old_model.py"], "1 passed, 1 skipped"),
    (["-m", "unittest", "test_old_model"], "OK (skipped=1)"),
    (["test_old_model.py"], "OK (skipped=1)"),
    (["nope.py"], "got 'nope.py', which is no program; expected FILE.py or -m MODULE"),
    ([], "got no program; expected FILE.py or -m MODULE")))
def test_tests_of_the_page_run(tmp_path: pathlib.Path, words: list[str], expected: str) -> None:
    for name in ("old_model.py", "test_old_model.py"):
        block = re.search(rf"title=\"{name}\"\n(.*?)```", _PAGE, re.S)
        assert block
        # A flag of the program's, which pytest's command line does not have.
        flag = "tf.flags.DEFINE_integer('units', 32, '')\n" if name == "old_model.py" else ""
        source = block[1].replace("import tensorflow as tf\n", "import tensorflow as tf\n" + flag)
        (tmp_path / name).write_text(source.replace("(image, 32,", "(image, tf.flags.FLAGS.units,"))
    ended = _run(tmp_path, *words)
    assert expected in ended.stdout + ended.stderr
    assert ended.returncode == (2 if "expected" in expected else 0)
