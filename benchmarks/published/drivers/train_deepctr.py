"""Trains and evaluates DeepCTR's DeepFM on random clicks."""

from absl import app, flags
from deepctr.estimator import DeepFMEstimator
import tensorflow as tf

_MODEL_DIR = flags.DEFINE_string("model_dir", None, "where it trains")
_BATCH = 16


def _input_fn():
    ids = tf.random.stateless_uniform([64], seed=(1, 2), maxval=10, dtype=tf.int64)
    numbers = tf.random.stateless_uniform([64], seed=(3, 4))
    labels = tf.cast(numbers > 0.5, tf.float32)
    rows = ({"item": ids[:, None], "price": numbers[:, None]}, labels[:, None])
    return tf.data.Dataset.from_tensor_slices(rows).batch(_BATCH)


def main(_) -> None:
    """Trains in the folder --model_dir."""
    column = tf.feature_column
    item = column.categorical_column_with_identity("item", 10)
    model = DeepFMEstimator([item, column.numeric_column("price")],
                            [column.embedding_column(item, 4), column.numeric_column("price")],
                            dnn_hidden_units=(8,), model_dir=_MODEL_DIR.value)
    tf.estimator.train_and_evaluate(
        model, tf.estimator.TrainSpec(lambda: _input_fn().repeat(), max_steps=8),
        tf.estimator.EvalSpec(_input_fn))


if __name__ == "__main__":
    app.run(main)
