"""tf.contrib.legacy_seq2seq."""

from rnn import _ran, _x
import tensorflow as tf

seq2seq = tf.contrib.legacy_seq2seq
rnn_cell = tf.nn.rnn_cell

SOAK = ("attention_decoder", "attention_decoder_dynamic_length", "attention_decoder_heads",
        "attention_decoder_start", "attention_fed_start", "basic_rnn_seq2seq",
        "embedding_attention_decoder", "embedding_attention_seq2seq",
        "embedding_attention_seq2seq_fed_by_a_tensor", "embedding_rnn_decoder",
        "embedding_rnn_decoder_fed", "embedding_rnn_decoder_fed_without_training",
        "embedding_rnn_seq2seq", "embedding_rnn_seq2seq_fed_by_a_tensor",
        "embedding_rnn_seq2seq_projected", "embedding_rnn_seq2seq_start",
        "embedding_tied_rnn_seq2seq", "embedding_tied_rnn_seq2seq_fed_by_a_tensor",
        "model_with_buckets", "model_with_buckets_too_few_targets", "one2many_rnn_seq2seq",
        "one2many_rnn_seq2seq_fed_by_a_tensor", "rnn_decoder", "rnn_decoder_loop",
        "tied_rnn_seq2seq", "tied_rnn_seq2seq_loop", "trains")


def _symbols(*rows):
    return [tf.constant(row) for row in rows]


def _source():
    return _symbols([1, 2], [0, 3])


def _target():
    return _symbols([1, 3], [2, 0], [3, 3])


def _started(found):
    """Values under the graph's seed, and the variables."""
    return [found, {each.op.name: each for each in tf.global_variables()}]


def rnn_decoder():
    return _ran(seq2seq.rnn_decoder(tf.unstack(_x(3, 2, 4)), _x(2, 3), rnn_cell.GRUCell(3)))


def rnn_decoder_loop():
    return _ran(seq2seq.rnn_decoder(
        tf.unstack(_x(3, 2, 3)), _x(2, 3), rnn_cell.GRUCell(3), scope="mine",
        loop_function=lambda previous, number: previous * number))


def basic_rnn_seq2seq():
    return _ran(seq2seq.basic_rnn_seq2seq(tf.unstack(_x(2, 2, 4)), tf.unstack(_x(3, 2, 4)),
                                          rnn_cell.LSTMCell(3)))


def basic_rnn_seq2seq_start():
    return _started(seq2seq.basic_rnn_seq2seq(
        tf.unstack(_x(2, 2, 4)), tf.unstack(_x(3, 2, 4)), rnn_cell.BasicRNNCell(3)))


def tied_rnn_seq2seq():
    return _ran(seq2seq.tied_rnn_seq2seq(tf.unstack(_x(2, 2, 4)), tf.unstack(_x(3, 2, 4)),
                                         rnn_cell.GRUCell(3)))


def tied_rnn_seq2seq_loop():
    return _started(seq2seq.tied_rnn_seq2seq(
        tf.unstack(_x(2, 2, 3)), tf.unstack(_x(3, 2, 3)), rnn_cell.BasicRNNCell(3),
        loop_function=lambda previous, _: previous))


def embedding_rnn_decoder():
    return _ran(seq2seq.embedding_rnn_decoder(
        _target(), _x(2, 4), rnn_cell.GRUCell(4), num_symbols=4, embedding_size=2))


def embedding_rnn_decoder_fed():
    w, b = tf.get_variable("w", [4, 4]), tf.get_variable("b", [4])
    return _ran(seq2seq.embedding_rnn_decoder(
        _target(), _x(2, 4), rnn_cell.GRUCell(4), 4, 2, output_projection=(w, b),
        feed_previous=True))


def embedding_rnn_decoder_fed_without_training():
    return _ran(seq2seq.embedding_rnn_decoder(
        _target(), _x(2, 4), rnn_cell.GRUCell(4), 4, 2, feed_previous=True,
        update_embedding_for_previous=False))


def embedding_rnn_decoder_wrong_projection():
    return seq2seq.embedding_rnn_decoder(
        _target(), _x(2, 4), rnn_cell.GRUCell(4), 4, 2,
        output_projection=(tf.zeros([4, 5]), tf.zeros([5])))


def embedding_rnn_seq2seq():
    return _ran(seq2seq.embedding_rnn_seq2seq(
        _source(), _target(), rnn_cell.LSTMCell(3), 4, 5, embedding_size=2))


def embedding_rnn_seq2seq_start():
    return _started(seq2seq.embedding_rnn_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 4, 5, embedding_size=2,
        feed_previous=True))


def embedding_rnn_seq2seq_projected():
    w, b = tf.get_variable("w", [3, 5]), tf.get_variable("b", [5])
    return _ran(seq2seq.embedding_rnn_seq2seq(
        _source(), _target(), rnn_cell.GRUCell(3), 4, 5, 2, output_projection=(w, b),
        feed_previous=True, dtype=tf.float32))


def embedding_rnn_seq2seq_fed_by_a_tensor():
    is_fed = tf.placeholder_with_default(True, [])
    return _ran(seq2seq.embedding_rnn_seq2seq(
        _source(), _target(), rnn_cell.LSTMCell(3), 4, 5, 2, feed_previous=is_fed))


def embedding_rnn_seq2seq_not_fed_by_a_tensor():
    return _started(seq2seq.embedding_rnn_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 4, 5, 2,
        feed_previous=tf.constant(False)))


def embedding_tied_rnn_seq2seq():
    return _ran(seq2seq.embedding_tied_rnn_seq2seq(
        _source(), _target(), rnn_cell.LSTMCell(3), num_symbols=5, embedding_size=2))


def embedding_tied_rnn_seq2seq_decoder_symbols():
    return _started(seq2seq.embedding_tied_rnn_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 5, 2, num_decoder_symbols=3,
        feed_previous=True))


def embedding_tied_rnn_seq2seq_fed_by_a_tensor():
    return _ran(seq2seq.embedding_tied_rnn_seq2seq(
        _source(), _target(), rnn_cell.LSTMCell(3), 5, 2, feed_previous=tf.constant(True)))


def embedding_tied_rnn_seq2seq_wrong_projection():
    return seq2seq.embedding_tied_rnn_seq2seq(
        _source(), _target(), rnn_cell.GRUCell(3), 5, 2,
        output_projection=(tf.zeros([3, 5]), tf.zeros([6])))


def attention_decoder():
    return _ran(seq2seq.attention_decoder(
        tf.unstack(_x(3, 2, 4)), _x(2, 3), _x(2, 5, 4), rnn_cell.GRUCell(3), output_size=2))


def attention_decoder_heads():
    return _ran(seq2seq.attention_decoder(
        tf.unstack(_x(2, 2, 4)), _x(2, 3), _x(2, 5, 4), rnn_cell.GRUCell(3), num_heads=2,
        initial_state_attention=True))


def attention_decoder_start():
    return _started(seq2seq.attention_decoder(
        tf.unstack(_x(2, 2, 3)), _x(2, 3), _x(2, 5, 4), rnn_cell.BasicRNNCell(3),
        loop_function=lambda previous, _: previous))


def attention_decoder_dynamic_length():
    states = tf.placeholder_with_default(_x(2, 5, 4), [None, None, 4])
    cell = rnn_cell.LSTMCell(3)
    return _ran(seq2seq.attention_decoder(
        tf.unstack(_x(2, 2, 4)), cell.zero_state(2, tf.float32), states, cell))


def attention_decoder_without_inputs():
    return seq2seq.attention_decoder([], _x(2, 3), _x(2, 5, 4), rnn_cell.GRUCell(3))


def attention_decoder_without_heads():
    return seq2seq.attention_decoder([_x(2, 4)], _x(2, 3), _x(2, 5, 4), rnn_cell.GRUCell(3),
                                     num_heads=0)


def attention_decoder_of_unknown_size():
    return seq2seq.attention_decoder([_x(2, 4)], _x(2, 3), tf.placeholder(
        tf.float32, [2, 5, None]), rnn_cell.GRUCell(3))


def embedding_attention_decoder():
    return _ran(seq2seq.embedding_attention_decoder(
        _target(), _x(2, 3), _x(2, 5, 4), rnn_cell.GRUCell(3), num_symbols=4, embedding_size=2,
        output_size=4, feed_previous=True))


def embedding_attention_seq2seq():
    return _ran(seq2seq.embedding_attention_seq2seq(
        _source(), _target(), rnn_cell.LSTMCell(3), 4, 5, embedding_size=2))


def embedding_attention_seq2seq_start():
    return _started(seq2seq.embedding_attention_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 4, 5, 2, num_heads=2,
        initial_state_attention=True))


def embedding_attention_seq2seq_fed_by_a_tensor():
    w, b = tf.get_variable("w", [3, 5]), tf.get_variable("b", [5])
    return _ran(seq2seq.embedding_attention_seq2seq(
        _source(), _target(), rnn_cell.GRUCell(3), 4, 5, 2, output_projection=(w, b),
        feed_previous=tf.constant(True)))


def one2many_rnn_seq2seq():
    return _ran(seq2seq.one2many_rnn_seq2seq(
        _source(), {"a": _target()}, rnn_cell.GRUCell(3), {"a": rnn_cell.GRUCell(3)}, 4, {"a": 5},
        embedding_size=2))


def one2many_rnn_seq2seq_fed_by_a_tensor():
    return _ran(seq2seq.one2many_rnn_seq2seq(
        _source(), {"a": _target()}, rnn_cell.LSTMCell(3), {"a": rnn_cell.LSTMCell(3)}, 4,
        {"a": 5}, 2, feed_previous=tf.constant(True)))


def one2many_rnn_seq2seq_other_keys():
    return seq2seq.one2many_rnn_seq2seq(
        _source(), {"a": _target()}, rnn_cell.GRUCell(3), {"b": rnn_cell.GRUCell(3)}, 4, {"a": 5},
        2)


def one2many_rnn_seq2seq_of_no_cell():
    return seq2seq.one2many_rnn_seq2seq(_source(), {}, 3, {}, 4, {}, 2)


def sequence_loss():
    logits = tf.unstack(_x(3, 2, 4))
    weights = [tf.constant([1., 0.5]), tf.constant([1., 0.]), tf.constant([0., 0.])]
    return [seq2seq.sequence_loss_by_example(logits, _target(), weights),
            seq2seq.sequence_loss_by_example(logits, _target(), weights,
                                             average_across_timesteps=False),
            seq2seq.sequence_loss(logits, _target(), weights),
            seq2seq.sequence_loss(logits, _target(), weights, average_across_timesteps=False,
                                  average_across_batch=False)]


def sequence_loss_function():
    def loss(labels, logits):
        return tf.cast(labels, tf.float32) * logits[:, 0]

    return seq2seq.sequence_loss(tf.unstack(_x(3, 2, 4)), _target(), [tf.ones([2])] * 3,
                                 softmax_loss_function=loss)


def sequence_loss_unequal():
    return seq2seq.sequence_loss(tf.unstack(_x(3, 2, 4)), _target(), [tf.ones([2])] * 2)


def _buckets(per_example_loss=False, buckets=((1, 2), (2, 3))):
    def model(source, target):
        return seq2seq.embedding_rnn_seq2seq(source, target, rnn_cell.BasicRNNCell(3), 4, 4, 2)

    return seq2seq.model_with_buckets(_source(), _target(), _target(), [tf.ones([2])] * 3,
                                      buckets, model, per_example_loss=per_example_loss)


def model_with_buckets():
    return _ran(_buckets())


def model_with_buckets_by_example():
    return _started(_buckets(True))


def model_with_buckets_too_short():
    return _buckets(buckets=[(1, 2), (3, 3)])


def model_with_buckets_too_few_targets():
    return _buckets(buckets=[(1, 4)])


def trains():
    outputs, _ = seq2seq.embedding_attention_seq2seq(
        _source(), _target(), rnn_cell.LSTMCell(3, initializer=tf.constant_initializer(0.1)),
        4, 4, 2)
    loss = seq2seq.sequence_loss(outputs, _target(), [tf.ones([2])] * 3)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        for number, each in enumerate(tf.global_variables()):
            shape = each.shape.as_list()
            session.run(tf.assign(each, tf.fill(shape, 0.1 * number) + 0.1 * _x(*shape)))
        return [session.run([loss, train])[0] for _ in range(4)]


def one2many_start():
    return _started(seq2seq.one2many_rnn_seq2seq(
        _source(), {"a": _target()}, rnn_cell.BasicRNNCell(3), {"a": rnn_cell.BasicRNNCell(3)}, 4,
        {"a": 5}, 2, feed_previous=tf.constant(True)))


def embedding_rnn_seq2seq_projected_start():
    w, b = tf.get_variable("w", [3, 5]), tf.get_variable("b", [5])
    return _started(seq2seq.embedding_rnn_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 4, 5, 2, output_projection=(w, b),
        feed_previous=True, dtype=tf.float32))


def attention_fed_start():
    return _started(seq2seq.embedding_attention_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 4, 5, 2, feed_previous=tf.constant(True)))


def tied_fed_start():
    return _started(seq2seq.embedding_tied_rnn_seq2seq(
        _source(), _target(), rnn_cell.BasicRNNCell(3), 5, 2, feed_previous=tf.constant(True)))
