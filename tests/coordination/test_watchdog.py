"""The watchdog ends a process whose main thread waits in vain, and has the last word."""

from __future__ import annotations

import subprocess
import sys

import pytest

from estimator_trainer.coordination.stop import Request
from tests.support import jobs

pytestmark = pytest.mark.cluster

# The main thread makes no progress, and logs without a pause.
_STALLED = """
import sys
from absl import logging
from estimator_trainer import logs
from estimator_trainer.cluster import task_config
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer import tensorflow_import
logs.configure("local", False)
tensorflow_import.load(False)
from estimator_trainer.coordination.job_state import JobStateWriter
from estimator_trainer.coordination.job_view import ChiefView
from estimator_trainer.coordination import lease
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
config = TrainerConfig(model_dir=sys.argv[1], stall_timeout_secs=1)
task, stop = task_config.parse(None), Stop()
held = lease.acquire(sys.argv[1], task, False, stop)
view = ChiefView(task, stop, JobStateWriter(sys.argv[1], False, 60), held)
with Watchdog(config, task, stop, view):
    while True:
        logging.info("step 1")
"""


def test_a_thread_that_still_logs_does_not_take_the_last_line(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", _STALLED, str(tmp_path)], text=True, stderr=subprocess.PIPE,
        timeout=60, env=jobs.environment(), check=False)
    assert ended.returncode == 142
    assert ended.stderr.splitlines()[-1] == (
        'role=local status=lost step=0 reason="no progress for 1 s"')


@pytest.mark.parametrize("reason, told", [
    ("worker:0 got no data", "worker:0 got no data"), ("SIGTERM", "worker:0: SIGTERM"),
    ("worker:01 is lost", "worker:0: worker:01 is lost")])
def test_a_request_names_its_task_once(reason, told):
    assert str(Request("failed", reason, "worker:0")) == told
