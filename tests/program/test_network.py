"""Tasks run on hosts of their own, with several addresses and a network that fails for a while."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from tests.support import jobs, slow_jobs

pytestmark = pytest.mark.cluster

_TIMEOUT_SECS = 120
_SLOW = f"{jobs.REPO}/tests/support/slow.py"
# Each host's address.
_HOSTS = {"a": "10.77.0.1", "b": "10.77.0.2"}


def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def network():
    """Makes two network namespaces and a switch in a third; yields a function that cuts b off."""
    prefix = f"et{os.getpid()}"
    switch = f"{prefix}-switch"
    spaces = [switch, *(f"{prefix}-{name}" for name in _HOSTS)]

    def cut(is_cut):
        state = ["nomaster"] if is_cut else ["master", "switch"]
        _ip("-n", switch, "link", "set", "dev", "b", *state)

    try:
        try:
            _connect(prefix, switch, spaces)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', error)}")
        yield prefix, cut
    finally:
        for space in spaces:
            with contextlib.suppress(OSError):
                subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


def _connect(prefix, switch, spaces):
    for space in spaces:
        _ip("netns", "add", space)
    _ip("-n", switch, "link", "add", "switch", "type", "bridge")
    _ip("-n", switch, "link", "set", "switch", "up")
    for name, address in _HOSTS.items():
        space = f"{prefix}-{name}"
        _ip("link", "add", "net", "netns", space, "type", "veth", "peer", "name", name, "netns",
            switch)
        _ip("-n", switch, "link", "set", "dev", name, "master", "switch")
        _ip("-n", switch, "link", "set", "dev", name, "up")
        _ip("-n", space, "addr", "add", f"{address}/24", "dev", "net")
        _ip("-n", space, "link", "set", "net", "up")
        _ip("-n", space, "link", "set", "lo", "up")


@contextlib.contextmanager
def _running(tmp_path, prefix, places, args):
    """Starts each task on the host that `places` names for it."""
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


def _flags(tmp_path, *extra):
    return [f"--model_fn={_SLOW}", f"--input_fn={_SLOW}", f"--model_dir={tmp_path}/model",
            "--log_every_steps=10", *extra]


def _cut_off(tasks, cut, secs):
    """Cuts host b off for a while, once all train; returns the step of worker:0 after that."""
    jobs.wait_for(lambda: tasks["worker:0"].losses and tasks["chief:0"].losses, _TIMEOUT_SECS)
    cut(True)
    time.sleep(secs)
    step = tasks["worker:0"].losses[-1][0]
    cut(False)
    return step


@pytest.mark.soak
@pytest.mark.any_tensorflow
@pytest.mark.parametrize("places", [
    {"chief:0": "a", "ps:0": "a", "worker:0": "b"}, {"chief:0": "a", "worker:0": "b", "ps:0": "b"}
], ids=["worker", "ps"])
def test_a_job_goes_on_after_the_link_of_a_host_was_cut(places, network, tmp_path):
    prefix, cut = network
    with _running(tmp_path, prefix, places, _flags(tmp_path, "--train_steps=4000")) as tasks:
        before = _cut_off(tasks, cut, 8)
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert tasks["worker:0"].losses[-1][0] > before
    assert 4000 <= jobs.saved_step(tmp_path / "model") <= 4002
    assert "Traceback" not in tasks["chief:0"].log


@pytest.mark.soak
@pytest.mark.any_tensorflow
def test_a_worker_trains_again_after_a_minute_without_a_network(network, tmp_path):
    prefix, cut = network
    flags = _flags(tmp_path, "--train_steps=1000000", "--param=examples=10000000",
                   "--peer_timeout_secs=90")
    places = {"chief:0": "a", "ps:0": "a", "worker:0": "b"}
    with _running(tmp_path, prefix, places, flags) as tasks:
        before = _cut_off(tasks, cut, 60)
        assert tasks["chief:0"].losses[-1][0] > before + 100
        healed_at = tasks["chief:0"].losses[-1][0]
        jobs.wait_for(lambda: tasks["worker:0"].losses[-1][0] > healed_at + 20, _TIMEOUT_SECS)
        slow_jobs.send(tasks["chief:0"], signal.SIGTERM)
        slow_jobs.wait_for_all(tasks)
    slow_jobs.assert_codes(tasks, 143)


@pytest.mark.soak
def test_an_all_reduce_completes_after_its_link_was_cut(network, tmp_path):
    """TensorFlow breaks an all-reduce after some 10 s without an answer."""
    prefix, cut = network
    places = {"chief:0": "a", "worker:0": "b"}
    flags = _flags(tmp_path, "--train_distribute=multi_worker_mirrored",
                   "--save_checkpoints_steps=20", "--peer_timeout_secs=15")
    with _running(tmp_path, prefix, places, [*flags, "--train_steps=20000"]) as tasks:
        _cut_off(tasks, cut, 30)
        jobs.wait_for(lambda: all(t.code is not None for t in tasks.values()), _TIMEOUT_SECS)
    assert {t.code for t in tasks.values()} == {142}, [t.log[-3000:] for t in tasks.values()]
    saved = jobs.saved_step(tmp_path / "model")
    (tmp_path / "again").mkdir()
    with _running(tmp_path / "again", prefix, places, [*flags, "--train_steps=2000"]) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert f"training from step {saved} to 2000" in tasks["chief:0"].log


@pytest.mark.any_tensorflow
def test_the_hosts_of_a_job_may_be_addresses_of_one_machine(tmp_path):
    ports = (address.rpartition(":")[2] for address in jobs.free_addresses(3))
    hosts = {"chief": [f"127.0.0.2:{next(ports)}"], "worker": [f"127.0.0.3:{next(ports)}"],
             "ps": [f"127.0.0.4:{next(ports)}"]}
    args = [f"--model_fn={_SLOW}", f"--input_fn={_SLOW}", f"--model_dir={tmp_path}/model",
            "--train_steps=60"]
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert 60 <= jobs.saved_step(tmp_path / "model") <= 62
