"""A fork of the process that has imported TensorFlow is as good as a process of its own."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

from estimator_trainer.launcher import fork_server, task_process
from tests.support import jobs

pytestmark = pytest.mark.cluster

# A module that prints what a process is; as a plug-in it makes the program end with 2.
_REPORTING = """
import json, os, sys
import numpy as np
print(json.dumps({
    "random": np.random.random(), "leads": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "words": sys.argv[1:], "folder": os.getcwd(), "found_at": sys.path[0],
    "variables": dict(os.environ), "name": open("/proc/self/comm").read().strip(),
    "is_stdin_empty": not sys.stdin.read()}), flush=True)
raise ImportError("reported")
def model_fn(features, labels, mode): pass
"""


@pytest.fixture
def server():
    server = fork_server.ForkServer(jobs.environment(PYTHONUNBUFFERED="1"),
                                    preloaded=["tensorflow_datasets"])
    yield server
    server.close()


def _reported(server, folder, **variables):
    """Returns what a task reports that the server forks."""
    (folder / "reporting.py").write_text(_REPORTING)
    request = fork_server.Request("worker:7", ("--model_fn=./reporting.py", "--plugin_flag=word=1"),
                                  jobs.environment(**variables), str(folder))
    with (folder / "reported").open("w+") as output:
        process = server.start(request, output.fileno(), output.fileno())
        assert process.wait(60) == process.poll() == 2
        output.seek(0)
        text = output.read()
    reported, sentence, last = text.splitlines()
    assert "reported" in sentence and last.startswith("role=local status=failed")
    return json.loads(reported)


def test_forked_process_has_its_own_place_and_random_numbers(server, tmp_path):
    first, second = (_reported(server, tmp_path, WHO=who) for who in "ab")
    assert first["leads"] and first["is_stdin_empty"] and first["name"] == "worker:7"
    assert first["folder"] == first["found_at"] == str(tmp_path)
    assert first["words"] == ["--word=1"]
    assert (first["variables"]["WHO"], second["variables"]["WHO"]) == ("a", "b")
    assert first["random"] != second["random"]


def test_fork_server_has_no_threads_of_tensorflow(server, tmp_path):
    _reported(server, tmp_path)
    # OpenBLAS has threads, one a core, and knows how to be forked.
    threads = list(pathlib.Path(f"/proc/{server.pid}/task").iterdir())
    assert len(threads) <= (os.cpu_count() or 1)


def test_fork_server_that_was_killed_is_replaced(server, tmp_path):
    lines = []
    child = task_process.TaskProcess(
        "chief:0", [sys.executable, "-c", "import sys; print(sys.argv[1:])"], ["--version"],
        jobs.environment(), tmp_path / "log", lambda child, text: lines.append(text), server)
    child.start()
    assert _code(child) == 0 and lines[0].startswith("estimator_trainer ")
    os.kill(server.pid, 9)
    jobs.wait_for(lambda: not _is_alive(server.pid), 10)
    child.start()
    assert _code(child) == 0 and lines[1] == "['--version']"


def test_fork_server_ends_with_its_last_client():
    code = ("import sys; from estimator_trainer.launcher import fork_server\n"
            "variables = {'PYTHONPATH': sys.argv[1]}\n"
            "server = fork_server.ForkServer(variables)\n"
            "task = fork_server.Request('local', ('--version',), variables, '.')\n"
            "print(server.start(task, 2, 2).wait(60) or server.pid)")
    ran = subprocess.run([sys.executable, "-c", code, str(jobs.REPO)], env=jobs.environment(),
                         capture_output=True, text=True, timeout=60, check=True)
    jobs.wait_for(lambda: not _is_alive(int(ran.stdout)), 60)
    assert "TensorFlow" in ran.stderr
    assert "Warning" not in ran.stderr  # Python 3.12 warns of a fork beside other threads.


def _code(child):
    deadline = time.monotonic() + 60
    while (code := child.poll()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return code


def _is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
