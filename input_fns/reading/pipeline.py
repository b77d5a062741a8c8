"""Decides what one input pipeline reads: which part, and in batches of which size."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional
import zlib

import tensorflow as tf

from input_fns.reading.errors import DataParamError

# Every input plug-in here has these params.
DEFAULT_PARAMS = {
    "batch_size": 64,  # examples of one global step, all replicas together
    "epochs": 0,  # passes over the training data; 0: repeat without end
    "shuffle_buffer": 10000,  # records held to shuffle from, unless they all fit in memory;
    # 0: no shuffling
    "seed": 0,  # any integer; with the pipeline's number decides the training order, and how
    # images are augmented
}


class Pipeline(NamedTuple):
    """One of the input pipelines that share a data set.

    Attributes:
      number: Number of this pipeline, from 0.
      total: Number of pipelines.
      batch_size: Number of examples in one of its batches, for one replica.
      seed: Seed of its training order, different for each pipeline.
      is_handed_out: Whether several processes divide the training set while they read it.
    """

    number: int
    total: int
    batch_size: int
    seed: int
    is_handed_out: bool = False


def pipeline_of(
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> Pipeline:
    """Returns the pipeline that `input_context` describes; None: the only one.

    Args:
      params: The params, of which `batch_size` and `seed` are used.
      input_context: The context that the Estimator passes.

    Raises:
      DataParamError: The replicas cannot share batch_size evenly.
    """
    context = input_context or tf.distribute.InputContext()
    number = context.input_pipeline_id
    return Pipeline(number=number,
                    total=context.num_input_pipelines,
                    batch_size=_replica_batch_size(params["batch_size"],
                                                   context.num_replicas_in_sync),
                    seed=zlib.crc32(f"{params['seed']}/{number}".encode()),
                    is_handed_out=getattr(context, "is_handed_out", False))


def with_options(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns the dataset with the options of all data sets here: no sharding, no autotuning.

    The strategy must not shard the dataset again. The number of threads is fixed because the thread
    that would tune it sleeps 10 ms, then 20 ms and so on up to a minute, and an input that ends or
    starts over can wait for this thread: TensorFlow wakes it before marking it as cancelled
    (tensorflow/core/framework: model.cc, OptimizeLoop; cancellation.cc).
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return dataset.with_options(options)


def same_python(dataset: tf.data.Dataset,
                input_context: Optional[tf.distribute.InputContext]) -> tf.data.Dataset:
    """Returns the dataset, whose Python functions return the same in each process.

    Processes that divide the dataset may then all call these functions.
    """
    if getattr(input_context, "is_handed_out", False):
        setattr(input_context, "same_python", dataset)
    return dataset


def _replica_batch_size(batch_size: int, replicas: int) -> int:
    if batch_size < 1:
        raise DataParamError(f"batch_size is {batch_size} examples a step; expected 1 or more. For "
                             "example: --param batch_size=64")
    if batch_size % replicas:
        example = max(1, -(-batch_size // replicas)) * replicas
        raise DataParamError(
            f"batch_size is {batch_size} examples a step, over all replicas; expected a "
            f"multiple of the {replicas} replicas. For example: --param batch_size={example}")
    return batch_size // replicas
