"""An all-reduce's process keeps the memory that its threads free."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
