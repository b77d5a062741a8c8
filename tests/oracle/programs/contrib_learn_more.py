"""tf.contrib.learn: schedules of Experiments, feeders, monitors that report, rare options."""

import os
import shutil
import tempfile

from _ended import errors as _errors, outcome as _outcome
import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn.estimators import head as head_lib
from tensorflow.contrib.learn.python.learn.learn_io import data_feeder

SOAK = ("alternating_experiment", "checkpoints_evaluated_as_they_are_saved",
        "continuous_evaluation", "core_experiment_with_monitors", "exports_by_default_key",
        "feeder_orders", "local_run", "logged_monitors", "metrics_by_name",
        "model_of_dicts_of_arrays", "monitors_mistakes", "predicate_ends_evaluation",
        "saved_and_counted", "stops_at_no_number", "streamed_training", "tested_and_evaluated",
        "tuned")
learn, layers = tf.contrib.learn, tf.contrib.layers
_X = np.array([[0., 1.], [1., 1.], [2., 0.], [3., 2.]], np.float32)
_Y = np.array([[0.], [1.], [1.], [0.]], np.float32)


def _model_fn(features, labels, mode):
    if isinstance(features, dict):
        features = tf.concat([features[key] for key in sorted(features)], 1)
    weight = tf.get_variable("weight", [2, 1], initializer=tf.zeros_initializer())
    found = tf.matmul(tf.to_float(features), weight, name="found")
    loss = train_op = None
    if mode != learn.ModeKeys.INFER:
        loss = tf.losses.mean_squared_error(tf.reshape(tf.to_float(labels), [-1, 1]), found)
    if mode == learn.ModeKeys.TRAIN:
        train_op = layers.optimize_loss(loss, tf.train.get_global_step(), .1, "SGD")
    return learn.ModelFnOps(mode, {"scores": found}, loss, train_op)


def _own(**options):
    return learn.Estimator(_model_fn, config=learn.RunConfig(tf_random_seed=3, **options))


def _arrays():
    return tf.constant(_X), tf.constant(_Y)


def _numbers(found):
    return {key: float(value) for key, value in found.items()}


def _serving():
    features = tf.placeholder(tf.float32, [None, 2])
    return learn.utils.InputFnOps({"x": features}, None, {"x": features})


def tested_and_evaluated():
    experiment = learn.Experiment(_own(), _arrays, _arrays, train_steps=3, eval_steps=1,
                                  eval_delay_secs=0)
    first = experiment.test()
    return [_numbers(first), _numbers(experiment.evaluate()),
            _numbers(experiment.evaluate(delay_secs=0, name="own")),
            int(experiment.estimator.get_variable_value("global_step"))]


def local_run():
    experiment = learn.Experiment(_own(), _arrays, _arrays, train_steps=3, eval_steps=1,
                                  local_eval_frequency=2)
    found, exported = experiment.local_run()
    return [_numbers(found), exported]


def continuous_evaluation():
    model = _own()
    experiment = learn.Experiment(model, _arrays, _arrays, train_steps=3, eval_steps=1,
                                  eval_delay_secs=0, continuous_eval_throttle_secs=0)
    experiment.train()
    kept = [experiment.continuous_eval(delay_secs=0), experiment.continuous_eval_on_train_data(),
            experiment.continuous_eval(evaluate_checkpoint_only_once=False, name="again")]
    return [kept, sorted(each for each in os.listdir(model.model_dir) if each.startswith("eval"))]


def predicate_ends_evaluation():
    model, seen = _own(), []
    experiment = learn.Experiment(model, _arrays, _arrays, train_steps=30, eval_steps=1,
                                  eval_delay_secs=0, continuous_eval_throttle_secs=0)
    experiment.estimator.fit(input_fn=_arrays, steps=2)

    def goes_on(found):
        seen.append(None if found is None else _numbers(found))
        return len(seen) < 3

    def with_path(found, checkpoint_path):
        seen.append([bool(found), checkpoint_path and os.path.basename(checkpoint_path)])
        return len(seen) < 6
    experiment.continuous_eval(continuous_eval_predicate_fn=goes_on)
    experiment.continuous_eval(continuous_eval_predicate_fn=with_path)
    return seen


def alternating_experiment():
    experiment = learn.Experiment(_own(), _arrays, _arrays, train_steps=5, eval_steps=1,
                                  train_steps_per_iteration=2)
    found, exported = experiment.continuous_train_and_eval()
    tenths = learn.Experiment(_own(), _arrays, _arrays, train_steps=20, eval_steps=1)
    return [_numbers(found), exported, _numbers(tenths.continuous_train_and_eval(
        continuous_eval_predicate_fn=lambda found: not found)[0])]


def checkpoints_evaluated_as_they_are_saved():
    model = _own(save_checkpoints_steps=2)
    strategy = learn.make_export_strategy(_serving, exports_to_keep=1)
    experiment = learn.Experiment(model, _arrays, _arrays, train_steps=4, eval_steps=1,
                                  checkpoint_and_export=True, export_strategies=strategy)
    found, exported = experiment.train_and_evaluate()
    return [_numbers(found), len(exported), sorted(
        each for each in os.listdir(model.model_dir) if each.startswith("eval")),
            len(os.listdir(os.path.join(model.model_dir, "export", "Servo")))]


def strategies_and_hooks_exchanged():
    one = learn.ExportStrategy("one", lambda estimator, path: path)
    experiment = learn.Experiment(_own(), _arrays, _arrays, export_strategies=[one])
    experiment.extend_train_hooks([tf.train.StepCounterHook()])
    former = experiment.reset_export_strategies()
    return [[each.name for each in former],
            [each.name for each in experiment.reset_export_strategies([one, one])]]


def core_experiment_with_monitors():
    def model_fn(features, labels, mode):
        found = _model_fn(features, labels, mode)
        return tf.estimator.EstimatorSpec(mode, found.predictions, found.loss, found.train_op)
    model = tf.estimator.Estimator(model_fn, config=learn.RunConfig(
        tf_random_seed=3, model_dir=tempfile.mkdtemp(), save_checkpoints_steps=1))
    stop = learn.monitors.StopAtStep(last_step=2)
    experiment = learn.Experiment(
        model, _arrays, _arrays, train_steps=4, eval_steps=1, train_monitors=[stop],
        saving_listeners=[tf.train.CheckpointSaverListener()])
    experiment.train()
    return [int(model.get_variable_value("global_step")), _numbers(experiment.evaluate(0))]


def experiments_mistakes():
    core = tf.estimator.Estimator(lambda features, labels, mode: None)
    config = learn.RunConfig(model_dir=tempfile.mkdtemp())
    run, own = learn.learn_runner.run, lambda **options: learn.Experiment(
        _own(), _arrays, _arrays, **options)
    return _errors({
        "core_metrics": lambda: learn.Experiment(core, _arrays, _arrays, eval_metrics={}),
        "listeners": lambda: own(saving_listeners=[]),
        "steps": lambda: own(train_steps_per_iteration="3"),
        "predicate": lambda: own(train_steps=1).continuous_eval(
            delay_secs=0, continuous_eval_predicate_fn=3),
        "server": lambda: own().run_std_server(),
        "none": lambda: run(lambda output_dir: own()),
        "empty": lambda: run(lambda output_dir: own(), ""),
        "both": lambda: run(lambda run_config, hparams: own(), "/tmp/a", run_config=config),
        "hparams": lambda: run(lambda output_dir: own(), "/tmp/a",
                               hparams=tf.contrib.training.HParams()),
        "config": lambda: run(lambda run_config, hparams: own(), run_config=3),
        "config_dir": lambda: run(lambda run_config, hparams: own(),
                                  run_config=learn.RunConfig()),
        "hparams_kind": lambda: run(lambda run_config, hparams: own(), run_config=config,
                                    hparams={}),
        "other_config": lambda: run(lambda run_config, hparams: own(), run_config=config),
        "schedule": lambda: run(lambda output_dir: own(), "/tmp/a", schedule="nothing"),
        "attribute": lambda: run(lambda output_dir: own(), "/tmp/a", schedule="eval_metrics"),
    })


class _Tuner(object):
    def __init__(self):
        self.steps, self.found = [1, 2], []

    def next_trial(self):
        return bool(self.steps)

    def run_experiment(self, experiment_fn):
        config = learn.RunConfig(model_dir=tempfile.mkdtemp())
        experiment = experiment_fn(config, tf.contrib.training.HParams(steps=self.steps.pop()))
        experiment.train(delay_secs=0)
        self.found.append(int(experiment.estimator.get_variable_value("global_step")))


def tuned():
    tuner = _Tuner()
    learn.learn_runner.tune(lambda run_config, hparams: learn.Experiment(
        learn.Estimator(_model_fn, config=run_config), _arrays, _arrays,
        train_steps=hparams.steps), tuner)
    return tuner.found


def feeder_orders():
    found = []
    for options in ({}, {"shuffle": False}, {"batch_size": 3}, {"batch_size": 3, "epochs": 2},
                    {"batch_size": 2, "shuffle": False, "epochs": 1}):
        with tf.Graph().as_default():
            fed = data_feeder.setup_train_data_feeder(_X, _Y, n_classes=None, **dict(
                {"batch_size": 4}, **options))
            x, y = fed.input_builder()
            next_batch = fed.get_feed_dict_fn()
            found.append([x.name, y.name, x.shape, y.shape, x.dtype.name, y.dtype.name])
            for _ in range(5):
                try:
                    fed_values = next_batch()
                except StopIteration:
                    break
                found.append({name: value for name, value in fed_values.items()})
    return found


def feeder_of_classes():
    found = []
    for labels, classes in (([0, 2, 1, 1], 3), ([0, 1, 1, 0], 1), ([0., 1., 1., 0.], None)):
        with tf.Graph().as_default():
            fed = data_feeder.setup_train_data_feeder(
                _X, np.array(labels), classes, 4, shuffle=False)
            found.append([each.shape for each in fed.input_builder()])
            found.append(dict(fed.get_feed_dict_fn()()))
    return found


def feeder_of_dicts():
    with tf.Graph().as_default():
        fed = data_feeder.setup_train_data_feeder(
            {"a": _X[:, 0], "b": _X}, {"c": np.array([0, 2, 1, 1]), "d": _Y}, {"c": 3}, 4,
            shuffle=False)
        x, y = fed.input_builder()
        return [{key: [each.name, each.shape] for key, each in sorted(x.items())},
                {key: [each.name, each.shape] for key, each in sorted(y.items())},
                dict(fed.get_feed_dict_fn()())]


def streams():
    with tf.Graph().as_default():
        fed = data_feeder.setup_train_data_feeder(iter(_X), iter(np.array([0, 2, 1, 1])), 3, 3)
        found = [[each.shape, each.name] for each in fed.input_builder()]
        next_batch = fed.get_feed_dict_fn()
        found += [dict(next_batch()), dict(next_batch())]
    with tf.Graph().as_default():
        fed = data_feeder.setup_train_data_feeder(iter(_X), None, None, 3)
        x, y = fed.input_builder()
        return found + [x.shape, y, dict(fed.get_feed_dict_fn()())]


def feeders_mistakes():
    return _errors({
        "size": lambda: data_feeder.setup_train_data_feeder(_X, _Y, None, 0),
        "negative": lambda: data_feeder.setup_train_data_feeder(_X, _Y, None, -2),
        "stream": lambda: data_feeder.setup_train_data_feeder(iter(_X), _Y, None, 2),
        "both": lambda: _own().fit(x=_X, y=_Y, input_fn=_arrays, steps=1),
        "neither": lambda: _own().fit(steps=1),
        "steps": lambda: _own().fit(input_fn=_arrays, steps=1, max_steps=2),
    })


def streamed_training():
    model = _own()
    model.fit(x=iter(_X), y=iter(_Y), batch_size=2, steps=2)
    return [model.get_variable_value("weight"), int(model.get_variable_value("global_step"))]


def model_of_dicts_of_arrays():
    model = _own()
    data = {"a": _X[:, :1], "b": _X[:, 1:]}
    model.fit(x=data, y=_Y, steps=3, batch_size=2)
    score = model.evaluate(x=data, y=_Y, batch_size=2, steps=2)
    found = model.predict(x=data, batch_size=4, as_iterable=False)
    return [model.get_variable_value("weight"), _numbers(score), found,
            list(model.predict(x=data, batch_size=3))]


def logged_monitors():
    seen = []
    model, monitors = _own(), learn.monitors

    class Printer(monitors.PrintTensor):
        def every_n_step_end(self, step, outputs):
            super(Printer, self).every_n_step_end(step, outputs)
            seen.append([step, {str(name): np.array(value) for name, value in outputs.items()}])
    model.fit(input_fn=_arrays, steps=4, monitors=[
        Printer(["weight"], every_n=2), Printer({"w": "weight:0"}, every_n=3),
        monitors.LoggingTrainable(every_n=2), monitors.LoggingTrainable("none")])
    return seen


def saved_and_counted():
    model, monitors, folder = _own(), learn.monitors, tempfile.mkdtemp()

    def model_fn(features, labels, mode):
        tf.summary.scalar("weights", tf.reduce_sum(tf.get_variable("more", [2])))
        found = _model_fn(features, labels, mode)
        tf.add_to_collection("own_saver", tf.train.Saver())
        return found
    model = learn.Estimator(model_fn, config=learn.RunConfig(tf_random_seed=3))
    saver, counter = tempfile.mkdtemp(), tempfile.mkdtemp()

    class Own(monitors.CheckpointSaver):
        def begin(self, max_steps=None):
            super(Own, self).begin(max_steps)
            self._saver = tf.get_collection("own_saver")[0]
    model.fit(input_fn=_arrays, steps=5, monitors=[
        Own(saver, save_steps=2, checkpoint_basename="own"),
        monitors.StepCounter(every_n_steps=2, output_dir=counter)])
    tf.summary.FileWriterCache.clear()
    steps = [event.step for path in tf.gfile.Glob(counter + "/*")
             for event in tf.train.summary_iterator(path) if event.summary.value]
    shutil.rmtree(folder)
    return [sorted(each for each in os.listdir(saver) if each.endswith(".index")), steps]


def stops_at_no_number():
    def model_fn(features, labels, mode):
        found = _model_fn(features, labels, mode)
        run = tf.data.Dataset.range(9).make_one_shot_iterator().get_next()
        tf.log(1.5 - tf.to_float(run), name="bad")
        return found
    model = learn.Estimator(model_fn, config=learn.RunConfig())
    model.fit(input_fn=_arrays, steps=6, monitors=[
        learn.monitors.NanLoss("bad:0", every_n_steps=1, fail_on_nan_loss=False)])
    fails = learn.Estimator(model_fn, config=learn.RunConfig())
    raised = _outcome(fails.fit, input_fn=_arrays, steps=6, monitors=[
        learn.monitors.NanLoss("bad:0", every_n_steps=1)])
    return [int(model.get_variable_value("global_step")), raised,
            str(learn.NanLossDuringTrainingError())]


def default_monitors():
    loss, summary = tf.constant(1., name="l"), tf.summary.scalar("s", 1.)
    return [[type(each).__name__ for each in learn.monitors.get_default_monitors(*arguments)]
            for arguments in ((), (loss,), (loss, summary), (None, summary))]


def monitors_called_by_hand():
    monitor = learn.monitors.EveryN(every_n_steps=2, first_n_steps=1)
    monitor.begin(max_steps=5)
    monitor.epoch_begin(0)
    found = []
    for step in range(1, 6):
        found.append([monitor.step_begin(step), monitor.step_end(step, None)])
        monitor.post_step(step, None)
    monitor.epoch_end(0)
    monitor.end()
    return [found, monitor.run_on_all_workers]


def monitors_mistakes():
    monitors = learn.monitors

    def begun(cls=monitors.BaseMonitor, **options):
        monitor = cls()
        monitor.begin(**options)
        return monitor

    def epoch():
        monitor = begun()
        monitor.epoch_begin(1)
        return monitor

    def step():
        monitor = begun()
        monitor.step_begin(3)
        return monitor
    return _errors({
        "begin": lambda: begun().begin(),
        "end": lambda: monitors.BaseMonitor().end(),
        "epoch": lambda: epoch().epoch_begin(2),
        "negative_epoch": lambda: begun().epoch_begin(-1),
        "epoch_end": lambda: epoch().epoch_end(2),
        "negative": lambda: begun().step_begin(-1),
        "max": lambda: begun(max_steps=3).step_begin(4),
        "step_end": lambda: step().step_end(4, None),
        "estimator": lambda: monitors.BaseMonitor().set_estimator(None),
        "stop": lambda: monitors.StopAtStep(),
        "stop_both": lambda: monitors.StopAtStep(1, 2),
        "validation": lambda: monitors.ValidationMonitor(),
        "unset": lambda: monitors.ValidationMonitor(input_fn=_arrays).every_n_step_end(1, None),
        "saver": lambda: monitors.CheckpointSaver("/tmp/a"),
        "saver_both": lambda: monitors.CheckpointSaver("/tmp/a", 1, 1),
        "name": lambda: _own().fit(input_fn=_arrays, steps=1, monitors=[
            monitors.PrintTensor(["nothing:0"])]),
        "other_graph": lambda: _own().fit(input_fn=_arrays, steps=1, monitors=[
            monitors.NanLoss(tf.constant(1.))]),
    })


def metrics_by_name():
    def plain_fn(features, labels, mode):
        found = _model_fn(features, labels, mode)
        return found.predictions["scores"], found.loss, found.train_op

    def squares(predictions, labels):
        return tf.reduce_sum(tf.square(predictions - labels))
    plain, named = learn.Estimator(plain_fn), _own()
    plain.fit(input_fn=_arrays, steps=1)
    named.fit(input_fn=_arrays, steps=1)
    count = tf.metrics.mean_absolute_error
    return [_numbers(plain.evaluate(input_fn=_arrays, steps=2, metrics={
        "a": lambda predictions, labels: count(labels, predictions)})),
            _numbers(named.evaluate(input_fn=_arrays, steps=1, name="b", metrics={
                ("b", "scores"): lambda predictions, labels: count(labels, predictions)})),
            list(plain.predict(input_fn=lambda: tf.data.Dataset.from_tensors(
                tf.constant(_X)).make_one_shot_iterator().get_next())),
            _errors({"plain": lambda: named.evaluate(input_fn=_arrays, steps=1, metrics={
                         "a": squares}),
                     "triple": lambda: named.evaluate(input_fn=_arrays, steps=1, metrics={
                         ("a", "b", "c"): squares}),
                     "list": lambda: named.evaluate(input_fn=_arrays, steps=1, metrics=[squares])})]


def parameters_of_estimators():
    model = _own()
    shown = sorted(model.get_params())
    return [shown, model.set_params(params=3).get_params().get("params"),
            _errors({"unknown": lambda: model.set_params(nothing=1),
                     "unfitted": lambda: list(model.predict(input_fn=_arrays)),
                     "unscored": lambda: model.evaluate(input_fn=_arrays, steps=1),
                     "unexported": lambda: model.export_savedmodel("/tmp/none", _serving)})]


def model_fn_ops():
    x, scalar = tf.constant([[1.]]), tf.constant(2.)
    train_op = tf.no_op()
    make, keys = learn.ModelFnOps, learn.ModeKeys
    found = make(keys.TRAIN, {"a": x}, tf.constant([2.]), tf.assign_add(
        tf.train.get_or_create_global_step(), 1))
    return [found.loss.shape, type(found.train_op).__name__, found.eval_metric_ops,
            found.output_alternatives, found.training_hooks, found.training_chief_hooks,
            found.mode, make(keys.EVAL, 3., 2.).predictions, _errors({
                "train_op": lambda: make(keys.TRAIN, x, scalar),
                "loss": lambda: make(keys.EVAL, x),
                "predictions": lambda: make(keys.INFER),
                "mode": lambda: make("fit", x),
                "vector": lambda: make(keys.EVAL, x, tf.constant([1., 2.])),
                "metrics": lambda: make(keys.EVAL, x, scalar, eval_metric_ops=[1]),
                "hook": lambda: make(keys.TRAIN, x, scalar, train_op, training_hooks=[3])})]


def model_fn_ops_as_specs():
    x, scores = tf.constant([[1.]]), {"scores": tf.constant([1., 2.])}
    problems = tf.contrib.learn.ProblemType
    classes = {"probabilities": tf.constant([[.5, .5]]), "classes": tf.constant([["a", "b"]])}
    numbers = {"probabilities": tf.constant([[.5, .5]]), "classes": tf.constant([1])}
    found = []
    for mode, alternatives, key in (
            ("infer", None, None), ("eval", None, None), ("train", None, None),
            ("infer", {"r": (problems.LINEAR_REGRESSION, scores)}, None),
            ("infer", {"c": (problems.CLASSIFICATION, classes)}, None),
            ("infer", {"c": (problems.LOGISTIC_REGRESSION, numbers)}, None),
            ("infer", {"u": (problems.UNSPECIFIED, {"x": x})}, None),
            ("infer", {"r": (problems.LINEAR_REGRESSION, scores),
                       "u": (problems.UNSPECIFIED, {"x": x})}, "r")):
        spec = learn.ModelFnOps(mode, {"x": x}, tf.constant(1.), tf.no_op(),
                                output_alternatives=alternatives).estimator_spec(key)
        found.append([spec.mode, sorted(spec.eval_metric_ops), {
            key: type(value).__name__ for key, value in (spec.export_outputs or {}).items()}])
    return found


def exports_by_default_key():
    problems = learn.ProblemType

    def model_fn(features, labels, mode):
        found = _model_fn(features, labels, mode)
        scores = found.predictions["scores"]
        return found._replace(output_alternatives={
            "r": (problems.LINEAR_REGRESSION, {"scores": scores}),
            "u": (problems.UNSPECIFIED, {"a": scores, "b": scores * 2})})
    model = learn.Estimator(model_fn, config=learn.RunConfig(tf_random_seed=3))
    model.fit(input_fn=_arrays, steps=1)
    extra = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(extra, "w") as file:
        file.write("a")
    path = model.export_savedmodel(tempfile.mkdtemp(), _serving, "u", {"deep/words.txt": extra},
                                   as_text=True)
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], path).signature_def
        kept = {key: [value.method_name, sorted(value.inputs), sorted(value.outputs)]
                for key, value in signatures.items()}
    files = sorted(os.path.relpath(os.path.join(folder, each), tf.compat.as_str(path))
                   for folder, _, names in os.walk(tf.compat.as_str(path)) for each in names)
    return [kept, files, _errors({
        "unclear": lambda: model.export_savedmodel(tempfile.mkdtemp(), _serving),
        "unknown": lambda: model.export_savedmodel(tempfile.mkdtemp(), _serving, "nothing"),
        "none": lambda: model.export_savedmodel(tempfile.mkdtemp(), None)})]


def exports_kept():
    base = tempfile.mkdtemp()
    utils = learn.utils.saved_model_export_utils
    for name in ("1500000000", "1500000002", "1500000001", "temp-1500000009", "15"):
        os.mkdir(os.path.join(base, name))
    recent = utils.get_most_recent_export(base)
    utils.garbage_collect_exports(base, None)
    utils.garbage_collect_exports(base, 2)
    folder = utils.get_timestamped_export_dir(base)
    return [os.path.basename(getattr(recent, "path", recent)), sorted(os.listdir(base)),
            type(folder).__name__, len(os.path.basename(folder)),
            utils.get_most_recent_export(os.path.join(base, "15"))]


def strategies():
    seen = []

    def with_result(estimator, path, checkpoint_path, eval_result):
        seen.append([path, checkpoint_path, eval_result])
        return "a"

    def plain(estimator, path):
        seen.append(path)
        return "b"

    def stripped(estimator, path, strip_default_attrs):
        seen.append(strip_default_attrs)
        return "c"
    make = learn.ExportStrategy
    found = [make("n", function, True).export(None, "p", "c", {"loss": 1.})
             for function in (with_result, plain, stripped)]
    spec = learn.utils.saved_model_export_utils.make_parsing_export_strategy(
        [layers.real_valued_column("a")])
    return [found, seen, spec.name, spec.strip_default_attrs, _errors({
        "path": lambda: make("n", lambda estimator, path, eval_result: 1).export(None, "p")})]


def serving_inputs():
    ops = learn.utils.build_default_serving_input_fn(
        {"a": tf.constant([[1., 2.]], name="first"), "b": tf.constant([3], name="second")}, 5)()
    parsed = learn.utils.build_parsing_serving_input_fn(
        {"a": tf.FixedLenFeature([2], tf.float32)}, 3)()
    return [{key: [each.op.name, each.shape, each.dtype.name]
             for key, each in sorted(ops.features.items())}, ops.labels,
            sorted(ops.default_inputs), parsed.features["a"].shape,
            parsed.default_inputs["examples"].op.name, parsed.default_inputs["examples"].shape]


def best_of_checkpoints():
    strategy = learn.utils.saved_model_export_utils.make_best_model_export_strategy(_serving)
    model = _own()
    model.fit(input_fn=_arrays, steps=1)
    base = tempfile.mkdtemp()
    paths = [strategy.export(model, base, eval_result={"loss": loss}) for loss in (3., 4.)]
    return [bool(paths[0]), paths[1], os.listdir(base), _errors({
        "result": lambda: strategy.export(model, base),
        "loss": lambda: strategy.export(model, base, eval_result={"a": 1}),
        "path": lambda: strategy.export(_own(), base, eval_result={"loss": 1})})]


def datasets_of_names():
    made = learn.datasets.make_dataset("circles", 9, noise=.1, seed=5, n_classes=2)
    spirals = learn.datasets.make_dataset("spirals", 6, None, 3, mode="bernoulli", n_loops=1)
    fermat = learn.datasets.synthetic.spirals(5, seed=4, mode="fermat")
    return [made.data, made.target, spirals.data, spirals.target, fermat.data,
            len(learn.datasets.load_dataset("iris").data), sorted(learn.datasets.DATASETS),
            sorted(learn.datasets.SYNTHETIC), _errors({
                "name": lambda: learn.datasets.load_dataset("nothing"),
                "made": lambda: learn.datasets.make_dataset("nothing"),
                "mode": lambda: learn.datasets.make_dataset("spirals", mode="nothing")})]


def called_again():
    calls = []

    def fails(times, error=ValueError):
        del calls[:]

        def function():
            calls.append(1)
            if len(calls) <= times:
                raise error("no")
            return len(calls)
        return function
    again = learn.datasets.base.retry
    quick = again(initial_delay=1e-4, max_delay=1e-3, is_retriable=lambda error: True)
    only = again(1e-4, 1e-3, is_retriable=lambda error: isinstance(error, KeyError))
    return [quick(fails(2))(), _outcome(quick(fails(9))), len(calls), _outcome(only(fails(1))),
            _errors({"factor": lambda: again(1., 2., factor=.5)(fails(0))(),
                     "jitter": lambda: again(1., 2., jitter=1.)(fails(0))()})]


def heads_mistakes():
    def made(head, mode="train", **options):
        return head.create_model_fn_ops({}, mode, tf.constant([[1.]]), **options)
    one = learn.regression_head(head_name="r")
    only = head_lib.loss_only_head(lambda: tf.constant(1.))
    logits = tf.constant([[1.]])
    return _errors({
        "train_op_fn": lambda: made(one, logits=logits),
        "neither": lambda: made(one),
        "both": lambda: made(one, logits=logits, logits_input=logits),
        "labels": lambda: one.create_model_fn_ops({}, "eval", None, logits=logits),
        "mode": lambda: made(one, "fit", logits=logits),
        "classes": lambda: learn.multi_class_head(1),
        "few": lambda: learn.multi_label_head(1),
        "thresholds": lambda: learn.multi_class_head(3, thresholds=[.5]),
        "ids": lambda: learn.multi_class_head(2, metric_class_ids=[1]),
        "keys": lambda: learn.multi_class_head(2, label_keys=["a"]),
        "names": lambda: learn.multi_head([learn.regression_head()]),
        "weights": lambda: learn.multi_head([one], [1., 2.]),
        "only": lambda: only.create_model_fn_ops({}, "train"),
        "several": lambda: learn.multi_head([one, only]).create_model_fn_ops(
            {}, "train", tf.constant([[1.]]), logits=logits),
    })


def heads_of_losses_alone():
    head = head_lib.loss_only_head(lambda: [tf.constant(1.), tf.constant(2.)], "own")
    trained = head.create_model_fn_ops({}, "train", train_op_fn=lambda loss: tf.no_op())
    both = learn.multi_head([learn.regression_head("r", head_name="r"), head])
    labels = {"r": tf.constant([[2.]])}
    logits = {"r": tf.constant([[1.]])}
    found = both.create_model_fn_ops({}, "train", labels, lambda loss: tf.no_op(), logits=logits)
    served = both.create_model_fn_ops({}, "infer", logits=logits)
    return [trained.loss, found.loss, sorted(map(str, served.predictions)),
            sorted(served.output_alternatives), head.logits_dimension,
            head.create_model_fn_ops({}, "infer").predictions]


def centered_bias():
    head = learn.multi_class_head(3, enable_centered_bias=True, head_name="c")
    found = head.create_model_fn_ops(
        {}, "train", tf.constant([[1], [2]]), tf.train.GradientDescentOptimizer(.1).minimize,
        logits=tf.constant([[1., 2., 3.], [0., 0., 1.]]))
    return [found.loss, [each.op.name for each in tf.trainable_variables()]]
