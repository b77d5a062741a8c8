"""The job of `benchmarks.large_tables`: a canned Estimator with large tables, as a script.

Its argument is a JSON object: rows, columns and dimension of the tables, steps, save_every (steps
between checkpoints) and out, a folder. Each task writes the times of its steps, and of its
evaluations, to `OUT/ROLE-INDEX.json`.
"""

import json
import os
import pathlib
import sys
import time
import types

import tensorflow as tf

_BATCH = 512
_EVAL_BATCHES = 20


class _Times(tf.estimator.SessionRunHook):
    """Writes the seconds at which the steps of this task ended, and an evaluation began and ended.

    `begin` is before the session is made, so an evaluation has the time of its restore, too.
    """

    def __init__(self, path):
        self._path = path

    def begin(self):
        self._times = [time.monotonic()]

    def after_run(self, run_context, run_values):
        self._times.append(time.monotonic())

    def end(self, session):
        with self._path.open("a") as file:
            file.write(json.dumps([*self._times, time.monotonic()]) + "\n")


def _input_fn(options, is_endless):
    """Yields random ids as texts, which the columns hash."""
    def batch(seed):
        ids = tf.random.stateless_uniform(
            [options.columns, _BATCH], [seed, 7], 0, options.rows, tf.int64)
        label = tf.cast(tf.equal(ids[0] % 3, 0), tf.float32)
        texts = tf.strings.as_string(ids)
        return {f"c{i}": texts[i] for i in range(options.columns)}, label[:, None]

    dataset = tf.data.Dataset.range(10**9 if is_endless else _EVAL_BATCHES)
    return dataset.map(batch).prefetch(2)


def main():
    """Trains and evaluates in the role that TF_CONFIG gives."""
    options = types.SimpleNamespace(**json.loads(sys.argv[1]))
    out = pathlib.Path(options.out)
    tf.compat.v1.logging.set_verbosity("INFO")
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    times = _Times(out / f"{task['type']}-{task['index']}.json")
    column = tf.feature_column
    columns = [column.embedding_column(
        column.categorical_column_with_hash_bucket(f"c{i}", options.rows), options.dimension)
        for i in range(options.columns)]
    estimator = tf.estimator.DNNClassifier(
        [64], columns, config=tf.estimator.RunConfig(
            str(out / "model"), save_checkpoints_steps=options.save_every,
            keep_checkpoint_max=2, log_step_count_steps=50, save_summary_steps=10**6))
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(lambda: _input_fn(options, True), max_steps=options.steps,
                               hooks=[times]),
        tf.estimator.EvalSpec(lambda: _input_fn(options, False), hooks=[times],
                              steps=None, start_delay_secs=0, throttle_secs=0))


if __name__ == "__main__":
    main()
