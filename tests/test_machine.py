"""The memory of a process: what it keeps, and what it may use."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from estimator_trainer import machine
from tests.support import jobs

_PROGRAM = """
import resource, threading
from estimator_trainer import machine
if {is_set_up}:
    machine.keep_freed_memory()

def step():
    for _ in range(20):
        blocks = [bytearray(24 * 2**20) for _ in range(4)]
        del blocks

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

step()
step_in_thread = lambda: (step(), known.append(faults()), step(), known.append(faults()))
known = []
thread = threading.Thread(target=step_in_thread)
thread.start()
thread.join()
print(known[1] - known[0])
"""
# 20 times 4 blocks of 24 MB in pages of 4 KB.
_ALL_FAULTS = 20 * 4 * 24 * 2**20 // 4096


def _faults(is_set_up, **variables):
    """Returns how often a thread that frees and takes memory meets pages that it does not have."""
    return int(subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(is_set_up=is_set_up)], check=True, text=True,
        capture_output=True, env=jobs.environment(**variables), timeout=60).stdout)


@pytest.mark.soak
@pytest.mark.cluster
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc is Linux's")
def test_keep_freed_memory_lets_a_thread_use_it_again():
    assert _faults(False) > _ALL_FAULTS / 4
    assert _faults(True) < _ALL_FAULTS / 20


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc is Linux's")
def test_keep_freed_memory_leaves_the_users_own_setting():
    assert _faults(True, MALLOC_MMAP_THRESHOLD_="1000000") > _ALL_FAULTS / 2


_MEMINFO = ("MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\nSwapTotal: 50 kB\n"
            "SwapFree: 20 kB")


@pytest.mark.parametrize("files, total_kb, available_kb, is_limited", [
    ({}, 1050, 420, False),
    # A container sees its own group as the root, or its path on the machine.
    ({"/proc/self/cgroup": "0::/", "/sys/fs/cgroup/memory.max": "307200\n"}, 350, 350, True),
    ({"/proc/self/cgroup": "4:cpu,memory:/pod\n1:name=systemd:/",
      "/sys/fs/cgroup/memory/pod/memory.limit_in_bytes": "614400"}, 650, 420, True),
    ({"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/memory.max": "max"}, 1050, 420, False),
])
def test_memory_is_the_machines_or_the_groups(files, total_kb, available_kb, is_limited):
    found = machine.memory(lambda path: {"/proc/meminfo": _MEMINFO, **files}.get(path, ""))
    assert found == machine.Memory(1024 * total_kb, 1024 * available_kb, is_limited)


def test_memory_counts_what_the_process_holds_as_available():
    held = machine.memory(lambda path: {
        "/proc/meminfo": _MEMINFO, "/proc/self/statm": "99 10 5"}.get(path, ""))
    assert held.available == 1024 * 420 + 10 * resource.getpagesize()
    assert machine.memory(lambda path: "") is None
    assert machine.memory(machine.text_of).total > 2**28


_OPENS = """
import resource
from estimator_trainer import machine
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (16, hard))
machine.allow_open_files()
files = [open("/dev/null") for _ in range(64)]
assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] == hard
"""


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has limits of its own")
def test_a_task_may_open_more_files_than_its_shell():
    ran = subprocess.run([sys.executable, "-c", _OPENS], text=True, capture_output=True,
                         env=jobs.environment(), timeout=60, check=False)
    assert not ran.returncode, ran.stderr
