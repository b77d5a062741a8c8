"""Compares the variables of a model with the memory of the tasks that hold them.

Without it a table that is too large ends its ps by a kill of the kernel, minutes after the start,
and nothing names the table.
"""

import math
from typing import Any, NamedTuple

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, machine
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.graph import operations

# A smaller model fits everywhere, and needs no request to a ps.
_LARGE_BYTES = 2**28
_GIB = 2**30


class _Table(NamedTuple):
    """A variable, all of its parts and slots."""

    name: str
    shape: tuple[int, ...]
    num_slots: int
    bytes: int

    @property
    def size(self) -> str:
        """Rows and dimension, such as "1,000 x 16"."""
        return " x ".join(f"{each:,}" for each in self.shape)


class TableMemory(tf.estimator.SessionRunHook):
    """Raises ConfigError before a model is made that no ps, or this machine, can ever hold.

    A model that only exceeds what is free now gets a warning, since other processes may end.
    """

    def __init__(self, task: TaskConfig):
        """Makes the hook of the task that initializes the model."""
        self._task = task

    def begin(self) -> None:
        variables = [each for each in tf.compat.v1.global_variables()
                     if each.shape.is_fully_defined() and "GPU" not in each.device]
        by_task: dict[int, int] = {}
        for variable in variables:
            place = tf.DeviceSpec.from_string(variable.device)
            number = (place.task or 0) if place.job == "ps" else -1
            by_task[number] = by_task.get(number, 0) + _bytes(variable)
        if sum(by_task.values()) < _LARGE_BYTES:
            return
        memories = {number: self._memory(number) for number in by_task}
        by_host: dict[str, list[int]] = {}
        for number, found in memories.items():
            if found:
                # Containers on one host have limits of their own.
                host = f"{number}" if found.is_limited else self._host(number)
                by_host.setdefault(host, []).append(number)
        for numbers in by_host.values():
            found = max(filter(None, map(memories.get, numbers)), key=lambda each: each.available)
            self._compare(numbers, sum(by_task[number] for number in numbers), found,
                          _largest(variables))

    def _host(self, number: int) -> str:
        """Returns the host of a ps; "" for this task, of number -1."""
        return self._task.cluster["ps"][number].rpartition(":")[0] if number >= 0 else ""

    def _memory(self, number: int) -> machine.Memory | None:
        if number >= 0:
            address = self._task.cluster["ps"][number]
            return machine.memory(lambda path: _text_at(address, number, path))
        # Variables of a GPU are in its own memory.
        return None if tf.config.list_physical_devices("GPU") else machine.memory(machine.text_of)

    def _compare(self, numbers: list[int], needed: int, found: machine.Memory,
                 table: _Table) -> None:
        if needed <= found.available:
            return
        is_too_large = needed > found.total
        where = ", ".join(self._task.name_of("ps", number) for number in sorted(numbers)
                          if number >= 0) or self._task.name
        slots = f" and {table.num_slots} slots of the optimizer" if table.num_slots else ""
        num_ps = len(self._task.cluster.get("ps", ()))
        remedy = (f"Take more ps, on more machines, and divide tables among them by"
                  f" {errors.Setting('partition_mb', 64)}" if num_ps else
                  f"Train on several ps, with {errors.Setting('partition_mb', 64)}")
        text = (f"the model's variables on {where} take {needed / _GIB:.1f} GiB, and"
                f" {'that machine has' if is_too_large else 'free there are'}"
                f" {(found.total if is_too_large else found.available) / _GIB:.1f} GiB; the largest"
                f" table is {table.name!r}, {table.size}{slots}, {table.bytes / _GIB:.1f} GiB."
                f" {remedy}, or make the tables smaller: fewer rows,"
                " or a smaller dimension.")
        if is_too_large:
            raise errors.ConfigError(text)
        logging.warning("%s", text)


def _bytes(variable: Any) -> int:
    return math.prod(variable.shape.as_list()) * variable.dtype.base_dtype.size


def _largest(variables: list[Any]) -> _Table:
    """Returns the table that, with its slots, takes most bytes."""
    bytes_of: dict[str, int] = {}
    rows_of: dict[str, list[Any]] = {}
    for variable in variables:
        name = operations.saved_name(variable)
        bytes_of[name] = bytes_of.get(name, 0) + _bytes(variable)
        rows_of.setdefault(name, []).append(variable)
    name = max(bytes_of, key=lambda each: bytes_of[each])
    parts = rows_of[name]
    first, *rest = parts[0].shape.as_list() or [1]
    rows = sum(part.shape.as_list()[0] for part in parts) if parts[0].shape.rank else first
    # A slot has the name of its variable, or of its part, within its own.
    slots = [each for each in variables if operations.saved_name(each) != name and any(
        f"{part.op.name}/" in each.op.name and each.shape == part.shape for part in parts)]
    return _Table(name, (rows, *rest), round(len(slots) / len(parts)),
                  bytes_of[name] + sum(map(_bytes, slots)))


def _text_at(address: str, number: int, path: str) -> str:
    """Returns the text of a file as a ps sees it; "" if there is none, or no answer."""
    config = tf.compat.v1.ConfigProto(
        device_filters=[f"/job:ps/task:{number}"],
        operation_timeout_in_ms=int(1000 * deadlines.CHECK_SECS))
    with tf.Graph().as_default():
        # A file of /proc has a size of 0, and `tf.io.read_file` reads as many bytes.
        lines = tf.compat.v1.data.make_one_shot_iterator(
            tf.data.TextLineDataset(path).batch(1000)).get_next()
        try:
            with tf.compat.v1.Session(f"grpc://{address}", config=config) as session:
                return b"\n".join(session.run(lines)).decode()
        except tf.errors.OpError:
            return ""
