"""tf.losses: values, reductions, collections and what comes after them."""

import tensorflow as tf

SOAK = (
    "absolute_difference_weighted", "gradient", "huber_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "names", "reductions",
    "sparse_softmax_cross_entropy_of_a_dynamic_batch",)

_L = tf.losses
_X, _Y = [[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


def _of(*values):
    return list(values) + [_L.get_losses(), _L.get_total_loss(), tf.random_normal([2])]


def absolute_difference():
    return tf.losses.absolute_difference([1.0, 2.0], [2.0, 5.0])


def absolute_difference_weighted():
    return _of(
        _L.absolute_difference(_Y, _X),
        _L.absolute_difference(_Y, _X, 2.0),
        _L.absolute_difference(_Y, _X, [[1.0], [0.0]]),
    )


def mean_squared_error():
    return _of(_L.mean_squared_error(_Y, _X), _L.mean_squared_error(_Y, _X, [[1.0, 0.0, 2.0]] * 2))


def softmax_cross_entropy():
    return _of(
        _L.softmax_cross_entropy(_Y, _X),
        _L.softmax_cross_entropy(_Y, _X, weights=[1.0, 2.0], label_smoothing=0.1),
    )


def sparse_softmax_cross_entropy():
    return _of(
        _L.sparse_softmax_cross_entropy([1, 0], _X),
        _L.sparse_softmax_cross_entropy([[1], [0]], _X, weights=[[1.0], [0.0]]),
    )


def sparse_softmax_cross_entropy_of_a_dynamic_batch():
    x = tf.placeholder_with_default(_X, [None, 3])
    y = tf.placeholder_with_default([1, 0], [None])
    return _of(
        _L.sparse_softmax_cross_entropy(y, x), _L.sparse_softmax_cross_entropy(y, x, [1.0, 3.0])
    )


def sigmoid_cross_entropy():
    return _of(_L.sigmoid_cross_entropy(_Y, _X), _L.sigmoid_cross_entropy(_Y, _X, 2.0, 0.2))


def log_loss():
    return _of(
        _L.log_loss(_Y, [[0.2, 0.7, 0.1]] * 2), _L.log_loss(_Y, [[0.2, 0.7, 0.1]] * 2, epsilon=0.1)
    )


def hinge_loss():
    return _of(_L.hinge_loss(_Y, _X))


def huber_loss():
    return _of(_L.huber_loss(_Y, _X), _L.huber_loss(_Y, _X, delta=0.5))


def cosine_distance():
    return _of(
        _L.cosine_distance(_Y, tf.nn.l2_normalize(_X, 1), axis=1), _L.cosine_distance(_Y, _X, dim=0)
    )


def cosine_distance_without_axis():
    return _L.cosine_distance(_Y, _X)


def mean_pairwise_squared_error():
    return _of(_L.mean_pairwise_squared_error(_Y, _X))


def reductions():
    r = _L.Reduction
    return _of(
        [
            _L.mean_squared_error(_Y, _X, [[1.0], [0.0]], reduction=each)
            for each in (
                r.NONE,
                r.SUM,
                r.MEAN,
                r.SUM_BY_NONZERO_WEIGHTS,
                r.SUM_OVER_BATCH_SIZE,
                r.SUM_OVER_NONZERO_WEIGHTS,
            )
        ][1:]
    )


def reduction_none():
    return _L.mean_squared_error(_Y, _X, reduction=_L.Reduction.NONE)


def compute_weighted_loss():
    return _of(
        _L.compute_weighted_loss([1.0, 2.0], [0.0, 3.0]),
        _L.compute_weighted_loss([[1.0, 2.0]], reduction=_L.Reduction.MEAN),
    )


def regularization():
    with tf.variable_scope("s", regularizer=tf.contrib.layers.l2_regularizer(0.1)):
        tf.get_variable("v", initializer=[1.0, 2.0])
    return [
        _L.get_regularization_loss(),
        _L.get_total_loss()
    ]


def collections():
    a = _L.mean_squared_error([1.0], [2.0], loss_collection=None)
    b = _L.mean_squared_error([1.0], [2.0], scope="mine")
    _L.add_loss(a)
    return [
        [each.name for each in _L.get_losses()],
        b.name,
        _L.get_total_loss().name,
        [each.name for each in _L.get_losses("mine")],
    ]


def names():
    return [
        each.name
        for each in (
            _L.mean_squared_error(_Y, _X),
            _L.softmax_cross_entropy(_Y, _X),
            _L.sparse_softmax_cross_entropy([1, 0], _X),
            _L.absolute_difference(_Y, _X),
            _L.huber_loss(_Y, _X),
            _L.log_loss(_Y, _Y),
            _L.sigmoid_cross_entropy(_Y, _X),
        )
    ]


def wrong_shapes():
    return _L.mean_squared_error([1.0, 2.0], [[1.0, 2.0, 3.0]])


def wrong_weights():
    return _L.mean_squared_error(_Y, _X, weights=[1.0, 2.0, 3.0])


def no_labels():
    return _L.mean_squared_error(None, _X)


def gradient():
    x = tf.constant(_X)
    return tf.gradients(_L.softmax_cross_entropy(_Y, x, [0.0, 2.0]) + _L.huber_loss(_Y, x), x)
