"""Trains, evaluates and exports TensorFlow Ranking's DNN on random lists of documents."""

from absl import app, flags
import tensorflow as tf
import tensorflow_ranking as tfr

_MODEL_DIR = flags.DEFINE_string("model_dir", None, "where it trains")
_BATCH, _DOCUMENTS = 8, 5


def _input_fn():
    scores = tf.random.stateless_uniform([32, _DOCUMENTS, 1], seed=(1, 2))
    relevance = tf.cast(scores[..., 0] > 0.5, tf.float32)
    return tf.data.Dataset.from_tensor_slices(({"score": scores}, relevance)).batch(_BATCH)


def main(_) -> None:
    """Trains in the folder --model_dir."""
    score = tf.feature_column.numeric_column("score")
    ranker = tfr.estimator.make_dnn_ranking_estimator(
        example_feature_columns={"score": score}, hidden_units=[8],
        optimizer=tf.compat.v1.train.AdagradOptimizer(0.1),
        loss="approx_ndcg_loss", model_dir=_MODEL_DIR.value)
    receiver = tfr.data.build_ranking_serving_input_receiver_fn(
        data_format=tfr.data.ELWC, context_feature_spec={},
        example_feature_spec=tf.feature_column.make_parse_example_spec([score]))
    tf.estimator.train_and_evaluate(
        ranker, tf.estimator.TrainSpec(lambda: _input_fn().repeat(), max_steps=8),
        tf.estimator.EvalSpec(_input_fn, exporters=tf.estimator.FinalExporter("all", receiver)))


if __name__ == "__main__":
    app.run(main)
