"""An input_fn for tests: the bundled digits, slow in one trainer.

Params: `slow_pipeline`, the number of the trainer's input pipeline; `slow_secs` that each batch
takes there; `read`, a path to which it appends a line a batch.
"""

import time

import tensorflow as tf

from input_fns import digits

DEFAULT_PARAMS = {**digits.DEFAULT_PARAMS, "slow_pipeline": 0, "slow_secs": 0.0, "read": ""}
data_params = digits.data_params


def input_fn(mode, params, input_context=None):
    """The digits."""
    dataset = digits.input_fn(mode, params, input_context)
    if mode != "train" or input_context.input_pipeline_id != params["slow_pipeline"]:
        return dataset

    def sleep(label):
        time.sleep(params["slow_secs"])
        with open(params["read"], "a", encoding="utf-8") as file:
            file.write("batch\n")
        return label

    return dataset.map(lambda features, label: (features, tf.ensure_shape(
        tf.numpy_function(sleep, [label], label.dtype), label.shape)), 1)
