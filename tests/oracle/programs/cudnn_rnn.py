"""tf.contrib.cudnn_rnn, as far as TensorFlow 1.15 goes without a GPU."""

from rnn import _dynamic, _start, _x
import tensorflow as tf

cudnn = tf.contrib.cudnn_rnn

SOAK = ("compatible_gru_cell", "compatible_gru_cell_start", "compatible_lstm_cell",
        "compatible_lstm_cell_start", "lstm_layer_bidirectional")


def compatible_lstm_cell():
    return _dynamic(cudnn.CudnnCompatibleLSTMCell(3), lengths=[2, 3])


def compatible_lstm_cell_start():
    return _start(tf.nn.rnn_cell.MultiRNNCell([cudnn.CudnnCompatibleLSTMCell(3)] * 1))


def compatible_gru_cell():
    return _dynamic(cudnn.CudnnCompatibleGRUCell(3), lengths=[2, 3])


def compatible_gru_cell_start():
    return _start(cudnn.CudnnCompatibleGRUCell(3, kernel_initializer=tf.ones_initializer()))


def compatible_cells_step():
    x = _x(2, 4)
    lstm, gru = cudnn.CudnnCompatibleLSTMCell(3), cudnn.CudnnCompatibleGRUCell(3)
    return [lstm(x, lstm.zero_state(2, tf.float32)), gru(x, _x(2, 3))]


def compatible_gru_cell_of_unknown_size():
    cell = cudnn.CudnnCompatibleGRUCell(3)
    return cell(tf.placeholder(tf.float32, [2, None]), _x(2, 3))


def _layer(layer, x=None, **options):
    outputs, states = layer(_x(3, 2, 4) if x is None else x, **options)
    return [layer.rnn_mode, layer.num_layers, layer.num_units, layer.num_dirs, layer.input_mode,
            layer.input_size, layer.direction, [list(each) for each in
                                                layer.canonical_weight_shapes],
            layer.canonical_bias_shapes, [each.name for each in layer.saveable.specs],
            layer.saveable.name, [each.name for each in layer.trainable_variables], len(states),
            [list(each) for each in layer.state_shape(7)]]


def lstm_layer():
    # The initial shape of the buffer is unknown in TensorFlow 1.
    found = _layer(cudnn.CudnnLSTM(2, 3))
    tf.reset_default_graph()
    return found


def lstm_layer_bidirectional():
    found = _layer(cudnn.CudnnLSTM(2, 3, direction="bidirectional", name="mine"))
    tf.reset_default_graph()
    return found


def gru_layer():
    found = _layer(cudnn.CudnnGRU(1, 3, dropout=0.5, seed=3), training=False)
    tf.reset_default_graph()
    return found


def gru_layer_bidirectional():
    with tf.variable_scope("outer"):
        found = _layer(cudnn.CudnnGRU(2, 3, direction="bidirectional"))
    tf.reset_default_graph()
    return found


def rnn_layers():
    found = [_layer(cudnn.CudnnRNNTanh(1, 3)), _layer(cudnn.CudnnRNNRelu(1, 3))]
    tf.reset_default_graph()
    return found


def layer_wrong_direction():
    return cudnn.CudnnLSTM(1, 3, direction="forward")


def layer_wrong_mode():
    return cudnn.CudnnGRU(1, 3, input_mode="linear")


def layer_wrong_type():
    return cudnn.CudnnRNNTanh(1, 3, dtype=tf.int32)


def layer_size_before_it_is_built():
    return cudnn.CudnnLSTM(1, 3).input_size


def layer_shapes_before_it_is_built():
    return cudnn.CudnnLSTM(1, 3).canonical_weight_shapes


def layer_wrong_state():
    return cudnn.CudnnLSTM(1, 3)(_x(3, 2, 4), initial_state=[_x(1, 2, 3), _x(1, 2, 3)])


def layer_of_two_dimensions():
    return cudnn.CudnnLSTM(1, 3)(_x(3, 4))


def layer_of_unknown_size():
    return cudnn.CudnnLSTM(1, 3)(tf.placeholder(tf.float32, [3, 2, None]))
