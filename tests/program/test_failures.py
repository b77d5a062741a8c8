"""Messages of a training that cannot end, fails, or learns nothing."""

from __future__ import annotations

import glob

import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import errors
from tests.support import jobs, line_model

pytestmark = pytest.mark.cluster


def _train(tmp_path, old="", new="", **settings):
    path = line_model.write(tmp_path)
    path.write_text(line_model.SOURCE.replace(old, new) if old else line_model.SOURCE)
    return estimator_trainer.train(str(path), str(path), tmp_path / "model",
                                   **{"train_steps": 5, **settings})


def test_training_without_an_end_is_refused(tmp_path):
    with pytest.raises(estimator_trainer.ConfigError) as raised:
        _train(tmp_path, train_steps=0)
    assert "train_steps is 0" in str(raised.value) and "without end" in str(raised.value)
    # The edited plug-in counts, in the same process too.
    ended = _train(tmp_path, "dataset.repeat() if", "dataset.repeat(2) if", train_steps=0)
    assert (ended.step, ended.reason) == (16, "input_exhausted")


@pytest.mark.parametrize("old, new", [
    ('features["x"]', 'features["image"]'),
    ('features["x"]', 'tf.compat.v1.feature_column.input_layer(features,'
     ' [tf.feature_column.numeric_column("image")])'),
])
def test_a_missing_feature_is_named_with_the_others(old, new, tmp_path):
    with pytest.raises(estimator_trainer.ConfigError) as raised:
        _train(tmp_path, old, new)
    text = str(raised.value)
    assert "asks for the feature 'image' (" in text and "the input_fn yields x." in text


@pytest.mark.parametrize("new", [
    'features["x"] * (lambda a: a["image"])({"b": 1.0})',
    'features["x"] * {"b": 1.0}["image"]',
    'features["x"] * dict.fromkeys(features, 1.0)["image"]',
    'features["x"] * mode.__class__.__dict__["image"]',
])
def test_a_missing_key_of_another_dict_is_the_codes_own_error(new, tmp_path):
    with pytest.raises(KeyError, match="image") as raised:
        _train(tmp_path, 'features["x"]', new)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("new", ['features.pop("image")', '(lambda a: a["image"])(features)',
                                 '{**features}["x"] * features[\n        "image"]'])
def test_a_missing_feature_is_named_in_every_way_of_access(new, tmp_path):
    with pytest.raises(estimator_trainer.ConfigError, match="asks for the feature 'image'"):
        _train(tmp_path, 'features["x"]', new)


def test_a_users_mistake_in_code_under_autograph_is_one_sentence(tmp_path):
    path = line_model.write(tmp_path)
    path.write_text(line_model.SOURCE.replace(
        "    return dataset.repeat()",
        "    def refuse(x, y):\n"
        "        raise type('Wrong', (Exception,), {'exit_code': 2, '__init__':\n"
        "                   lambda self, text, more=0: Exception.__init__(self, text)})('no age')\n"
        "    dataset = dataset.map(refuse)\n"
        "    return dataset.repeat()"))
    ran = jobs.trainer("train", f"--model_fn={path}", f"--input_fn={path}",
                       f"--model_dir={tmp_path}/model", "--train_steps=5")
    assert ran.returncode == 2 and "Traceback" not in ran.stderr, ran.stderr
    assert "estimator-trainer: no age\n" in ran.stderr


def test_the_reason_of_a_failure_in_the_input_names_the_error(tmp_path):
    with pytest.raises(ValueError) as raised:
        _train(tmp_path, "    return dataset.repeat()",
               "    dataset = dataset.map(lambda x, y: (x, tf.ensure_shape(y, [2, 2])))\n"
               "    return dataset.repeat()")
    assert str(raised.value).startswith("in user code:")
    reason = errors.first_line(raised.value)
    assert "[2, 2]" in reason and "in user code" not in reason


def test_the_reason_of_a_failing_step_names_the_error(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        _train(tmp_path, "    loss = tf",
               "    check = tf.debugging.Assert(labels[0] < 0.5, ['a label is too large'])\n"
               "    with tf.control_dependencies([check]):\n"
               "        labels = tf.identity(labels)\n    loss = tf")
    reason = errors.first_line(raised.value)
    assert "a label is too large" in reason and len(reason) <= 300


def test_a_training_that_diverges_gets_a_warning(tmp_path, capfd):
    ended = _train(tmp_path, params={"learning_rate": 1000.0})
    assert ended.status == "done" and ended.metrics["loss"] > 1e4
    assert "WARNING: the loss grew from" in capfd.readouterr().err


def test_an_empty_evaluation_set_gets_a_warning(tmp_path, capfd):
    _train(tmp_path, 'if mode == "train" else dataset', 'if mode == "train" else dataset.take(0)')
    assert "WARNING: there was no example to evaluate" in capfd.readouterr().err


def test_a_training_that_learns_gets_no_warning(tmp_path, capfd):
    _train(tmp_path, train_steps=300)
    assert "WARNING" not in capfd.readouterr().err


def test_a_model_may_summarize_its_loss_as_the_canned_ones_do(tmp_path):
    ended = _train(tmp_path, "    optimizer =", "    tf.compat.v1.summary.scalar('loss', loss)\n"
                   "    optimizer =", save_summary_steps=1)
    [path] = glob.glob(str(tmp_path / "model" / "events*.local"))
    tags = [value.tag for event in tf.compat.v1.train.summary_iterator(path)
            for value in event.summary.value]
    assert ended.step == 5 and "loss" in tags and "loss_1" not in tags


def test_a_second_evaluation_of_a_step_adds_no_point(tmp_path):
    _train(tmp_path, num_evaluations=0)

    def steps():
        paths = glob.glob(str(tmp_path / "model" / "eval" / "events*"))
        return [event.step for path in paths for event in tf.compat.v1.train.summary_iterator(path)
                for value in event.summary.value if value.tag == "loss"]

    assert steps() == [5]
    estimator_trainer.evaluate(tmp_path / "model")
    estimator_trainer.evaluate(tmp_path / "model", params={"points": 8})
    assert steps() == [5]
    estimator_trainer.evaluate(tmp_path / "model", checkpoint="step=0")
    assert sorted(steps()) == [0, 5]


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_an_id_that_is_not_in_its_table_names_the_table(mode, tmp_path):
    with pytest.raises(errors.TrainerError) as raised:
        _train(tmp_path, 'features["x"]', 'features["x"] + tf.gather(tf.compat.v1.get_variable('
               f'"words", [10, 1]), [[12 if mode == "{mode}" else 2]])[0]', train_steps=20)
    text = str(raised.value)
    assert text.startswith("the id 12 is not in the table 'words', which has the ids 0 to 9 (")
    assert "give the table at least 13 rows. The last checkpoint is that of step " in text
