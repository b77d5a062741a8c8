"""Gives programs of TensorFlow 1 its names, its behaviour and `tf.contrib`."""
