"""A request to stop, by another task or by a signal, is kept and obeyed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from estimator_trainer import errors
from estimator_trainer.coordination import stop as stop_lib
from estimator_trainer.coordination.stop import Request, Stop
from tests.support import jobs

# usleep waits with Python's lock, as TensorFlow does for the tasks of an all-reduce.
_WAITS_WITH_THE_LOCK = """
import ctypes
from estimator_trainer.coordination import stop
with stop.killed_after(0.1):
    pass
with stop.killed_after(2):
    ctypes.PyDLL(None).usleep(60_000_000)
"""


@pytest.mark.parametrize("reason, expected", [
    ("worker:0 got no data", "worker:0 got no data"), ("SIGTERM", "worker:0: SIGTERM"),
    ("worker:01 is lost", "worker:0: worker:01 is lost")])
def test_request_names_its_task_once(reason, expected):
    assert str(Request("failed", reason, "worker:0")) == expected


def test_stop_keeps_the_first_request():
    stop = Stop()
    stop.check()
    stop.request_end("stopped", "SIGTERM", "chief:0")
    stop.request_end("failed", "NaN", "worker:0")
    with pytest.raises(errors.Interrupted, match="chief:0: stopped: SIGTERM"):
        stop.check()


def test_stop_at_the_end_of_a_job_interrupts_no_evaluation():
    stop = Stop()
    stop.request_end("done", "early_stopping", "chief:0")
    stop.check()


def test_stopping_on_signals_restores_the_handlers():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    stop = Stop()
    with stop_lib.stopping_on_signals(stop, "local", lambda: 0):
        stop_lib.reclaim_sigterm()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5) and stop.request.reason == "SIGTERM"
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_killed_after_ends_a_process_that_holds_pythons_lock():
    ended = subprocess.run([sys.executable, "-c", _WAITS_WITH_THE_LOCK], text=True, timeout=50,
                           stderr=subprocess.PIPE, env=jobs.environment(), check=False)
    assert ended.returncode == -signal.SIGALRM
    assert "line 7 in <module>" in ended.stderr
