"""A saving listener runs what the model_fn made: by its collection, and by its name.

argv: OUT, and `train` for `Estimator.train`.
"""
import sys

try:
    import estimator_trainer.compat  # noqa: F401 (TensorFlow 2.16 and newer have no Estimator)
except ImportError:
    pass
import tensorflow as tf

v1 = tf.compat.v1
seen = []


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[0.0]])).repeat()


def model_fn(features, labels, mode):
    w = v1.get_variable("w", [], initializer=tf.constant_initializer(1024.0))
    loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
    v1.add_to_collection("to_listen", tf.multiply(w, 2.0, name="twice_w"))
    op = v1.train.GradientDescentOptimizer(0.25).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


class Reads(tf.estimator.CheckpointSaverListener):
    def begin(self):
        graph = v1.get_default_graph()
        self.tensors = [*graph.get_collection("to_listen"), graph.get_tensor_by_name("twice_w:0")]

    def after_save(self, session, step):
        seen.append((int(step), *map(float, session.run(self.tensors))))


estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(
    sys.argv[1], save_checkpoints_steps=2))
if "train" in sys.argv:
    estimator.train(input_fn, max_steps=6, saving_listeners=[Reads()])
else:
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, max_steps=6, saving_listeners=[Reads()]),
        tf.estimator.EvalSpec(lambda: input_fn().take(1), steps=None, throttle_secs=0))
print("SEEN", seen)
