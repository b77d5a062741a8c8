"""tf.contrib.rnn, tf.nn.rnn_cell and the functions that run cells.

Cases with dropout have one step: TensorFlow draws the random numbers of a loop's steps in any
order.
"""

import tensorflow as tf

rnn = tf.contrib.rnn

SOAK = ("attention_cell_wrapper", "attention_cell_wrapper_concatenated",
        "attention_cell_wrapper_start", "basic_lstm_cell_concatenated", "basic_lstm_cell_start",
        "basic_rnn_cell", "basic_rnn_cell_start", "bidirectional_dynamic_rnn",
        "bidirectional_dynamic_rnn_start", "bidirectional_grid_lstm_cell",
        "bidirectional_grid_lstm_cell_back", "cell_in_a_scope", "cell_made_twice", "cell_reused",
        "cells_step", "compiled_wrapper", "conv_1d_lstm_cell", "conv_2d_lstm_cell",
        "conv_2d_lstm_cell_start", "conv_3d_lstm_cell", "coupled_lstm_cell",
        "coupled_lstm_cell_norm", "coupled_lstm_cell_start", "device_wrapper",
        "dropout_wrapper_graph_seed", "dropout_wrapper_of_no_cell",
        "dropout_wrapper_out_of_range", "dropout_wrapper_placeholder", "dropout_wrapper_seeds",
        "dropout_wrapper_variational", "dynamic_rnn_lengths", "dynamic_rnn_of_unknown_size",
        "dynamic_rnn_state", "dynamic_rnn_time_major", "dynamic_rnn_twice_in_a_scope",
        "dynamic_rnn_unknown_shapes", "dynamic_rnn_without_a_type", "dynamic_rnn_wrong_lengths",
        "embedding_wrapper", "embedding_wrapper_initializer", "fused_adaptor", "glstm_cell",
        "glstm_cell_dynamic_batch", "glstm_cell_start", "grid_lstm_cell",
        "grid_lstm_cell_coupled", "grid_lstm_cell_coupled_shared", "grid_lstm_cell_shared",
        "grid_lstm_cell_start", "gru_block_cell", "gru_block_cell_start", "gru_block_cell_v2",
        "gru_cell_initializers", "gru_cell_start", "highway_wrapper", "highway_wrapper_start",
        "ind_rnn_cell", "ind_rnn_cell_start", "indy_gru_cell", "indy_gru_cell_start",
        "indy_lstm_cell", "indy_lstm_cell_start", "input_projection_wrapper",
        "input_projection_wrapper_start", "intersection_rnn_cell",
        "intersection_rnn_cell_projected", "layer_norm_basic_lstm_cell",
        "layer_norm_basic_lstm_cell_double", "layer_norm_basic_lstm_cell_dropout",
        "layer_norm_basic_lstm_cell_dropout_placeholder", "layer_norm_basic_lstm_cell_plain",
        "layer_norm_basic_lstm_cell_stack", "layer_norm_basic_lstm_cell_start",
        "layer_norm_basic_lstm_cell_trains", "lstm_block_cell", "lstm_block_cell_in_stack",
        "lstm_block_cell_peepholes", "lstm_block_cell_start", "lstm_block_fused_cell",
        "lstm_block_fused_cell_reused", "lstm_block_fused_cell_unknown_shapes",
        "lstm_cell_clipped", "lstm_cell_concatenated", "lstm_cell_partitioned", "lstm_cell_start",
        "multi_rnn_cell", "multi_rnn_cell_concatenated", "multi_rnn_cell_of_what_is_no_list",
        "multi_rnn_cell_one_cell_twice", "multi_rnn_cell_start", "multi_rnn_cell_without_cells",
        "nas_cell", "nas_cell_start", "output_projection_wrapper",
        "output_projection_wrapper_start", "own_cell", "own_layer", "phased_lstm_cell",
        "phased_lstm_cell_start", "raw_rnn", "residual_wrapper", "residual_wrapper_function",
        "resource_variables", "saved_names_of_a_block_cell_are_those_of_a_cell", "sru_cell",
        "sru_cell_start", "stack_bidirectional_dynamic_rnn",
        "stack_bidirectional_dynamic_rnn_start", "stack_bidirectional_dynamic_rnn_states",
        "stack_bidirectional_rnn", "stack_bidirectional_rnn_states", "static_bidirectional_rnn",
        "static_rnn", "static_rnn_of_a_tensor", "static_rnn_start", "static_rnn_without_inputs",
        "static_state_saving_rnn", "time_freq_lstm_cell", "time_reversed_fused_rnn", "ugrnn_cell",
        "ugrnn_cell_start", "zero_state_twice")


def _x(*shape):
    size = 1
    for each in shape:
        size *= each
    return tf.reshape(tf.sin(tf.range(size, dtype=tf.float32)), shape)


def _fill():
    """Sets all variables to known numbers, so that a result does not depend on seeds."""
    return tf.group(*[
        tf.assign(each, 0.5 * tf.reshape(tf.cos(
            tf.range(each.shape.num_elements(), dtype=tf.float32) + number), each.shape))
        for number, each in enumerate(tf.global_variables())])


def _ran(result):
    """Returns what tensors are with known variables, and their gradients."""
    flat = [each for each in tf.contrib.framework.nest.flatten(result)
            if each.dtype.is_floating]
    variables = tf.trainable_variables()
    loss = tf.add_n([tf.reduce_sum(tf.square(each)) for each in flat])
    grads = [each for each in tf.gradients(loss, variables) if each is not None]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(_fill())
        return session.run([result, grads])


def _dynamic(cell, size=4, lengths=None, **options):
    options.setdefault("dtype", tf.float32)
    return _ran(tf.nn.dynamic_rnn(cell, _x(2, 3, size), sequence_length=lengths, **options))


def _step(cell, x=None, state=None):
    x = _x(2, 4) if x is None else x
    state = cell.zero_state(2, tf.float32) if state is None else state
    first, state = cell(x, state)
    return _ran([first, cell(x, state)])


def _start(cell, size=4, time=3):
    """Initial values under the graph's seed."""
    outputs, state = tf.nn.dynamic_rnn(cell, _x(2, time, size), dtype=tf.float32)
    return [outputs, state, {each.op.name: each for each in tf.global_variables()}]


def basic_rnn_cell():
    return _dynamic(tf.nn.rnn_cell.BasicRNNCell(3))


def basic_rnn_cell_start():
    return _start(tf.nn.rnn_cell.BasicRNNCell(3))


def basic_lstm_cell_start():
    return _start(rnn.BasicLSTMCell(3))


def basic_lstm_cell_concatenated():
    return _dynamic(rnn.BasicLSTMCell(3, state_is_tuple=False, activation=tf.nn.relu))


def lstm_cell_start():
    return _start(tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2))


def lstm_cell_clipped():
    return _dynamic(rnn.LSTMCell(3, cell_clip=0.3, num_proj=2, proj_clip=0.1, use_peepholes=True))


def lstm_cell_concatenated():
    return _dynamic(rnn.LSTMCell(3, num_proj=2, state_is_tuple=False))


def lstm_cell_partitioned():
    return _dynamic(tf.nn.rnn_cell.LSTMCell(4, num_unit_shards=2, num_proj=2, num_proj_shards=2))


def gru_cell_start():
    return _start(rnn.GRUCell(3))


def gru_cell_initializers():
    return _start(rnn.GRUCell(3, kernel_initializer=tf.orthogonal_initializer(),
                              bias_initializer=tf.constant_initializer(0.5), name="mine"))


def multi_rnn_cell():
    cell = rnn.MultiRNNCell([rnn.BasicLSTMCell(3), rnn.GRUCell(2)])
    return [_dynamic(cell), str(cell.state_size), cell.output_size]


def multi_rnn_cell_start():
    return _start(rnn.MultiRNNCell([rnn.LSTMCell(3), rnn.LSTMCell(2)]))


def multi_rnn_cell_concatenated():
    return _dynamic(rnn.MultiRNNCell([rnn.GRUCell(3), rnn.GRUCell(2)], state_is_tuple=False))


def multi_rnn_cell_one_cell_twice():
    cell = rnn.GRUCell(3)
    return _dynamic(rnn.MultiRNNCell([cell] * 2), 3)


def multi_rnn_cell_without_cells():
    return rnn.MultiRNNCell([])


def multi_rnn_cell_of_what_is_no_list():
    return rnn.MultiRNNCell(rnn.GRUCell(3))


def dropout_wrapper_seeds():
    cell = rnn.DropoutWrapper(rnn.LSTMCell(3), 0.5, 0.5, 0.5, seed=3)
    return _start(cell, time=1)


def dropout_wrapper_graph_seed():
    return _start(rnn.DropoutWrapper(rnn.GRUCell(3), output_keep_prob=0.5), time=1)


def dropout_wrapper_variational():
    cell = rnn.DropoutWrapper(rnn.LSTMCell(3), 0.5, 0.6, 0.7, variational_recurrent=True,
                              input_size=4, dtype=tf.float32, seed=3)
    return _start(cell)


def dropout_wrapper_placeholder():
    keep = tf.placeholder_with_default(0.5, [])
    return _start(rnn.DropoutWrapper(rnn.LSTMCell(3), output_keep_prob=keep, seed=4), time=1)


def dropout_wrapper_out_of_range():
    return rnn.DropoutWrapper(rnn.LSTMCell(3), 1.5)


def dropout_wrapper_of_no_cell():
    return rnn.DropoutWrapper(tf.zeros)


def residual_wrapper():
    return _dynamic(rnn.ResidualWrapper(rnn.GRUCell(4)))


def residual_wrapper_function():
    return _dynamic(rnn.ResidualWrapper(rnn.GRUCell(4), lambda i, o: 2 * i - o))


def device_wrapper():
    return _dynamic(rnn.DeviceWrapper(rnn.GRUCell(4), "/cpu:0"))


def zero_states():
    cell = rnn.MultiRNNCell([rnn.LSTMCell(3), rnn.GRUCell(2)])
    return [cell.zero_state(2, tf.float32), cell.zero_state(tf.constant(1), tf.float64)]


def zero_state_twice():
    cell = rnn.LSTMCell(3)
    return [cell.zero_state(2, tf.float32), cell.zero_state(3, tf.float32)]


def variables_of_a_cell():
    cell = rnn.LSTMCell(3)
    cell(_x(2, 4), cell.zero_state(2, tf.float32))
    return [[each.name for each in cell.variables], [each.name for each in cell.weights],
            cell.name, cell.count_params()]


def cell_in_a_scope():
    with tf.variable_scope("outer", initializer=tf.constant_initializer(0.1)):
        cell = rnn.LSTMCell(3)
        first, _ = cell(_x(2, 4), cell.zero_state(2, tf.float32))
        second, _ = cell(_x(2, 4), cell.zero_state(2, tf.float32), scope="other")
    return [first, second]


def cell_reused():
    with tf.variable_scope("a"):
        first = rnn.GRUCell(3)
        one, _ = first(_x(2, 4), first.zero_state(2, tf.float32))
    with tf.variable_scope("a", reuse=True):
        second = rnn.GRUCell(3)
        two, _ = second(_x(2, 4), second.zero_state(2, tf.float32))
    return [one, two]


def cell_made_twice():
    for _ in range(2):
        cell = rnn.GRUCell(3)
        found, _ = cell(_x(2, 4), cell.zero_state(2, tf.float32))
    return found


def dynamic_rnn_twice_in_a_scope():
    tf.nn.dynamic_rnn(rnn.GRUCell(3), _x(2, 3, 4), dtype=tf.float32)
    return tf.nn.dynamic_rnn(rnn.GRUCell(3), _x(2, 3, 4), dtype=tf.float32)


def dynamic_rnn_lengths():
    return _dynamic(rnn.LSTMCell(3), lengths=[1, 3])


def dynamic_rnn_time_major():
    return _dynamic(rnn.GRUCell(3), lengths=[1, 3, 2], time_major=True)


def dynamic_rnn_state():
    return _dynamic(rnn.GRUCell(3), initial_state=_x(2, 3), scope="mine", swap_memory=True)


def dynamic_rnn_unknown_shapes():
    x = tf.placeholder_with_default(_x(2, 3, 4), [None, None, 4])
    outputs, state = tf.nn.dynamic_rnn(rnn.GRUCell(3), x, dtype=tf.float32)
    return [_ran([outputs, state]), outputs.shape, state.shape]


def dynamic_rnn_without_a_type():
    return tf.nn.dynamic_rnn(rnn.GRUCell(3), _x(2, 3, 4))


def dynamic_rnn_of_unknown_size():
    x = tf.placeholder(tf.float32, [None, None, None])
    return tf.nn.dynamic_rnn(rnn.GRUCell(3), x, dtype=tf.float32)


def dynamic_rnn_wrong_lengths():
    return tf.nn.dynamic_rnn(rnn.GRUCell(3), _x(2, 3, 4), dtype=tf.float32,
                             sequence_length=[[1, 2]])


def bidirectional_dynamic_rnn():
    return _ran(tf.nn.bidirectional_dynamic_rnn(
        rnn.LSTMCell(3), rnn.GRUCell(2), _x(2, 3, 4), sequence_length=[2, 3], dtype=tf.float32))


def bidirectional_dynamic_rnn_start():
    return tf.nn.bidirectional_dynamic_rnn(rnn.LSTMCell(3), rnn.LSTMCell(3), _x(2, 3, 4),
                                           dtype=tf.float32)


def static_rnn():
    return _ran(tf.nn.static_rnn(rnn.LSTMCell(3), tf.unstack(_x(2, 3, 4), axis=1),
                                 dtype=tf.float32, sequence_length=[1, 2]))


def static_rnn_start():
    return tf.nn.static_rnn(rnn.LSTMCell(3), tf.unstack(_x(2, 3, 4), axis=1), dtype=tf.float32)


def static_rnn_without_inputs():
    return rnn.static_rnn(rnn.GRUCell(3), [], dtype=tf.float32)


def static_rnn_of_a_tensor():
    return rnn.static_rnn(rnn.GRUCell(3), _x(2, 3, 4), dtype=tf.float32)


def static_bidirectional_rnn():
    return _ran(rnn.static_bidirectional_rnn(
        rnn.LSTMCell(3), rnn.GRUCell(2), tf.unstack(_x(2, 3, 4), axis=1), dtype=tf.float32,
        sequence_length=[3, 2]))


class _Saver(object):
    def __init__(self):
        self.saved = {}

    def state(self, name):
        return tf.ones([2, 3]) * (2. if name == "c" else 3.)

    def save_state(self, name, value):
        self.saved[name] = value
        return tf.no_op(name="save_" + name)


def static_state_saving_rnn():
    saver = _Saver()
    outputs, state = rnn.static_state_saving_rnn(
        rnn.LSTMCell(3), tf.unstack(_x(2, 3, 4), axis=1), saver, ("c", "h"))
    return [_ran([outputs, state]), sorted(saver.saved)]


def raw_rnn():
    cell = rnn.LSTMCell(3)
    x = tf.TensorArray(tf.float32, 3).unstack(tf.transpose(_x(2, 3, 4), [1, 0, 2]))

    def loop(time, output, state, loop_state):
        done = time >= 3
        state = cell.zero_state(2, tf.float32) if output is None else state
        inputs = tf.cond(done, lambda: tf.zeros([2, 4]), lambda: x.read(time))
        return tf.fill([2], done), inputs, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    return _ran([outputs.stack(), state])


class _Own(tf.nn.rnn_cell.RNNCell):
    """A cell as programs write them."""

    def __init__(self, size):
        super(_Own, self).__init__()
        self._size = size

    @property
    def state_size(self):
        return self._size

    @property
    def output_size(self):
        return self._size

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            w = tf.get_variable("w", [inputs.shape[1].value + self._size, self._size])
            output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), w))
        return output, output


def own_cell():
    return _start(rnn.MultiRNNCell([_Own(3), rnn.DropoutWrapper(_Own(2), 0.9)]), time=1)


class _Layered(tf.nn.rnn_cell.RNNCell):
    def __init__(self, size, **options):
        super(_Layered, self).__init__(**options)
        self._size = size

    state_size = output_size = property(lambda self: self._size)

    def build(self, shape):
        self._w = self.add_variable("w", [shape[1].value + self._size, self._size])
        self.built = True

    def call(self, inputs, state):
        output = tf.layers.dense(tf.matmul(tf.concat([inputs, state], 1), self._w), self._size)
        return output, output


def own_layer():
    return _start(_Layered(3, name="own"))


def layer_rnn_cell():
    return [issubclass(rnn.LSTMCell, rnn.LayerRNNCell), issubclass(rnn.LayerRNNCell, rnn.RNNCell),
            issubclass(rnn.NASCell, rnn.LayerRNNCell), issubclass(rnn.UGRNNCell, rnn.LayerRNNCell)]


def lstm_block_cell():
    return _dynamic(rnn.LSTMBlockCell(3))


def lstm_block_cell_start():
    return _start(rnn.LSTMBlockCell(3, use_peephole=True))


def lstm_block_cell_peepholes():
    return _dynamic(rnn.LSTMBlockCell(3, forget_bias=0.5, cell_clip=0.4, use_peephole=True),
                    lengths=[2, 3])


def lstm_block_cell_wrong_state():
    cell = rnn.LSTMBlockCell(3)
    return cell(_x(2, 4), [_x(2, 3)] * 3)


def lstm_block_cell_of_unknown_size():
    cell = rnn.LSTMBlockCell(3)
    return cell(tf.placeholder(tf.float32, [2, None]), cell.zero_state(2, tf.float32))


def lstm_block_cell_in_stack():
    return _start(rnn.MultiRNNCell([rnn.LSTMBlockCell(3), rnn.LSTMBlockCell(2)]))


def gru_block_cell():
    return _dynamic(rnn.GRUBlockCell(3))


def gru_block_cell_start():
    return _start(rnn.GRUBlockCell(cell_size=3))


def gru_block_cell_v2():
    return _start(rnn.GRUBlockCellV2(3))


def gru_block_cell_without_a_size():
    return rnn.GRUBlockCell()


def gru_block_cell_with_both_sizes():
    return rnn.GRUBlockCellV2(3, 4)


def gru_block_cell_wrong_state():
    return rnn.GRUBlockCell(3)(_x(2, 4), _x(2, 2))


def lstm_block_fused_cell():
    cell = rnn.LSTMBlockFusedCell(3)
    return [_ran(cell(_x(3, 2, 4), dtype=tf.float32)), cell.num_units]


def lstm_block_fused_cell_start():
    cell = rnn.LSTMBlockFusedCell(3, use_peephole=True)
    return [cell(_x(3, 2, 4), dtype=tf.float32), tf.global_variables()]


def lstm_block_fused_cell_lengths():
    cell = rnn.LSTMBlockFusedCell(3, 0.5, 0.4, True, name="mine")
    return _ran(cell(_x(3, 2, 4), (_x(2, 3), _x(2, 3) + 1), sequence_length=[1, 3]))


def lstm_block_fused_cell_of_a_list():
    return rnn.LSTMBlockFusedCell(3)(tf.unstack(_x(3, 2, 4)), dtype=tf.float32)


def lstm_block_fused_cell_unknown_shapes():
    x = tf.placeholder_with_default(_x(3, 2, 4), [None, None, 4])
    outputs, state = rnn.LSTMBlockFusedCell(3)(x, dtype=tf.float32)
    return [_ran([outputs, state]), outputs.shape]


def lstm_block_fused_cell_without_a_type():
    return rnn.LSTMBlockFusedCell(3)(_x(3, 2, 4))


def lstm_block_fused_cell_wrong_state():
    return rnn.LSTMBlockFusedCell(3)(_x(3, 2, 4), [_x(2, 3)])


def lstm_block_fused_cell_reused():
    with tf.variable_scope("a"):
        first = rnn.LSTMBlockFusedCell(3)(_x(3, 2, 4), dtype=tf.float32)
    with tf.variable_scope("a", reuse=True):
        second = rnn.LSTMBlockFusedCell(3)(_x(3, 2, 4), dtype=tf.float32)
    return [first, second]


def lstm_block_wrapper():
    return [issubclass(rnn.LSTMBlockFusedCell, rnn.LSTMBlockWrapper),
            isinstance(rnn.LSTMBlockFusedCell(3), tf.layers.Layer)]


def lstm_block_wrapper_is_abstract():
    return rnn.LSTMBlockWrapper()


def fused_adaptor():
    x = _x(3, 2, 4)
    with tf.variable_scope("a"):
        first = rnn.FusedRNNCellAdaptor(rnn.LSTMCell(3))(x, dtype=tf.float32)
    with tf.variable_scope("b"):
        second = rnn.FusedRNNCellAdaptor(rnn.LSTMCell(3), use_dynamic_rnn=True)(
            tf.unstack(x), dtype=tf.float32, sequence_length=[3, 1])
    with tf.variable_scope("c"):
        third = rnn.FusedRNNCellAdaptor(rnn.GRUCell(3))(tf.unstack(x), initial_state=_x(2, 3),
                                                        scope="s")
    return _ran([first, second, third])


def fused_rnn_cell_is_abstract():
    return rnn.FusedRNNCell()


def time_reversed_fused_rnn():
    cell = rnn.LSTMBlockFusedCell(3)
    backward = rnn.TimeReversedFusedRNN(cell)
    return _ran([cell(_x(3, 2, 4), dtype=tf.float32), backward(_x(3, 2, 4), dtype=tf.float32),
                 backward(_x(3, 2, 4), dtype=tf.float32, sequence_length=[2, 3])])


def time_reversed_fused_rnn_of_a_list():
    backward = rnn.TimeReversedFusedRNN(rnn.FusedRNNCellAdaptor(rnn.GRUCell(3)))
    return _ran(backward(tf.unstack(_x(3, 2, 4)), dtype=tf.float32))


def layer_norm_basic_lstm_cell():
    return _dynamic(rnn.LayerNormBasicLSTMCell(3))


def layer_norm_basic_lstm_cell_start():
    return _start(rnn.LayerNormBasicLSTMCell(3, norm_gain=0.5, norm_shift=0.1))


def layer_norm_basic_lstm_cell_plain():
    return _start(rnn.LayerNormBasicLSTMCell(3, layer_norm=False, forget_bias=0.,
                                             activation=tf.nn.relu, input_size=7))


def layer_norm_basic_lstm_cell_dropout():
    return _start(rnn.LayerNormBasicLSTMCell(3, dropout_keep_prob=0.5, dropout_prob_seed=5), time=1)


def layer_norm_basic_lstm_cell_dropout_placeholder():
    return _start(rnn.LayerNormBasicLSTMCell(
        3, dropout_keep_prob=tf.placeholder_with_default(0.5, [])), time=1)


def layer_norm_basic_lstm_cell_double():
    cell = rnn.LayerNormBasicLSTMCell(3)
    x = tf.cast(_x(2, 4), tf.float64)
    return cell(x, cell.zero_state(2, tf.float64))


def layer_norm_basic_lstm_cell_stack():
    return _start(rnn.MultiRNNCell([rnn.LayerNormBasicLSTMCell(3) for _ in range(2)]))


def layer_norm_basic_lstm_cell_trains():
    outputs, _ = tf.nn.dynamic_rnn(rnn.LayerNormBasicLSTMCell(3), _x(2, 3, 4), dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(_fill())
        session.run(tf.variables_initializer([each for each in tf.global_variables()
                                              if "Adam" in each.name or "power" in each.name]))
        return [session.run([loss, train])[0] for _ in range(5)]


def coupled_lstm_cell():
    return _dynamic(rnn.CoupledInputForgetGateLSTMCell(3))


def coupled_lstm_cell_start():
    return _start(rnn.CoupledInputForgetGateLSTMCell(
        3, use_peepholes=True, num_proj=2, proj_clip=0.1, num_unit_shards=2, num_proj_shards=2))


def coupled_lstm_cell_norm():
    # Layer normalization of 3 units amplifies rounding beyond the tolerance on some processors.
    return _dynamic(rnn.CoupledInputForgetGateLSTMCell(
        8, use_peepholes=True, state_is_tuple=False, layer_norm=True, norm_gain=0.9,
        norm_shift=0.1, forget_bias=0.))


def coupled_lstm_cell_too_many_shards():
    return _step(rnn.CoupledInputForgetGateLSTMCell(3, num_unit_shards=20))


def nas_cell():
    return _dynamic(rnn.NASCell(3))


def nas_cell_start():
    return _start(rnn.NASCell(3, num_proj=2, use_bias=True))


def nas_cell_of_unknown_size():
    cell = rnn.NASCell(3)
    return cell(tf.placeholder(tf.float32, [2, None]), cell.zero_state(2, tf.float32))


def ugrnn_cell():
    return _dynamic(rnn.UGRNNCell(3, forget_bias=0.5, activation=tf.nn.relu))


def ugrnn_cell_start():
    return _start(rnn.UGRNNCell(3, initializer=tf.random_normal_initializer(stddev=0.1)))


def intersection_rnn_cell():
    return _dynamic(rnn.IntersectionRNNCell(4))


def intersection_rnn_cell_projected():
    return _start(rnn.IntersectionRNNCell(3, num_in_proj=3, y_activation=tf.tanh))


def intersection_rnn_cell_wrong_size():
    return _step(rnn.IntersectionRNNCell(3))


def sru_cell():
    return _dynamic(rnn.SRUCell(3))


def sru_cell_start():
    return _start(rnn.SRUCell(3, activation=tf.nn.relu, name="mine"))


def ind_rnn_cell():
    return [_dynamic(rnn.IndRNNCell(3)), str(rnn.IndRNNCell(3).state_size)]


def ind_rnn_cell_start():
    return _start(rnn.IndRNNCell(3, activation=tf.nn.relu))


def indy_gru_cell():
    return _dynamic(rnn.IndyGRUCell(3))


def indy_gru_cell_start():
    return _start(rnn.IndyGRUCell(3, kernel_initializer=tf.ones_initializer(),
                                  bias_initializer=tf.constant_initializer(0.2)))


def indy_lstm_cell():
    return _dynamic(rnn.IndyLSTMCell(3, forget_bias=0.3))


def indy_lstm_cell_start():
    return _start(rnn.IndyLSTMCell(3))


def conv_1d_lstm_cell():
    cell = rnn.Conv1DLSTMCell(input_shape=[3, 2], output_channels=2, kernel_shape=[3],
                              skip_connection=True)
    return [str(cell.output_size), _ran(cell(_x(2, 3, 2), cell.zero_state(2, tf.float32)))]


def conv_2d_lstm_cell():
    cell = rnn.Conv2DLSTMCell(input_shape=[3, 3, 2], output_channels=2, kernel_shape=[2, 3],
                              forget_bias=0.)
    return [str(cell.state_size), _step(cell, _x(2, 3, 3, 2))]


def conv_2d_lstm_cell_start():
    cell = rnn.Conv2DLSTMCell(input_shape=[3, 3, 2], output_channels=2, kernel_shape=[2, 3],
                              use_bias=False)
    outputs, state = tf.nn.dynamic_rnn(cell, _x(2, 2, 3, 3, 2), dtype=tf.float32)
    return [outputs, state, outputs.shape]


def conv_3d_lstm_cell():
    cell = rnn.Conv3DLSTMCell(input_shape=[2, 2, 2, 1], output_channels=1, kernel_shape=[2, 2, 2])
    return _step(cell, _x(2, 2, 2, 2, 1))


def conv_lstm_cell_wrong_shape():
    return rnn.ConvLSTMCell(2, [3, 2], 2, [3])


def glstm_cell():
    return _dynamic(rnn.GLSTMCell(4, number_of_groups=2))


def glstm_cell_start():
    return _start(rnn.GLSTMCell(4, num_proj=2, number_of_groups=2,
                                initializer=tf.random_uniform_initializer(-0.1, 0.1)))


def glstm_cell_dynamic_batch():
    x = tf.placeholder_with_default(_x(2, 3, 4), [None, 3, 4])
    return _ran(tf.nn.dynamic_rnn(rnn.GLSTMCell(4, number_of_groups=2), x, dtype=tf.float32))


def glstm_cell_wrong_groups():
    return rnn.GLSTMCell(4, number_of_groups=3)


def glstm_cell_wrong_projection():
    return rnn.GLSTMCell(4, num_proj=3, number_of_groups=2)


def glstm_cell_wrong_inputs():
    return _step(rnn.GLSTMCell(4, number_of_groups=2), _x(2, 3))


def phased_lstm_cell():
    cell = rnn.PhasedLSTMCell(3, use_peepholes=True, leak=0.1, ratio_on=0.3,
                              trainable_ratio_on=False)
    time = tf.constant([[1.], [2.5]])
    return _ran(cell((time, _x(2, 4)), cell.zero_state(2, tf.float32)))


def phased_lstm_cell_start():
    cell = rnn.PhasedLSTMCell(3, period_init_max=10.)
    time = tf.tile(tf.reshape(tf.range(3, dtype=tf.float64), [1, 3, 1]), [2, 1, 1])
    outputs, state = tf.nn.dynamic_rnn(cell, (time, _x(2, 3, 4)), dtype=tf.float32)
    return [outputs, state, tf.global_variables()]


def time_freq_lstm_cell():
    cell = rnn.TimeFreqLSTMCell(2, feature_size=2, frequency_skip=2, use_peepholes=True,
                                cell_clip=0.5)
    return _step(cell, state=tf.zeros([2, 8]))


def time_freq_lstm_cell_start():
    cell = rnn.TimeFreqLSTMCell(2, feature_size=4, num_unit_shards=2)
    found = cell(_x(2, 4), cell.zero_state(2, tf.float32))
    return [found, tf.global_variables(), cell.state_size, cell.output_size]


def grid_lstm_cell():
    cell = rnn.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[3])
    return [_step(cell), list(cell.state_size._fields), cell.output_size]


def grid_lstm_cell_start():
    cell = rnn.GridLSTMCell(2, True, feature_size=2, frequency_skip=1, num_frequency_blocks=[3])
    return [cell(_x(2, 4), cell.zero_state(2, tf.float32)), tf.global_variables()]


def grid_lstm_cell_shared():
    return _step(rnn.GridLSTMCell(
        2, use_peepholes=True, share_time_frequency_weights=True, cell_clip=0.3, feature_size=2,
        frequency_skip=2, num_frequency_blocks=[2]))


def grid_lstm_cell_coupled():
    return _step(rnn.GridLSTMCell(
        2, use_peepholes=True, couple_input_forget_gates=True, feature_size=2, frequency_skip=1,
        num_frequency_blocks=[1, 2], start_freqindex_list=[0, 1], end_freqindex_list=[2, 4]))


def grid_lstm_cell_coupled_shared():
    return _step(rnn.GridLSTMCell(
        2, couple_input_forget_gates=True, share_time_frequency_weights=True, num_unit_shards=2,
        feature_size=2, frequency_skip=2, num_frequency_blocks=[2], state_is_tuple=False))


def grid_lstm_cell_without_blocks():
    return rnn.GridLSTMCell(2, feature_size=2, frequency_skip=1)


def grid_lstm_cell_wrong_blocks():
    return _step(rnn.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2]))


def grid_lstm_cell_wrong_lists():
    return _step(rnn.GridLSTMCell(
        2, feature_size=2, frequency_skip=1, num_frequency_blocks=[1, 2],
        start_freqindex_list=[0], end_freqindex_list=[2]))


def bidirectional_grid_lstm_cell():
    cell = rnn.BidirectionalGridLSTMCell(
        2, use_peepholes=True, feature_size=2, frequency_skip=1, num_frequency_blocks=[3],
        backward_slice_offset=1)
    return [_step(cell), list(cell.state_tuple_type._fields)]


def bidirectional_grid_lstm_cell_back():
    return _step(rnn.BidirectionalGridLSTMCell(
        2, feature_size=2, frequency_skip=2, num_frequency_blocks=[2],
        share_time_frequency_weights=True, backward_slice_offset=-1))


def attention_cell_wrapper():
    cell = rnn.AttentionCellWrapper(rnn.LSTMCell(3), 2)
    return [_dynamic(cell), str(cell.state_size), cell.output_size]


def attention_cell_wrapper_start():
    return _start(rnn.AttentionCellWrapper(rnn.GRUCell(3), 2, attn_size=4, attn_vec_size=2,
                                           input_size=5))


def attention_cell_wrapper_concatenated():
    return _dynamic(rnn.AttentionCellWrapper(rnn.GRUCell(3), 2, state_is_tuple=False))


def attention_cell_wrapper_wrong_state():
    return rnn.AttentionCellWrapper(rnn.LSTMCell(3), 2, state_is_tuple=False)


def attention_cell_wrapper_wrong_length():
    return rnn.AttentionCellWrapper(rnn.LSTMCell(3), 0)


def attention_cell_wrapper_of_no_cell():
    return rnn.AttentionCellWrapper(None, 2)


def highway_wrapper():
    return _dynamic(rnn.HighwayWrapper(rnn.GRUCell(4)))


def highway_wrapper_start():
    return _start(rnn.HighwayWrapper(rnn.LSTMCell(4), couple_carry_transform_gates=False,
                                     carry_bias_init=0.5))


def highway_wrapper_wrong_size():
    return _dynamic(rnn.HighwayWrapper(rnn.GRUCell(3)))


def input_projection_wrapper():
    return _dynamic(rnn.InputProjectionWrapper(rnn.GRUCell(3), 2, activation=tf.tanh))


def input_projection_wrapper_start():
    return _start(rnn.InputProjectionWrapper(rnn.LSTMCell(3), 2, input_size=9))


def output_projection_wrapper():
    return _dynamic(rnn.OutputProjectionWrapper(rnn.GRUCell(3), 2, activation=tf.tanh))


def output_projection_wrapper_start():
    return _start(rnn.OutputProjectionWrapper(rnn.LSTMCell(3), 2))


def output_projection_wrapper_wrong_size():
    return rnn.OutputProjectionWrapper(rnn.GRUCell(3), 0)


def embedding_wrapper():
    cell = rnn.EmbeddingWrapper(rnn.LSTMCell(3), embedding_classes=5, embedding_size=2)
    x = tf.constant([[1, 4], [0, 2]])
    return _ran(tf.nn.static_rnn(cell, tf.unstack(x), dtype=tf.float32))


def embedding_wrapper_start():
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(3), 5, 2)
    found = cell(tf.constant([[1], [4]]), cell.zero_state(2, tf.float32))
    return [found, tf.global_variables()]


def embedding_wrapper_initializer():
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(3), 5, 2, initializer=tf.ones_initializer())
    return [cell(tf.constant([[1], [4]]), cell.zero_state(2, tf.float32)), tf.global_variables()]


def embedding_wrapper_wrong_size():
    return rnn.EmbeddingWrapper(rnn.GRUCell(3), 0, 2)


def compiled_wrapper():
    return [_dynamic(rnn.CompiledWrapper(rnn.GRUCell(3))),
            rnn.CompiledWrapper(rnn.GRUCell(3)).output_size]


def compiled_wrapper_marks():
    cell = rnn.CompiledWrapper(rnn.GRUCell(3), compile_stateful=True)
    found, _ = cell(_x(2, 4), cell.zero_state(2, tf.float32))
    return found.op.get_attr("_XlaCompile")


def stack_bidirectional_rnn():
    return _ran(rnn.stack_bidirectional_rnn(
        [rnn.GRUCell(3), rnn.LSTMCell(2)], [rnn.GRUCell(3), rnn.LSTMCell(2)],
        tf.unstack(_x(2, 3, 4), axis=1), dtype=tf.float32, sequence_length=[2, 3]))


def stack_bidirectional_rnn_states():
    states = [_x(2, 3)]
    return _ran(rnn.stack_bidirectional_rnn(
        [rnn.GRUCell(3)], [rnn.GRUCell(3)], tf.unstack(_x(2, 3, 4), axis=1), states, states,
        scope="mine"))


def stack_bidirectional_dynamic_rnn():
    return _ran(rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(3), rnn.LSTMCell(2)], [rnn.GRUCell(3), rnn.LSTMCell(2)], _x(2, 3, 4),
        dtype=tf.float32, sequence_length=[2, 3]))


def stack_bidirectional_dynamic_rnn_start():
    return rnn.stack_bidirectional_dynamic_rnn(
        [rnn.LSTMCell(3), rnn.LSTMCell(2)], [rnn.LSTMCell(3), rnn.LSTMCell(2)], _x(2, 3, 4),
        dtype=tf.float32, time_major=True, swap_memory=True, parallel_iterations=2, scope="s")


def stack_bidirectional_dynamic_rnn_states():
    states = [_x(2, 3)]
    return _ran(rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(3)], [rnn.GRUCell(3)], _x(2, 3, 4), states, states))


def stack_bidirectional_dynamic_rnn_without_cells():
    return rnn.stack_bidirectional_dynamic_rnn([], [], _x(2, 3, 4), dtype=tf.float32)


def stack_bidirectional_dynamic_rnn_of_a_tuple():
    return rnn.stack_bidirectional_dynamic_rnn((rnn.GRUCell(3),), (rnn.GRUCell(3),), _x(2, 3, 4))


def stack_bidirectional_rnn_unequal():
    return rnn.stack_bidirectional_rnn([rnn.GRUCell(3)], [rnn.GRUCell(3)] * 2, [_x(2, 4)])


def stack_bidirectional_rnn_wrong_states():
    return rnn.stack_bidirectional_rnn([rnn.GRUCell(3)], [rnn.GRUCell(3)], [_x(2, 4)], _x(2, 3))


def functions_of_shapes():
    x = _x(2, 3, 4)
    unknown = tf.placeholder_with_default(x, [None, None, 4])
    return [rnn.transpose_batch_time(x), rnn.transpose_batch_time(tf.constant([1, 2])),
            rnn.best_effort_input_batch_size([x]), rnn.best_effort_input_batch_size([unknown])]


def saved_names_of_a_block_cell_are_those_of_a_cell():
    with tf.variable_scope("m"):
        tf.nn.dynamic_rnn(rnn.LSTMBlockCell(3), _x(2, 3, 4), dtype=tf.float32)
    with tf.variable_scope("n"):
        tf.nn.dynamic_rnn(rnn.LSTMCell(3, name="lstm_cell"), _x(2, 3, 4), dtype=tf.float32)
    return [each.name for each in tf.global_variables()]


def private_linear():
    from tensorflow.contrib.rnn.python.ops import core_rnn_cell
    found = core_rnn_cell._linear([_x(2, 3), _x(2, 1)], 2, True)
    with tf.variable_scope("second"):
        found = core_rnn_cell._Linear(found, 3, False)(found)
    return _ran(found)


def private_names():
    from tensorflow.python.ops import rnn_cell_impl
    from tensorflow.python.ops.rnn_cell import LSTMStateTuple
    return [rnn_cell_impl.RNNCell is tf.nn.rnn_cell.RNNCell, LSTMStateTuple is rnn.LSTMStateTuple,
            issubclass(rnn_cell_impl.LSTMCell, rnn_cell_impl.LayerRNNCell)]


def resource_variables():
    with tf.variable_scope("r", use_resource=True):
        first = tf.nn.dynamic_rnn(rnn.LayerNormBasicLSTMCell(3), _x(2, 3, 4), dtype=tf.float32)
        second = tf.nn.dynamic_rnn(rnn.LSTMBlockCell(3), _x(2, 3, 4), dtype=tf.float32)
        cell = rnn.PhasedLSTMCell(3, period_init_max=10.)
        third = cell((tf.ones([2, 1]), _x(2, 4)), cell.zero_state(2, tf.float32))
    return _ran([first, second, third])


def cells_step():
    cells = {
        "attention": rnn.AttentionCellWrapper(rnn.GRUCell(3), 2, attn_size=4, input_size=5),
        "attention_joined": rnn.AttentionCellWrapper(rnn.GRUCell(3), 2, state_is_tuple=False),
        "block": rnn.LSTMBlockCell(3, use_peephole=True),
        "coupled": rnn.CoupledInputForgetGateLSTMCell(
            3, use_peepholes=True, num_proj=2, proj_clip=0.1, num_unit_shards=2,
            num_proj_shards=2),
        "coupled_norm": rnn.CoupledInputForgetGateLSTMCell(3, state_is_tuple=False,
                                                           layer_norm=True),
        "group": rnn.GLSTMCell(4, num_proj=2, number_of_groups=2),
        "grid": rnn.GridLSTMCell(
            2, use_peepholes=True, feature_size=2, frequency_skip=1, num_frequency_blocks=[1, 2],
            start_freqindex_list=[0, 1], end_freqindex_list=[2, 4]),
        "grid_shared": rnn.GridLSTMCell(
            2, couple_input_forget_gates=True, share_time_frequency_weights=True, feature_size=2,
            frequency_skip=2, num_frequency_blocks=[2], state_is_tuple=False),
        "grid_both": rnn.BidirectionalGridLSTMCell(
            2, feature_size=2, frequency_skip=2, num_frequency_blocks=[2],
            backward_slice_offset=1),
        "gru_block": rnn.GRUBlockCell(3),
        "highway": rnn.HighwayWrapper(rnn.GRUCell(4), couple_carry_transform_gates=False),
        "ind": rnn.IndRNNCell(3),
        "ind_gru": rnn.IndyGRUCell(3),
        "ind_lstm": rnn.IndyLSTMCell(3),
        "input": rnn.InputProjectionWrapper(rnn.GRUCell(3), 2, activation=tf.tanh),
        "intersection": rnn.IntersectionRNNCell(3, num_in_proj=3),
        "nas": rnn.NASCell(3, num_proj=2, use_bias=True),
        "norm": rnn.LayerNormBasicLSTMCell(3, norm_gain=0.5),
        "output": rnn.OutputProjectionWrapper(rnn.GRUCell(3), 2),
        "plain": rnn.LayerNormBasicLSTMCell(3, layer_norm=False, input_size=3),
        "sru": rnn.SRUCell(3),
        "ugrnn": rnn.UGRNNCell(3),
    }
    found = {}
    for name in sorted(cells):
        with tf.variable_scope(name):
            found[name] = cells[name](_x(2, 4), cells[name].zero_state(2, tf.float32))[0]
    return found


def block_cells_gradients():
    lstm, gru = rnn.LSTMBlockCell(3, use_peephole=True), rnn.GRUBlockCell(3)
    return _ran([lstm(_x(2, 4), (_x(2, 3), _x(2, 3))), gru(_x(2, 4), _x(2, 3))])


def phased_lstm_cell_step():
    cell = rnn.PhasedLSTMCell(3, use_peepholes=True, period_init_max=10.)
    return cell((tf.ones([2, 1]), _x(2, 4)), cell.zero_state(2, tf.float32))


def conv_1d_lstm_cell_step():
    cell = rnn.Conv1DLSTMCell(input_shape=[3, 2], output_channels=2, kernel_shape=[3],
                              skip_connection=True)
    return cell(_x(2, 3, 2), cell.zero_state(2, tf.float32))


def stack_bidirectional_rnn_step():
    return rnn.stack_bidirectional_rnn([rnn.GRUCell(3)], [rnn.GRUCell(3)], [_x(2, 4)], [_x(2, 3)],
                                       [_x(2, 3)])


def fused_adaptor_dynamic():
    return rnn.FusedRNNCellAdaptor(rnn.BasicRNNCell(3), use_dynamic_rnn=True)(
        tf.unstack(_x(3, 2, 4)), dtype=tf.float32)
