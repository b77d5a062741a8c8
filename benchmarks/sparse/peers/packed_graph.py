"""Trains with a hand-written graph that sends what all tables need in one tensor each way.

The columns are shared among the ps. A trainer sends the ids that a batch has, each once and sorted
by column, to each ps, which splits them by column and sends all their rows back; the gradients go
the same way. The layers' weights travel as one tensor as well.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import tensorflow as tf

from benchmarks.sparse.peers import call_count, records, work

v1 = tf.compat.v1


class _Pack(NamedTuple):
    """The rows that a ps has sent.

    Attributes:
      shard: The ps and its tables.
      ids: int64 [rows] of the ids of each column, on the ps.
      sizes: int64 [columns of the ps], the number of ids of each column, on the ps.
      rows: float32 [rows, dimension + 1], on the trainer; the last value is the wide part's.
    """

    shard: _Shard
    ids: list[tf.Tensor]
    sizes: tf.Tensor
    rows: tf.Tensor


class _Shard:
    """A ps, and the tables of some columns on it."""

    def __init__(self, todo: work.Work, device: str, columns: list[int]):
        self.device, self.columns = device, columns
        with tf.device(device):
            self._deep = [_variable(f"deep{i}", [work.BUCKETS, todo.dimension],
                                    v1.truncated_normal_initializer(stddev=todo.row_deviation))
                          for i in columns]
            self._wide = [_variable(f"wide{i}", [work.BUCKETS, 1], v1.zeros_initializer())
                          for i in columns]

    def look_up(self, sizes: tf.Tensor, ids: tf.Tensor) -> _Pack:
        """Returns the rows of ids, int64 [rows], of which each column has one of the sizes."""
        number = len(self.columns)
        message = tf.concat([sizes, ids], 0)
        with tf.device(self.device):
            sizes, ids = tf.split(message, [number, -1])
            parts = tf.split(ids, sizes, num=number)
            deep, wide = (tf.concat(list(map(tf.gather, tables, parts)), 0)
                          for tables in (self._deep, self._wide))
            rows = tf.concat([deep, wide], 1)
        return _Pack(self, parts, sizes, tf.identity(rows))

    def update(self, pack: _Pack, gradient: tf.Tensor) -> list[tf.Operation]:
        """Returns the updates with a gradient, float32 [rows, dimension + 1], on the ps."""
        with tf.device(self.device):
            deep, wide = (tf.split(part, pack.sizes, num=len(self.columns))
                          for part in tf.split(gradient, [gradient.shape[1] - 1, 1], 1))
            return [update for i, ids in enumerate(pack.ids) for update in (
                _adagrad(self._deep[i], deep[i], ids), _ftrl(self._wide[i], wide[i], ids))]


class _Layers:
    """The layers of the deep part and the wide part's bias, on one ps."""

    def __init__(self, todo: work.Work, device: str):
        self._device = device
        with tf.device(device):
            self._variables = [
                variable for i, (inputs, units) in enumerate(todo.layer_sizes) for variable in (
                    _variable(f"kernel{i}", [inputs, units], v1.glorot_uniform_initializer()),
                    _variable(f"bias{i}", [units], v1.zeros_initializer()))]
            self._variables.append(_variable("wide_bias", [1], v1.zeros_initializer()))
            packed = tf.concat([tf.reshape(v, [-1]) for v in self._variables], 0)
        self.packed = tf.identity(packed)

    def logits(self, inputs: tf.Tensor, wide: tf.Tensor) -> tf.Tensor:
        """Returns float32 [batch, 1] for inputs [batch, n] and the sums of the wide weights."""
        *weights, wide_bias = self._split(self.packed)
        layers = list(zip(weights[::2], weights[1::2]))
        for kernel, bias in layers[:-1]:
            inputs = tf.nn.relu(inputs @ kernel + bias)
        kernel, bias = layers[-1]
        return inputs @ kernel + bias + wide + wide_bias

    def update(self, gradient: tf.Tensor) -> list[tf.Operation]:
        """Returns the updates with the gradient of `packed`."""
        with tf.device(self._device):
            *gradients, wide = self._split(gradient)
            return [*map(_adagrad, self._variables, gradients), _ftrl(self._variables[-1], wide)]

    def _split(self, packed: tf.Tensor) -> list[tf.Tensor]:
        shapes = [variable.shape for variable in self._variables]
        parts = tf.split(packed, [shape.num_elements() for shape in shapes])
        return [tf.reshape(part, shape) for part, shape in zip(parts, shapes)]


def _variable(name: str, shape: list[int], initializer: v1.Initializer) -> tf.Variable:
    return v1.get_variable(name, shape, initializer=initializer, use_resource=True)


def _slot(variable: tf.Variable, name: str, value: float) -> tf.Variable:
    return _variable(f"{variable.op.name}/{name}", variable.shape.as_list(),
                     v1.constant_initializer(value))


def _adagrad(variable: tf.Variable, gradient: tf.Tensor,
             ids: tf.Tensor | None = None) -> tf.Operation:
    inputs = {"var": variable.handle, "grad": gradient, "lr": work.LEARNING_RATE,
              "accum": _slot(variable, "sum", work.INITIAL_ACCUMULATOR).handle,
              "epsilon": work.ADAGRAD_EPSILON}
    if ids is None:
        return tf.raw_ops.ResourceApplyAdagradV2(**inputs)
    return tf.raw_ops.ResourceSparseApplyAdagradV2(**inputs, indices=ids)


def _ftrl(variable: tf.Variable, gradient: tf.Tensor,
          ids: tf.Tensor | None = None) -> tf.Operation:
    inputs = {"var": variable.handle, "grad": gradient, "lr": work.LEARNING_RATE, "l1": 0.0,
              "l2": 0.0, "lr_power": -0.5,
              "accum": _slot(variable, "sum", work.INITIAL_ACCUMULATOR).handle,
              "linear": _slot(variable, "linear", 0.0).handle}
    if ids is None:
        return tf.raw_ops.ResourceApplyFtrl(**inputs)
    return tf.raw_ops.ResourceSparseApplyFtrl(**inputs, indices=ids)


def _step(todo: work.Work, ps: list[str], ids: tf.Tensor, numbers: tf.Tensor,
          label: tf.Tensor) -> tuple[tf.Operation, tf.Tensor]:
    """Returns the operation that makes a step, and the loss."""
    shards = [_Shard(todo, device, list(range(i * todo.columns // len(ps),
                                              (i + 1) * todo.columns // len(ps))))
              for i, device in enumerate(ps)]
    layers = _Layers(todo, ps[0])
    # Each column's ids get numbers of their own, so one operation finds the unique ones of all.
    keys, places = tf.unique(tf.reshape(
        ids + work.BUCKETS * tf.range(todo.columns, dtype=tf.int64)[:, None], [-1]))
    sizes = tf.cast(tf.math.bincount(tf.cast(keys // work.BUCKETS, tf.int32),
                                     minlength=todo.columns, maxlength=todo.columns), tf.int64)
    counts = [len(shard.columns) for shard in shards]
    shard_sizes = tf.split(sizes, counts)
    row_counts = tf.stack([tf.reduce_sum(each) for each in shard_sizes])
    shard_ids = tf.split(keys % work.BUCKETS, row_counts, num=len(shards))
    packs = [shard.look_up(*each) for shard, *each in zip(shards, shard_sizes, shard_ids)]
    rows = tf.ensure_shape(tf.concat([pack.rows for pack in packs], 0), [None, todo.dimension + 1])
    found = tf.reshape(tf.gather(rows, places), [todo.columns, todo.batch, todo.dimension + 1])
    deep, wide = tf.split(found, [todo.dimension, 1], 2)
    deep = tf.reshape(tf.transpose(deep, [1, 0, 2]), [todo.batch, todo.columns * todo.dimension])
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, layers.logits(
        tf.concat([numbers, deep], 1), tf.reduce_sum(wide, 0))))
    row_gradient, layer_gradient = tf.gradients(loss, [rows, layers.packed])
    row_gradients = tf.split(tf.math.unsorted_segment_sum(
        row_gradient.values, row_gradient.indices, tf.size(keys)), row_counts, num=len(shards))
    updates = [layers.update(layer_gradient), *(
        pack.shard.update(pack, gradient) for pack, gradient in zip(packs, row_gradients))]
    # A group has one operation on each device, of which only one needs a call.
    with tf.control_dependencies([tf.group(*(each for some in updates for each in some))]):
        with tf.device(ps[0]):
            return v1.assign_add(v1.train.get_global_step(), 1).op, loss


def main() -> None:
    """Runs the task that TF_CONFIG describes."""
    todo, task = work.from_command_line(), work.task()
    server = tf.distribute.Server(task.cluster, job_name=task.role, task_index=task.index)
    if task.role == "ps":
        server.join()
    call_count.print_once()
    _train(todo, task, server)


def _train(todo: work.Work, task: work.Task, server: tf.distribute.Server) -> None:
    own = f"/job:{task.role}/task:{task.index}/cpu:0"
    ps = [f"/job:ps/task:{i}/cpu:0" for i in range(len(task.cluster["ps"]))]
    train, is_chief = v1.train, task.role == "chief"
    with tf.Graph().as_default():
        with tf.device(ps[0]):
            step = train.create_global_step()
        with tf.device(own):
            iterator = v1.data.make_initializable_iterator(records.hashed_batches(todo))
            train_op, loss = _step(todo, ps, *iterator.get_next())
        scaffold = train.Scaffold(local_init_op=tf.group(
            train.Scaffold.default_local_init_op(), iterator.initializer))
        # Without device_filters a session waits for every task.
        config = v1.ConfigProto(device_filters=["/job:ps", f"/job:{task.role}/task:{task.index}"])
        with train.MonitoredTrainingSession(
                server.target, is_chief, scaffold=scaffold, config=config, log_step_count_steps=0,
                hooks=[train.StopAtStepHook(last_step=todo.steps)]) as session:
            own_steps = 0
            while not session.should_stop():
                _, seen, value = session.run([train_op, step, loss])
                own_steps += 1
                if own_steps % work.LINE_STEPS == 0:
                    work.print_line(todo, seen, value)
    os._exit(0)  # A graceful end would wait for the others' servers, which may be gone.


if __name__ == "__main__":
    main()
