"""tf.contrib.crf."""

import numpy as np
import tensorflow as tf

crf = tf.contrib.crf
TAGS = [[0, 1, 2, 1], [2, 0, 0, 0], [1, 1, 0, 2]]


def _numbers(*shape):
    return tf.constant(np.sin(np.arange(np.prod(shape)) * 0.8).reshape(shape) * 2, tf.float32)


def _all(lengths, time=4, tag_dtype=tf.int32):
    scores, transitions = _numbers(3, 4, 3)[:, :time], _numbers(3, 3) + 0.2
    tags, lengths = tf.constant(TAGS, tag_dtype)[:, :time], tf.constant(lengths)
    likelihood, _ = crf.crf_log_likelihood(scores, tags, lengths, transitions)
    return {"score": crf.crf_sequence_score(scores, tags, lengths, transitions),
            "norm": crf.crf_log_norm(scores, lengths, transitions), "likelihood": likelihood,
            "unary": crf.crf_unary_score(tags, lengths, scores),
            "binary": crf.crf_binary_score(tags, lengths, transitions),
            "decode": crf.crf_decode(scores, transitions, lengths),
            "gradients": tf.gradients(likelihood, [scores, transitions])}


def all_functions():
    return _all([4, 1, 3])


def length_zero():
    return _all([0, 4, 2])


def length_zero_int64():
    return _all(np.array([0, 3, 2], "int64"), tag_dtype=tf.int64)


def one_step():
    return _all([1, 1, 0], time=1)


def unknown_time():
    scores = tf.placeholder_with_default(np.ones([2, 3, 2], "float32"), [None, None, 2])
    tags = tf.placeholder_with_default([[0, 1, 0], [1, 1, 0]], [None, None])
    lengths = tf.placeholder_with_default([3, 2], [None])
    likelihood, transitions = crf.crf_log_likelihood(scores, tags, lengths, _numbers(2, 2))
    decoded, best = crf.crf_decode(scores, transitions, lengths)
    return [likelihood, decoded, best, decoded.shape]


def unknown_time_of_one():
    scores = tf.placeholder_with_default(np.ones([2, 1, 2], "float32"), [None, None, 2])
    tags = tf.placeholder_with_default([[0], [1]], [None, None])
    lengths = tf.placeholder_with_default([1, 0], [None])
    likelihood, transitions = crf.crf_log_likelihood(scores, tags, lengths, _numbers(2, 2))
    return [likelihood, crf.crf_decode(scores, transitions, lengths)]


def multitag():
    scores, transitions = _numbers(3, 4, 3), _numbers(3, 3)
    allowed = np.ones([3, 4, 3], bool)
    allowed[:, 0, 0] = allowed[1, 2, 1] = allowed[2, 3] = False
    lengths = tf.constant([4, 1, 3])
    return [crf.crf_multitag_sequence_score(scores, tf.constant(allowed), lengths, transitions),
            crf.crf_multitag_sequence_score(scores[:, :1], tf.constant(allowed[:, :1]),
                                            tf.constant([1, 0, 1]), transitions)]


def variable():
    with tf.variable_scope("crf", initializer=tf.constant_initializer(0.3)):
        likelihood, transitions = crf.crf_log_likelihood(
            _numbers(3, 4, 3), tf.constant(TAGS), tf.constant([4, 1, 3]))
        loss = tf.reduce_mean(-likelihood)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        with tf.control_dependencies([train]):
            return [likelihood, transitions.read_value()]


def viterbi_decode():
    random = np.random.RandomState(4)
    scores, transitions = random.randn(6, 4).astype("float32"), random.randn(4, 4)
    path, score = crf.viterbi_decode(scores, transitions)
    one, least = crf.viterbi_decode(scores[:1], transitions)
    return [[int(each) for each in path], float(score), [int(each) for each in one], float(least),
            type(path).__name__]


def cells():
    transitions = _numbers(3, 3)
    forward, decode = crf.CrfForwardRnnCell(transitions), crf.CrfDecodeForwardRnnCell(transitions)
    backward = crf.CrfDecodeBackwardRnnCell(3)
    pointers, scores = decode(_numbers(2, 3), _numbers(2, 3) + 1)
    outputs, state = tf.nn.dynamic_rnn(forward, _numbers(2, 4, 3), [4, 2], dtype=tf.float32,
                                       initial_state=_numbers(2, 3))
    return [forward(_numbers(2, 3), _numbers(2, 3)), pointers, scores, outputs, state,
            backward(pointers, tf.constant([[2], [0]])), forward.state_size, forward.output_size,
            decode.state_size, decode.output_size, backward.state_size, backward.output_size]


SOAK = ("all_functions", "length_zero", "length_zero_int64", "unknown_time_of_one", "variable")
