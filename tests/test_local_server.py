"""A server for this machine ends at a signal, and once."""

import signal
import subprocess
import sys
import time

import pytest

from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow

_PROGRAM = """
import time
from estimator_trainer import local_server

class Slow:
    def __del__(self):
        time.sleep(1)

slow = Slow()
local_server.serve(local_server.Handler, 0)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_does_not_disturb_the_end_of_a_server(number):
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], env=jobs.environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        for _ in range(2):
            process.send_signal(number)
            time.sleep(0.3)
        _, printed = process.communicate(timeout=60)
    assert process.returncode == 0 and not printed
