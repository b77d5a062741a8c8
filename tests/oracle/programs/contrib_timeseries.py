"""tf.contrib.timeseries."""

import importlib
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.timeseries.python.timeseries import (estimators, math_utils, model,
                                                             state_management as _MANAGERS)

_T = tf.contrib.timeseries
_TIMES = _T.TrainEvalFeatures.TIMES
_VALUES = _T.TrainEvalFeatures.VALUES
_Sequential = model.SequentialTimeSeriesModel

SOAK = ("regressor", "regressor_of_anomalies", "regressor_exported", "chaining",
        "chaining_of_default", "chaining_of_every_time", "chaining_regressor",
        "chaining_regressor_saved", "chaining_with_a_state", "filtering_only", "passing_through",
        "sequential_exogenous", "sequential_exogenous_at_times", "sequential_loss",
        "sequential_longer_than_the_threshold", "sequential_normalized",
        "sequential_of_unknown_window", "sequential_predictions", "sequential_regressor",
        "sequential_regressor_exported", "sequential_unrolled")


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


class _Carrying(_Sequential):
    """A recurrent model: what it carries is a share of the last value."""

    def __init__(self, threshold=None, normalize=False, columns=None, condition=None, features=1,
                 dtype=tf.float32):
        super(_Carrying, self).__init__(
            train_output_names=["mean"], predict_output_names=["mean"], num_features=features,
            normalize_features=normalize, dtype=dtype, exogenous_feature_columns=columns,
            exogenous_update_condition=condition,
            static_unrolling_window_size_threshold=threshold)

    def initialize_graph(self, input_statistics=None):
        super(_Carrying, self).initialize_graph(input_statistics=input_statistics)
        self._share = tf.make_template("share", lambda inputs: tf.layers.dense(
            inputs, self.num_features, kernel_initializer=tf.constant_initializer(.3)),
            create_scope_now_=True)

    def get_start_state(self):
        return (tf.zeros([], tf.int64), (tf.zeros([self.num_features], self.dtype),
                                         [tf.ones([2], self.dtype)]))

    def _filtering_step(self, current_times, current_values, state, predictions):
        (_, (mean, rest)) = state
        predictions = dict(predictions, loss=tf.reduce_mean((mean - current_values) ** 2, -1))
        return (current_times, (current_values, rest)), predictions

    def _prediction_step(self, current_times, state):
        (_, (mean, (rest,))) = state
        mean = self._share(tf.concat([mean, rest], 1))
        return (current_times, (mean, [rest * .9])), {"mean": mean}

    def _imputation_step(self, current_times, state):
        (times, (mean, (rest,))) = state
        gap = tf.cast(current_times - times - 1, self.dtype)[:, None]
        return (times, (mean, [rest + .01 * gap]))

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        (times, (mean, (rest,))) = state
        return (times, (mean + tf.reduce_sum(current_exogenous_regressors, 1, True), [rest]))

    def _scale_back_predictions(self, predictions):
        return {"mean": self._scale_back_data(predictions["mean"])}


def _features(count=12, batch=2):
    times = np.arange(count * batch).reshape(batch, count) + 1
    return {_TIMES: tf.constant(times), _VALUES: tf.constant(
        np.sin(times / 3.)[..., None].astype("float32"))}


def _sequential(model, features, statistics=None, mode="train"):
    with tf.variable_scope("model", use_resource=True):
        model.initialize_graph(statistics)
        outputs = model.define_loss(features, mode)
    return outputs


def sequential_loss():
    outputs = _sequential(_Carrying(), _features())
    gradients = tf.gradients(outputs.loss, tf.trainable_variables())
    return [outputs.loss, outputs.end_state, outputs.predictions, outputs.prediction_times,
            gradients]


def sequential_unrolled():
    outputs = _sequential(_Carrying(threshold=12), _features())
    return [outputs.loss, outputs.end_state, outputs.predictions,
            tf.gradients(outputs.loss, tf.trainable_variables()),
            "While" in {each.type for each in tf.get_default_graph().get_operations()},
            "Enter" in {each.type for each in tf.get_default_graph().get_operations()}]


def sequential_longer_than_the_threshold():
    outputs = _sequential(_Carrying(threshold=11), _features())
    return [outputs.loss, "Enter" in {
        each.type for each in tf.get_default_graph().get_operations()}]


def sequential_of_unknown_window():
    model = _Carrying(threshold=20)
    times = tf.placeholder_with_default(_features()[_TIMES], [None, None])
    values = tf.placeholder_with_default(_features()[_VALUES], [None, None, 1])
    outputs = _sequential(model, {_TIMES: times, _VALUES: values})
    return [outputs.loss, outputs.end_state]


def _statistics(features, dtype=tf.float32):
    made = math_utils.InputStatisticsFromMiniBatch(num_features=1, dtype=dtype)
    return made.initialize_graph(features)


def sequential_normalized():
    features = _features()
    outputs = _sequential(_Carrying(normalize=True), features, _statistics(features))
    return [outputs.loss, outputs.predictions, outputs.end_state]


def sequential_predictions():
    model = _Carrying()
    outputs = _sequential(model, _features())
    with tf.variable_scope("model", reuse=True):
        found = model.predict({_TIMES: np.array([[25, 26, 29], [13, 14, 15]]),
                               _T.FilteringResults.STATE_TUPLE: outputs.end_state})
    return found


def sequential_without_a_graph():
    _Carrying().define_loss(_features(), "train")


def sequential_exogenous():
    columns = [tf.feature_column.numeric_column("x")]
    features = dict(_features(), x=tf.constant(np.arange(24.).reshape(2, 12, 1) / 10.,
                                               tf.float32))
    always = _sequential(_Carrying(columns=columns), features)
    return [always.loss, always.predictions]


def sequential_exogenous_at_times():
    columns = [tf.feature_column.numeric_column("x")]
    features = dict(_features(), x=tf.constant(np.arange(24.).reshape(2, 12, 1) / 10.,
                                               tf.float32))

    def condition(times, features):
        return tf.logical_and(tf.equal(times % 2, 0), features["x"][:, 0] > .5)

    found = _sequential(_Carrying(columns=columns, condition=condition), features)
    return [found.loss, found.predictions]


def sequential_abstract():
    _Sequential(["mean"], ["mean"], 1)


def _managed(manager, steps=3, features=None, model=None, mode="train"):
    model, features = model or _Carrying(), features or _features()
    with tf.variable_scope("model", use_resource=True):
        statistics = None
        model.initialize_graph(statistics)
        manager.initialize_graph(model, statistics)
        outputs = manager.define_loss(model, features, mode)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([outputs.loss, outputs.end_state, outputs.predictions])
                 for _ in range(steps)]
    return found, [each.name for each in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)]


def chaining():
    return _managed(_MANAGERS.ChainingStateManager(state_saving_interval=4))


def chaining_of_every_time():
    return _managed(_MANAGERS.ChainingStateManager(1, True))


def chaining_of_default():
    return _managed(_MANAGERS.ChainingStateManager())


def passing_through():
    return _managed(_MANAGERS.PassthroughStateManager(), 1)


def filtering_only():
    return _managed(_MANAGERS.FilteringOnlyStateManager(), 1)


def _with_state():
    return dict(_features(), **{_T.FilteringResults.STATE_TUPLE: (
        tf.constant([0, 12], tf.int64), (tf.constant([[.5], [.2]]),
                                         [tf.constant([[1., 2.], [3., 4.]])]))})


def chaining_with_a_state():
    return _managed(_MANAGERS.ChainingStateManager(), 1, _with_state(), mode="eval")


def chaining_with_a_state_in_training():
    _managed(_MANAGERS.ChainingStateManager(), 1, _with_state())


def passing_through_with_a_state():
    _managed(_MANAGERS.PassthroughStateManager(), 1, _with_state())


def chaining_before_its_graph():
    model = _Carrying()
    model.initialize_graph()
    _MANAGERS.ChainingStateManager().define_loss(model, _features(), "train")


def _sequential_regressor(**options):
    regressor = _T.TimeSeriesRegressor if "optimizer" in options else (
        estimators.TimeSeriesRegressor)
    options.setdefault("config", tf.estimator.RunConfig(tf_random_seed=3))
    return regressor(_Carrying(normalize=True), **options)


def sequential_regressor():
    estimator = _sequential_regressor(optimizer=tf.train.AdamOptimizer(.02))
    whole = _T.WholeDatasetInputFn(_T.NumpyReader(_data()))
    estimator.train(whole, steps=5)
    evaluation = estimator.evaluate(whole, steps=1)
    found = next(estimator.predict(_T.predict_continuation_input_fn(evaluation, steps=4)))
    return [evaluation, found, estimator.get_variable_names()]


def chaining_regressor():
    estimator = _sequential_regressor(state_manager=_MANAGERS.ChainingStateManager(4))
    whole = _T.WholeDatasetInputFn(_T.NumpyReader(_data()))
    estimator.train(whole, steps=5)
    evaluation = estimator.evaluate(whole, steps=1)
    found = next(estimator.predict(_T.predict_continuation_input_fn(evaluation, times=[31, 35])))
    return [evaluation, found, estimator.get_variable_names()]


def chaining_regressor_saved():
    estimator = _sequential_regressor(state_manager=_MANAGERS.ChainingStateManager(4, True))
    whole = _T.WholeDatasetInputFn(_T.NumpyReader(_data()))
    estimator.train(whole, steps=3)
    estimator.train(whole, steps=3)
    return [estimator.evaluate(whole, steps=1), estimator.get_variable_names()]


def sequential_regressor_exported():
    estimator = _sequential_regressor(optimizer=tf.train.AdamOptimizer(.02),
                                      state_manager=_MANAGERS.ChainingStateManager(4))
    whole = _T.WholeDatasetInputFn(_T.NumpyReader(_data()))
    estimator.train(whole, steps=5)
    path = estimator.export_saved_model(
        tempfile.mkdtemp(), estimator.build_raw_serving_input_receiver_fn())
    utils = importlib.import_module(
        "tensorflow.contrib.timeseries.python.timeseries.saved_model_utils")
    evaluation = estimator.evaluate(whole, steps=1)
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], path)
        cold = utils.cold_start_filter(signatures, session, {
            _TIMES: np.arange(4), _VALUES: np.sin(np.arange(4) / 3.)})
        more = utils.filter_continuation(cold, signatures, session, {
            _TIMES: np.arange(4, 7), _VALUES: np.sin(np.arange(4, 7) / 3.)})
        return [cold, more, utils.predict_continuation(more, signatures, session, steps=3),
                utils.predict_continuation(evaluation, signatures, session, times=[31, 33]),
                sorted(signatures.signature_def)]
