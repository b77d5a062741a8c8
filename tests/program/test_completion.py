"""TAB completes command lines: the candidates, and keys typed in a real bash and a real zsh."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import sys
import time

import pytest

from estimator_trainer import completion
from tests.support import jobs, line_model

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\r\x07]")


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("line, expected", [
    ("man", ["manifest"]), ("help ev", ["evaluate"]), ("--train_st", ["--train_steps="]),
    ("--nore", ["--noreport"]), ("--rep", ["--report"]), ("evaluate --train_s", []),
    ("predict --with", ["--with_inputs"]),
    ("--model_fn=cn", ["--model_fn=cnn"]), ("--input_fn tf", ["tfds", "tfrecord"]),
    ("--train_distribute=mi", ["--train_distribute=mirrored"]),
    ("--checkpoint ", ["latest", "best", "all", "step="]),
    ("--exporters=final,b", ["--exporters=final,best"]), ("--tf1=t", ["--tf1=true"]),
    ("--input_fn=csv --param empty_l", ["empty_labels="]), ("--param=image_f", []),
    ("--model_fn=canned --param prepare_columns=f", ["prepare_columns=false"]),
    ("--input_fn=csv --param train_files=", [":files"]), ("--model_dir=d", [":files"]),
    ("train --flagfile ", [":files"]), ("run ", [":files"]), ("run a.py -- --x", [":files"]),
    ("launch --worker=2 -- --eval_st", ["--eval_steps="]), ("launch --evaluato", ["--evaluator="]),
    ("launch -- run a.py --tf1_o", ["--tf1_op_seeds"]), ("completion z", ["zsh"]),
    ("list tf", ["tfds", "tfrecord"]), ("list tfds tf", ["tfrecord"]), ("list --j", ["--json"]),
    ("--param train_files='a b", [])])
def test_candidates_are_what_the_last_word_may_become(line, expected):
    word = line.rpartition(" ")[2]
    found = completion.candidates(f"estimator-trainer {line}", word)
    assert [each for each in found if each != ":files" or expected == [":files"]] == expected


@pytest.mark.any_tensorflow
def test_candidates_are_of_the_plugins_on_the_line_or_in_the_record(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(line_model.SOURCE.replace("DEFAULT_PARAMS = {", 'DEFAULT_PARAMS = {"odd": 1, '))
    line = f"estimator-trainer --model_fn={path} --param od"
    assert completion.candidates(line, "od") == ["odd="]
    (tmp_path / "record.json").write_text(
        '{"format": 1, "plugins": {"model_fn": {"name": "canned"}, "input_fn": {"name": "csv"}}}')
    line = f"estimator-trainer evaluate --model_dir={tmp_path} --param label_s"
    assert completion.candidates(line, "label_s") == ["label_scale="]


def test_completion_imports_no_tensorflow(no_tensorflow):
    ran = jobs.program("completion", "--line=et --model_fn=cn", "--word=cn",
                       PYTHONPATH=no_tensorflow)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("cnn\n:files\n", "", 0)


class _Shell:
    """A shell in a pseudo-terminal, in which one types."""

    def __init__(self, words, folder, environment):
        self.pid, self._terminal = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self._shown = ""

    def type(self, text, expected, timeout_secs=60):
        """Types a text, and returns what is shown until `expected` is."""
        os.write(self._terminal, text.encode())
        end, start = time.monotonic() + timeout_secs, len(self._shown)
        while expected not in self._shown[start:]:
            assert time.monotonic() < end, f"{expected!r} is not in {self._shown[start:]!r}"
            if select.select([self._terminal], [], [], 0.1)[0]:
                text = os.read(self._terminal, 65536).decode(errors="replace")
                # zsh adds a space, and takes it back.
                self._shown = re.sub(r".\x08", "", self._shown + _COLOURS.sub("", text))
        return self._shown[start:]

    def close(self):
        os.close(self._terminal)
        os.waitpid(self.pid, 0)


@pytest.fixture
def shell(request, tmp_path):
    """Returns a function that starts a shell in a folder with some files."""
    with contextlib.ExitStack() as ended:
        def start(*words):
            if not shutil.which(words[0]):
                pytest.skip(f"no {words[0]} here (Debian's package {words[0]})")
            folder, programs = tmp_path / "work", tmp_path / "bin"
            programs.mkdir()
            program = programs / "estimator-trainer"
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -m estimator_trainer "$@"\n')
            program.chmod(0o755)
            (folder / "my data").mkdir(parents=True)
            (folder / "my_model.py").write_text(line_model.SOURCE)
            started = _Shell(words, folder, jobs.environment(
                PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", TERM="dumb", PS1="> ",
                HOME=str(tmp_path), ZDOTDIR=str(tmp_path), COLUMNS="200"))
            ended.callback(started.close)
            name = words[0]
            started.type(f"source <(estimator-trainer completion {name}); echo rea''dy\n", "ready")
            return started
        yield start


@pytest.mark.soak
@pytest.mark.parametrize("words", [
    ("bash", "--norc", "--noprofile", "-i"), ("zsh", "-f", "-i")], ids=["bash", "zsh"])
def test_tab_completes_in_a_shell(words, shell):
    typed = shell(*words)
    clear = "\x15"
    for text, expected in [
            ("man\t", "estimator-trainer manifest "), ("list dig\tx", "list digits x"),
            ("predict --mod\t", "--model_"), ("--train_ste\t5", "--train_steps=5"),
            ("--model_fn=cn\t--x", "--model_fn=cnn --x"), ("--model_fn cn\t--x", "cnn --x"),
            ("--model_fn=my_m\t--x", "--model_fn=my_model.py --x"),
            ("--train_distribute=mi\t--x", "mirrored --x"),
            ("--input_fn=csv --param empty_l\tleave_out", "empty_labels=leave_out"),
            ("--param=shuf\t9", "--param=shuffle_buffer=9"),
            ("--params_file=my_m\t", "--params_file=my_model.py"),
            ("--model_dir=my\\ \tz", "my\\ data/z"),
            ("launch --worker=2 -- --eval_st\t7", "-- --eval_steps=7"),
            ("--flagfile ~/wor\t", "~/work/")]:
        typed.type(f"estimator-trainer {text}", expected)
        typed.type(f"{clear}", "")
