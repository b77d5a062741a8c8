"""A script whose Estimator and roles are its own, as EasyRec's are, with a table for each column.

    own_lookups.py MODEL_DIR
"""

import sys

import numpy as np
import tensorflow as tf
from tensorflow_estimator.python.estimator.training import _TrainingExecutor

_NAMES = ("country", "device", "site")


class Own(tf.compat.v1.estimator.Estimator):
    """An Estimator that has a `train` of its own."""

    @staticmethod
    def _assert_members_are_not_overridden(self):
        """TensorFlow refuses such a class."""

    def train(self, input_fn, hooks=None, **kwargs):
        return super().train(input_fn, [*(hooks or ()), CountHook()], **kwargs)


class CountHook(tf.estimator.SessionRunHook):
    """Prints how many operations of the last step make ids unique, each for a lookup."""

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(None, options=tf.compat.v1.RunOptions(
            output_partition_graphs=True))

    def after_run(self, run_context, run_values):
        self.num_unique = sum(node.op in ("Unique", "UniqueV2")
                              for graph in run_values.run_metadata.partition_graphs
                              for node in graph.node)

    def end(self, session):
        print("lookups", self.num_unique, flush=True)


def input_fn():
    """Yields clicks that depend on the columns; each column is a number of 0 to 49."""
    random = np.random.RandomState(0)
    columns = {name: random.randint(0, 50, [4096, 1]) for name in _NAMES}
    labels = (sum(columns.values()) > 75).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((columns, labels)).repeat().batch(64)


def model_fn(features, labels, mode):
    """Builds a logistic regression on embeddings."""
    columns = [tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_hash_bucket(name, 1000, tf.int64), 4,
        initializer=tf.compat.v1.random_normal_initializer(seed=1)) for name in _NAMES]
    inputs = tf.compat.v1.feature_column.input_layer(features, columns)
    weights = tf.compat.v1.get_variable(
        "weights", [inputs.shape[1], 1], initializer=tf.compat.v1.ones_initializer())
    loss = tf.compat.v1.losses.sigmoid_cross_entropy(labels, inputs @ weights)
    train_op = tf.compat.v1.train.AdagradOptimizer(0.5).minimize(
        loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


_TrainingExecutor(
    Own(model_fn, sys.argv[1]), tf.estimator.TrainSpec(input_fn, max_steps=100),
    tf.estimator.EvalSpec(input_fn, steps=10, start_delay_secs=60, throttle_secs=0)).run()
