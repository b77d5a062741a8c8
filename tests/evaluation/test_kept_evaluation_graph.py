"""Graphs of evaluations: which can be kept, and that they evaluate as the Estimator does."""

from __future__ import annotations

import contextlib
import functools
import textwrap

import pytest
import tensorflow as tf

from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from tests.evaluation import comparison
from tests.support import jobs

pytestmark = pytest.mark.cluster

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
_UNSUPPORTED = {
    "evaluation hooks": "hooks.append(tf.estimator.SessionRunHook())",
    "a name that the Estimator uses": "metrics['loss'] = v1.metrics.mean(1.0)",
    "MutableHashTable": _MEAN_OF.format(
        "tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0).lookup(labels)"),
    "Python functions": _MEAN_OF.format("v1.py_func(np.mean, [logits], tf.float32)"),
    "random numbers by a seed": _MEAN_OF.format("tf.random.uniform([], seed=1)"),
}


@pytest.fixture
def job(tmp_path, data_dir):
    """Trains a model a little; returns its Estimator, input_fn and checkpoints, oldest first."""
    return functools.partial(comparison.train, tmp_path, data_dir)


@pytest.fixture
def written(tmp_path):
    """Writes a model_fn; returns its path, and what tells how often it was called in mode eval."""

    def write(extra):
        calls, path = tmp_path / "calls", tmp_path / "my_model.py"
        path.write_text(textwrap.dedent(_MODEL).format(calls=str(calls), extra=extra))
        return str(path), lambda: calls.read_text().split().count("eval")

    return write


@pytest.mark.parametrize("model_fn, param", [
    ("canned", []),
    *(pytest.param(*each, marks=pytest.mark.soak) for each in (
        ("dense_l2_ema", []), ("cnn", []), ("mlp", ["moving_average=0.5"]), ("convnet", []),
        ("canned", ["estimator=LinearClassifier"]), ("keras_model", []))),
])
def test_build_graph_evaluates_every_kind_of_model_to_the_bit(model_fn, param, job):
    assert comparison.compare(*job(model_fn, *param)).examples == 355


@pytest.mark.parametrize("extra", [
    pytest.param(extra, id=name, marks=pytest.mark.soak if place else ())
    for place, (name, extra) in enumerate(_EXTRAS.items())])
def test_build_graph_is_called_once(extra, job, written):
    model_fn, calls = written(extra)
    trained = job(model_fn)
    comparison.compare(*trained)
    assert calls() == len(comparison.STEPS) + 1 + 1


def test_build_graph_with_a_seed_changes_nothing(job, written):
    assert comparison.compare(*job("cnn", seed=7)).examples == 355


@pytest.mark.parametrize("reason", _UNSUPPORTED)
def test_build_graph_again_for_what_does_not_start_over(reason, job, written, caplog):
    model_fn, _ = written(_UNSUPPORTED[reason])
    single, input_fn, paths = job(model_fn)
    kept = KeptEvaluation(single, input_fn, [])
    assert "loss" in kept.build()
    with caplog.at_level("INFO"), kept.used_by(single):
        assert "evaluate" not in vars(single)
    assert "each evaluation builds its graph again: " in caplog.text and reason in caplog.text


def _run(folder, model_fn, data_dir, *flags):
    ran = jobs.trainer(*flags, f"--model_fn={model_fn}", f"--param=data_dir={data_dir}",
                       f"--model_dir={folder}")
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.mark.soak
def test_build_graph_is_called_once_in_a_job(written, data_dir, tmp_path):
    flags = ["--train_steps=30", "--eval_every_steps=10", "--seed=3", "--exporters=none"]
    results = []
    for name, extra in (("kept", "pass"), ("own", _UNSUPPORTED["evaluation hooks"])):
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / "calls").unlink()
        model_fn, calls = written(extra)
        ran = _run(tmp_path / name, model_fn, data_dir, *flags)
        assert ("each evaluation builds its graph again" in ran.stderr) == (name == "own")
        # Three evaluations; the graph that tells the metrics is one more where none is kept.
        assert calls() == (1 if name == "kept" else 4)
        reader = tf.train.load_checkpoint(f"{tmp_path}/{name}/model.ckpt-30")
        results.append((
            [event for event in comparison.events(tmp_path / name / "eval")
             if event[1] != "checkpoint_path"],
            {key: reader.get_tensor(key).tolist()
             for key in reader.get_variable_to_shape_map()}))
    assert results[0] == results[1]
    ran = _run(tmp_path / "kept", written("pass")[0], data_dir, "evaluate", "--checkpoint=all")
    assert len(ran.stdout.splitlines()) == 4 and calls() == 4 + 1


@pytest.mark.soak
def test_build_graph_again_for_tensors_in_place_of_a_dataset(job, caplog):
    single, input_fn, paths = job("linear")
    expected = single.evaluate(input_fn, checkpoint_path=paths[0])

    def queued(mode, params, config=None):
        iterator = tf.compat.v1.data.make_initializable_iterator(input_fn(mode, params, config))
        tf.compat.v1.add_to_collection(
            tf.compat.v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return iterator.get_next()

    kept = KeptEvaluation(single, queued, [])
    assert kept.build() == sorted(expected)
    with caplog.at_level("INFO"), kept.used_by(single):
        assert [single.evaluate(queued, checkpoint_path=paths[0]) for _ in range(2)] == (
            [expected, expected])
    assert "its input_fn returns tensors" in caplog.text


_GENERATOR = """
    import tensorflow as tf
    {declared}
    def rows():
        yield from ({{"x": float(i)}} for i in range(6))
    def input_fn(mode):
        data = tf.data.Dataset.from_generator(
            rows, output_signature={{"x": tf.TensorSpec([], tf.float32)}})
        data = data.map(lambda row: (row, 2 * row["x"])).batch(4)
        return data.repeat() if mode == "train" else data
    def model_fn(features, labels, mode):
        w = tf.compat.v1.get_variable("w", [])
        y = features["x"] * w
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={{"y": y}})
        loss = tf.reduce_mean(tf.square(y - labels))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(
            loss, tf.compat.v1.train.get_global_step()))
"""


def test_an_input_fn_may_declare_that_its_python_functions_start_over(tmp_path):
    losses = []
    for name, declared in (("kept", "STARTS_OVER = True"), ("again", "")):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(_GENERATOR).format(declared=declared))
        ran = jobs.trainer(f"--model_fn={path}", f"--input_fn={path}", "--train_steps=30",
                           "--eval_every_steps=10", "--seed=3", f"--model_dir={tmp_path / name}")
        assert ran.returncode == 0, ran.stderr
        assert ("each evaluation builds its graph again" in ran.stderr) == (name == "again")
        assert ran.stderr.count("(6 examples in") == 3
        losses.append([event for event in comparison.events(tmp_path / name / "eval")
                       if event[1] == "loss"])
    assert losses[0] == losses[1] and len(losses[0]) == 3
