"""A model that does not fit is refused before it is made, by the name of its largest table."""

from __future__ import annotations

import time
from unittest import mock

import pytest
import tensorflow as tf

from estimator_trainer import errors, machine
from estimator_trainer.cluster import task_config
from estimator_trainer.training import table_memory
from tests.support import jobs, tf_configs

v1 = tf.compat.v1
_GIB = 2**30


def _begin(task, memory, rows=10**9, num_parts=1):
    """Begins the hook beside a table of 16 floats a row, its slots, and some small variables."""
    with tf.Graph().as_default():
        for i in range(num_parts):
            name = f"table/part_{i}" if num_parts > 1 else "table"
            place = f"/job:ps/task:{i}" if "ps" in task.cluster else ""
            with tf.device(place):
                for each in (name, f"{name}/Adam", f"{name}/Adam_1", f"bias_{i}"):
                    v1.get_variable(each, [9] if "bias" in each else [rows // num_parts, 16])
        with mock.patch.object(machine, "memory", lambda read: memory):
            table_memory.TableMemory(task).begin()


def _task(hosts=None, role="chief"):
    return task_config.parse(tf_configs.config(hosts, role) if hosts else None)


_CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1", "c:2"]}


def test_a_model_that_can_never_fit_is_refused():
    with pytest.raises(errors.ConfigError) as raised:
        _begin(_task(), machine.Memory(24 * _GIB, 20 * _GIB))
    text = str(raised.value)
    assert "take 178.8 GiB, and that machine has 24.0 GiB" in text
    assert "'table', 1,000,000,000 x 16 and 2 slots of the optimizer, 178.8 GiB" in text
    assert "--partition_mb=64" in text


def test_ps_of_one_machine_are_added_up():
    with pytest.raises(errors.ConfigError) as raised:
        _begin(_task(_CLUSTER), machine.Memory(120 * _GIB, 120 * _GIB), num_parts=2)
    text = str(raised.value)
    assert "on ps:0, ps:1 take 178.8 GiB" in text and "1,000,000,000 x 16 and 2 slots" in text
    # Containers of one host have their own limits, and each has room for its half.
    _begin(_task(_CLUSTER), machine.Memory(90 * _GIB, 90 * _GIB, is_limited=True), num_parts=2)
    with pytest.raises(errors.ConfigError, match="on ps:0 take 89.4 GiB"):
        _begin(_task(_CLUSTER), machine.Memory(80 * _GIB, 80 * _GIB, is_limited=True), num_parts=2)


def test_a_model_that_may_fit_later_gets_a_warning(caplog):
    _begin(_task(), machine.Memory(200 * _GIB, 20 * _GIB))
    assert "and free there are 20.0 GiB" in caplog.text


@pytest.mark.parametrize("rows, memory", [
    (10**9, machine.Memory(200 * _GIB, 190 * _GIB)), (10**9, None), (1000, machine.Memory(9, 9))])
def test_a_model_that_fits_or_is_small_gives_no_warning(rows, memory, caplog):
    _begin(_task(), memory, rows)
    assert "GiB" not in caplog.text


@pytest.mark.cluster
def test_the_memory_of_a_ps_is_read_there():
    hosts = jobs.cluster(chief=1, ps=1)
    server = tf.distribute.Server(hosts, "ps", 0)
    [address] = hosts["ps"]
    assert server.target.endswith(address.rpartition(":")[2])
    task = _task(hosts)
    found = table_memory.TableMemory(task)._memory(0)
    assert found.total == machine.memory(machine.text_of).total


@pytest.mark.soak
def test_a_ps_that_does_not_answer_does_not_hold_the_chief():
    task = _task(jobs.cluster(chief=1, ps=1))
    before = time.monotonic()
    assert table_memory.TableMemory(task)._memory(0) is None
    assert time.monotonic() - before < 60
