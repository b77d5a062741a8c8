"""tf.contrib.nn, sparsemax, resampler, signal and stateless."""

from _ended import error as _error
import numpy as np
import tensorflow as tf

nn = tf.contrib.nn


def _numbers(*shape):
    return tf.constant(np.sin(np.arange(np.prod(shape)) * 0.8).reshape(shape) * 2, tf.float32)


def alpha_dropout():
    x = _numbers(5, 6)
    found = nn.alpha_dropout(x, 0.6, seed=3)
    return [found, tf.gradients(found, x), nn.alpha_dropout(x, 0.3, [5, 1], seed=4),
            nn.alpha_dropout(x, 1.0) is x, nn.alpha_dropout(x, tf.constant(0.5), seed=5, name="d"),
            _error(lambda: nn.alpha_dropout(x, 0.0)), _error(lambda: nn.alpha_dropout(x, [0.5]))]


def scaled_softplus():
    x, alpha = _numbers(4, 3), tf.constant([0.5, 1.0, 3.0])
    plain, clipped = nn.scaled_softplus(x, alpha), nn.scaled_softplus(x, 0.7, clip=1.2, name="s")
    return [plain, tf.gradients(plain * x, [x, alpha]), clipped, tf.gradients(clipped, x),
            nn.scaled_softplus([[1.0, -100.0]], 1.0)]


def flipped_cross_entropies():
    logits, labels = _numbers(3, 4), tf.nn.softmax(_numbers(3, 4) * 2)
    return [nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels),
            nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=0),
            nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1, 0, 3]),
            nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets=labels)]


def conv1d_transpose():
    return nn.conv1d_transpose(_numbers(2, 3, 4), _numbers(2, 5, 4), [2, 6, 5], 2, "SAME")


def nth_element():
    return [nn.nth_element(_numbers(3, 5), 2), nn.nth_element(_numbers(5), 0, reverse=True)]


def _sampled(function, **options):
    weights = tf.get_variable("weights", initializer=_numbers(7, 4))
    biases = tf.get_variable("biases", initializer=_numbers(7))
    values = (tf.constant([1, 5, 2, 6], tf.int64), _numbers(3, 1) ** 2 + 0.1,
              tf.constant([0.3, 0.2, 0.4, 0.1]))
    found = function(weights=weights, biases=biases, labels=tf.constant([[1], [0], [3]]),
                     inputs=_numbers(3, 4), num_sampled=4, num_classes=7, sampled_values=values,
                     **options)
    return [found, [tf.convert_to_tensor(each) for each in tf.gradients(found, [weights, biases])]]


def rank_sampled_softmax_loss():
    return _sampled(nn.rank_sampled_softmax_loss, num_resampled=2, num_true=1,
                    resampling_temperature=0.8, remove_accidental_hits=True,
                    partition_strategy="div")


def rank_sampled_softmax_loss_errors():
    def loss(sampled, resampled, strategy):
        return nn.rank_sampled_softmax_loss(
            _numbers(7, 4), _numbers(7), [[1]], _numbers(1, 4), sampled, resampled, 7, 1, None, 1.0,
            True, strategy)

    return [_error(lambda: loss(9, 2, "div")), _error(lambda: loss(3, 3, "div")),
            _error(lambda: loss(4, 2, "other"))]


def sampled_sparse_softmax_loss():
    return _sampled(nn.sampled_sparse_softmax_loss, remove_accidental_hits=False,
                    partition_strategy="div")


def sparsemax():
    logits = tf.concat([_numbers(4, 5), [[1e6, 1.0, 0, 0, 0], [np.nan, 1, 0, 0, 0],
                                         [-np.inf, 1, 0.8, -3, 0], [np.inf, 0, 0, 0, 0]]], 0)
    found = tf.contrib.sparsemax.sparsemax(logits)
    return [found, tf.gradients(found[:5] ** 2, logits),
            tf.contrib.sparsemax.sparsemax(tf.cast(logits[:4], tf.float64), name="s")]


def sparsemax_loss():
    logits = tf.concat([_numbers(3, 4), [[-np.inf, 1.0, 0.8, -3]]], 0)
    labels = tf.one_hot([1, 0, 3, 1], 4)
    found = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, found, labels)
    return [loss, tf.gradients(loss[:3], logits)]


def resampler():
    data = _numbers(2, 4, 5, 3)
    warp = tf.constant(np.cos(np.arange(24)).reshape(2, 3, 2, 2) * 4 + 1.5, tf.float32)
    found = tf.contrib.resampler.resampler(data, warp)
    edges = tf.constant([[[-1.0, 0], [-0.5, 0], [4, 3], [4.5, 3.2], [5, 3], [0, 0], [2, 1]]] * 2)
    at_edges = tf.contrib.resampler.resampler(data, edges, name="edges")
    return [found, found.shape, tf.gradients(found * found, [data, warp]), at_edges,
            tf.gradients(at_edges * 2, [data, edges])]


def resampler_errors():
    function, data, warp = tf.contrib.resampler.resampler, _numbers(1, 4, 5, 3), _numbers(1, 3, 2)
    return [_error(lambda: function(data, tf.cast(warp, tf.float64))),
            _error(lambda: function(tf.ones([1, 2, 2, 1], tf.int32), warp))]


def resampler_of_a_wrong_rank():
    return tf.contrib.resampler.resampler(_numbers(4, 5, 3), _numbers(4, 3, 2))


def resampler_of_a_vector():
    return tf.contrib.resampler.resampler(_numbers(1, 4, 5, 3), _numbers(2))


def resampler_of_points_in_space():
    return tf.contrib.resampler.resampler(_numbers(1, 4, 5, 3), _numbers(1, 3, 3))


def resampler_of_other_batches():
    return tf.contrib.resampler.resampler(_numbers(1, 4, 5, 3), _numbers(2, 3, 2))


def resampler_unknown_shape():
    data = tf.placeholder_with_default(np.ones([2, 3, 3, 1], "float32"), [None] * 4)
    warp = tf.placeholder_with_default(np.ones([2, 4, 2], "float32") / 2, [None, None, 2])
    found = tf.contrib.resampler.resampler(data, warp)
    return [found, found.shape]


def signal():
    signals, module = _numbers(2, 20), tf.contrib.signal
    spectrum = module.stft(signals, 8, 4, fft_length=8)
    return [spectrum, module.inverse_stft(spectrum, 8, 4),
            module.inverse_stft(spectrum, 8, 4, window_fn=module.inverse_stft_window_fn(4)),
            module.frame(signals, 6, 3, pad_end=True), module.overlap_and_add(_numbers(2, 3, 4), 2),
            module.hann_window(6), module.hamming_window(6, periodic=False),
            module.linear_to_mel_weight_matrix(4, 9, 8000, 60.0, 3800.0),
            module.mfccs_from_log_mel_spectrograms(_numbers(2, 3, 8))]


def stateless():
    module = tf.contrib.stateless
    return [module.stateless_random_uniform([4], [1, 2]),
            module.stateless_random_uniform([4], [1, 2], 0, 9, tf.int32),
            module.stateless_random_normal([3], [5, 7]),
            module.stateless_truncated_normal([3], seed=[5, 7], dtype=tf.float64),
            module.stateless_multinomial(_numbers(2, 5), 3, seed=tf.constant([1, 2]))]


SOAK = ("conv1d_transpose", "flipped_cross_entropies", "nth_element", "rank_sampled_softmax_loss",
        "resampler", "resampler_unknown_shape", "signal", "stateless")
