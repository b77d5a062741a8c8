"""Event files: what an evaluation writes is what `Estimator.evaluate` writes."""

from __future__ import annotations

import shutil

import tensorflow as tf

from estimator_trainer.evaluation import event_files


def _model_fn(features, labels, mode):
    v1 = tf.compat.v1
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    step = v1.train.get_or_create_global_step()
    picture = v1.summary.image("picture", tf.zeros([2, 4, 4, 1]), collections=[])
    kinds = {"double": tf.constant(1.5, tf.float64), "half": tf.constant(1.5, tf.float16),
             "int": tf.constant(7, tf.int32), "long": tf.constant(7, tf.int64),
             "bool": tf.constant(True), "picture": picture, "text": tf.constant("no summary"),
             "table": tf.constant([[1, 2], [3, 4]]), "nan": tf.constant(float("nan"))}
    return tf.estimator.EstimatorSpec(
        mode, loss=weight, train_op=step.assign_add(1),
        eval_metric_ops={name: (value, tf.no_op()) for name, value in kinds.items()})


def test_write_leaves_the_events_of_the_estimator(tmp_path):
    def input_fn():
        return tf.data.Dataset.range(2).batch(1)

    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path))
    estimator.train(input_fn, steps=1)
    metrics = estimator.evaluate(input_fn, steps=1)
    with tf.Graph().as_default():
        event_files.write(estimator.eval_dir("ours"), metrics, estimator.latest_checkpoint())
    theirs, ours = (
        [(event.step, str(event.summary)) for event in event_files.events(estimator.eval_dir(name))
         if event.HasField("summary")] for name in ("", "ours"))
    assert ours == theirs and len(ours) == 2
    assert "picture/0" in ours[0][1] and "text" not in ours[0][1]


def test_events_of_a_folder_that_was_deleted_are_written_to_a_new_file(tmp_path):
    writers = tf.compat.v1.summary.FileWriterCache
    model_dir, beside = str(tmp_path / "m"), str(tmp_path / "m-2")
    with tf.Graph().as_default():
        for step in (1, 2):
            kept = writers.get(beside)
            event_files.write(f"{model_dir}/eval", {"global_step": step, "loss": 0.5}, "path")
            assert [each["global_step"] for each in event_files.read(model_dir)] == [step]
            shutil.rmtree(model_dir)
            event_files.close_deleted(model_dir)
            assert writers.get(beside) is kept


def test_a_mirror_has_what_training_and_evaluations_have_written(tmp_path, caplog):
    model_dir, copy = tmp_path / "job[1]", tmp_path / "logs"
    files = [model_dir / "events.out.tfevents.1.vm",
             model_dir / "eval_new" / "events.out.tfevents.2.vm"]
    mirror = event_files.Mirror(str(model_dir), str(copy))
    for content in ("one", "one and two"):
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        (model_dir / "checkpoint").write_text("no event")
        mirror.copy()
        found = {path.relative_to(copy): path.read_text()
                 for path in copy.rglob("*") if path.is_file()}
        assert found == {path.relative_to(model_dir): content for path in files}
    full = tmp_path / "file"
    full.write_text("")
    event_files.Mirror(str(model_dir), str(full)).copy()
    assert f"cannot copy events to {full}" in caplog.text
