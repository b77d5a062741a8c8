"""A task tells the launcher its events through a pipe, and comes to no harm from it."""

from __future__ import annotations

import os
import pathlib
import select
import signal
import sys
import time

import pytest

from estimator_trainer import environment, task_events
from estimator_trainer.launcher import task_process
from tests.support import jobs


@pytest.fixture
def pipe(monkeypatch):
    """The reading end of a pipe that this process tells its events to, as a task would."""
    reading_end, events = os.pipe()
    monkeypatch.setattr(task_events, "_pipe", None)
    os.environ.update(environment.with_events_pipe({}, events))
    task_events.begin()
    with open(reading_end, "rb", buffering=0) as stream:
        yield stream, events
    try:
        os.close(events)
    except OSError:
        pass  # The test has closed it.


def test_emit_writes_one_line_of_json(pipe):
    task_events.emit("train", step=7, loss=float("nan"), examples_per_sec=1.5)
    event = task_events.parse(pipe[0].readline())
    assert event["kind"] == "train" and event["step"] == 7 and event["examples_per_sec"] == 1.5


def test_emit_cuts_a_long_text_to_what_a_pipe_takes_whole(pipe):
    task_events.emit("end", status="failed", step=3, reason="größe\n💥\udcff" * 5000)
    line = pipe[0].read(1 << 20)
    assert 500 < len(line) <= select.PIPE_BUF and line.endswith(b"\n") and line.count(b"\n") == 1
    event = task_events.parse(line)
    assert event["reason"].startswith("größe\n💥") and event["status"] == "failed"


def test_begin_hides_the_pipe_from_child_processes(pipe):
    assert not [name for name in os.environ if "EVENTS" in name]
    assert not os.get_inheritable(pipe[1])
    pid = os.fork()
    if pid == 0:
        task_events.emit("end", status="done", step=1, reason="of a fork")
        os._exit(0)
    os.waitpid(pid, 0)
    task_events.emit("serves")
    assert task_events.parse(pipe[0].read(1 << 20)) == {"kind": "serves"}


def test_emit_waits_for_no_launcher(pipe):
    for step in range(10000):
        task_events.emit("train", step=step, loss=1.0, examples_per_sec=1.0)


@pytest.mark.parametrize("gone", ["reader", "descriptor"])
def test_emit_into_a_closed_pipe(pipe, gone):
    pipe[0].close() if gone == "reader" else os.close(pipe[1])
    task_events.emit("serves")


@pytest.mark.parametrize("value", ["", "x", "-1", "99999", "0"])
def test_begin_leaves_a_descriptor_alone_that_is_not_a_pipe(value, monkeypatch, tmp_path):
    monkeypatch.setattr(task_events, "_pipe", None)
    with (tmp_path / "file").open("wb") as file:
        os.environ["ESTIMATOR_TRAINER_EVENTS_FD"] = str(file.fileno()) if value == "0" else value
        task_events.begin()
        task_events.emit("serves")
    assert (tmp_path / "file").read_bytes() == b""


def test_parse_ignores_other_lines():
    assert task_events.parse(b"\xff{\n") == task_events.parse(b"[1]\n") == {}


def _child(tmp_path, code):
    code = f"from estimator_trainer import task_events\ntask_events.begin()\n{code}"
    return task_process.TaskProcess("chief:0", [sys.executable, "-c", code], [], jobs.environment(),
                                    tmp_path / "log", lambda child, text: None)


def _run(child):
    child.start()
    jobs.wait_for(lambda: child.poll() is not None, 60)
    return child


def test_events_give_the_launcher_state_step_and_speed(tmp_path):
    child = _run(_child(tmp_path, "task_events.emit('trains', step=5)\n"
                        "task_events.emit('train', step=9, loss=1.0, examples_per_sec=1234.6)"))
    assert (child.state, child.step, child.examples_per_sec) == ("running", 9, "1,235")


@pytest.mark.parametrize("code, reason", [
    ("task_events.emit('error', message='a: b\\nmore')\n"
     "task_events.emit('end', status='failed', step=2, reason='error')", "a: b"),
    ("task_events.emit('end', status='failed', step=2, reason='KeyError: 1')", "KeyError: 1"),
    ("task_events.emit('end', status='done', step=2, reason='train_steps')", ""),
    ("print('estimator-trainer: printed by a plug-in')", "")])
def test_events_give_the_launcher_the_reason_of_an_end(code, reason, tmp_path):
    assert _run(_child(tmp_path, code)).reason == reason


@pytest.mark.cluster
def test_launcher_does_not_wait_for_a_process_that_left_the_group(tmp_path, monkeypatch):
    monkeypatch.setattr(task_process.deadlines, "LAST_LINES_SECS", 1.0)
    held = tmp_path / "held"
    child = _child(tmp_path, "import os, time\n"
                   "task_events.emit('trains', step=3)\n"
                   "if os.fork() == 0:\n"
                   "    os.setsid()\n"
                   f"    open({str(held)!r}, 'w').write(str(os.getpid()))\n"
                   "    time.sleep(100)\n"
                   f"while not os.path.exists({str(held)!r}): time.sleep(0.01)")
    start = time.monotonic()
    try:
        assert _run(child).step == 3 and time.monotonic() - start < 30
    finally:
        os.kill(int(pathlib.Path(held).read_text()), signal.SIGKILL)


def test_events_report_a_mistake_on_the_command_line(tmp_path):
    child = task_process.TaskProcess(
        "chief:0", [*jobs.PROGRAM], ["--train_stps=5"], jobs.environment(), tmp_path / "log",
        lambda child, text: None)
    assert _run(child).reason.startswith("flag --train_stps (from the command line) is unknown")
