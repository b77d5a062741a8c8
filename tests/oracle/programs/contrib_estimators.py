"""The Estimators and functions of tf.contrib.estimator beside its heads."""

import os
import tempfile

import numpy as np
import tensorflow as tf

SOAK = ("added_metrics", "annotated_network", "canned_optimizers", "canned_v2_optimizers",
        "early_stopping", "exported_modes", "forwarded_features", "forwarded_sparse_features",
        "forwarded_unknown_key", "replicated_on_one_device", "replicated_on_two_devices",
        "replicated_sum", "rnn_classifier", "rnn_classifier_lstm_of_two_layers",
        "rnn_classifier_of_a_cell_fn", "rnn_classifier_of_sparse_tensors", "rnn_estimator",
        "rnn_of_an_unknown_cell", "rnn_spec", "saved_model_estimator", "stopped_at_a_step")
DIFFERENT = {
    "saved_model_estimator": "the trainer makes a global step before the SavedModel is loaded, "
                             "which SavedModelEstimator refuses to train with"}

_E = tf.contrib.estimator
_F = tf.contrib.feature_column


def _checkpoint(estimator):
    reader = tf.train.load_checkpoint(estimator.model_dir)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def _fixed(estimator_of, input_fn, steps=2):
    """Returns what an Estimator does that trains from variables of known values."""
    def model_fn(features, labels, mode, config):
        original.append(estimator_of(config))
        spec = original[-1].model_fn(features, labels, mode, config)
        assigned = [tf.assign(each, tf.cast(tf.reshape(
            tf.range(int(np.prod(each.shape.as_list()))) % 5, each.shape), tf.float32) / 8. - .2)
            for each in tf.trainable_variables()]
        if mode == tf.estimator.ModeKeys.TRAIN:
            scaffold = tf.train.Scaffold(init_op=tf.group(
                tf.group(*assigned), *[each.initializer for each in tf.global_variables()
                                       if each not in tf.trainable_variables()]))
            return spec._replace(scaffold=scaffold)
        return spec

    original = []
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn, steps=steps)
    found = {"after": _checkpoint(estimator), "metrics": estimator.evaluate(input_fn, steps=1)}
    found["predictions"] = [{str(key): each[key] for key in each}
                            for each in estimator.predict(input_fn)]
    return found


def _sequences(classes=2):
    def input_fn():
        tokens = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]],
                                 [1, 2, 0, 1, 1, 2], [3, 3])
        times = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]],
                                [1., 2., 0., 1., .5, 2.], [3, 3])
        features = {"token": tf.cast(tokens, tf.int64), "time": times,
                    "price": tf.constant([[1.], [2.], [0.5]])}
        labels = tf.constant([[0], [1], [1 if classes == 2 else 2]])
        return tf.data.Dataset.from_tensors((features, labels))

    return input_fn


def _columns():
    token = _F.sequence_categorical_column_with_identity("token", 3)
    return [tf.feature_column.embedding_column(token, 2),
            _F.sequence_numeric_column("time")]


def rnn_classifier():
    return _fixed(lambda config: _E.RNNClassifier(_columns(), num_units=[3], config=config),
                  _sequences())


def rnn_classifier_lstm_of_two_layers():
    return _fixed(lambda config: _E.RNNClassifier(
        _columns(), [tf.feature_column.numeric_column("price")], num_units=[3, 2],
        cell_type="lstm", n_classes=3, optimizer="Adam", config=config), _sequences(3))


def rnn_classifier_of_a_cell_fn():
    def cell_fn(mode):
        return tf.nn.rnn_cell.GRUCell(2)

    return _fixed(lambda config: _E.RNNClassifier(
        _columns(), rnn_cell_fn=cell_fn, optimizer=tf.train.GradientDescentOptimizer(0.1),
        loss_reduction=tf.losses.Reduction.SUM, config=config), _sequences())


def rnn_classifier_of_sparse_tensors():
    def input_fn():
        words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "b"], [2, 2])
        times = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1., 2., 3.], [2, 2])
        return ({"words": words, "time": times, "price": tf.constant([[1.], [2.]])},
                tf.constant([[0], [2]]))

    words = _F.sequence_categorical_column_with_vocabulary_list("words", ["a", "b", "c"])
    estimator = _E.RNNClassifier(
        [tf.feature_column.embedding_column(words, 2), _F.sequence_numeric_column("time")],
        [tf.feature_column.numeric_column("price")], num_units=[3, 2], cell_type="gru",
        n_classes=3, config=tf.estimator.RunConfig(tempfile.mkdtemp(), tf_random_seed=4))
    estimator.train(input_fn, steps=1)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()
            if "kernel" in name or "embedding" in name}


def rnn_estimator():
    return _fixed(lambda config: _E.RNNEstimator(
        _E.regression_head(), _columns(), num_units=[2], cell_type="gru", optimizer="SGD",
        config=config), _sequences())


def rnn_spec():
    features, labels = tf.data.make_one_shot_iterator(_sequences()()).get_next()
    estimator = _E.RNNClassifier(
        _columns()[1:], [tf.feature_column.numeric_column("price")], num_units=[2, 2])
    tf.train.create_global_step()
    with tf.variable_scope("", initializer=tf.constant_initializer(0.1)):
        spec = estimator.model_fn(features, labels, "train", None)
    return [spec.train_op, spec.predictions["probabilities"].shape]


def rnn_of_cells_and_units():
    _E.RNNClassifier(_columns(), num_units=[3], rnn_cell_fn=lambda mode: None)


def rnn_of_an_unknown_cell():
    _E.RNNClassifier(_columns(), num_units=[3], cell_type="nope").train(_sequences(), steps=1)


def rnn_returns_sequences_to_another_head():
    _E.RNNEstimator(_E.regression_head(), _columns(), num_units=[2], return_sequences=True)


def sequence_layer():
    features, _ = tf.data.make_one_shot_iterator(_sequences()()).get_next()
    token = _F.sequence_categorical_column_with_identity("token", 3)
    layer, lengths = _F.sequence_input_layer(
        features, [tf.feature_column.indicator_column(token), _F.sequence_numeric_column("time")])
    return [layer, lengths]


def sequence_layer_of_another_column():
    _F.sequence_input_layer({"a": tf.constant([[1.]])}, [tf.feature_column.numeric_column("a")])


def _line(features, labels, mode, params):
    """A line and batch norm's update."""
    x = features["x"]
    slope = tf.get_variable("slope", initializer=2.)
    bias = tf.get_variable("bias", initializer=1.)
    predicted = slope * x + bias
    predictions = {"y": predicted}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs={
            "serving_default": tf.estimator.export.PredictOutput(predictions),
            "r": tf.estimator.export.RegressionOutput(predicted)})
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = params["optimizer"]()
    return tf.estimator.EstimatorSpec(
        mode, predictions, loss, optimizer.minimize(loss, tf.train.get_global_step()),
        {"error": tf.metrics.mean_absolute_error(labels, predicted)})


def _line_input():
    return tf.data.Dataset.from_tensors(
        ({"x": tf.constant([1., 2., 3., 5.])}, tf.constant([2., 1., 4., 3.])))


def _replicated(devices, optimizer=None, loss_reduction=tf.losses.Reduction.MEAN):
    def make():
        return _E.TowerOptimizer(tf.train.MomentumOptimizer(0.01, 0.9))

    estimator = tf.estimator.Estimator(
        _E.replicate_model_fn(_line, loss_reduction, devices=devices), tempfile.mkdtemp(),
        params={"optimizer": optimizer or make})
    estimator.train(_line_input, steps=2)
    return {"after": _checkpoint(estimator), "metrics": estimator.evaluate(_line_input),
            "predictions": [each["y"] for each in estimator.predict(_line_input)]}


def replicated_on_one_device():
    return _replicated(["/cpu:0"])


def replicated_on_two_devices():
    return _replicated(["/cpu:0", "/cpu:0"])


def replicated_sum():
    return _replicated(["/cpu:0", "/cpu:0"], lambda: _E.TowerOptimizer(
        lambda: tf.train.AdamOptimizer(0.01)), tf.losses.Reduction.SUM)


def replicated_specs():
    features, labels = {"x": tf.constant([1., 2., 3., 5.])}, tf.constant([2., 1., 4., 3.])
    tf.train.create_global_step()
    model_fn = _E.replicate_model_fn(_line, devices=["/cpu:0", "/cpu:0"])
    found = []
    for mode in ("train", "eval", "infer"):
        with tf.variable_scope(mode):
            spec = model_fn(features, labels, mode, {"optimizer": lambda: _E.TowerOptimizer(
                tf.train.AdamOptimizer(0.1))})
        found.append([spec.train_op, spec.loss, spec.predictions,
                      {key: spec.eval_metric_ops[key][1].op.type for key in spec.eval_metric_ops},
                      sorted(spec.export_outputs or ())])
    return found


def replicated_with_a_bare_optimizer():
    return _replicated(["/cpu:0", "/cpu:0"], lambda: tf.train.GradientDescentOptimizer(0.1))


def replicated_on_three_devices():
    return _replicated(["/cpu:0"] * 3)


def replicated_without_a_reduction():
    _E.replicate_model_fn(_line, tf.losses.Reduction.NONE)


def tower_optimizer_alone():
    a = tf.get_variable("a", initializer=[1., 2.])
    train = _E.TowerOptimizer(tf.train.AdamOptimizer(0.1)).minimize(tf.reduce_sum(tf.square(a)))
    with tf.control_dependencies([train]):
        return a.read_value()


def _classifier(**options):
    return tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")],
                                         model_dir=tempfile.mkdtemp(), **options)


def _classes():
    return tf.data.Dataset.from_tensors(
        ({"x": tf.constant([[1.], [2.], [3.]]), "id": tf.constant([[7], [8], [9]]),
          "tags": tf.SparseTensor([[0, 0], [2, 0]], [1, 2], [3, 1])},
         tf.constant([[0], [1], [1]])))


def forwarded_features():
    estimator = _classifier()
    estimator.train(_classes, steps=2)
    found = []
    for options in ({"keys": "id"}, {"keys": ["id", "tags"], "sparse_default_values": {"tags": 5}}):
        forwarding = _E.forward_features(estimator, **options)
        found.append([{key: each[key] for key in sorted(each) if key != "classes"}
                      for each in forwarding.predict(_classes)])
    return found


def forwarded_sparse_features():
    estimator = _classifier()
    estimator.train(_classes, steps=1)
    list(_E.forward_features(estimator, ["tags"]).predict(_classes))


def forwarded_keys_of_a_number():
    _E.forward_features(_classifier(), 3)


def forwarded_unknown_key():
    estimator = _classifier()
    estimator.train(_classes, steps=1)
    list(_E.forward_features(estimator, "nope").predict(_classes))


def added_metrics():
    def metric_fn(labels, predictions, features):
        return {"mine": tf.metrics.mean(features["x"] * predictions["logistic"])}

    estimator = _classifier(optimizer=tf.train.GradientDescentOptimizer(0.1))
    estimator.train(_classes, steps=2)
    metrics = _E.add_metrics(estimator, metric_fn).evaluate(_classes)
    return {key: metrics[key] for key in metrics}


def _receiver():
    return _E.build_raw_supervised_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 1])}, tf.placeholder(tf.int64, [None, 1]))()


def exported_modes():
    estimator = _classifier()
    estimator.train(_classes, steps=1)
    modes = tf.estimator.ModeKeys
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 1])})
    one = _E.export_saved_model_for_mode(estimator, tempfile.mkdtemp(), _receiver,
                                         mode=modes.EVAL)
    every = _E.export_all_saved_models(
        estimator, tempfile.mkdtemp(),
        {modes.TRAIN: _receiver, modes.PREDICT: serving})
    found = []
    for path, tags in ((one, ["eval"]), (every, ["train"]), (every, ["serve"])):
        with tf.Graph().as_default(), tf.Session() as session:
            meta = tf.saved_model.load(session, tags, path)
            found.append({key: [sorted(value.inputs), sorted(value.outputs)]
                          for key, value in meta.signature_def.items()})
    return found


def receiver_from_an_input_fn():
    receiver = _E.build_supervised_input_receiver_fn_from_input_fn(
        lambda size: ({"x": tf.zeros([size, 1])}, tf.zeros([size], tf.int64)), size=3)()
    return [receiver.features["x"].shape, receiver.labels.dtype, sorted(receiver.receiver_tensors)]


def annotated_network():
    estimator = _E.DNNClassifierWithLayerAnnotations(
        [2], [tf.feature_column.numeric_column("x")], model_dir=tempfile.mkdtemp(),
        optimizer=tf.train.GradientDescentOptimizer(0.1))
    estimator.train(_classes, steps=1)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(tf.train.latest_checkpoint(estimator.model_dir) + ".meta")
        return {name: len(graph.get_collection(name)) for name in graph.get_all_collection_keys()
                if name.startswith("layer_annot")}


def early_stopping():
    estimator = _classifier()
    os.makedirs(os.path.join(estimator.model_dir, "eval"))
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator, "loss", 100, run_every_secs=None, run_every_steps=1)
    estimator.train(_classes, steps=3, hooks=[hook])
    return estimator.get_variable_value("global_step")


def stopped_at_a_step():
    estimator = _classifier()
    hook = tf.estimator.experimental.make_early_stopping_hook(
        estimator, lambda: True, run_every_secs=None, run_every_steps=1)
    estimator.train(_classes, steps=5, hooks=[hook])
    return estimator.get_variable_value("global_step")


def saved_model_estimator():
    estimator = _classifier(optimizer=tf.train.GradientDescentOptimizer(0.1))
    estimator.train(_classes, steps=1)
    modes = tf.estimator.ModeKeys
    path = _E.export_all_saved_models(estimator, tempfile.mkdtemp(), {
        modes.TRAIN: _receiver, modes.EVAL: _receiver})
    again = _E.SavedModelEstimator(path, tempfile.mkdtemp())
    inputs = lambda: tf.data.Dataset.from_tensors(  # noqa: E731
        ({"x": tf.constant([[1.], [2.]])}, tf.constant([[0], [1]], tf.int64)))
    again.train(inputs, steps=2)
    return [again.evaluate(inputs, steps=1), _checkpoint(again)]


def _canned(estimator, **options):
    network = estimator(hidden_units=[2], feature_columns=[tf.feature_column.numeric_column("x")],
                        model_dir=tempfile.mkdtemp(), **options)
    network.train(_classes, steps=2)
    return sorted(network.get_variable_names())


def canned_v2_optimizers():
    optimizers = tf.compat.v2.keras.optimizers
    network = tf.compat.v2.estimator.DNNClassifier
    return [_canned(network, optimizer=lambda: optimizers.Adam(0.01)),
            _canned(network, optimizer=lambda: optimizers.SGD(0.01)),
            _canned(network, optimizer=optimizers.Adam),
            _canned(network, optimizer=tf.keras.optimizers.Adam(0.01)),
            _canned(network, optimizer="Adam")]


def canned_optimizers():
    network = tf.estimator.DNNClassifier
    return [_canned(network, optimizer=optimizer) for optimizer in (
        "Ftrl", tf.train.AdamOptimizer, lambda: tf.train.AdamOptimizer(0.01),
        tf.contrib.opt.AdamWOptimizer(0.01))]


def canned_with_a_keras_optimizer():
    _canned(tf.estimator.DNNClassifier, optimizer=tf.keras.optimizers.Adam(0.01))
