"""The screen of `launch` shows the tasks' lines, and a table below them."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest

from estimator_trainer.launcher.supervisor import Screen
from estimator_trainer.launcher.task_process import TaskProcess
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


def test_screen_shows_lines_with_coloured_names_above_a_table(tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    code = ("from estimator_trainer import task_events\n"
            "task_events.begin()\n"
            "task_events.emit('train', step=5, loss=1.0, examples_per_sec=90.2)\n"
            "print('12:00:00 chief:0  step 5/10')")
    child = TaskProcess("chief:0", [sys.executable, "-c"], [code], jobs.environment(),
                        tmp_path / "log", lambda child, text: screen.line(child.name, text))
    screen = Screen(["chief:0"], 10, stream)
    child.start()
    while child.poll() is None:
        time.sleep(0.05)
    time.sleep(0.3)
    screen.show([child])
    screen.line("launch", "more")
    text = stream.getvalue()
    assert "\x1b[36mchief:0 |\x1b[0m 12:00:00  step 5/10" in text
    assert re.search(r"chief:0 +\d+ +starting +5 +90 +0\n\[={12} {12}\] step 5/10\n", text)
    assert text.endswith("\x1b[3F\x1b[Jlaunch  | more\n")
