"""Evaluations in one kept session: the same as the Estimator's own, checkpoint after checkpoint."""

from __future__ import annotations

import contextlib
import textwrap

import pytest
import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer import errors
from estimator_trainer.estimator import builder
from estimator_trainer.estimator import loaded_plugins
from estimator_trainer.evaluation import record
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from estimator_trainer.plan import run_plan
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

pytestmark = pytest.mark.cluster

_STEPS = (4, 8, 9)
# A layer of tf.keras, its kernel's initializer seeded; `{extra}` goes before the spec.
_MODEL = """
    import numpy as np
    import tensorflow as tf
    from model_fns.training import classifier
    def model_fn(features, labels, mode):
        with open({calls!r}, "a") as calls:
            calls.write(mode + " ")
        x = tf.keras.layers.Flatten()(features["image"])
        logits = tf.keras.layers.Dense(10)(x)
        hooks, metrics = [], {{}}
        if mode == "eval":
            v1 = tf.compat.v1
            {extra}
        spec = classifier.spec(logits, labels, mode, {{"num_classes": 10}})
        return spec._replace(evaluation_hooks=hooks, eval_metric_ops={{
            **(spec.eval_metric_ops or {{}}), **metrics}})
"""
_MEAN_OF = "metrics['mine'] = v1.metrics.mean({})"
_TABLE = """tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
                tf.range(5, dtype=tf.int64), tf.range(5, dtype=tf.int64)), 9).lookup(labels)"""
_EXTRAS = {
    "nothing": "pass",
    "a table": _MEAN_OF.format(_TABLE),
    "unseeded noise": "tf.random.uniform([])",
    "a Keras metric": "metrics['mine'] = tf.keras.metrics.Mean(); metrics['mine'](logits)",
}
_OBSTACLES = {
    "evaluation hooks": "hooks.append(tf.estimator.SessionRunHook())",
    "a name that the Estimator uses": "metrics['loss'] = v1.metrics.mean(1.0)",
    "MutableHashTable": _MEAN_OF.format(
        "tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0).lookup(labels)"),
    "Python functions": _MEAN_OF.format("v1.py_func(np.mean, [logits], tf.float32)"),
    "random numbers by a seed": _MEAN_OF.format("tf.random.uniform([], seed=1)"),
}


class _Raising(tf.estimator.SessionRunHook):
    """Fails at a batch of its choice; notes the session it saw."""

    def __init__(self):
        self.at, self.session = 0, None

    def begin(self):
        self._one = tf.constant(1)

    def after_create_session(self, session, coord):
        self.session, self._batches = session, 0

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(self._one)

    def after_run(self, run_context, run_values):
        self._batches += run_values.results
        if self._batches == self.at:
            raise errors.Interrupted("stopped", "SIGTERM", "local")


@pytest.fixture
def job(tmp_path, data_dir):
    """Trains a model a little; returns its Estimator, input_fn and checkpoints, oldest first."""

    def trained(model_fn, *param, seed=0, input_fn="digits"):
        if input_fn == "digits":
            param = (f"data_dir={data_dir}", *param)
        config = TrainerConfig(model_fn=model_fn, input_fn=input_fn, param=param, seed=seed,
                               model_dir=str(tmp_path / "model"), save_checkpoints_steps=4)
        planned = run_plan.ready(run_plan.for_one_process(config, environment.Environment()))
        parts = loaded_plugins.load(planned)
        single = builder.for_one_process(config, parts.model_fn, parts.params)
        single.train(parts.input_fn, steps=max(_STEPS))
        return single, parts.input_fn, [f"{single.model_dir}/model.ckpt-{n}" for n in _STEPS]

    return trained


@pytest.fixture
def written(tmp_path):
    """Writes a model_fn; returns its path, and what tells how often it was called in mode eval."""

    def write(extra):
        calls, path = tmp_path / "calls", tmp_path / "my_model.py"
        path.write_text(textwrap.dedent(_MODEL).format(calls=str(calls), extra=extra))
        return str(path), lambda: calls.read_text().split().count("eval")

    return write


def _events(folder):
    """Returns the steps and values of an evaluation's event files, in order."""
    return [(event.step, value.tag, value.simple_value or value.tensor.string_val)
            for path in sorted(tf.io.gfile.glob(f"{folder}/events*"))
            for event in tf.compat.v1.train.summary_iterator(path)
            for value in event.summary.value]


def _compare(single, input_fn, paths, steps=None):
    """Evaluates as the Estimator does and with a kept session, and compares to the bit."""
    paths = [*paths, paths[0]]
    expected = [single.evaluate(input_fn, steps, checkpoint_path=path, name="own")
                for path in paths]
    hook = record.EvaluationProgress()
    with KeptEvaluation(single, input_fn, [hook]).used_by(single):
        assert "evaluate" in vars(single)
        found = [single.evaluate(input_fn, steps, [hook], path, "kept") for path in paths]
    assert "evaluate" not in vars(single)
    assert [list(metrics.items()) for metrics in found] == [
        list(metrics.items()) for metrics in expected]
    assert len({metrics["loss"] for metrics in found}) == len(paths) - 1
    assert _events(single.eval_dir("kept")) == _events(single.eval_dir("own"))
    return hook


@pytest.mark.parametrize("model_fn, param", [
    ("cnn", []),
    ("canned", []),
    ("dense_l2_ema", []),
    *(pytest.param(*each, marks=pytest.mark.soak) for each in (
        ("mlp", ["moving_average=0.5"]), ("convnet", []),
        ("canned", ["estimator=LinearClassifier"]), ("keras_model", []))),
])
def test_every_kind_of_model_evaluates_as_before_to_the_bit(model_fn, param, job):
    assert _compare(*job(model_fn, *param)).examples == 355


@pytest.mark.parametrize("extra", _EXTRAS.values(), ids=_EXTRAS)
def test_the_graph_is_built_once(extra, job, written):
    model_fn, calls = written(extra)
    trained = job(model_fn)
    _compare(*trained)
    assert calls() == len(_STEPS) + 1 + 1


def test_a_seed_changes_nothing(job, written):
    assert _compare(*job("cnn", seed=7)).examples == 355


@pytest.mark.parametrize("reason", _OBSTACLES)
def test_what_would_not_start_over_is_built_anew(reason, job, written, caplog):
    model_fn, _ = written(_OBSTACLES[reason])
    single, input_fn, paths = job(model_fn)
    kept = KeptEvaluation(single, input_fn, [])
    assert "loss" in kept.metrics
    with caplog.at_level("INFO"), kept.used_by(single):
        assert "evaluate" not in vars(single)
    assert "each evaluation is built anew: " in caplog.text and reason in caplog.text


def test_the_number_of_batches_is_exact(job):
    single, input_fn, paths = job("linear")
    for steps, examples in ((1, 64), (3, 192), (1000, 355), (None, 355)):
        assert _compare(single, input_fn, paths, steps).examples == examples
    with KeptEvaluation(single, input_fn, []).used_by(single):
        with pytest.raises(ValueError, match="steps is 0"):
            single.evaluate(input_fn, steps=0)


def test_a_failure_closes_the_session_and_the_next_evaluation_has_another(job):
    single, input_fn, paths = job("linear")
    expected = single.evaluate(input_fn, checkpoint_path=paths[1])
    hook = _Raising()
    with KeptEvaluation(single, input_fn, [hook]).used_by(single):
        single.evaluate(input_fn, hooks=[hook], checkpoint_path=paths[0])
        first, hook.at = hook.session, 2
        with pytest.raises(errors.Interrupted):
            single.evaluate(input_fn, hooks=[hook], checkpoint_path=paths[0])
        assert hook.session is first
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            single.evaluate(input_fn, hooks=[hook], checkpoint_path=f"{paths[0]}0")
        hook.at = 0
        assert single.evaluate(input_fn, hooks=[hook], checkpoint_path=paths[1]) == expected
        second = hook.session
        assert second is not first
    for session in (first, second):
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run(session.graph.get_operations()[0])


def test_another_input_is_evaluated_by_the_estimator(job):
    single, input_fn, paths = job("linear")
    hook = record.EvaluationProgress()

    def half(mode, params):
        return input_fn(mode, params).take(2)

    with KeptEvaluation(single, input_fn, [hook]).used_by(single):
        for each, examples in ((input_fn, 355), (half, 128), (input_fn, 355)):
            single.evaluate(each, hooks=[hook], checkpoint_path=paths[0])
            assert hook.examples == examples


def test_the_input_is_that_of_the_first_evaluation_in_the_order_of_its_seed(job, tmp_path):
    (tmp_path / "my_model.py").write_text(textwrap.dedent("""
        import tensorflow as tf
        def model_fn(features, labels, mode):
            v1 = tf.compat.v1
            w = v1.get_variable("w", [])
            step = v1.train.get_global_step()
            place = v1.get_variable("place", [], collections=["local_variables"],
                                    initializer=v1.zeros_initializer(), trainable=False)
            weighted = tf.reduce_sum(features) * place.assign_add(1.0)
            return tf.estimator.EstimatorSpec(
                mode, loss=w * tf.reduce_sum(features), train_op=step.assign_add(1),
                eval_metric_ops={"order": v1.metrics.mean(weighted)})
        """))
    (tmp_path / "my_input.py").write_text(textwrap.dedent("""
        import tensorflow as tf
        def input_fn(mode, params):
            files = tf.data.Dataset.list_files("FILES", shuffle=False)
            lines = tf.data.TextLineDataset(files).map(tf.strings.to_number)
            return lines.shuffle(100, seed=3).batch(2).map(lambda x: (x, x)).repeat(
                None if mode == "train" else 1)
        """.replace("FILES", f"{tmp_path}/*.txt")))
    (tmp_path / "a.txt").write_text("\n".join(map(str, range(20))))
    single, input_fn, paths = job(f"{tmp_path}/my_model.py", seed=5,
                                  input_fn=f"{tmp_path}/my_input.py")
    own = tf.estimator.Estimator.evaluate
    with KeptEvaluation(single, input_fn, []).used_by(single):
        assert "evaluate" in vars(single)
        before = [single.evaluate(input_fn, checkpoint_path=path)["order"] for path in paths]
        assert before == [own(single, input_fn, checkpoint_path=path)["order"] for path in paths]
        (tmp_path / "b.txt").write_text("100")
        assert single.evaluate(input_fn, checkpoint_path=paths[0])["order"] == before[0]
        assert own(single, input_fn, checkpoint_path=paths[0])["order"] != before[0]


def _run(folder, model_fn, data_dir, *flags):
    ran = jobs.trainer(*flags, f"--model_fn={model_fn}", f"--param=data_dir={data_dir}",
                       f"--model_dir={folder}")
    assert ran.returncode == 0, ran.stderr
    return ran


def test_a_job_trains_and_evaluates_as_without_and_builds_the_graph_once(
        written, data_dir, tmp_path):
    flags = ["--train_steps=30", "--eval_every_steps=10", "--seed=3", "--exporters=none"]
    results = []
    for name, extra in (("kept", "pass"), ("own", _OBSTACLES["evaluation hooks"])):
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / "calls").unlink()
        model_fn, calls = written(extra)
        ran = _run(tmp_path / name, model_fn, data_dir, *flags)
        assert ("each evaluation is built anew" in ran.stderr) == (name == "own")
        # Three evaluations; the graph that tells the metrics is one more where none is kept.
        assert calls() == (1 if name == "kept" else 4)
        reader = tf.train.load_checkpoint(f"{tmp_path}/{name}/model.ckpt-30")
        results.append((
            [event for event in _events(tmp_path / name / "eval") if event[1] != "checkpoint_path"],
            {key: reader.get_tensor(key).tolist()
             for key in reader.get_variable_to_shape_map()}))
    assert results[0] == results[1]
    ran = _run(tmp_path / "kept", written("pass")[0], data_dir, "evaluate", "--checkpoint=all")
    assert len(ran.stdout.splitlines()) == 4 and calls() == 4 + 1
