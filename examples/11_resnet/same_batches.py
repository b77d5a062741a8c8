"""Images as `tfrecord` reads them, of which replica n gets the same, on one machine or on several.

`tfrecord` gives each machine files of its own, and the replicas of a machine its batch in parts.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

import tensorflow as tf

from input_fns import tfrecord

DEFAULT_PARAMS = {**tfrecord.DEFAULT_PARAMS}
GLOBAL_BATCH_PARAM = "batch_size"
data_params = tfrecord.data_params


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns every n-th batch of a replica's size, for n machines."""
    context = input_context or tf.distribute.InputContext()
    whole = tf.distribute.InputContext(
        num_replicas_in_sync=context.num_replicas_in_sync)
    dataset = tfrecord.input_fn(mode, params, whole)
    return dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
