"""A mistake in a flag file is told with the file."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.settings import command_line

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("text, expected", [
    ("--train_stepz=3\n", "flag --train_stepz (from --flagfile={file}) is unknown"),
    ("# steps\n--train_steps=x\n", "train_steps is 'x' (from --train_steps in --flagfile={file})"),
])
def test_the_message_names_the_file(text, expected, tmp_path):
    file = tmp_path / "flags"
    file.write_text(text)
    for words in ([f"--flagfile={file}"], ["--flagfile", str(file)]):
        with pytest.raises(errors.ConfigError) as raised:
            command_line.parse(words)
        assert expected.format(file=file) in str(raised.value)


def test_a_mistake_on_the_line_is_not_laid_on_the_file(tmp_path):
    (tmp_path / "flags").write_text("--train_steps=3\n")
    with pytest.raises(errors.ConfigError, match="from the command line"):
        command_line.parse([f"--flagfile={tmp_path / 'flags'}", "--train_stepz=3"])


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(errors.ConfigError) as raised:
        command_line.parse([f"--flagfile={tmp_path / 'none'}"])
    assert "No such file" in str(raised.value) and "ERROR" not in str(raised.value)
