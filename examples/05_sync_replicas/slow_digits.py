"""The bundled digits, with one trainer whose input is slow.

Params, beside those of `digits`:

  slow_pipeline   number of the slow trainer's input pipeline, from 0, the chief's
  slow_secs       seconds that each batch takes there
  read            path of a file that gets a line for each batch there; empty: none
"""

from __future__ import annotations

import time
from typing import Any, Mapping, Optional

import tensorflow as tf

from input_fns import digits

DEFAULT_PARAMS = {**digits.DEFAULT_PARAMS, "slow_pipeline": 0, "slow_secs": 0.0, "read": ""}
data_params = digits.data_params


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches as `digits` does."""
    dataset = digits.input_fn(mode, params, input_context)
    pipeline = input_context.input_pipeline_id if input_context else 0
    if mode != "train" or pipeline != params["slow_pipeline"]:
        return dataset

    def sleep(label: Any) -> Any:
        time.sleep(params["slow_secs"])
        if params["read"]:
            with open(params["read"], "a", encoding="utf-8") as file:
                file.write("batch\n")
        return label

    return dataset.map(lambda features, label: (features, tf.ensure_shape(
        tf.numpy_function(sleep, [label], label.dtype), label.shape)))
