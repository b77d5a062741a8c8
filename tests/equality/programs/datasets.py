"""Datasets: how they are made, ended and optioned; input_fns of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _pair(ids: tf.Tensor) -> Any:
    return {"x": tf.cast(ids, tf.float32)}, ids


def _shuffled() -> tf.data.Dataset:
    return tf.data.Dataset.range(30).cache().shuffle(30, seed=3).repeat(3).batch(4).map(_pair)


def _shuffled_once() -> tf.data.Dataset:
    return tf.data.Dataset.range(12).shuffle(
        12, seed=5, reshuffle_each_iteration=False).repeat().batch(4).map(_pair)


def _interleaved() -> tf.data.Dataset:
    return tf.data.Dataset.range(4).interleave(
        lambda i: tf.data.Dataset.range(i * 10, i * 10 + 7), cycle_length=3,
        num_parallel_calls=2).batch(3).map(_pair)


def _with_options() -> tf.data.Dataset:
    options = tf.data.Options()
    options.deterministic = True
    options.autotune.enabled = True
    options.autotune.cpu_budget = 1
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    options.experimental_optimization.map_fusion = True
    return tf.data.Dataset.range(48).map(
        lambda i: i * 2, tf.data.AUTOTUNE).batch(4).map(_pair).with_options(options)


def _not_sharded() -> tf.data.Dataset:
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return tf.data.Dataset.range(48).batch(4).map(_pair).with_options(options)


def _generator() -> tf.data.Dataset:
    return tf.data.Dataset.from_generator(
        lambda: iter(range(41)), output_signature=tf.TensorSpec([], tf.int64)
    ).batch(4).map(_pair)


def _sharded_by_context(input_context: Any = None) -> tf.data.Dataset:
    dataset = tf.data.Dataset.range(64)
    if input_context:
        dataset = dataset.shard(input_context.num_input_pipelines,
                                input_context.input_pipeline_id)
    return dataset.batch(4).map(_pair)


def _one_shot() -> Any:
    return v1.data.make_one_shot_iterator(tf.data.Dataset.range(40).batch(4).map(_pair)).get_next()


def _initializable() -> Any:
    dataset = tf.data.Dataset.range(40).batch(4).map(_pair)
    iterator = v1.data.make_initializable_iterator(dataset)
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    features, labels = iterator.get_next()
    return {"x": features["x"] * 2.0}, labels


def _constant_tensors() -> Any:
    return {"x": tf.constant([1.0, 2.0])}, tf.constant([3.0, 4.0])


def _numpy_queue() -> Any:
    x = np.arange(20, dtype=np.float32)
    return v1.estimator.inputs.numpy_input_fn({"x": x}, 2 * x, batch_size=4, num_epochs=None,
                                              shuffle=False)()


def _drop_remainder() -> tf.data.Dataset:
    return tf.data.Dataset.range(22).batch(4, drop_remainder=True).map(_pair).repeat(2)


def _random_stages() -> tf.data.Dataset:
    """Augments with random numbers of a seeded stage."""
    return tf.data.Dataset.range(40).batch(4).map(lambda ids: (
        {"x": tf.cast(ids, tf.float32) + tf.random.stateless_uniform([], [7, ids[0]])}, ids))


def _padded() -> tf.data.Dataset:
    return tf.data.Dataset.range(24).map(lambda i: ({"x": tf.fill([i % 5], i)}, i)).padded_batch(
        4, padded_shapes=({"x": [None]}, []))


def _buckets() -> tf.data.Dataset:
    return tf.data.Dataset.range(30).map(lambda i: ({"x": tf.fill([i % 5 + 1], i)}, i)
                                         ).bucket_by_sequence_length(
        lambda features, label: tf.shape(features["x"])[0], [3], [2, 4])


def _table_in_the_map() -> tf.data.Dataset:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.range(5, dtype=tf.int64), tf.constant([5, 4, 3, 2, 1], tf.int64)), 0)
    return tf.data.Dataset.range(40).batch(4).map(lambda ids: _pair(table.lookup(ids % 5)))


def _of(input_fn: Any, **arguments: Any) -> Program:
    return Program(models.summing(), input_fn, **{"is_plugin": True, **arguments})


_NO_TENSORS = {shape: "plain takes a Dataset alone under a strategy"
               for shape in ("mirrored", "multi_worker")}
_NO_TENSORS_PLAINLY = dict(plain_fails=_NO_TENSORS, ours_trains=tuple(_NO_TENSORS))

PROGRAMS = {
    "shuffled_cache": _of(_shuffled, max_steps=12),
    "shuffled_once": _of(_shuffled_once, eval_input_fn=_drop_remainder, max_steps=8),
    "interleaved": _of(_interleaved, max_steps=None),
    "users_options": _of(_with_options, max_steps=None),
    "not_sharded": _of(_not_sharded),
    "from_generator": _of(_generator, max_steps=None),
    "input_context": _of(_sharded_by_context),
    "one_shot_tensors": _of(_one_shot, max_steps=6, **_NO_TENSORS_PLAINLY),
    "initializable_tensors": _of(_initializable, max_steps=None, **_NO_TENSORS_PLAINLY),
    "constant_tensors": _of(_constant_tensors, eval_input_fn=_one_shot, max_steps=6,
                            **_NO_TENSORS_PLAINLY),
    "numpy_queue": _of(_numpy_queue, eval_input_fn=_one_shot, max_steps=6,
                       **_NO_TENSORS_PLAINLY),
    "drop_remainder": _of(_drop_remainder, max_steps=None),
    "random_stages": _of(_random_stages),
    "padded": _of(_padded, max_steps=None),
    "buckets": _of(_buckets, max_steps=None),
    "table_in_the_map": _of(_table_in_the_map),
}
