"""Tasks on hosts of their own: several addresses, and a network that fails for a while."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time

import jobs
import pytest

pytestmark = pytest.mark.cluster

_TIMEOUT_SECS = 120
_CUT_SECS = 6
_SLOW = f"{jobs.REPO}/tests/slow.py"
# By name of the host: its address.
_HOSTS = {"a": "10.77.0.1", "b": "10.77.0.2"}


def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def network():
    """Two network namespaces, joined by a switch in a third; yields a function that cuts b off."""
    prefix = f"et{os.getpid()}"
    spaces = [f"{prefix}-{name}" for name in ("switch", *_HOSTS)]
    try:
        try:
            for space in spaces:
                _ip("netns", "add", space)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', error)}")
        switch = spaces[0]
        _ip("-n", switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", switch, "link", "set", "switch", "up")
        for name, address in _HOSTS.items():
            space = f"{prefix}-{name}"
            _ip("link", "add", "net", "netns", space, "type", "veth", "peer", "name", name,
                "netns", switch)
            _ip("-n", switch, "link", "set", "dev", name, "master", "switch")
            _ip("-n", switch, "link", "set", "dev", name, "up")
            _ip("-n", space, "addr", "add", f"{address}/24", "dev", "net")
            _ip("-n", space, "link", "set", "net", "up")
            _ip("-n", space, "link", "set", "lo", "up")

        def cut(is_cut):
            state = ["nomaster"] if is_cut else ["master", "switch"]
            _ip("-n", switch, "link", "set", "dev", "b", *state)

        yield prefix, cut
    finally:
        for space in spaces:
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


@contextlib.contextmanager
def _running(tmp_path, prefix, places, args):
    """Starts each task on its host: `places` has the host's name by task."""
    cluster = {}
    for i, (task, host) in enumerate(places.items()):
        cluster.setdefault(task.partition(":")[0], []).append(f"{_HOSTS[host]}:{2222 + i}")
    tasks = {}
    try:
        for task, host in places.items():
            role, _, index = task.partition(":")
            tf_config = json.dumps(
                {"cluster": cluster, "task": {"type": role, "index": int(index)}})
            tasks[task] = jobs.start(tmp_path, task, args, tf_config,
                                     ("ip", "netns", "exec", f"{prefix}-{host}"))
        yield tasks
    finally:
        for task in tasks.values():
            jobs.kill(task)


@pytest.mark.parametrize("places, extra", [
    ({"chief:0": "a", "ps:0": "a", "worker:0": "b"}, []),
    ({"chief:0": "a", "worker:0": "b", "ps:0": "b"}, []),
    ({"chief:0": "a", "worker:0": "b"}, ["--train_distribute=multi_worker_mirrored"])],
    ids=["worker", "ps", "all-reduce"])
def test_a_job_goes_on_when_a_hosts_link_was_cut_for_a_while(places, extra, network, tmp_path):
    prefix, cut = network
    args = [f"--model_fn={_SLOW}", f"--input_fn={_SLOW}", f"--model_dir={tmp_path}/model",
            "--train_steps=600", "--log_every_steps=10", *extra]
    with _running(tmp_path, prefix, places, args) as tasks:
        jobs.wait_for(lambda: tasks["worker:0"].losses and tasks["chief:0"].losses, _TIMEOUT_SECS)
        cut(True)
        time.sleep(_CUT_SECS)
        before = tasks["worker:0"].losses[-1][0]
        cut(False)
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert tasks["worker:0"].losses[-1][0] > before
    assert 600 <= jobs.saved_step(tmp_path / "model") <= 602
    assert not re.search("Traceback|was started again", tasks["chief:0"].log)


def test_the_hosts_of_a_job_may_be_addresses_of_one_machine(tmp_path):
    ports = (address.rpartition(":")[2] for address in jobs.free_addresses(3))
    hosts = {"chief": [f"127.0.0.2:{next(ports)}"], "worker": [f"127.0.0.3:{next(ports)}"],
             "ps": [f"127.0.0.4:{next(ports)}"]}
    args = [f"--model_fn={_SLOW}", f"--input_fn={_SLOW}", f"--model_dir={tmp_path}/model",
            "--train_steps=60"]
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert 60 <= jobs.saved_step(tmp_path / "model") <= 62
