"""A port that another process takes between the check and the start of TensorFlow's server."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

import pytest

from tests.support import jobs, sockets

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]
# Two tasks that start at once both find their port free: the check comes seconds before the
# server. Here the check is left out, and the port is taken all the time.
_PROGRAM = """
import sys
from estimator_trainer.cluster import ports
ports.problems = lambda task: []
from estimator_trainer import cli
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("role, cluster, strategy", [
    ("ps", ("chief", "ps"), "none"),
    pytest.param("chief", ("chief", "ps"), "parameter_server", marks=pytest.mark.soak),
    pytest.param("chief", ("chief", "worker"), "multi_worker_mirrored", marks=pytest.mark.soak)])
def test_a_port_that_was_taken_meanwhile_is_a_configuration_error(
        role, cluster, strategy, tmp_path):
    flags = ["--model_fn=linear", "--noreport", f"--train_distribute={strategy}",
             f"--model_dir={tmp_path}/m"]
    with sockets.bound("127.0.0.1", listens=True) as port, contextlib.ExitStack() as others:
        addresses = {each: [f"127.0.0.1:{port if each == role else 1}"] for each in cluster}

        def tf_config(name):
            return json.dumps({"cluster": addresses, "task": {"type": name, "index": 0}})

        if "worker" in cluster:  # The chief of an all-reduce waits for it before its server starts.
            addresses["worker"] = jobs.free_addresses(1)
            others.callback(jobs.kill, jobs.start(tmp_path, "worker:0", flags, tf_config("worker")))
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *flags], capture_output=True, text=True, timeout=100,
            cwd=jobs.REPO, env={**os.environ, "TF_CONFIG": tf_config(role)})
    assert done.returncode == 2, done.stderr
    assert f"the address of {role}:0 is '127.0.0.1:{port}'" in done.stderr
    assert f"and port {port} is taken on this machine by process" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.endswith("status=failed step=0 reason=configuration\n") or (
        done.stderr.endswith("status=failed step=0 reason=configuration\n"))
