"""tf.losses."""

import tensorflow as tf


def absolute_difference():
    return tf.losses.absolute_difference([1., 2.], [2., 5.])
