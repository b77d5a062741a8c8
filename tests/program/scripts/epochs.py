"""A script that trains and evaluates in turns, as many do that were written for one machine."""

import sys

import points
import tensorflow as tf


class Own(tf.compat.v1.estimator.Estimator):
    """An Estimator that has a `train` of its own, as adanet's has."""

    @staticmethod
    def _assert_members_are_not_overridden(self):
        """TensorFlow refuses such a class."""

    def train(self, *args, **kwargs):
        print("trains its own way")
        return super().train(*args, **kwargs)


Estimator = Own if "--own" in sys.argv else tf.compat.v1.estimator.Estimator
estimator = Estimator(points.model_fn, sys.argv[1], params={
    "batch_size": 16, "learning_rate": 0.1})
for _ in range(0 if "--once" in sys.argv else 3):
    estimator.train(points.input_fn_of(640, 0, True), steps=40)
    print("accuracy", estimator.evaluate(points.input_fn_of(160, 1, False))["accuracy"])
if "--predict" in sys.argv:
    print("predicted", len(list(estimator.predict(points.input_fn_of(160, 1, False)))))
if "--and-evaluate" in sys.argv:
    # The input ends before max_steps, so FinalExporter returns None.
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(points.input_fn_of(640, 0, False), max_steps=1000),
        tf.estimator.EvalSpec(points.input_fn_of(160, 1, False), steps=None, exporters=[
            tf.estimator.FinalExporter("at_the_end", points.serving_input_receiver_fn),
            tf.estimator.LatestExporter("each_time", points.serving_input_receiver_fn)]))
sys.exit(3 if "--exit=3" in sys.argv else 0)
