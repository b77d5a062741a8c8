"""Names of tf.contrib, and modules by the folders in which TensorFlow 1.15 had them."""

import importlib
import pydoc

import tensorflow as tf


def answers_of_hasattr_for_packages():
    return {name: hasattr(tf.contrib, name) for name in (
        "layers", "slim", "graph_editor", "tensor_forest", "cloud", "nope", "layer")}


def answers_of_hasattr_for_names():
    return [hasattr(tf.contrib.layers, "conv2d"), hasattr(tf.contrib.layers, "nope"),
            hasattr(tf.contrib.layers, "convolution4d"), hasattr(tf.contrib.slim, "nope"),
            hasattr(tf.contrib.seq2seq, "BeamSearchDecoder"), hasattr(tf.contrib.tpu, "np"),
            hasattr(tf.contrib.graph_editor, "nope"), hasattr(tf.contrib.lookup, "nope"),
            hasattr(tf.contrib.graph_editor, "get_tensors"), hasattr(tf.contrib.data, "nope"),
            hasattr(tf.contrib.distributions, "nope"), hasattr(tf.contrib.rnn, "nope")]


def a_misspelt_name():
    return tf.contrib.layers.fuly_connected


def a_misspelt_package():
    return tf.contrib.layer


def an_import_of_no_package():
    return importlib.import_module("tensorflow.contrib.nope")


def an_import_of_no_module():
    return importlib.import_module("tensorflow.contrib.layers.nope")


def an_import_of_no_name():
    from tensorflow.contrib.layers import nope
    return nope


def a_name_where_another_is_wanted():
    return [getattr(tf.contrib.layers, "convolution4d", tf.contrib.layers.conv2d) is
            tf.contrib.layers.conv2d]


def modules_by_their_folders():
    from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope
    from tensorflow.contrib.framework.python.ops.arg_scope import has_arg_scope
    import tensorflow.contrib.framework.python.ops.variables as variables
    from tensorflow.contrib.layers.python.layers import layers, utils
    from tensorflow.contrib.training.python.training import hparam
    return [arg_scope is tf.contrib.framework.arg_scope, callable(add_arg_scope),
            callable(has_arg_scope), callable(layers.conv2d), callable(utils.smart_cond),
            hparam.HParams is tf.contrib.training.HParams, callable(variables.model_variable),
            hasattr(layers, "nope")]


def private_names_by_their_folders():
    from tensorflow.contrib.estimator.python.estimator import multi_head
    from tensorflow.contrib.layers.python.layers.layers import _model_variable_getter
    return [callable(_model_variable_getter), callable(multi_head.multi_head)]


def nets_of_slim():
    from tensorflow.contrib.slim.nets import resnet_v2, vgg
    from tensorflow.contrib.slim.python.slim.nets import resnet_v1
    from tensorflow.contrib.slim.python.slim.nets.inception_v3 import inception_v3_arg_scope
    return [callable(resnet_v1.resnet_v1_50), callable(resnet_v2.resnet_v2_50),
            vgg.vgg_16.default_image_size, callable(inception_v3_arg_scope)]


def data_sets_of_learn():
    from tensorflow.contrib.learn.python.learn.datasets import base
    from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets
    return [callable(base.maybe_download), callable(read_data_sets)]


def the_projector_of_tensorboard():
    from tensorflow.contrib.tensorboard.plugins import projector
    config = projector.ProjectorConfig()
    config.embeddings.add().tensor_name = "words"
    return [len(config.embeddings)]


def public_modules_by_their_paths():
    import tensorflow.compat.v1.image as image
    import tensorflow.math as math
    from tensorflow.nn import relu6
    from tensorflow.nn.rnn_cell import DropoutWrapper, LSTMCell
    from tensorflow.train import AdamOptimizer
    return [relu6 is tf.nn.relu6, LSTMCell is tf.nn.rnn_cell.LSTMCell, math.add is tf.math.add,
            DropoutWrapper is tf.nn.rnn_cell.DropoutWrapper,
            AdamOptimizer is tf.train.AdamOptimizer,
            image.resize_images is tf.image.resize_images]


def modules_by_import_module():
    nn = importlib.import_module("tensorflow.nn")
    return [importlib.import_module("tensorflow").placeholder is tf.placeholder,
            nn.dynamic_rnn is tf.nn.dynamic_rnn,
            importlib.import_module(".train", "tensorflow").Saver is tf.train.Saver,
            importlib.import_module("tensorflow.contrib.rnn").GRUCell is tf.contrib.rnn.GRUCell]


def names_by_their_paths():
    return [pydoc.locate("tensorflow." + path) is not None for path in (
        "train.AdamOptimizer", "nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell", "layers.Dense",
        "contrib.layers.fully_connected", "nope", "contrib.nope", "contrib.rnn.nope")]


def what_is_no_module_of_a_package():
    return importlib.import_module("tensorflow.contrib.rnn.LSTMCell")


def packages_are_true():
    return [bool(tf.contrib), bool(tf.contrib.layers), tf.contrib.layers == tf.contrib.layers,
            tf.contrib.layers == 1, len({tf.contrib.layers, tf.contrib.layers})]


def names_by_a_star():
    found = {}
    exec("from tensorflow.contrib.layers import *", found)  # pylint: disable=exec-used
    return [callable(found["fully_connected"]), "nope" in found]


def names_by_dir():
    return ["fully_connected" in dir(tf.contrib.layers), "nope" in dir(tf.contrib.layers),
            "layers" in dir(tf.contrib)]


def modules_by_other_names():
    import tensorflow.contrib.learn as learn
    return [callable(learn.io.read_batch_examples), callable(learn.utils.make_export_strategy),
            callable(learn.learn_runner.run), hasattr(learn.io, "nope"),
            callable(tf.contrib.layers.summaries.summarize_tensor),
            callable(tf.contrib.losses.metric_learning.triplet_semihard_loss),
            tf.contrib.framework.nest.flatten([[1], 2])]
