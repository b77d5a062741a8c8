"""Makes the cells of `tensorflow.python.ops.rnn_cell_impl` those of `tf.nn.rnn_cell`.

The classes were the same in TensorFlow 1. TensorFlow has other classes by these names there, of
which a program's `isinstance` knows nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import tensorflow as tf


def supply() -> None:
    """Sets the classes and private functions that programs import."""
    public: Any = tf.compat.v1.nn.rnn_cell
    module: Any = importlib.import_module("tensorflow.python.ops.rnn_cell_impl")
    private: Any = sys.modules[public.RNNCell.__module__]
    for name in ("BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell",
                 "LSTMCell", "LSTMStateTuple", "MultiRNNCell", "RNNCell", "ResidualWrapper"):
        setattr(module, name, getattr(public, name))
    for name in ("LayerRNNCell", "_concat", "_hasattr", "_zero_state_tensors"):
        setattr(module, name, getattr(private, name))
    module.ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"
