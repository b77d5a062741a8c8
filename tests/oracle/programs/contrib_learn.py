"""tf.contrib.learn: Estimators, heads, metrics, experiments, texts and datasets."""

import os
import tempfile

from _ended import errors as _errors
import numpy as np
import tensorflow as tf

SOAK = ("best_exports", "combined_names", "dnn_names", "dnn_regressor_trained", "early_stopping",
        "estimator", "estimator_max_steps", "estimator_without_model_fn_ops", "experiment",
        "experiment_of_a_core_estimator", "exported", "heads_of_many_classes",
        "heads_of_two_classes", "kmeans_of_factorization", "kmeans_of_learn", "linear_classifier",
        "linear_multi_class", "linear_of_new_columns", "linear_of_sparse", "linear_regressor",
        "linear_with_weights", "logistic_regressor", "regressions_of_models", "sk_compat")
learn, layers = tf.contrib.learn, tf.contrib.layers
_X = np.array([[0., 1.], [1., 1.], [2., 0.], [3., 2.]], np.float32)
_Y = np.array([[0.], [1.], [1.], [0.]], np.float32)


def _input(x=_X, y=_Y):
    return lambda: ({"a": tf.constant(x[:, :1]), "b": tf.constant(x[:, 1:])}, tf.constant(y))


def _columns():
    return [layers.real_valued_column("a"), layers.real_valued_column("b")]


def _word():
    return layers.sparse_column_with_hash_bucket("w", 7)


def _words():
    features, labels = _input(y=_Y.astype(np.int32))()
    features["w"] = tf.SparseTensor([[0, 0], [1, 0], [3, 0]], ["x", "y", "x"], [4, 1])
    return features, labels


def _config():
    return learn.RunConfig(tf_random_seed=3)


def _numbers(found):
    return {key: float(value) for key, value in found.items()}


def _values(model):
    return {name: model.get_variable_value(name) for name in model.get_variable_names()}


def linear_classifier():
    model = learn.LinearClassifier(_columns(), config=_config())
    model.fit(input_fn=_input(y=_Y.astype(np.int32)), steps=5)
    found = _numbers(model.evaluate(input_fn=_input(y=_Y.astype(np.int32)), steps=1))
    return [found, _values(model), list(model.predict(input_fn=_input())),
            list(model.predict_proba(input_fn=_input()))]


def linear_multi_class():
    model = learn.LinearClassifier(_columns(), n_classes=3, config=_config(),
                                   optimizer=tf.train.GradientDescentOptimizer(.1))
    labels = np.array([0, 1, 2, 1])
    model.fit(input_fn=_input(y=labels), steps=3)
    return [_numbers(model.evaluate(input_fn=_input(y=labels), steps=1)), _values(model)]


def linear_regressor():
    model = learn.LinearRegressor(_columns(), config=_config(), gradient_clip_norm=1.)
    model.fit(input_fn=_input(), steps=5)
    model.partial_fit(input_fn=_input())
    return [_numbers(model.evaluate(input_fn=_input(), steps=1)), _values(model),
            list(model.predict(input_fn=_input()))]


def linear_of_sparse():
    model = learn.LinearClassifier([_word(), layers.real_valued_column("a")], config=_config())
    model.fit(input_fn=_words, steps=3)
    return [_numbers(model.evaluate(input_fn=_words, steps=1)), _values(model)]


def linear_with_weights():
    model = learn.LinearRegressor([layers.real_valued_column("a")], weight_column_name="b",
                                  config=_config())
    model.fit(input_fn=_input(), steps=3)
    return [_numbers(model.evaluate(input_fn=_input(), steps=1)), _values(model)]


def linear_of_new_columns():
    model = learn.LinearRegressor([tf.feature_column.numeric_column("a")], config=_config())
    model.fit(input_fn=_input(), steps=3)
    return _values(model)


def dnn_names():
    embedding = layers.embedding_column(_word(), 2)
    model = learn.DNNClassifier([3, 2], _columns() + [embedding], config=_config(), dropout=.1,
                                embedding_lr_multipliers={embedding: .5})
    model.fit(input_fn=_words, steps=2)
    found = model.evaluate(input_fn=_words, steps=1)
    return [sorted(found), {name: list(np.shape(value)) for name, value in _values(model).items()}]


def dnn_regressor_trained():
    start = tf.constant_initializer(np.arange(12) / 10.)
    with_start = [layers.embedding_column(_word(), 1, initializer=start)]
    model = learn.DNNRegressor([1], with_start, config=_config(), activation_fn=None,
                               optimizer=lambda: tf.train.GradientDescentOptimizer(0.))
    model.fit(input_fn=lambda: (_words()[0], tf.constant(_Y)), steps=1)
    return {name: list(np.shape(value)) for name, value in _values(model).items()}


def combined_names():
    model = learn.DNNLinearCombinedClassifier(
        linear_feature_columns=[_word()], dnn_feature_columns=_columns(), dnn_hidden_units=[2],
        config=_config(), fix_global_step_increment_bug=True)
    model.fit(input_fn=_words, steps=4)
    return [{name: list(np.shape(value)) for name, value in _values(model).items()},
            model.get_variable_value("global_step")]


def _model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", [2, 1], initializer=tf.zeros_initializer())
    found = tf.matmul(features, weight)
    loss = train_op = None
    if mode != learn.ModeKeys.INFER:
        loss = tf.losses.mean_squared_error(labels, found)
    if mode == learn.ModeKeys.TRAIN:
        train_op = layers.optimize_loss(loss, tf.train.get_global_step(), params["rate"], "SGD")
    return learn.ModelFnOps(mode, {"scores": found}, loss, train_op)


def _own(**options):
    return learn.Estimator(_model_fn, params={"rate": .1}, config=_config(), **options)


def _arrays():
    return tf.constant(_X), tf.constant(_Y)


def estimator():
    model = _own().fit(input_fn=_arrays, steps=3)
    found = [_numbers(model.evaluate(input_fn=_arrays, steps=1, metrics=metrics)) for metrics in (
        {"mse": learn.MetricSpec(tf.metrics.mean_squared_error, prediction_key="scores")},
        {("mae", "scores"): tf.contrib.metrics.streaming_mean_absolute_error})]
    return [found, _values(model), list(model.predict(input_fn=_arrays)),
            model.predict(input_fn=_arrays, as_iterable=False),
            sorted(os.listdir(model.model_dir + "/eval"))[0][:10], sorted(model.params)]


def estimator_max_steps():
    model = _own().fit(input_fn=_arrays, max_steps=3)
    model.fit(input_fn=_arrays, max_steps=3)
    return int(model.get_variable_value("global_step"))


def estimator_without_model_fn_ops():
    def model_fn(x, y):
        loss = tf.reduce_mean(tf.square(
            x * tf.get_variable("w", [], initializer=tf.ones_initializer()) - y))
        train_op = tf.train.GradientDescentOptimizer(.1).minimize(
            loss, tf.train.get_global_step())
        return x, loss, train_op
    model = learn.Estimator(model_fn, config=_config())
    model.fit(input_fn=_arrays, steps=2)
    return [_numbers(model.evaluate(input_fn=_arrays, steps=1)),
            np.array(list(model.predict(input_fn=_arrays)))]


def estimator_from_arrays():
    model = _own()
    model.fit(_X, _Y[:, 0], steps=4, batch_size=2)
    return [_values(model), _numbers(model.evaluate(_X, _Y[:, 0], batch_size=3)),
            [each["scores"] for each in model.predict(_X, batch_size=3)]]


def sk_compat():
    model = learn.SKCompat(_own())
    model.fit(_X, _Y[:, 0], batch_size=2, steps=5)
    found = model.score(_X, _Y[:, 0], batch_size=4)
    return [_numbers(found), model.predict(_X)]


def estimator_mistakes():
    wrong = {
        "both": lambda: _own().fit(_X, _Y, input_fn=_arrays),
        "none": lambda: _own().fit(steps=1),
        "steps": lambda: _own().fit(input_fn=_arrays, steps=1, max_steps=1),
        "batch": lambda: _own().fit(input_fn=_arrays, batch_size=1),
        "not_fitted": lambda: _own().evaluate(input_fn=_arrays),
        "predict": lambda: list(_own().predict(input_fn=_arrays)),
        "metrics": lambda: _own().fit(input_fn=_arrays, steps=1).evaluate(
            input_fn=_arrays, steps=1, metrics=[1]),
        "params": lambda: learn.Estimator(lambda features, labels: None, params={"a": 1}),
        "dirs": lambda: learn.Estimator(_model_fn, "/tmp/a", learn.RunConfig(model_dir="/tmp/b")),
        "train_op": lambda: learn.ModelFnOps("train", loss=tf.constant(1.)),
        "loss": lambda: learn.ModelFnOps("eval", predictions=tf.constant(1.)),
        "predictions": lambda: learn.ModelFnOps("infer"),
        "mode": lambda: learn.ModelFnOps("predict"),
        "classes": lambda: learn.DNNClassifier([2], _columns(), n_classes=1),
        "columns": lambda: learn.LinearClassifier([]),
        "combined": lambda: learn.DNNLinearCombinedClassifier(),
        "spec": lambda: learn.MetricSpec(lambda predictions: None, label_key="a"),
        "monitor": lambda: learn.monitors.ValidationMonitor(),
        "stop": lambda: learn.monitors.StopAtStep(),
    }
    return _errors(wrong)


def metric_specs():
    labels, scores = tf.constant([1., 0.]), tf.constant([.5, .25])

    def own(targets, logits, weight=None):
        return tf.reduce_sum(targets + 2 * logits) if weight is None else tf.reduce_sum(
            targets + 2 * logits + weight)

    return [learn.MetricSpec(own).create_metric_ops({}, labels, scores),
            learn.MetricSpec(own, "p", "l", "w").create_metric_ops(
                {"w": scores}, {"l": labels, "m": labels}, {"p": scores, "q": scores}),
            learn.MetricSpec(lambda x: x * 2).create_metric_ops({}, labels, {"p": scores}),
            str(learn.MetricSpec(own, "p"))]


def _head(head, logits, labels, mode="eval", features=None):
    found = head.create_model_fn_ops(features or {}, mode, labels, logits=logits,
                                     train_op_fn=lambda loss: tf.no_op())
    return {"loss": found.loss, "predictions": found.predictions,
            "metrics": {key: value[1] for key, value in found.eval_metric_ops.items()}}


def heads_of_numbers():
    logits = tf.constant([[1.], [-2.], [.5]])
    labels = tf.constant([[2.], [0.], [1.]])
    weights = {"w": tf.constant([1., 2., 0.])}
    return [_head(learn.regression_head(), logits, labels),
            _head(learn.regression_head(weight_column_name="w"), logits, labels, "eval", weights),
            _head(learn.poisson_regression_head(head_name="p"), logits, labels)]


def heads_of_two_classes():
    logits, labels = tf.constant([[1.], [-2.], [.5]]), tf.constant([[1], [0], [0]])
    weights = {"w": tf.constant([[1.], [2.], [.5]])}
    return [_head(learn.multi_class_head(2), logits, labels),
            _head(learn.multi_class_head(2, weight_column_name="w", thresholds=[.3, .6]), logits,
                  labels, "eval", weights)]


def heads_of_hinge_loss():
    logits, labels = tf.constant([[1.], [-2.], [.5]]), tf.constant([[1], [0], [0]])
    return _head(learn.binary_svm_head(), logits, labels)


def heads_of_many_classes():
    logits = tf.constant([[1., 2., 3.], [3., 1., 0.]])
    return [_head(learn.multi_class_head(3, metric_class_ids=[0, 2]), logits,
                  tf.constant([[2], [1]])),
            _head(learn.multi_label_head(3, metric_class_ids=[1]), logits,
                  tf.constant([[1, 0, 1], [0, 0, 1]]))]


def heads_with_names():
    head = learn.multi_class_head(3, label_keys=["a", "b", "c"])
    return _head(head, tf.constant([[1., 2., 3.], [3., 1., 0.]]), tf.constant([["c"], ["b"]]))


def several_heads():
    head = learn.multi_head([learn.regression_head(head_name="r"),
                             learn.multi_class_head(3, head_name="c")], [1., .5])
    labels = {"r": tf.constant([[2.]]), "c": tf.constant([[1]])}
    head_r = learn.multi_head([learn.regression_head("r", head_name="r"),
                               learn.multi_class_head(3, "c", head_name="c")], [1., .5])
    found = head_r.create_model_fn_ops({}, "eval", labels, logits=tf.constant([[1., 2., 3., 0.]]))
    return [head.logits_dimension, found.loss, sorted(found.eval_metric_ops),
            sorted(map(str, found.predictions))]


def head_with_input():
    head = learn.regression_head(enable_centered_bias=True)
    found = head.create_model_fn_ops(
        {}, "train", tf.constant([[1.]]), tf.train.GradientDescentOptimizer(.1).minimize,
        logits_input=tf.constant([[1., 2.]]))
    return [found.loss.shape, found.train_op.name.split("/")[0]]


class _Counter(learn.monitors.EveryN):
    def __init__(self, steps):
        super(_Counter, self).__init__(every_n_steps=steps, first_n_steps=1)
        self.called = []

    def every_n_step_end(self, step, outputs):
        super(_Counter, self).every_n_step_end(step, outputs)
        self.called.append(step)


def monitors():
    counter = _Counter(3)
    values = learn.monitors.CaptureVariable("weight", every_n=2)
    _own().fit(input_fn=_arrays, steps=8, monitors=[
        counter, values, learn.monitors.StopAtStep(num_steps=6)])
    return [counter.called, {str(key): value for key, value in values.values.items()}]


def early_stopping():
    monitor = learn.monitors.ValidationMonitor(
        input_fn=_arrays, eval_steps=1, every_n_steps=1, early_stopping_rounds=2,
        early_stopping_metric_minimize=False, check_interval_secs=None)
    model = learn.Estimator(_model_fn, params={"rate": .1}, config=learn.RunConfig(
        save_checkpoints_steps=1, tf_random_seed=3))
    model.fit(input_fn=_arrays, steps=20, monitors=[monitor])
    return [monitor.early_stopped, int(monitor.best_step), float(monitor.best_value),
            int(model.get_variable_value("global_step"))]


def experiment():
    def experiment_fn(output_dir):
        model = learn.Estimator(_model_fn, output_dir, learn.RunConfig(tf_random_seed=3),
                                {"rate": .1})
        return learn.Experiment(model, _arrays, _arrays, train_steps=4, eval_steps=1,
                                min_eval_frequency=2)
    from tensorflow.contrib.learn.python.learn import learn_runner
    found, exported = learn_runner.run(experiment_fn, tempfile.mkdtemp())
    return [_numbers(found), exported]


def experiment_of_a_core_estimator():
    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", [2, 1], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(labels, tf.matmul(features, weight))
        train_op = tf.train.GradientDescentOptimizer(.1).minimize(
            loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def experiment_fn(run_config, hparams):
        return learn.Experiment(tf.estimator.Estimator(model_fn, config=run_config), _arrays,
                                _arrays, train_steps=hparams.steps, eval_steps=1)
    found, _ = learn.learn_runner.run(
        experiment_fn, schedule="train_and_evaluate", hparams=tf.contrib.training.HParams(steps=3),
        run_config=learn.RunConfig(model_dir=tempfile.mkdtemp()))
    return _numbers(found)


def experiment_mistakes():
    wrong = {"dir": lambda: learn.learn_runner.run(lambda output_dir: None),
             "fn": lambda: learn.learn_runner.run(3, "/tmp/a"),
             "result": lambda: learn.learn_runner.run(lambda output_dir: 3, "/tmp/a"),
             "estimator": lambda: learn.Experiment(3, None, None),
             "strategy": lambda: learn.Experiment(_own(), None, None, export_strategies=[3])}
    return _errors(wrong)


def exported():
    model = learn.LinearClassifier(_columns(), config=_config())
    model.fit(input_fn=_input(y=_Y.astype(np.int32)), steps=1)
    spec = layers.create_feature_spec_for_parsing(_columns())
    strategy = learn.make_export_strategy(learn.build_parsing_serving_input_fn(spec),
                                          exports_to_keep=2)
    path = strategy.export(model, tempfile.mkdtemp())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], path).signature_def
        return [strategy.name, {key: [value.method_name, sorted(value.inputs),
                                      sorted(value.outputs)]
                                for key, value in signatures.items()}]


def best_exports():
    from tensorflow.contrib.learn.python.learn.utils import saved_model_export_utils
    model = learn.LinearRegressor(_columns(), config=_config())
    model.fit(input_fn=_input(), steps=1)
    strategy = saved_model_export_utils.make_best_model_export_strategy(
        learn.build_parsing_serving_input_fn(layers.create_feature_spec_for_parsing(_columns())))
    folder = tempfile.mkdtemp()
    return [bool(strategy.export(model, folder, None, {"loss": loss})) for loss in (3., 4., 2.)]


def run_config():
    config = learn.RunConfig(num_cores=2, save_checkpoints_steps=3, model_dir="/tmp/x",
                             log_device_placement=True, gpu_memory_fraction=.5)
    return {"secs": config.save_checkpoints_secs, "steps": config.save_checkpoints_steps,
            "cores": config.tf_config.intra_op_parallelism_threads, "chief": config.is_chief,
            "fraction": config.tf_config.gpu_options.per_process_gpu_memory_fraction,
            "master": config.master, "ps": config.num_ps_replicas, "type": config.task_type,
            "id": config.task_id, "dir": config.model_dir, "workers": config.num_worker_replicas,
            "environment": config.environment, "max": config.keep_checkpoint_max,
            "core": isinstance(config, tf.estimator.RunConfig),
            "replaced": config.replace(model_dir="/tmp/y").model_dir,
            "default": learn.RunConfig().save_checkpoints_secs}


def constants():
    kinds = [learn.ModeKeys, learn.PredictionKey, learn.ProblemType, learn.TaskType]
    return [{name: value for name, value in vars(each).items() if name.isupper()}
            for each in kinds]


def iris():
    found = learn.datasets.load_dataset("iris")
    again = learn.datasets.base.load_iris()
    return [found.data, found.target, again.data.shape, sorted(learn.datasets.DATASETS)]


def a_fetched_file():
    from tensorflow.contrib.learn.python.learn.datasets import base
    folder = tempfile.mkdtemp()
    with open(folder + "/a.txt", "w") as file:
        file.write("words")
    paths = [base.maybe_download("b.txt", folder + "/c", "file://" + folder + "/a.txt")
             for _ in range(2)]
    with open(paths[0]) as file:
        return [file.read(), paths[0] == paths[1] == os.path.join(folder, "c", "b.txt")]


def csv_files():
    folder = tempfile.mkdtemp()
    with open(folder + "/a.csv", "w") as file:
        file.write("2,2,x,y\n1.5,2,0\n3,4.5,1\n")
    with open(folder + "/b.csv", "w") as file:
        file.write("1,1.5,2\n0,3,4.5\n")
    base = learn.datasets.base
    first = base.load_csv_with_header(folder + "/a.csv", np.int64, np.float32)
    second = base.load_csv_without_header(folder + "/b.csv", np.int32, np.float64, 0)
    return [first.data, first.target, second.data, second.target]


def synthetic():
    return [learn.datasets.make_dataset("circles", 11, .1, 3, n_classes=3),
            learn.datasets.make_dataset("spirals", 11, None, 3),
            learn.datasets.make_dataset("spirals", 10, .1, 3, mode="fermat")]


def vocabulary():
    texts = ["I'm a TensorFlow user", "a user of NLP", "one-two USERS user"]
    processor = learn.preprocessing.VocabularyProcessor(4)
    ids = np.array(list(processor.fit_transform(texts)))
    path = tempfile.mkdtemp() + "/vocabulary"
    processor.save(path)
    again = learn.preprocessing.VocabularyProcessor.restore(path)
    rare = learn.preprocessing.VocabularyProcessor(5, min_frequency=1)
    return [ids, len(processor.vocabulary_), list(processor.reverse(ids)),
            np.array(list(again.transform(["user NLP unknown"]))),
            np.array(list(rare.fit_transform(texts))), list(
                learn.preprocessing.tokenizer(texts))]


def byte_and_category_processors():
    preprocessing = learn.preprocessing
    found = np.array(list(preprocessing.ByteProcessor(6).transform(["abc", u"\xe9t\xe9", ""])))
    rows = [["0", "a"], [2, float("nan")], ["0", "b"]]
    ids = np.array(list(preprocessing.CategoricalProcessor(min_frequency=0).fit_transform(rows)))
    return [found, list(preprocessing.ByteProcessor(6).reverse(found)), ids]


def graph_actions():
    x = tf.placeholder(tf.float32, [])
    variable = tf.get_variable("v", [], initializer=tf.constant_initializer(2.))
    return [learn.run_n({"v": variable}, n=2), learn.run_feeds({"y": x * variable},
                                                               [{x: 2.}, {x: 3.}])]


def batches_of_files():
    folder = tempfile.mkdtemp()
    for name in "ab":
        with tf.python_io.TFRecordWriter(folder + "/" + name) as writer:
            for number in range(3):
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
                })).SerializeToString())
    features = learn.read_batch_features(
        folder + "/*", 4, {"n": tf.FixedLenFeature([], tf.int64)}, tf.TFRecordReader,
        randomize_input=False, num_epochs=1, num_enqueue_threads=1, read_batch_size=1)
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run(features)["n"])
    return found


def inferred_columns():
    columns = learn.infer_real_valued_columns_from_input(_X)
    from_fn = learn.infer_real_valued_columns_from_input_fn(_input())
    return [str(each) for each in columns + sorted(from_fn)]


def logistic_regressor():
    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        found = tf.sigmoid(tf.matmul(features, weight))
        loss = tf.losses.log_loss(labels, found) if mode != "infer" else None
        train_op = tf.train.GradientDescentOptimizer(.1).minimize(
            loss, tf.train.get_global_step()) if mode == "train" else None
        return found, loss, train_op
    model = learn.LogisticRegressor(model_fn, config=_config())
    model.fit(input_fn=_arrays, steps=2)
    return _numbers(model.evaluate(input_fn=_arrays, steps=1))


def kmeans_of_learn():
    start = np.array([[0., 1.], [3., 2.]], np.float32)
    model = learn.KMeansClustering(2, initial_clusters=start, use_mini_batch=False,
                                   config=_config())
    model.fit(input_fn=lambda: (tf.constant(_X), None), steps=3)
    return [model.clusters(), list(model.predict_cluster_idx(lambda: (tf.constant(_X), None))),
            model.score(lambda: (tf.constant(_X), None), steps=1),
            model.transform(lambda: (tf.constant(_X), None))]


def kmeans_of_factorization():
    start = np.array([[0., 1.], [3., 2.]], np.float32)
    model = tf.contrib.factorization.KMeansClustering(2, initial_clusters=start,
                                                      use_mini_batch=False)

    def input_fn():
        return tf.train.limit_epochs(tf.constant(_X), num_epochs=1)

    for _ in range(2):
        model.train(input_fn)
    return [model.cluster_centers(), list(model.predict_cluster_index(input_fn)),
            model.score(input_fn), list(model.transform(input_fn))]


def kmeans_graph():
    start = np.array([[0., 1.], [3., 2.]], np.float32)
    scores, indices, losses, _, init, train = tf.contrib.factorization.KMeans(
        tf.constant(_X), 2, start, use_mini_batch=False).training_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init)
        session.run(train)
        return session.run([scores, indices, losses])


def regressions_of_models():
    models = learn.models
    x, labels = tf.constant(_X), tf.one_hot([0, 1, 1], 3)
    found = [models.linear_regression_zero_init(x, tf.constant(_Y))]
    with tf.variable_scope("second"):
        found += [models.linear_regression(x, tf.constant(_Y[:, 0]), 1., 0.)]
        found += [models.logistic_regression_zero_init(x[:3], labels)]
    with tf.variable_scope("weighted"):
        found += [models.logistic_regression(x[:3], labels, [1., 2., 3.], .5, 0.)]
    return found


def scores_without_scikit_learn():
    from tensorflow.contrib.learn.python.learn.estimators import _sklearn
    rows = np.arange(8).reshape(8, 1)
    return [_sklearn.accuracy_score(np.array([1, 0, 1]), np.array([1, 1, 1])),
            _sklearn.mean_squared_error(np.array([[1.], [2.]]), np.array([2., 4.])),
            list(_sklearn.train_test_split(rows, rows * 2, random_state=3))]
