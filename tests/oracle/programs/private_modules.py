"""Modules of tensorflow.python that programs import, though they are private."""

import os
import tempfile

import tensorflow as tf


def cells_are_those_of_tf_nn():
    from tensorflow.python.ops import rnn_cell_impl
    from tensorflow.python.ops.rnn_cell import RNNCell
    from tensorflow.python.ops.rnn_cell_impl import LSTMStateTuple
    return [rnn_cell_impl.RNNCell is tf.nn.rnn_cell.RNNCell,
            LSTMStateTuple is tf.nn.rnn_cell.LSTMStateTuple,
            RNNCell is tf.nn.rnn_cell.RNNCell, callable(rnn_cell_impl._zero_state_tensors),
            hasattr(rnn_cell_impl, "nope")]


def a_cell_of_the_program():
    from tensorflow.python.ops import array_ops, init_ops, math_ops, rnn
    from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

    class Cell(LayerRNNCell):

        def __init__(self, units, **options):
            super(Cell, self).__init__(**options)
            self.units = units

        @property
        def state_size(self):
            return self.units

        @property
        def output_size(self):
            return self.units

        def build(self, inputs_shape):
            self.kernel = self.add_variable(
                "kernel", [inputs_shape[1].value + self.units, self.units],
                initializer=init_ops.constant_initializer(0.1))
            self.built = True

        def call(self, inputs, state):
            output = math_ops.tanh(math_ops.matmul(
                array_ops.concat([inputs, state], 1), self.kernel))
            return output, output

    outputs, state = rnn.dynamic_rnn(Cell(2), tf.ones([1, 3, 2]), dtype=tf.float32)
    stacked = tf.nn.rnn_cell.MultiRNNCell([Cell(2, name="a"), Cell(2, name="b")])
    return [outputs, state, tf.nn.dynamic_rnn(stacked, tf.ones([1, 3, 2]), dtype=tf.float32,
                                              scope="stacked")[0]]


def layers_are_those_of_tf_layers():
    from tensorflow.python.layers import base, convolutional, core, normalization, pooling, utils
    return [core.Dense is tf.layers.Dense, base.Layer is tf.layers.Layer,
            convolutional.Conv2D is tf.layers.Conv2D,
            normalization.BatchNormalization is tf.layers.BatchNormalization,
            pooling.MaxPooling2D is tf.layers.MaxPooling2D,
            utils.normalize_tuple(2, 2, "x"), utils.conv_output_length(5, 3, "same", 2)]


def a_layer_of_the_program():
    from tensorflow.python.layers import base

    class Scale(base.Layer):

        def build(self, shape):
            self.scale = self.add_variable("scale", shape[-1:].as_list(),
                                           initializer=tf.constant_initializer(3.))
            super(Scale, self).build(shape)

        def call(self, inputs):
            return inputs * self.scale

    return [Scale(name="mine")(tf.ones([1, 2])), tf.keras.layers.Dense(
        1, kernel_initializer="ones")(Scale()(tf.ones([1, 2])))]


def modules_of_keras():
    from tensorflow.python.keras import backend, layers
    import tensorflow.python.keras as keras
    from tensorflow.python.keras.engine import base_layer
    from tensorflow.python.keras.engine.network import Network
    from tensorflow.python.keras.layers.convolutional import Conv2D
    from tensorflow.python.keras.layers.merge import Concatenate
    from tensorflow.python.keras.layers.recurrent import GRUCell
    from tensorflow.python.keras.optimizer_v2 import adam
    from tensorflow.python.keras.utils import conv_utils, generic_utils
    return [layers.Dense is tf.keras.layers.Dense, keras.Model is tf.keras.Model,
            base_layer.Layer is tf.keras.layers.Layer, Conv2D is tf.keras.layers.Conv2D,
            Concatenate is tf.keras.layers.Concatenate, GRUCell is tf.keras.layers.GRUCell,
            issubclass(tf.keras.Model, Network), callable(backend.get_session),
            callable(adam.Adam), conv_utils.normalize_padding("SAME"),
            generic_utils.to_snake_case("MyLayer")]


def a_custom_optimizer():
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import control_flow_ops, math_ops, state_ops
    from tensorflow.python.training import optimizer, training_ops

    class Descent(optimizer.Optimizer):

        def __init__(self, rate, use_locking=False, name="Descent"):
            super(Descent, self).__init__(use_locking, name)
            self.rate = rate

        def _prepare(self):
            self.tensor = ops.convert_to_tensor(self.rate, name="rate")

        def _create_slots(self, variables):
            for each in variables:
                self._zeros_slot(each, "m", self._name)

        def _apply_dense(self, gradient, variable):
            m = self.get_slot(variable, "m")
            update = state_ops.assign(m, 0.9 * m + gradient)
            moved = training_ops.apply_gradient_descent(
                variable, math_ops.cast(self.tensor, variable.dtype.base_dtype), update)
            return control_flow_ops.group(moved, update)

    x = tf.get_variable("x", initializer=[1., 2.])
    train = Descent(0.1).minimize(tf.reduce_sum(x * x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        return [session.run(x)]


def a_reader_of_checkpoints():
    from tensorflow.python import pywrap_tensorflow
    from tensorflow.python.training import checkpoint_utils, saver
    path = os.path.join(tempfile.mkdtemp(), "model")
    tf.get_variable("a/b", initializer=[1., 2.])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.Saver().save(session, path)
    reader = pywrap_tensorflow.NewCheckpointReader(path)
    return [reader.get_variable_to_shape_map(), reader.get_tensor("a/b"),
            checkpoint_utils.list_variables(path)]


def names_of_framework():
    from tensorflow.python.framework import (common_shapes, dtypes, graph_util, op_def_registry,
                                             ops, sparse_tensor, tensor_shape, tensor_util,
                                             test_util)
    from tensorflow.python.framework.graph_util_impl import convert_variables_to_constants
    return [tensor_shape.scalar(), tensor_shape.vector(3), tensor_shape.matrix(2, None),
            ops.Tensor is tf.Tensor, dtypes.float32, callable(graph_util.extract_sub_graph),
            callable(convert_variables_to_constants), sparse_tensor.SparseTensor is
            tf.SparseTensor, tensor_util.constant_value(tf.constant(3)),
            "MatMul" in op_def_registry.get_registered_ops(),
            issubclass(test_util.TensorFlowTestCase, object),
            ops.RegisterShape("NoSuchOp")(common_shapes.call_cpp_shape_fn) is not None,
            ops.convert_to_tensor_or_indexed_slices([1.]), ops.get_default_graph().version > 0]


def names_of_ops():
    from tensorflow.python.ops import (array_ops, check_ops, clip_ops, control_flow_ops,
                                       embedding_ops, gen_math_ops, math_ops, nn, random_ops,
                                       resource_variable_ops, variable_scope, variables)
    with variable_scope.variable_scope("a"):
        x = variable_scope.get_variable("x", initializer=[1., 2.])
    return [isinstance(x, variables.Variable), isinstance(x, variables.RefVariable),
            isinstance(x, resource_variable_ops.ResourceVariable), array_ops.stack([1, 2]),
            array_ops.unstack(tf.constant([1, 2])), clip_ops.clip_by_value(3, 0, 2),
            control_flow_ops.cond(tf.constant(True), lambda: 1, lambda: 2),
            control_flow_ops.while_loop(lambda i: i < 3, lambda i: i + 1, [0]),
            control_flow_ops.switch_case(tf.constant(1), [lambda: 3, lambda: 4]),
            embedding_ops.embedding_lookup(x, [1]), gen_math_ops.add(1, 2),
            math_ops.add(1, 1), nn.softmax([[1., 1.]]),
            random_ops.random_crop([[1, 1]], [1, 1]), check_ops.assert_equal(1, 1) is None]


def a_name_that_a_module_did_not_have():
    from tensorflow.python.ops import rnn_cell_impl
    return rnn_cell_impl.nope


def an_import_that_a_module_did_not_have():
    from tensorflow.python.ops.rnn_cell_impl import nope
    return nope


def a_gradient_of_the_program():
    from tensorflow.python.framework import ops
    graph = tf.get_default_graph()

    @ops.RegisterGradient("Tripled_" + str(id(graph)))
    def gradient(op, grad):
        return 3. * grad

    x = tf.constant(2.)
    with graph.gradient_override_map({"Square": "Tripled_" + str(id(graph))}):
        y = tf.square(x)
    return tf.gradients(y, x)


def tools_and_devices():
    from tensorflow.python.client import device_lib, timeline
    from tensorflow.python.platform import gfile, tf_logging
    from tensorflow.python.tools import freeze_graph, optimize_for_inference_lib
    from tensorflow.python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file
    from tensorflow.python.util import deprecation, nest, tf_inspect
    return [device_lib.list_local_devices()[0].name, callable(timeline.Timeline),
            gfile.Exists("/nowhere"), callable(tf_logging.info), callable(freeze_graph.main),
            callable(optimize_for_inference_lib.optimize_for_inference),
            callable(print_tensors_in_checkpoint_file), callable(deprecation.deprecated),
            nest.flatten([[1], 2]), nest.is_sequence([1]),
            tf_inspect.getfullargspec(lambda a, b=1: 0).args]


def names_by_a_star():
    found = {}
    exec("from tensorflow.python.ops.rnn_cell_impl import *",  # pylint: disable=exec-used
         found)
    return [found["LSTMStateTuple"] is tf.nn.rnn_cell.LSTMStateTuple, "tf" in found]


def a_replaced_name_is_replaced_for_tensorflow():
    from tensorflow.python.ops import math_ops
    original = math_ops.reduced_shape
    called = []
    math_ops.reduced_shape = lambda *args: called.append(1) or original(*args)
    try:
        x = tf.get_variable("x", initializer=[[1., 2.]])
        tf.gradients(tf.reduce_mean(x, axis=tf.argmax(
            [0, 1], output_type=tf.int32)), x)
    finally:
        math_ops.reduced_shape = original
    return [math_ops.reduced_shape is original]


def keras_by_its_path():
    import tensorflow.keras as keras
    from tensorflow.keras.experimental import PeepholeLSTMCell
    from tensorflow.keras.utils import multi_gpu_model
    return [keras.layers.Dense is tf.keras.layers.Dense, keras.__version__,
            callable(multi_gpu_model), callable(PeepholeLSTMCell)]


def sequences_of_keras():
    from tensorflow.python.keras.preprocessing.sequence import pad_sequences
    return pad_sequences([[1], [2, 3]])


def variables_by_their_definitions():
    from tensorflow.python.ops import resource_variable_ops
    variable = tf.get_variable("v", [2], use_resource=True)
    definition = resource_variable_ops._to_proto_fn(variable)
    return [definition.variable_name, resource_variable_ops._from_proto_fn(definition).name]


def a_writer_of_events():
    from tensorflow.python import pywrap_tensorflow
    folder = tempfile.mkdtemp()
    writer = pywrap_tensorflow.EventsWriter(tf.compat.as_bytes(folder + "/events"))
    writer.WriteEvent(tf.Event(step=7))
    writer.Flush()
    writer.Close()
    file, = os.listdir(folder)
    return [event.step for event in tf.train.summary_iterator(os.path.join(folder, file))]


def attributes_of_tensorflow_python():
    from tensorflow.python import context, graph_util, ops, pywrap_tensorflow
    from tensorflow.python.util import compat_internal
    from tensorflow.python.util.tf_export import estimator_export
    return [ops.Graph is tf.Graph, callable(graph_util.extract_sub_graph),
            callable(context.context), compat_internal.path_to_str("a"),
            callable(estimator_export), pywrap_tensorflow.EqualGraphDefWrapper(b"", b"")]


def a_tpu_that_is_none():
    from tensorflow.python.distribute.cluster_resolver import TPUClusterResolver
    public = tf.distribute.cluster_resolver.TPUClusterResolver("")
    return [public.master(), TPUClusterResolver("").master(), public.cluster_spec() is None,
            isinstance(public, TPUClusterResolver)]
