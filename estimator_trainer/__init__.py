"""Trains and evaluates a tf.estimator model from a model_fn and an input_fn."""

__version__ = "0.1.0"
