"""tf.keras.layers in a graph, under its seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "keras_convolutions", "keras_dropouts", "keras_normalization", "keras_others",
    "keras_recurrent", "keras_recurrent_with_dropout",
    "keras_classes_and_histories", "keras_updates_of_inputs", "keras_cosine_proximity",)

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


def _data():
    samples = np.linspace(-1.0, 1.0, 24).reshape(6, 4).astype("float32")
    return samples, (samples.sum(1) > 0).astype("float32")


def keras_classes_and_histories():
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(1, activation="sigmoid", kernel_initializer="ones", input_dim=4)])
    model.compile("sgd", "mse", metrics=["mae"])
    samples, labels = _data()
    history = model.fit(samples, labels, epochs=2, batch_size=4, verbose=0, shuffle=False,
                        validation_data=(samples, labels))
    return [history.history, history.epoch, model.predict_classes(samples),
            model.predict_proba(samples), model.evaluate(samples, labels, verbose=0),
            tf.keras.__version__]


def keras_updates_of_inputs():
    tf.keras.backend.clear_session()

    class Counting(tf.keras.layers.Layer):
        def build(self, shape):
            self.seen = self.add_weight("seen", (), initializer="zeros", trainable=False)

        def call(self, inputs):
            self.add_update(tf.assign_add(self.seen, 1.0), inputs=inputs)
            return inputs * 2.0

    model = tf.keras.Sequential([Counting(input_shape=(4,)), tf.keras.layers.Dense(
        1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    model.fit(*_data(), batch_size=3, verbose=0)
    return model.get_weights()


def keras_cosine_proximity():
    tf.keras.backend.clear_session()
    one, two = tf.constant([[0.0, 1.0], [1.0, 0.5]]), tf.constant([[0.3, 0.7], [0.6, 0.4]])
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones", input_dim=4)])
    model.compile("sgd", "cosine_proximity", metrics=["cosine_proximity"])
    samples, labels = _data()
    losses = tf.keras.losses
    found = tf.keras.backend.get_session().run([
        losses.cosine_proximity(one, two), losses.CosineSimilarity()(one, two)])
    return [found, model.evaluate(samples, np.stack([labels, labels], 1), verbose=0)]
