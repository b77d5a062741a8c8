"""tf.metrics: values after updates, variables, weights and names."""

import tensorflow as tf

SOAK = (
    "at_k", "precision_and_recall", "relative_errors",)

_M = tf.metrics


def _updated(make, times=2):
    value, update = make()
    later = tf.random_normal([2])
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        first = session.run(value)
        found = [session.run(update) for _ in range(times)]
        return [first, found, session.run(value), session.run(later),
                sorted(v.name for v in tf.local_variables()), value.name]


def accuracy():
    return _updated(lambda: _M.accuracy([1, 0, 2], [1, 1, 2]))


def accuracy_weighted():
    return _updated(lambda: _M.accuracy([1, 0, 2], [1, 1, 2], [1., 2., 0.]))


def auc():
    return _updated(lambda: _M.auc([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.5]))


def auc_pr():
    return _updated(lambda: _M.auc([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.5], curve="PR",
                                   summation_method="careful_interpolation"))


def mean():
    return _updated(lambda: _M.mean([1., 4.], [1., 3.]))


def mean_tensor():
    return _updated(lambda: _M.mean_tensor([1., 4.]))


def errors():
    y, x = [1., 2., 3.], [1., 4., 2.]
    return [_updated(lambda: each(y, x)) for each in (
        _M.mean_absolute_error, _M.mean_squared_error, _M.root_mean_squared_error)]


def relative_errors():
    y, x = [1., 2., 3.], [1., 4., 2.]
    return [_updated(lambda: _M.mean_relative_error(y, x, [1., 2., 2.])),
            _updated(lambda: _M.mean_cosine_distance(y, x, 0)),
            _updated(lambda: _M.percentage_below(x, 2.))]


def precision_and_recall():
    y, x = [1, 0, 1, 1], [1, 1, 0, 1]
    return [_updated(lambda: each(y, x)) for each in (
        _M.precision, _M.recall, _M.true_positives, _M.false_positives, _M.false_negatives,
        _M.true_negatives)]


def at_thresholds():
    y, x = [1, 0, 1, 1], [0.9, 0.6, 0.3, 0.7]
    return [_updated(lambda: each(y, x, [0.25, 0.65])) for each in (
        _M.precision_at_thresholds, _M.recall_at_thresholds, _M.true_positives_at_thresholds)]


def at_k():
    y, x = tf.constant([[1], [2]], tf.int64), [[0.1, 0.5, 0.4], [0.7, 0.2, 0.1]]
    return [_updated(lambda: each(y, x, 2)) for each in (
        _M.precision_at_k, _M.recall_at_k, _M.average_precision_at_k)]


def mean_iou():
    return _updated(lambda: _M.mean_iou([0, 1, 2, 2], [0, 2, 2, 1], 3))


def mean_per_class_accuracy():
    return _updated(lambda: _M.mean_per_class_accuracy([0, 1, 2, 2], [0, 2, 2, 1], 3))


def sensitivity():
    y, x = [1, 0, 1, 1], [0.9, 0.6, 0.3, 0.7]
    return [_updated(lambda: _M.sensitivity_at_specificity(y, x, 0.5)),
            _updated(lambda: _M.specificity_at_sensitivity(y, x, 0.5))]


def names_and_collections():
    value, update = _M.accuracy([1, 0], [1, 1], metrics_collections=["m"], updates_collections="u",
                                name="mine")
    return [value.name, update.name, [each.name for each in tf.get_collection("m")],
            [each.name for each in tf.get_collection("u")],
            [each.name for each in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)]]


def wrong_shapes():
    return _M.accuracy([1, 2, 3], [[1, 2]])


def confusion_matrix():
    return [tf.confusion_matrix([0, 1, 2], [0, 2, 2]), tf.confusion_matrix(
        [0, 1], [1, 1], 3, weights=[2., 3.], dtype=tf.float32)]
