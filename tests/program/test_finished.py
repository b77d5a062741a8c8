"""A call that finds its model_dir trained to the end says so in its result, and what is another."""

from __future__ import annotations

import json

import pytest

import estimator_trainer
from estimator_trainer import cli
from tests.support import jobs, line_model

_CELL = """
import tensorflow as tf
WEIGHT = 1.0
def input_fn(mode):
    data = tf.data.Dataset.from_tensors(([[1.0]], [[2.0]]))
    return data.repeat() if mode == "train" else data
def loss_of(prediction, labels): return tf.reduce_mean((prediction - labels) ** 2)
def model_fn(features, labels, mode):
    w = tf.compat.v1.get_variable("w", initializer=WEIGHT, use_resource=True)
    step = tf.compat.v1.train.get_or_create_global_step()
    prediction = w * features
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": prediction})
    loss = loss_of(prediction, labels)
    rate = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=rate.minimize(loss, step))
"""


def _trained(model_dir, steps=2, edit=("", ""), **more):
    """Runs the cell, with an edit, and trains what it defines."""
    assert edit[0] in _CELL
    names = {"__name__": "cell"}
    exec(compile(_CELL.replace(*edit), "<cell>", "exec"), names)  # pylint: disable=exec-used
    return estimator_trainer.train(
        names["model_fn"], names["input_fn"], model_dir, train_steps=steps, exporters=["none"],
        report=False, num_evaluations=0, **more)


def _result_file(model_dir):
    return json.loads((model_dir / "result.json").read_text())


@pytest.mark.cluster
def test_a_finished_model_dir_names_in_its_result_what_was_not_done(tmp_path, capfd):
    first = _trained(tmp_path)
    assert not first.was_finished and not first.note and "note" not in repr(first)
    again = _trained(tmp_path)
    assert again.metrics == first.metrics and again.was_finished and "changed" not in again.note
    assert again.note.startswith("Nothing was trained: an earlier run had reached step 2")
    assert repr(again).startswith("Result(Nothing was trained")
    capfd.readouterr()
    # The second time, too: a run that trains nothing leaves the record as it is.
    for _ in range(2):
        other = _trained(tmp_path, edit=("** 2", "** 4"))
        assert other.metrics == first.metrics and other.was_finished
        assert "Since then model_fn changed (cell:loss_of)." in other.note
        assert f"a larger train_steps, or remove {tmp_path}" in other.note
        assert _result_file(tmp_path)["note"] == other.note
        assert _result_file(tmp_path)["was_finished"] is True
        assert other.note in capfd.readouterr().err.splitlines()[-1]
    other = _trained(tmp_path, edit=("[[2.0]]", "[[3.0]]"))
    assert "input_fn changed (cell:input_fn)" in other.note
    assert "model_fn changed (cell:WEIGHT)" in _trained(tmp_path, edit=("= 1.0", "= 1.5")).note
    runs = json.loads((tmp_path / "record.json").read_text())["runs"]
    assert [run["changes"] for run in runs[:3]] == [[], [], ["model_fn changed (cell:loss_of)"]]


@pytest.mark.cluster
def test_training_that_goes_on_with_another_function_gets_a_warning(tmp_path, capfd):
    _trained(tmp_path)
    resumed = _trained(tmp_path, steps=3, edit=("** 2", "** 4"))
    assert resumed.step == 3 and not resumed.was_finished
    assert resumed.note == ("Training went on from step 2, but not with what wrote its checkpoint:"
                            " model_fn changed (cell:loss_of).")
    assert not _trained(tmp_path, steps=4, edit=("** 2", "** 4")).note
    capfd.readouterr()
    _trained(tmp_path, steps=4)  # The object of this name is now the first one.
    capfd.readouterr()
    warning = "the source of --model_fn is not what wrote the checkpoints: cell:loss_of changed"
    for use in (estimator_trainer.evaluate, estimator_trainer.predict, estimator_trainer.export):
        use(tmp_path)
        assert warning in capfd.readouterr().err


@pytest.mark.cluster
def test_a_file_edited_after_training_is_named_by_the_command(tmp_path, capfd):
    path = line_model.write(tmp_path)
    flags = [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path}/model",
             "--train_steps=5", "--noreport"]
    assert cli.main(flags) == 0 and not _result_file(tmp_path / "model")["was_finished"]
    path.write_text(path.read_text() + "\n# An edit.\n")
    for _ in range(2):
        capfd.readouterr()
        assert cli.main(flags) == 0
        *_, note, last = capfd.readouterr().err.strip().splitlines()
        assert "Nothing was trained" in note and "model_fn changed (line.py)" in note
        assert last == "role=local status=done step=5 reason=train_steps"
        assert _result_file(tmp_path / "model")["note"] in note


@pytest.mark.cluster
@pytest.mark.soak
def test_the_result_names_the_earlier_run_whichever_task_writes_it(tmp_path):
    path = line_model.write(tmp_path)
    flags = [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path}/model",
             "--train_steps=5", "--noreport"]
    for _ in range(2):
        with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1, evaluator=1), flags) as tasks:
            jobs.wait(list(tasks.values()), 120)
        path.write_text(path.read_text() + "\n# An edit.\n")
    written = _result_file(tmp_path / "model")
    assert written["was_finished"] and "model_fn changed (line.py)" in written["note"]
