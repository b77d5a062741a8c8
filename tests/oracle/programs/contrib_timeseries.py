"""tf.contrib.timeseries."""

import os
import tempfile

import numpy as np
import tensorflow as tf

_T = tf.contrib.timeseries
_TIMES = _T.TrainEvalFeatures.TIMES
_VALUES = _T.TrainEvalFeatures.VALUES

SOAK = ("regressor", "regressor_of_anomalies", "regressor_exported")


def _data(count=30):
    return {_TIMES: np.arange(count), _VALUES: np.sin(np.arange(count) / 3.).astype("float32")}


def _csv(text):
    path = os.path.join(tempfile.mkdtemp(), "series.csv")
    with open(path, "w") as file:
        file.write(text)
    return path


def _run(tensors, times=1):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(tensors) for _ in range(times)]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
        return found


def keys():
    return [_T.TrainEvalFeatures.TIMES, _T.TrainEvalFeatures.VALUES, _T.FilteringResults.TIMES,
            _T.FilteringResults.STATE_TUPLE, _T.ARModel.SQUARED_LOSS,
            _T.ARModel.NORMAL_LIKELIHOOD_LOSS]


def arrays_whole():
    return _run(_T.WholeDatasetInputFn(_T.NumpyReader(_data(5)))()[0], 2)


def arrays_of_a_batch():
    return _run(_T.NumpyReader({_TIMES: [[1, 2, 3]], _VALUES: [[[1.], [2.], [3.]]]}).read_full())


def csv_whole():
    path = _csv("0,1.5,2\n1,2.5,3\n3,4.5,5\n")
    reader = _T.CSVReader(path, column_names=(_TIMES, _VALUES, _VALUES))
    return _run(_T.WholeDatasetInputFn(reader)()[0], 2)


def csv_with_a_header_and_dtypes():
    path = _csv("t,v,x\n0,1.5,a\n1,2.5,b\n")
    reader = _T.CSVReader(path, (_TIMES, _VALUES, "x"), (tf.int64, tf.float32, tf.string),
                          skip_header_lines=1)
    return _run(_T.WholeDatasetInputFn(reader)()[0])


def csv_without_times():
    _T.CSVReader("x", column_names=(_VALUES,))


def csv_with_two_times():
    _T.CSVReader("x", column_names=(_TIMES, _TIMES, _VALUES))


def csv_of_other_dtypes():
    _T.CSVReader("x", column_dtypes=(tf.int64,))


def arrays_without_values():
    _T.NumpyReader({_TIMES: [1, 2]})


def windows():
    input_fn = _T.RandomWindowInputFn(_T.NumpyReader(_data()), window_size=4, batch_size=3)
    found = _run(input_fn()[0], 20)
    times = np.concatenate([each[_TIMES] for each in found])
    values = np.concatenate([each[_VALUES] for each in found])
    return [times.shape, values.shape, sorted(set(times[:, 0] % 2)),
            bool((np.diff(times) == 1).all()),
            bool(np.allclose(values[..., 0], np.sin(times / 3.), atol=1e-5)),
            len(set(times[:, 0])) > 10]


def windows_longer_than_the_data():
    _T.RandomWindowInputFn(_T.NumpyReader(_data(3)), window_size=4, batch_size=1)


def continuation():
    evaluation = {_T.FilteringResults.TIMES: np.array([[3, 4, 5]]),
                  _T.FilteringResults.STATE_TUPLE: (np.array([1.]), (np.array([[2.]]),))}
    features, labels = _T.predict_continuation_input_fn(evaluation, steps=3)()
    return [_run(features), labels]


def continuation_of_times():
    evaluation = {_T.FilteringResults.TIMES: np.array([[3, 4, 5]]),
                  _T.FilteringResults.STATE_TUPLE: ()}
    features, _ = _T.predict_continuation_input_fn(
        evaluation, times=[7, 9], exogenous_features={"x": np.array([[1., 2.]])})()
    return _run({key: features[key] for key in ("times", "x")})


def continuation_before_the_end():
    evaluation = {_T.FilteringResults.TIMES: np.array([[3, 4, 5]]),
                  _T.FilteringResults.STATE_TUPLE: ()}
    _T.predict_continuation_input_fn(evaluation, times=[4])


def continuation_of_nothing():
    _T.predict_continuation_input_fn({})


def _shapes(values):
    return {str(key): list(np.shape(values[key])) for key in values
            if key != _T.FilteringResults.STATE_TUPLE}


def _regressed(**options):
    regressor = _T.ARRegressor(periodicities=6, input_window_size=4, output_window_size=2,
                               num_features=1, model_dir=tempfile.mkdtemp(), **options)
    reader = _T.NumpyReader(_data())
    regressor.train(_T.RandomWindowInputFn(reader, window_size=6, batch_size=2), steps=2)
    evaluation = regressor.evaluate(_T.WholeDatasetInputFn(reader), steps=1)
    predictions = list(regressor.predict(
        _T.predict_continuation_input_fn(evaluation, steps=5)))
    shapes = {name: list(regressor.get_variable_value(name).shape)
              for name in regressor.get_variable_names()}
    return [_shapes(evaluation), len(predictions), _shapes(predictions[0]), shapes,
            evaluation["global_step"]]


def regressor():
    return _regressed()


def regressor_of_anomalies():
    return _regressed(anomaly_prior_probability=0.1, anomaly_distribution="cauchy",
                      hidden_layer_sizes=[3], num_time_buckets=4)


def regressor_with_a_distribution_alone():
    _regressed(anomaly_distribution="cauchy")


def regressor_of_anomalies_by_squares():
    _regressed(anomaly_prior_probability=0.1, anomaly_distribution="gaussian",
               loss=_T.ARModel.SQUARED_LOSS)


def regressor_exported():
    regressor = _T.ARRegressor(periodicities=6, input_window_size=4, output_window_size=2,
                               num_features=1, model_dir=tempfile.mkdtemp())
    reader = _T.NumpyReader(_data())
    regressor.train(_T.RandomWindowInputFn(reader, window_size=6, batch_size=2), steps=1)
    path = regressor.export_saved_model(
        tempfile.mkdtemp(), regressor.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.load(session, ["serve"], path).signature_def
        state = _T.saved_model_utils.cold_start_filter(
            signatures=signatures, session=session,
            features={_TIMES: np.arange(30)[None], _VALUES: np.ones([1, 30, 1], "float32")})
        found = _T.saved_model_utils.predict_continuation(
            continue_from=state, signatures=signatures, session=session, steps=4)
        return [sorted(signatures), _shapes(found)]


def _losses(model, covariance=0.5):
    with tf.variable_scope("model"):
        return model.loss_op(tf.constant([[[1.], [2.]]]), {
            "mean": tf.constant([[[0.5], [2.5]]]),
            "covariance": tf.constant([[[0.3], [covariance]]]),
            "anomaly_params": tf.constant(2.)})


def model_losses():
    options = dict(periodicities=6, input_window_size=2, output_window_size=2, num_features=1)
    found = []
    for loss in (_T.ARModel.SQUARED_LOSS, _T.ARModel.NORMAL_LIKELIHOOD_LOSS):
        model = _T.ARModel(loss=loss, **options)
        model.initialize_graph()
        found.append(_losses(model))
    return found


def mixture_losses():
    from tensorflow.contrib.timeseries.python.timeseries import ar_model
    found = []
    for distribution in ("gaussian", "cauchy"):
        model = ar_model.AnomalyMixtureARModel(
            6, 0.1, 2, 2, 1, anomaly_distribution=distribution)
        model.initialize_graph()
        found.append(_losses(model))
    return found


def flat_prediction():
    from tensorflow.contrib.timeseries.python.timeseries import ar_model
    model = ar_model.FlatPredictionModel(2, 3, 2, hidden_layer_sizes=[4])
    found = model(tf.ones([5, 3, 2]), tf.ones([5, 2, 1]))
    return [found["mean"].shape, found["covariance"].shape, found["covariance"] > 0.,
            [each.shape for each in model.trainable_weights]]
