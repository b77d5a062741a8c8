"""Checkpoints and exports that TensorFlow 1.15 wrote, by `python checkpoints.py FOLDER`, are read.

A case restores one of ../checkpoints, or of the folder that ORACLE_CHECKPOINTS names, and trains
on.
"""

import glob
import os
import shutil
import sys
import tempfile

import numpy as np
import tensorflow as tf

FOLDER = os.environ.get("ORACLE_CHECKPOINTS") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "checkpoints")
SOAK = ("a_predictor_of_1_15", "adadelta_slots", "adagrad_slots", "an_estimator_of_1_15",
        "ftrl_slots", "keras_layers", "momentum_slots", "names_of_an_estimators_checkpoint",
        "proximal_slots", "recurrent_cells", "rmsprop_slots", "slim_layers")
NUMBERS = np.arange(12.).reshape(2, 3, 2) / 12


def _dense():
    x = tf.constant(NUMBERS[0], tf.float32)
    hidden = tf.layers.batch_normalization(tf.layers.dense(x, 3, tf.nn.relu), training=True)
    return tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1)))


def _dense_and_averages():
    loss = _dense()
    step = tf.train.get_or_create_global_step()
    averages = tf.train.ExponentialMovingAverage(0.9, step)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    with tf.control_dependencies([train]):
        return averages.apply(tf.trainable_variables()), loss


def _partitions(optimizer):
    with tf.variable_scope("table", partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable("w", [5, 2], initializer=tf.constant_initializer(1.))
    rows = tf.nn.embedding_lookup(table, [0, 3], partition_strategy="div")
    loss = tf.reduce_mean(tf.square(rows - 0.5))
    return optimizer.minimize(loss, tf.train.get_or_create_global_step()), loss


def _cells():
    x = tf.constant(NUMBERS, tf.float32)
    cells = [tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.GRUCell(2),
             tf.nn.rnn_cell.LSTMCell(2, use_peepholes=True, num_proj=2),
             tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicRNNCell(2) for _ in range(2)])]
    outputs = [tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope="rnn%d" % index)[0]
               for index, cell in enumerate(cells)]
    outputs.extend(tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2), x, dtype=tf.float32)[0])
    return _trained(outputs)


def _keras():
    x, layers = tf.constant(NUMBERS, tf.float32), tf.keras.layers
    outputs = [each(x) for each in (
        layers.GRU(2), layers.LSTM(2), layers.SimpleRNN(2), layers.Bidirectional(layers.GRU(2)),
        layers.RNN([layers.GRUCell(2), layers.LSTMCell(2)]), layers.BatchNormalization(),
        layers.LayerNormalization(), layers.TimeDistributed(layers.Dense(2)), layers.GRU(2))]
    outputs.append(layers.ConvLSTM2D(1, 1)(tf.reshape(x, [2, 3, 2, 1, 1])))
    return _trained(outputs)


def _slim():
    slim = tf.contrib.slim
    x = tf.reshape(tf.constant(NUMBERS, tf.float32), [1, 3, 4, 1])
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm):
        hidden = slim.flatten(slim.conv2d(x, 2, 2))
    return _trained([slim.fully_connected(hidden, 2, normalizer_fn=slim.layer_norm)])


def _trained(outputs):
    loss = tf.add_n([tf.reduce_mean(tf.square(each)) for each in outputs])
    step = tf.train.get_or_create_global_step()
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss, step), loss


MODELS = {
    "adam": lambda: _partitions(tf.train.AdamOptimizer(0.1)),
    "adadelta": lambda: _partitions(tf.train.AdadeltaOptimizer(0.1)),
    "adagrad": lambda: _partitions(tf.train.AdagradOptimizer(0.1)),
    "ftrl": lambda: _partitions(tf.train.FtrlOptimizer(0.1)),
    "momentum": lambda: _partitions(tf.train.MomentumOptimizer(0.1, 0.9)),
    "proximal": lambda: _partitions(tf.train.ProximalAdagradOptimizer(0.1)),
    "rmsprop": lambda: _partitions(tf.train.RMSPropOptimizer(0.1, centered=True)),
    "small": lambda: _trained([tf.get_variable("w", initializer=[1., 2.])]),
    "dense": _dense_and_averages, "cells": _cells, "keras": _keras, "slim": _slim,
}


def _columns():
    column = tf.feature_column
    words = column.categorical_column_with_vocabulary_list("word", ["a", "b"])
    return [words], [column.numeric_column("x"), column.embedding_column(words, 2)]


def _input_fn():
    return ({"x": tf.constant([1., 2.]), "word": tf.constant(["a", "b"])}, tf.constant([0, 1]))


def _estimator(folder):
    linear, deep = _columns()
    return tf.estimator.DNNLinearCombinedClassifier(
        folder, linear, dnn_feature_columns=deep, dnn_hidden_units=[2],
        config=tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=100))


def _restored(name, resource=False, version=None):
    tf.get_variable_scope().set_use_resource(resource)
    train, loss = MODELS[name]()
    losses = []
    with tf.Session() as session:
        tf.train.Saver().restore(session, os.path.join(FOLDER, version or name))
        step = session.run(tf.train.get_global_step())
        for _ in range(3):
            losses.append(session.run(loss))
            session.run(train)
    return [step, losses]


def adam_slots_of_partitions():
    return _restored("adam")


def adadelta_slots():
    return _restored("adadelta")


def adagrad_slots():
    return _restored("adagrad")


def ftrl_slots():
    return _restored("ftrl")


def momentum_slots():
    return _restored("momentum")


def proximal_slots():
    return _restored("proximal")


def rmsprop_slots():
    return _restored("rmsprop")


def batch_norm_and_averages():
    return _restored("dense")


def resource_variables():
    return _restored("dense", resource=True)


def the_first_format():
    return _restored("dense", version="dense_v1")


def recurrent_cells():
    return _restored("cells")


def keras_layers():
    return _restored("keras")


def slim_layers():
    return _restored("slim")


def averages_in_the_place_of_variables():
    _dense()
    averages = tf.train.ExponentialMovingAverage(0.9)
    with tf.Session() as session:
        saver = tf.train.Saver(averages.variables_to_restore(tf.trainable_variables()))
        saver.restore(session, os.path.join(FOLDER, "dense"))
        return [session.run(tf.trainable_variables())]


def variables_that_start_from_a_checkpoint():
    path = os.path.join(FOLDER, "dense")
    with tf.variable_scope("mine"):
        kernel = tf.get_variable("kernel", [2, 3])
    tf.train.init_from_checkpoint(path, {"dense/kernel": kernel})
    return [kernel, tf.train.load_variable(path, "dense/bias"), tf.train.list_variables(path)]


def a_graph_of_1_15():
    saver = tf.train.import_meta_graph(os.path.join(FOLDER, "small.meta"))
    graph = tf.get_default_graph()
    train, loss = graph.get_collection("fetched")
    with tf.Session() as session:
        saver.restore(session, os.path.join(FOLDER, "small"))
        before = session.run(loss)
        session.run(train)
        return [before, session.run(loss)]


def _copied(name):
    folder = os.path.join(tempfile.mkdtemp(), name)
    shutil.copytree(os.path.join(FOLDER, name), folder)
    return folder


def an_estimator_of_1_15():
    estimator = _estimator(_copied("estimator"))
    before = estimator.evaluate(_input_fn, steps=1)
    estimator.train(_input_fn, steps=3)
    return [before, estimator.evaluate(_input_fn, steps=1)]


def names_of_an_estimators_checkpoint():
    folder = tempfile.mkdtemp()
    _estimator(folder).train(_input_fn, steps=1)
    return [tf.train.list_variables(folder),
            tf.train.list_variables(os.path.join(FOLDER, "estimator"))]


def an_export_of_1_15():
    with tf.Session() as session:
        found = tf.saved_model.loader.load(session, ["serve"], os.path.join(FOLDER, "export"))
        signature = found.signature_def["serving_default"]
        examples = signature.inputs["examples"].name
        return [sorted(found.signature_def), session.run(
            signature.outputs["probabilities"].name, {examples: [_example(1., b"a")]})]


def a_predictor_of_1_15():
    predict = tf.contrib.predictor.from_saved_model(os.path.join(FOLDER, "export"))
    return [predict({"examples": [_example(2., b"b")]})["probabilities"]]


def _example(x, word):
    features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[x])),
                "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[word]))}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _write(folder):
    for name, build in MODELS.items():
        tf.reset_default_graph()
        tf.set_random_seed(1)
        train, loss = build()
        for each in (train, loss):
            tf.add_to_collection("fetched", each)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            path = os.path.join(folder, name)
            tf.train.Saver().save(session, path, write_meta_graph=name == "small",
                                  write_state=False)
            if name == "dense":
                tf.train.Saver(write_version=tf.train.SaverDef.V1).save(
                    session, path + "_v1", write_meta_graph=False, write_state=False)
    _write_estimator(folder)
    _write_export(folder)


def _write_estimator(folder):
    made = tempfile.mkdtemp()
    estimator = _estimator(made)
    estimator.train(_input_fn, steps=3)
    os.makedirs(os.path.join(folder, "estimator"))
    path = tf.train.latest_checkpoint(made)
    for each in glob.glob(path + ".[id]*"):
        shutil.copy(each, os.path.join(folder, "estimator"))
    with open(os.path.join(folder, "estimator", "checkpoint"), "w") as file:
        file.write('model_checkpoint_path: "%s"\n' % os.path.basename(path))


def _write_export(folder):
    tf.reset_default_graph()
    tf.set_random_seed(1)
    examples = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32),
                                         "word": tf.FixedLenFeature([], tf.string)})
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    word = tf.one_hot(table.lookup(parsed["word"]), 2)
    outputs = tf.nn.softmax(tf.layers.dense(tf.concat([parsed["x"], word], 1), 2))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.simple_save(
            session, os.path.join(folder, "export"), {"examples": examples},
            {"probabilities": outputs}, legacy_init_op=tf.tables_initializer())


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.FATAL)
    _write(sys.argv[1])
