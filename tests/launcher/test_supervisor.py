"""The screen of `launch` shows the tasks' lines, and a table below them."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import time

import pytest

from estimator_trainer.launcher.supervisor import Screen, Supervisor
from estimator_trainer.launcher.task_process import TaskProcess
from estimator_trainer.launcher.wanted_workers import WantedWorkers
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


_TASK = """
import os, pathlib, signal, sys
signal.signal(signal.SIGTERM, lambda *unused: sys.exit(143))
pathlib.Path(sys.argv[1], os.environ["RUN"]).touch()
if "worker:2" in os.environ["RUN"] and sys.argv[2] == "dies":
    sys.exit(142)
while True:
    signal.pause()
"""
_NAMES = ["chief:0", "worker:0", "worker:1", "worker:2", "evaluator:0"]


def _in_job(tmp_path, way, problem=lambda number: ""):
    """Returns a job of 1 to 3 workers, what it prints, and the wanted number."""
    def environments(number):
        left_out = [f"worker:{index}" for index in range(number, 3)]
        return {name: {**jobs.environment(), "RUN": f"{name} of {number}"}
                for name in _NAMES if name not in left_out}

    stream = io.StringIO()
    screen = Screen(_NAMES, None, stream)
    children = [TaskProcess(name, [sys.executable, "-c", _TASK], [str(tmp_path / "runs"), way],
                            environments(1).get(name, {}), tmp_path / f"{name}.log",
                            lambda child, text: screen.line(child.name, text)) for name in _NAMES]
    (tmp_path / "runs").mkdir()
    wanted = WantedWorkers(tmp_path, 1, 3, lambda text: screen.line("launch", text), problem)
    supervisor = Supervisor(children, 0, screen, "")
    supervisor.follow(wanted, children[2:4], environments)
    return supervisor, stream, wanted


def _runs(tmp_path):
    return {path.name for path in (tmp_path / "runs").iterdir()}


def _after(tmp_path, names, act):
    """Acts in a thread once the named tasks have started."""
    def wait():
        jobs.wait_for(lambda: names <= _runs(tmp_path), 30)
        act()

    threading.Thread(target=wait, daemon=True).start()


def test_all_tasks_start_again_in_a_job_of_another_number_of_workers(tmp_path):
    supervisor, stream, wanted = _in_job(
        tmp_path, "waits", lambda number: "2 do not fit." if number == 2 else "")
    of_one, of_three = ({f"{name} of {number}" for name in names} for number, names in
                        ((1, ("chief:0", "worker:0", "evaluator:0")), (3, _NAMES)))
    _after(tmp_path, of_one, lambda: wanted.path.write_text("2\n"))
    _after(tmp_path, of_one, lambda: jobs.wait_for(
        lambda: "2 do not fit" in stream.getvalue() and wanted.path.write_text("3\n"), 30))
    _after(tmp_path, of_three, lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert supervisor.run() == 143
    assert _runs(tmp_path) == of_one | of_three
    assert "workers has 2, and 2 do not fit. The job keeps 1 workers." in stream.getvalue()
    assert not supervisor.first_failure


def test_a_job_goes_on_with_fewer_workers_after_the_restarts_of_one(tmp_path):
    supervisor, stream, wanted = _in_job(tmp_path, "dies")
    _after(tmp_path, {"worker:0 of 1"}, lambda: wanted.path.write_text("3\n"))
    of_two = {f"{name} of 2" for name in _NAMES if name != "worker:2"}
    _after(tmp_path, of_two, lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert supervisor.run() == 143
    assert of_two <= _runs(tmp_path) and wanted.path.read_text() == "2\n"
    assert "exit 142 after 0 restarts: gives up; the job goes on with 2 workers" in (
        stream.getvalue())
    assert supervisor.first_failure.startswith("worker:2, exit 142")
