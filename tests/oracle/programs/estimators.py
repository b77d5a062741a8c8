"""tf.estimator: canned models and model_fns after a few steps, under RunConfig's seed."""

import shutil
import tempfile

import numpy as np
import tensorflow as tf

SOAK = ("baseline", "convolutional_model_fn", "deep_columns", "dnn_binary", "dnn_classifier",
        "dnn_classifier_with_batch_norm", "dnn_classifier_with_dropout", "dnn_regressor",
        "hooks_and_losses", "linear_classifier", "linear_regressor", "model_fn",
        "model_fn_of_numpy_inputs", "model_fn_of_shuffled_data", "model_fn_of_tensors",
        "recurrent_model_fn", "train_and_evaluate", "trained_twice", "wide_and_deep",
        "wide_and_deep_columns", "wide_columns")

_X = np.linspace(-1., 1., 40).reshape(10, 4).astype("float32")
_Y = (np.arange(10) % 3).astype("int32")
_NUMBERS = [tf.feature_column.numeric_column("x", 4)]


def _config(**options):
    return tf.estimator.RunConfig(tempfile.mkdtemp(), tf_random_seed=7, **options)


def _input(labels=None, batch=5):
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices(({"x": _X}, _Y if labels is None else labels))
        return data.repeat().batch(batch)

    return input_fn


def _once(labels=None):
    return tf.estimator.inputs.numpy_input_fn(
        {"x": _X}, _Y if labels is None else labels, 5, 1, shuffle=False)


def _values(estimator, labels=None, steps=5, input_fn=None):
    estimator.train(input_fn or _input(labels), steps=steps)
    found = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    found["evaluated"] = {name: float(value) for name, value in estimator.evaluate(
        _once(labels)).items()}
    found["predicted"] = [{name: value for name, value in each.items() if name != "all_classes"}
                          for each in list(estimator.predict(_once(labels)))[:2]]
    shutil.rmtree(estimator.model_dir)
    return found


def linear_classifier():
    return _values(tf.estimator.LinearClassifier(_NUMBERS, n_classes=3, config=_config()))


def linear_regressor():
    return _values(tf.estimator.LinearRegressor(_NUMBERS, config=_config()), _X[:, 0])


def dnn_classifier():
    return _values(tf.estimator.DNNClassifier([8, 4], _NUMBERS, n_classes=3, config=_config()))


def dnn_classifier_with_dropout():
    return _values(tf.estimator.DNNClassifier(
        [8, 4], _NUMBERS, n_classes=3, dropout=0.5, config=_config()))


def dnn_classifier_with_batch_norm():
    return _values(tf.estimator.DNNClassifier(
        [6], _NUMBERS, n_classes=3, batch_norm=True, config=_config(),
        optimizer=tf.train.GradientDescentOptimizer(0.1)))


def dnn_binary():
    return _values(tf.estimator.DNNClassifier([5], _NUMBERS, config=_config()), _Y % 2)


def dnn_regressor():
    return _values(tf.estimator.DNNRegressor(
        [5, 3], _NUMBERS, config=_config(), optimizer="SGD"), _X[:, 0])


def wide_and_deep():
    return _values(tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=_NUMBERS, dnn_feature_columns=_NUMBERS, dnn_hidden_units=[4],
        n_classes=3, config=_config()))


def baseline():
    return _values(tf.estimator.BaselineClassifier(n_classes=3, config=_config()))


def _words(batch=4):
    words = ["a", "b", "c", "a", "b", "d", "a", "c"]
    ages = [1., 5., 9., 3., 7., 2., 8., 6.]

    def input_fn():
        data = tf.data.Dataset.from_tensor_slices(
            ({"word": words, "age": ages}, [0, 1, 0, 1, 1, 0, 1, 0]))
        return data.repeat().batch(batch)

    return input_fn


def _columns():
    c = tf.feature_column
    word = c.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    hashed = c.categorical_column_with_hash_bucket("word", 5)
    age = c.bucketized_column(c.numeric_column("age"), [2., 4., 6.])
    wide = [word, age, c.crossed_column([word, age], 10)]
    deep = [c.embedding_column(hashed, 3), c.indicator_column(word), c.numeric_column("age")]
    return wide, deep


def _trained(estimator):
    estimator.train(_words(), steps=5)
    found = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    shutil.rmtree(estimator.model_dir)
    return found


def wide_columns():
    return _trained(tf.estimator.LinearClassifier(_columns()[0], config=_config()))


def deep_columns():
    return _trained(tf.estimator.DNNClassifier([4], _columns()[1], config=_config()))


def wide_and_deep_columns():
    wide, deep = _columns()
    return _trained(tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4, 3],
        config=_config()))


def _mlp(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], 6, tf.nn.relu)
    hidden = tf.layers.dropout(hidden, 0.3, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(hidden, 3)
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={
            "class": classes, "probabilities": tf.nn.softmax(logits)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = params["optimizer"](0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train,
        eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, classes)})


def model_fn():
    return _values(tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.AdamOptimizer}))


def model_fn_of_numpy_inputs():
    return _values(tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.GradientDescentOptimizer}),
        input_fn=tf.estimator.inputs.numpy_input_fn({"x": _X}, _Y, 5, None, shuffle=False))


def model_fn_of_tensors():
    def input_fn():
        return _input()().make_one_shot_iterator().get_next()

    return _values(tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.AdagradOptimizer}),
        input_fn=input_fn)


def model_fn_of_shuffled_data():
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices(({"x": _X}, _Y))
        return data.shuffle(10).repeat().batch(5)

    return _values(tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.GradientDescentOptimizer}),
        steps=2, input_fn=input_fn)


def convolutional_model_fn():
    def model(features, labels, mode):
        image = tf.reshape(features["x"], [-1, 2, 2, 1])
        h = tf.layers.conv2d(image, 3, 2, padding="same", activation=tf.nn.relu)
        h = tf.layers.batch_normalization(h, training=mode == tf.estimator.ModeKeys.TRAIN)
        logits = tf.layers.dense(tf.layers.flatten(h), 3)
        loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.GradientDescentOptimizer(0.1).minimize(
                loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, {"logits": logits}, loss, train)

    estimator = tf.estimator.Estimator(model, config=_config())
    estimator.train(_input(), steps=4)
    found = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    found["loss"] = float(estimator.evaluate(_once())["loss"])
    shutil.rmtree(estimator.model_dir)
    return found


def recurrent_model_fn():
    def model(features, labels, mode):
        x = tf.reshape(features["x"], [-1, 2, 2])
        cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(3), output_keep_prob=0.8)
        # Else steps draw their dropout in any order.
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, parallel_iterations=1)
        logits = tf.layers.dense(outputs[:, -1], 3)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    estimator = tf.estimator.Estimator(model, config=_config())
    estimator.train(_input(), steps=4)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def train_and_evaluate():
    estimator = tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.AdamOptimizer})
    found = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(_input(), max_steps=6),
        tf.estimator.EvalSpec(_once(), steps=None))
    return {name: float(value) for name, value in found[0].items()}


def trained_twice():
    estimator = tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.AdamOptimizer})
    estimator.train(_input(), steps=2)
    estimator.train(_input(), steps=2)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def hooks_and_losses():
    seen = []

    class Losses(tf.train.SessionRunHook):
        def before_run(self, context):
            loss = tf.get_collection(tf.GraphKeys.LOSSES)[0]
            return tf.train.SessionRunArgs(loss)

        def after_run(self, context, values):
            seen.append(float(values.results))

    estimator = tf.estimator.Estimator(
        _mlp, config=_config(), params={"optimizer": tf.train.AdamOptimizer})
    estimator.train(_input(), hooks=[Losses()], steps=3)
    return seen


def without_seed():
    config = tf.estimator.RunConfig(tempfile.mkdtemp())
    return [config.tf_random_seed, config.save_checkpoints_secs, config.keep_checkpoint_max]
