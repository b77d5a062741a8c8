"""tf.keras.wrappers.scikit_learn, exports of Keras models, XLA, and TensorBoard's projector."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.compiler import xla
from tensorflow.contrib.tensorboard.plugins import projector
from tensorflow.keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor

SOAK = ("classifier", "classifier_of_one_output", "classifier_of_sparse_labels", "compiled",
        "compiled_model", "compiled_model_predicts", "predictor_of_contrib",
        "exported", "exported_of_several_inputs", "exported_twice", "model_of_the_class",
        "one_hot_labels", "regressor")

_LAYERS, _CONSTANT = tf.keras.layers, tf.constant_initializer
_X = np.arange(24.).reshape(8, 3).astype("float32") / 10
_Y = np.array([3, 5, 3, 5, 9, 9, 3, 9])


def _build(units=4, loss="categorical_crossentropy", outputs=3, activation="softmax",
           metrics=("accuracy",)):
    model = tf.keras.Sequential([
        _LAYERS.Dense(units, input_shape=(3,), kernel_initializer=_CONSTANT(.1)),
        _LAYERS.Dense(outputs, activation=activation, kernel_initializer=_CONSTANT(
            np.linspace(-1, 1, units * outputs)))])
    model.compile("sgd", loss, metrics=list(metrics))
    return model


def classifier():
    found = KerasClassifier(_build, epochs=2, batch_size=4, units=5, verbose=0)
    history = found.fit(_X, _Y, shuffle=False)
    return [[float(each) for each in history.history["loss"]], found.predict(_X),
            found.predict_proba(_X), float(found.score(_X, _Y)), found.classes_, found.n_classes_]


def classifier_of_sparse_labels():
    found = KerasClassifier(_build, loss="sparse_categorical_crossentropy", verbose=0)
    found.fit(_X, _Y, shuffle=False)
    return [found.predict(_X), float(found.score(_X, _Y))]


def classifier_of_one_output():
    found = KerasClassifier(_build, loss="binary_crossentropy", outputs=1, activation="sigmoid",
                            verbose=0)
    found.fit(_X, (_Y > 3).astype(int), shuffle=False)
    return [found.predict(_X), found.predict_proba(_X)]


def one_hot_labels():
    found = KerasClassifier(_build, verbose=0)
    found.fit(_X, np.eye(3)[[0, 1, 2, 0, 1, 2, 0, 1]], shuffle=False)
    return [found.predict(_X), found.classes_]


def regressor():
    found = KerasRegressor(_build, loss="mse", outputs=1, activation="linear", verbose=0)
    found.fit(_X, _Y.astype("float32"), shuffle=False)
    return [found.predict(_X), float(found.score(_X, _Y))]


class _Own(KerasClassifier):
    def __call__(self, units=3):
        return _build(units)


def model_of_the_class():
    found = _Own(units=4, verbose=0)
    found.fit(_X, _Y, shuffle=False)
    return [found.predict(_X), sorted(found.get_params())]


def parameters():
    found = KerasRegressor(_build, loss="mse")
    return [sorted(found.get_params(deep=True)), found.set_params(units=7).sk_params["units"],
            found.filter_sk_params(_build, {"outputs": 1})]


def no_such_parameter():
    KerasRegressor(_build, nothing=1)


def labels_of_three_dimensions():
    KerasClassifier(_build).fit(_X, np.ones([8, 1, 1]))


def without_accuracy():
    found = KerasClassifier(_build, metrics=(), verbose=0)
    found.fit(_X, _Y)
    found.score(_X, _Y)


def exported():
    model, path = _build(), os.path.join(tempfile.mkdtemp(), "model")
    tf.contrib.saved_model.save_keras_model(model, path)
    loaded = tf.contrib.saved_model.load_keras_model(path)
    predict = tf.contrib.predictor.from_saved_model(path)
    (name,), (key,) = predict.feed_tensors, predict.fetch_tensors
    return [sorted(os.listdir(path)), os.listdir(os.path.join(path, "assets")),
            loaded.predict(_X), predict({name: _X})[key], name == model.input_names[0],
            key == model.output_names[0]]


def exported_of_several_inputs():
    one, two = tf.keras.Input((3,), name="one"), tf.keras.Input((2,), name="two")
    first = _LAYERS.Dense(1, name="first", kernel_initializer=_CONSTANT(.1))(one)
    second = _LAYERS.Dropout(.5, name="second")(_LAYERS.BatchNormalization()(two))
    path = os.path.join(tempfile.mkdtemp(), "model")
    tf.keras.experimental.export_saved_model(tf.keras.Model([one, two], [first, second]), path)
    loaded = tf.keras.experimental.load_from_saved_model(path)
    predict = tf.contrib.predictor.from_saved_model(path)
    return [loaded.predict([_X, _X[:, :2]]), predict({"one": _X, "two": _X[:, :2]})]


def exported_twice():
    model, path = _build(), os.path.join(tempfile.mkdtemp(), "model")
    tf.contrib.saved_model.save_keras_model(model, path)
    tf.contrib.saved_model.save_keras_model(model, path)


class _Subclassed(tf.keras.Model):
    def call(self, inputs):
        return inputs


def exported_of_a_subclass():
    tf.contrib.saved_model.save_keras_model(_Subclassed(), tempfile.mkdtemp())


def projected():
    config = projector.ProjectorConfig(model_checkpoint_path="model.ckpt")
    embedding = config.embeddings.add(tensor_name="embedding", metadata_path="words.tsv")
    embedding.sprite.image_path = "images.png"
    embedding.sprite.single_image_dim.extend([28, 28])
    folder = tempfile.mkdtemp()
    projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
    with open(os.path.join(folder, "projector_config.pbtxt")) as file:
        return [file.read(), isinstance(embedding, projector.EmbeddingInfo)]


def compiled():
    return xla.compile(lambda x, y: tf.matmul(x, y) + 1., [tf.ones([2, 3]), tf.ones([3, 2])])


def _model(features, labels, mode, params):
    with tf.variable_scope("model", use_resource=True, reuse=tf.AUTO_REUSE):
        outputs = tf.layers.dense(features["x"], 1, kernel_initializer=_CONSTANT(.1))
    loss = tf.reduce_mean((outputs - labels) ** 2)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(
        loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=(
        lambda labels, outputs: {"mae": tf.metrics.mean_absolute_error(labels, outputs)},
        {"labels": labels, "outputs": outputs}))


def _inputs():
    return {"x": tf.constant(_X)}, tf.constant(_Y[:, None].astype("float32"))


def compiled_model():
    tf.enable_resource_variables()
    try:
        estimator = tf.estimator.Estimator(
            xla.estimator_model_fn(_model), tempfile.mkdtemp(), params={"rate": .01})
        estimator.train(_inputs, steps=3)
        found = estimator.evaluate(_inputs, steps=1)
        return [{key: float(value) for key, value in found.items()},
                estimator.get_variable_value("model/dense/kernel")]
    finally:
        tf.disable_resource_variables()


def compiled_model_predicts():
    estimator = tf.estimator.Estimator(xla.estimator_model_fn()(_model), tempfile.mkdtemp(),
                                       params={"rate": .01})
    next(estimator.predict(lambda: _inputs()[0]))


def _learn_model(features, labels, mode):
    outputs = tf.layers.dense(features["x"], 1, kernel_initializer=_CONSTANT(.1))
    loss = None if labels is None else tf.reduce_mean((outputs - labels) ** 2)
    train_op = None if loss is None else tf.train.GradientDescentOptimizer(.01).minimize(
        loss, tf.train.get_global_step())
    return tf.contrib.learn.ModelFnOps(mode, {"y": outputs}, loss, train_op)


def predictor_of_contrib():
    estimator = tf.contrib.learn.Estimator(_learn_model, model_dir=tempfile.mkdtemp())
    estimator.fit(input_fn=_inputs, steps=3)

    def inputs():
        x = tf.placeholder(tf.float32, [None, 3])
        return tf.contrib.learn.utils.input_fn_utils.InputFnOps({"x": x}, None, {"x": x})

    return tf.contrib.predictor.from_contrib_estimator(estimator, inputs)({"x": _X})


def predictor_of_contrib_of_an_estimator():
    tf.contrib.predictor.from_contrib_estimator(
        tf.estimator.Estimator(_model, params={}), lambda: None)
