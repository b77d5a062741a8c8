"""A reader that has read enough, and Ctrl-C before the work began, end in no traceback."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import time

import pytest

from tests.support import jobs

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("command", ["--help", "list"])
def test_a_reader_may_leave(command):
    with subprocess.Popen([*jobs.PROGRAM, command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=jobs.REPO) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_ctrl_c_while_tensorflow_is_imported_is_one_line(tmp_path):
    with subprocess.Popen([*jobs.PROGRAM, f"--model_dir={tmp_path}"], stderr=subprocess.PIPE,
                          cwd=jobs.REPO, text=True) as process:
        maps = pathlib.Path(f"/proc/{process.pid}/maps")
        while process.poll() is None and "libtensorflow" not in maps.read_text():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        shown = process.stderr.read()
    assert "Traceback" not in shown and "SIGINT" in shown, shown
    assert process.returncode == 143
