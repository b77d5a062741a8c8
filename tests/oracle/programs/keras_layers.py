"""tf.keras.layers in a graph, under its seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "keras_convolutions", "keras_dropouts", "keras_normalization", "keras_others",
    "keras_recurrent", "keras_recurrent_with_dropout",)

DIFFERENT = {
    "keras_others": "other operations, so later random ops get other seeds",
    "keras_recurrent_with_dropout": "the cell is named in variables; dropout has other seeds",
    "keras_dropouts": "noise layers take their seeds from the graph, not from NumPy",
}


def _x(*shape):
    return tf.constant(np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape).astype("float32"))


def _and_later(*values):
    return list(values) + [tf.random_normal([2])]


def keras_dense():
    k = tf.keras.layers
    return _and_later(
        k.Dense(4)(_x(2, 3)),
        k.Dense(2, activation="relu")(_x(2, 3)),
        k.Dense(3, use_bias=False, kernel_initializer="he_normal")(_x(2, 3)),
        k.Dense(2)(_x(2, 3, 4)),
    )


def keras_convolutions():
    k = tf.keras.layers
    return _and_later(
        k.Conv1D(2, 2)(_x(1, 4, 2)),
        k.Conv2D(3, 2)(_x(1, 4, 4, 2)),
        k.Conv3D(2, 2)(_x(1, 3, 3, 3, 1)),
        k.Conv2DTranspose(2, 2)(_x(1, 3, 3, 2)),
        k.SeparableConv2D(2, 2)(_x(1, 4, 4, 2)),
        k.DepthwiseConv2D(2)(_x(1, 4, 4, 2)),
    )


def keras_dropouts():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.Dropout(0.5)(x, training=True),
        k.Dropout(0.5)(x),
        k.SpatialDropout1D(0.5)(x, training=True),
        k.GaussianNoise(0.5)(x, training=True),
        k.GaussianDropout(0.5)(x, training=True),
        k.AlphaDropout(0.5)(x, training=True),
    )


def keras_embedding():
    k = tf.keras.layers
    return _and_later(
        k.Embedding(5, 3)(tf.constant([[1, 2]])),
        k.Embedding(5, 3, embeddings_initializer="normal", mask_zero=True)(tf.constant([[1, 2]])),
    )


def keras_normalization():
    k = tf.keras.layers
    return _and_later(
        k.BatchNormalization()(_x(4, 3)),
        k.BatchNormalization()(_x(4, 3), training=True),
        k.LayerNormalization()(_x(2, 3)),
        k.BatchNormalization()(_x(2, 3, 3, 2), training=True),
    )


def keras_recurrent():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.LSTM(3)(x),
        k.GRU(3)(x),
        k.SimpleRNN(2, return_sequences=True)(x),
        k.Bidirectional(k.LSTM(2))(x),
    )


def keras_recurrent_with_dropout():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.LSTM(3, dropout=0.5)(x, training=True), k.GRU(3, recurrent_dropout=0.5)(x, training=True)
    )


def keras_others():
    k, x = tf.keras.layers, _x(2, 4, 3)
    return _and_later(
        k.PReLU()(x),
        k.LeakyReLU()(x),
        k.ELU()(x),
        k.ThresholdedReLU()(x),
        k.Softmax()(x),
        k.GlobalAveragePooling1D()(x),
        k.MaxPooling1D()(x),
        k.Flatten()(x),
        k.Permute((2, 1))(x),
        k.RepeatVector(2)(_x(2, 2)),
        k.Concatenate()([x, x]),
        k.Dot(1)([x, x]),
        k.Reshape((3, 4))(x),
        k.UpSampling1D()(x),
        k.ZeroPadding1D()(x),
        k.Cropping1D()(x),
        k.Attention()([x, x]),
        k.TimeDistributed(k.Dense(2))(x),
        k.LocallyConnected1D(2, 2)(x),
    )
