"""Trains and evaluates AdaNet's ensemble of two canned networks on random numbers."""

from absl import app, flags
import adanet
import tensorflow as tf

_MODEL_DIR = flags.DEFINE_string("model_dir", None, "where it trains")
_BATCH = 16


def _input_fn():
    numbers = tf.random.stateless_uniform([64, 3], seed=(1, 2))
    rows = ({"x": numbers}, tf.reduce_sum(numbers, axis=1, keepdims=True))
    return tf.data.Dataset.from_tensor_slices(rows).batch(_BATCH)


def main(_) -> None:
    """Trains in the folder --model_dir."""
    columns = [tf.feature_column.numeric_column("x", shape=[3])]
    head = tf.estimator.RegressionHead()
    ensemble = adanet.AutoEnsembleEstimator(
        head=head, candidate_pool=lambda config: {
            "linear": tf.estimator.LinearEstimator(
                head=head, feature_columns=columns, config=config,
                optimizer=tf.keras.optimizers.legacy.SGD(0.1)),
            "deep": tf.estimator.DNNEstimator(
                head=head, feature_columns=columns, hidden_units=[8], config=config,
                optimizer=tf.keras.optimizers.legacy.SGD(0.1))},
        max_iteration_steps=5, max_iterations=2, model_dir=_MODEL_DIR.value)
    tf.estimator.train_and_evaluate(
        ensemble, tf.estimator.TrainSpec(lambda: _input_fn().repeat(), max_steps=10),
        tf.estimator.EvalSpec(_input_fn))


if __name__ == "__main__":
    app.run(main)
