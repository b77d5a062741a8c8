"""The mean of checkpoints is NumPy's mean of their variables, and is used like a checkpoint."""

from __future__ import annotations

import json
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import cli, errors
from estimator_trainer.coordination import checkpoint_choice, checkpoints
from estimator_trainer.evaluation import average, event_files
from estimator_trainer.record import record_file, run_record
from estimator_trainer.reports import show
from estimator_trainer.settings.command_table import AverageConfig
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import saved

_FLOATS = {"divided": np.float32, "half": np.float16, "double": np.float64, "complex": np.complex64}


def _save(folder, steps, width=3):
    """Saves variables of many kinds, with other values at each step."""
    v1, random = tf.compat.v1, np.random.RandomState(7)
    with tf.Graph().as_default(), v1.Session() as session:
        number = v1.placeholder(tf.int64, [])
        v1.get_variable("divided", [7, width], tf.float32,
                        partitioner=v1.fixed_size_partitioner(3))
        for name, kind in (("half", tf.float16), ("double", tf.float64), ("brain", tf.bfloat16),
                           ("complex", tf.complex64), ("count", tf.int32), ("is_on", tf.bool)):
            v1.get_variable(name, initializer=tf.zeros([5], kind))
        word = v1.get_variable("word", initializer=tf.constant(["", ""]))
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -1.0, name="table")
        text = tf.strings.as_string([number, number + 1])
        assign = [v1.train.create_global_step().assign(number), word.assign(text), table.insert(
            text, tf.cast([number, number], tf.float32))]
        fed = {variable: v1.placeholder(tf.float64, variable.shape)
               for variable in v1.global_variables() if variable.name not in (
                   "word:0", "global_step:0")}
        assign += [variable.assign(tf.cast(value, variable.dtype.base_dtype))
                   for variable, value in fed.items()]
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(max_to_keep=99, save_relative_paths=True)
        for step in steps:
            session.run(assign, {number: step, **{
                value: 100 * random.randn(*value.shape) for value in fed.values()}})
            saver.save(session, str(folder / "model.ckpt"), step)


def _config(folder, **settings):
    return TrainerConfig(model_dir=str(folder), **settings)


def _values(path):
    reader = tf.train.load_checkpoint(path)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def test_numbers_are_averaged_and_all_else_is_that_of_the_newest(tmp_path, monkeypatch):
    _save(tmp_path, (0, 10, 20, 30))
    state = (tmp_path / "checkpoint").read_text()
    monkeypatch.setattr(average, "_PART_BYTES", 50)
    content = average.write(_config(tmp_path), AverageConfig(last=3))
    assert content["steps"] == [10, 20, 30]
    found = _values(content["checkpoint"])
    sources = [_values(str(tmp_path / f"model.ckpt-{step}")) for step in (10, 20, 30)]
    assert found.keys() == sources[-1].keys()
    for name, dtype in _FLOATS.items():
        wide = np.complex128 if dtype is np.complex64 else np.float64
        wanted = np.mean([each[name].astype(wide) for each in sources], axis=0).astype(dtype)
        assert found[name].dtype == dtype
        np.testing.assert_array_equal(found[name], wanted)
    np.testing.assert_allclose(found["brain"].astype(float), np.mean(
        [each["brain"].astype(float) for each in sources], axis=0), rtol=0.005)
    for name in found.keys() - _FLOATS.keys() - {"brain"}:
        np.testing.assert_array_equal(found[name], sources[-1][name])
    assert {"table-keys", "table-values", "word", "is_on", "global_step"} <= found.keys()
    assert (tmp_path / "checkpoint").read_text() == state
    assert not list((tmp_path / "average").glob("*part-*"))
    assert len(list((tmp_path / "average").glob("*.data-*"))) > 1
    assert average.steps(str(tmp_path)) == (10, 20, 30)
    assert "steps 10, 20, 30" in show.show(str(tmp_path), as_json=False)
    assert checkpoint_choice.select(str(tmp_path), "average") == [content["checkpoint"]]


def test_fewer_checkpoints_than_wanted_are_averaged_with_a_warning(tmp_path, caplog):
    saved.checkpoints(tmp_path, 0, 10, 20)
    assert average.write(_config(tmp_path), AverageConfig())["steps"] == [10, 20]
    assert "last is 5, and there are 2 such checkpoints: averages these" in caplog.text
    # Another mean takes the place of the first.
    saved.checkpoints(tmp_path, 30)
    assert average.write(_config(tmp_path), AverageConfig(last=2))["steps"] == [20, 30]
    assert checkpoints.latest_average(str(tmp_path)).endswith("model.ckpt-30")


@pytest.mark.parametrize("steps, wanted, sentence", [
    ((0, 10), AverageConfig(), "last is 5 .* has 1 whole checkpoint after step 0; expected a"),
    ((10, 20), AverageConfig(best=2), "best is 2 .* has 0 whole checkpoints .* evaluation;")])
def test_a_mean_needs_two_checkpoints(steps, wanted, sentence, tmp_path):
    saved.checkpoints(tmp_path, *steps)
    with pytest.raises(errors.ConfigError, match=sentence):
        average.write(_config(tmp_path), wanted)
    with pytest.raises(errors.ConfigError, match="`estimator-trainer average` makes it"):
        checkpoint_choice.select(str(tmp_path), "average")


def test_checkpoints_of_different_models_have_no_mean(tmp_path):
    _save(tmp_path, (10,))
    _save(tmp_path, (20,), width=4)
    with pytest.raises(errors.ConfigError, match=r"steps 10 and 20 are of different models:"
                       r" divided has the shape \[7, 3\] in one, and \[7, 4\] in the other"):
        average.write(_config(tmp_path), AverageConfig())


@pytest.mark.parametrize("mode, steps", [("min", [10, 40]), ("max", [20, 50])])
def test_the_best_are_those_of_the_best_evaluations_that_are_there(mode, steps, tmp_path):
    saved.checkpoints(tmp_path, 10, 20, 30, 40, 50)
    with tf.Graph().as_default():
        for step, value in zip((5, 10, 20, 30, 40, 50), (0.0, 1.0, 9.0, float("nan"), 2.0, 8.0)):
            event_files.write(str(tmp_path / "eval"), {"global_step": step, "error": value}, "")
    config = _config(tmp_path, best_metric="error", best_mode=mode)
    assert average.write(config, AverageConfig(best=2))["steps"] == steps
    with pytest.raises(errors.ConfigError, match="best_metric is 'erro'.*Did you mean 'error'"):
        average.write(_config(tmp_path, best_metric="erro"), AverageConfig(best=2))


def test_the_model_dir_of_a_script_gets_a_mean_without_evaluation(tmp_path, capfd):
    saved.checkpoints(tmp_path, 10, 20)
    record_file.write(str(tmp_path), run_record.RunRecord(
        plugins={"script": {"name": "train.py", "path": "train.py", "function": "",
                            "is_file": True, "is_object": False, "sha256": "", "sources": {}}}))
    assert cli.main(["average", f"--model_dir={tmp_path}", "--last=2"]) == 0
    assert json.loads(capfd.readouterr().out) == {
        "checkpoint": str(tmp_path / "average" / "model.ckpt-20"), "steps": [10, 20]}


_MODULE = """
    import tensorflow as tf
    def model_fn(features, labels, mode):
        x = tf.keras.layers.Dense(3)(features["x"][:, None])
        batch_norm = tf.keras.layers.BatchNormalization()
        y = tf.reduce_sum(batch_norm(x, training=mode == "train"), 1)
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean((y - labels) ** 2)
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.group(tf.compat.v1.train.AdamOptimizer(0.1).minimize(loss, step),
                            batch_norm.updates)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
            "error": tf.compat.v1.metrics.mean_absolute_error(labels, y)})
    def input_fn(mode):
        x = tf.data.Dataset.range(60).map(lambda i: tf.cast(i, tf.float32) / 60.0)
        x = x.map(lambda i: ({"x": i}, 2 * i)).batch(5)
        return x.repeat() if mode == "train" else x
"""


@pytest.mark.cluster
def test_a_mean_is_evaluated_and_exported_like_a_checkpoint(tmp_path, capfd, monkeypatch):
    path, model_dir = tmp_path / "own.py", tmp_path / "m"
    path.write_text(textwrap.dedent(_MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    assert cli.main([f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={model_dir}",
                     "--train_steps=50", "--noreport", "--num_evaluations=5",
                     "--exporters=none"]) == 0
    events = sorted((model_dir / "eval").iterdir())
    capfd.readouterr()
    assert cli.main(["average", f"--model_dir={model_dir}", "--best=3"]) == 0
    content = json.loads(capfd.readouterr().out)
    plain = _plain_metrics(tmp_path, str(content["checkpoint"]))
    assert content["average"] == plain and content["latest"]["global_step"] == 50
    assert content["latest"]["loss"] != plain["loss"] and len(content["steps"]) == 3
    found = estimator_trainer.evaluate(model_dir, checkpoint="average")
    assert found == plain and sorted((model_dir / "eval").iterdir()) == events
    exported = estimator_trainer.export(model_dir, checkpoint="average")
    mean, export = _values(content["checkpoint"]), _values(f"{exported}/variables/variables")
    assert {"dense/kernel", "batch_normalization/moving_mean"} <= export.keys()
    for name in export.keys() & mean.keys():
        np.testing.assert_array_equal(export[name], mean[name])


def _plain_metrics(folder, path):
    """Returns what the plain Estimator's evaluation of a checkpoint finds."""
    import own  # type: ignore[import-not-found]
    metrics = tf.estimator.Estimator(own.model_fn, str(folder / "plain")).evaluate(
        lambda: own.input_fn("eval"), checkpoint_path=path)
    return {name: value.item() for name, value in metrics.items()}
