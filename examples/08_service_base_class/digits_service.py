"""A class as a managed training service had its users write it: it feeds its own batches.

The service called `build_model` once, `train` for each iteration and `after_train` at the end, and
saw to cluster, checkpoints and restarts.
"""

from __future__ import annotations

import pathlib

from caicloud.clever.tensorflow import dist_base
import numpy as np
import tensorflow as tf

DEFAULT_PARAMS = {
    "digits": "",  # CSV file of 64 pixels of 0..16 and the class a row; "": the bundled digits
    "target_accuracy": 0.97,  # mean accuracy of recent batches at which training ends
    "export_dir": "",  # where to write a SavedModel at the end; "": nowhere
    "checkpoint_path": "",  # checkpoint to begin from; "": none
}


class DigitsModel(dist_base.CaicloudDistTensorflowBase):
    """Softmax regression on the digits."""

    def __init__(self, params):
        super().__init__()
        import input_fns  # Imported only to find the file.
        path = params["digits"] or pathlib.Path(input_fns.__path__[0], "digits.csv.gz")
        self._rows = np.loadtxt(path, delimiter=",")
        self._random = np.random.default_rng()
        self._target_accuracy, self._path = params["target_accuracy"], params["export_dir"]
        self._average = 0.0

    def build_model(self, global_step, is_chief, sync, num_replicas):
        self._image = tf.compat.v1.placeholder(tf.float32, [None, 64], "image")
        self._label = tf.compat.v1.placeholder(tf.int64, [None], "label")
        weights = tf.compat.v1.get_variable("weights", [64, 10])
        bias = tf.compat.v1.get_variable("bias", [10])
        logits = tf.matmul(self._image, weights) + bias
        self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self._label, logits=logits))
        self._accuracy = tf.reduce_mean(tf.cast(
            tf.equal(tf.argmax(logits, axis=1), self._label), tf.float32))
        self._optimizer = tf.compat.v1.train.AdamOptimizer(0.01)
        if sync:
            self._optimizer = tf.compat.v1.train.SyncReplicasOptimizer(
                self._optimizer, num_replicas, num_replicas)
        self._train_op = self._optimizer.minimize(self.loss, global_step=global_step)
        if self._path:
            self.init_model_exporter(self._path, {"image": self._image}, {"logits": logits})

    def get_init_fn(self, checkpoint_path):
        saver = tf.compat.v1.train.Saver(tf.compat.v1.trainable_variables())
        return lambda session: saver.restore(session, checkpoint_path)

    def train(self, session, global_step, is_chief):
        rows = self._rows[self._random.integers(len(self._rows), size=64)]
        _, _, accuracy = session.run(
            [self._train_op, self.loss, self._accuracy],
            feed_dict={self._image: rows[:, :64] / 16, self._label: rows[:, 64]})
        self._average += 0.05 * (accuracy - self._average)
        return self._average >= self._target_accuracy

    def after_train(self, session, is_chief):
        rows = self._rows[:500]
        accuracy = session.run(self._accuracy, feed_dict={
            self._image: rows[:, :64] / 16, self._label: rows[:, 64]})
        print(f"after training: accuracy {accuracy:.3f} on the first 500 digits", flush=True)
        if self._path:
            self.export_model(session)
