"""Measures an epoch whose input takes long to prepare, by the number of data workers.

    python -m benchmarks.data_workers [--steps=1000] [--data_workers=0,1,2,4,8]

A chief, a worker and a ps train. The preparation of a batch sleeps, as on a machine of its own:
the tasks share the cores. Without data workers the two trainers prepare the batches.
"""

from __future__ import annotations

import argparse

import tensorflow as tf

from benchmarks import data_shares
from tests.support import trained_ids

DEFAULT_PARAMS = {**trained_ids.DEFAULT_PARAMS, "prepare_secs": 0.04}


def input_fn(mode, params, input_context=None):
    """Returns the batches of trained_ids; in training the preparation of each takes a while."""
    batches = trained_ids.input_fn(mode, params, input_context)
    if mode != tf.estimator.ModeKeys.TRAIN:
        return batches
    spec = batches.element_spec

    def prepared(*batch):
        one = tf.data.Dataset.from_tensors(batch)
        # The operation sleeps as long at the end of the dataset.
        return tf.data.experimental.from_variant(tf.raw_ops.SleepDataset(
            input_dataset=tf.data.experimental.to_variant(one),
            sleep_microseconds=int(params["prepare_secs"] / 2 * 1e6),
            output_types=[each.dtype for each in tf.nest.flatten(spec)],
            output_shapes=[each.shape for each in tf.nest.flatten(spec)]), spec)

    return batches.flat_map(prepared)


data_params = trained_ids.data_params


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.data_workers",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000, help="of an epoch, of both trainers")
    parser.add_argument("--data_workers", default="0,1,2,4,8", help="their numbers")
    options = parser.parse_args()
    prepare_secs = options.steps * DEFAULT_PARAMS["prepare_secs"]
    numbers = [int(number) for number in options.data_workers.split(",")]
    found = [data_shares.epoch_secs(
        ["--data_service", f"--input_fn={__file__}", "--param=step_secs=0"], options.steps,
        workers=1, data_workers=number) for number in numbers]
    print("\n| data workers | epoch, s | ideal, s |\n|---|---|---|")
    for number, secs in zip(numbers, found):
        print(f"| {number or 'none'} | {secs:.1f} | {prepare_secs / (number or 2):.1f} |")


if __name__ == "__main__":
    main()
