"""The two functions of the tutorial, for MNIST in TFRecord files; they know of no cluster."""

import tensorflow as tf

DEFAULT_PARAMS = {"records": ""}  # folder that `python -m input_fns.convert --idx=...` made
_BATCH_SIZE = 64
_RATE = 1e-4


def input_fn(mode, params, input_context=None):
    """Returns batches of (float32 [64, 28, 28, 1] in [0, 1], int64 [64]), once, in order."""
    name = "train" if mode == tf.estimator.ModeKeys.TRAIN else "test"
    dataset = tf.data.TFRecordDataset(
        sorted(tf.io.gfile.glob(f"{params['records']}/{name}-*")))
    if input_context:
        dataset = dataset.shard(input_context.num_input_pipelines,
                                input_context.input_pipeline_id)
    return dataset.map(_parsed).batch(_BATCH_SIZE)


def _parsed(record):
    found = tf.io.parse_single_example(record, {
        "image_raw": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64)})
    pixels = tf.io.decode_raw(found["image_raw"], tf.uint8)
    return tf.reshape(tf.cast(pixels, tf.float32) / 255, [28, 28, 1]), found["label"]


def model_fn(features, labels, mode):
    """Builds the tutorial's network, its loss and SGD."""
    network = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    logits = network(features, training=mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    loss = tf.reduce_sum(losses(labels, logits)) / _BATCH_SIZE
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, axis=1))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    train_op = tf.compat.v1.train.GradientDescentOptimizer(_RATE).minimize(
        loss, tf.compat.v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
