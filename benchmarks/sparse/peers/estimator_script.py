"""Trains with a canned Estimator: the script of a team that ranks or recommends.

This project runs the same file with `estimator-trainer run`.
"""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import tensorflow as tf

from benchmarks.sparse.peers import call_count, records, work

_SUMMARY_STEPS = 200
_SAVE_SECS = 3600  # Longer than a run.


def main() -> None:
    """Trains and evaluates."""
    todo = work.from_command_line()
    call_count.print_once()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
    column, legacy = tf.feature_column, tf.keras.optimizers.legacy
    wide = [column.categorical_column_with_hash_bucket(name, work.BUCKETS) for name in todo.names]
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, linear_optimizer=legacy.Ftrl(work.LEARNING_RATE),
        dnn_feature_columns=[column.numeric_column("numbers", shape=(work.NUMBERS,)),
                             *(column.embedding_column(each, todo.dimension) for each in wide)],
        dnn_hidden_units=work.HIDDEN_UNITS, dnn_optimizer=legacy.Adagrad(work.LEARNING_RATE),
        config=tf.estimator.RunConfig(
            str(todo.model_dir), save_checkpoints_secs=_SAVE_SECS,
            save_summary_steps=_SUMMARY_STEPS, log_step_count_steps=work.LINE_STEPS))
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(lambda: records.batches(todo), max_steps=todo.steps),
        tf.estimator.EvalSpec(lambda: records.batches(todo), steps=1, throttle_secs=_SAVE_SECS))


if __name__ == "__main__":
    main()
