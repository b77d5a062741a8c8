"""Jobs of several ps divide their tables, and another number of ps, or none, goes on from there."""

from __future__ import annotations

import json
import re
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from tests.support import jobs

pytestmark = pytest.mark.cluster

_MODEL = textwrap.dedent('''
    import tensorflow as tf

    DEFAULT_PARAMS = {"learning_rate": 0.1}
    v1 = tf.compat.v1


    def model_fn(features, labels, mode, params):
        column = tf.feature_column
        item = column.categorical_column_with_identity("item", 100_000)
        rows = tf.keras.layers.DenseFeatures([column.embedding_column(item, 4)])(features)
        table = v1.get_variable("table", [100_000, 4])
        rows += tf.nn.embedding_lookup(table, features["item"])
        predicted = tf.reduce_sum(rows, 1)
        if mode == "train":
            v1.logging.info("on %s", sorted({part.device for part in v1.global_variables()
                                             if "/part_" in part.name}))
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": predicted})
        loss = tf.reduce_mean((predicted - labels) ** 2)
        train_op = v1.train.AdagradOptimizer(params["learning_rate"]).minimize(
            loss, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


    def input_fn(mode):
        items = tf.constant([0, 3, 49_999, 50_000, 99_999, 7, 33_334, 66_667], tf.int64)
        dataset = tf.data.Dataset.from_tensor_slices(
            ({"item": items}, tf.cast(items % 2, tf.float32))).batch(8)
        return dataset.repeat() if mode == "train" else dataset
''')
_TABLES = ("table", "dense_features/item_embedding/embedding_weights")


def _train(folder, num_ps, steps, *flags, evaluator=True, **counts):
    """Trains to a step; returns the tables of the checkpoint, as plain TensorFlow reads them."""
    path = folder / "tables.py"
    path.write_text(_MODEL)
    args = [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={folder / 'model'}",
            f"--train_steps={steps}", "--partition_mb=1", "--noreport", *flags]
    if not num_ps:
        ran = jobs.trainer(*args)
        assert ran.returncode == 0, ran.stderr
    else:
        with jobs.running(folder, jobs.cluster(chief=1, ps=num_ps, **counts), args,
                          evaluator) as tasks:
            jobs.wait(list(tasks.values()), 120)
        assert all(task.code == 0 for task in tasks.values())
        # A table of 1.6 MB has two parts, and the ps with the fewest bytes gets the next one.
        devices = set(re.findall(r"/job:ps/(?:replica:0/)?task:(\d)", tasks["chief:0"].log))
        assert len(devices) == (num_ps if num_ps > 1 else 0), tasks["chief:0"].log
    reader = tf.train.load_checkpoint(str(folder / "model"))
    assert reader.get_tensor("global_step") >= steps
    assert reader.get_tensor("table/Adagrad").shape == (100_000, 4)
    return [reader.get_tensor(name) for name in _TABLES]


def _assert_same(before, after):
    for old, new in zip(before, after):
        np.testing.assert_array_equal(old, new)


@pytest.mark.soak  # tests/estimator/test_table_parts.py divides tables too.
def test_another_number_of_ps_goes_on_with_the_same_tables(tmp_path):
    before = _train(tmp_path, 2, 60)
    _assert_same(before, _train(tmp_path, 3, 70, "--param=learning_rate=0.0"))
    losses = json.loads((tmp_path / "model" / "result.json").read_text())["metrics"]
    assert losses["loss"] < 0.2


@pytest.mark.soak
@pytest.mark.parametrize("flags", [
    ["--train_distribute=parameter_server"], ["--tf1"], []], ids=str)
def test_every_number_of_ps_goes_on_with_the_same_tables(flags, tmp_path):
    before = _train(tmp_path, 2, 60, *flags, worker=1)
    for steps, num_ps in ((70, 3), (80, 1), (90, 0)):
        local = flags if num_ps else ["--train_distribute=none"]
        counts = {"worker": 1} if num_ps else {}
        _assert_same(before, _train(tmp_path, num_ps, steps, "--param=learning_rate=0.0", *local,
                                    **counts))
    for command in ("evaluate", "export", "predict"):
        ran = jobs.trainer(command, f"--model_dir={tmp_path / 'model'}")
        assert ran.returncode == 0, ran.stderr


@pytest.mark.soak
def test_the_mean_of_divided_tables_serves_every_command(tmp_path):
    after = [_train(tmp_path, 2, steps, "--save_checkpoints_steps=1000") for steps in (30, 60)]
    ran = jobs.trainer("average", f"--model_dir={tmp_path / 'model'}", "--last=2")
    assert ran.returncode == 0, ran.stderr
    content = json.loads(ran.stdout)
    reader = tf.train.load_checkpoint(content["checkpoint"])
    for name, tables in zip(_TABLES, zip(*after)):
        wanted = np.mean([table.astype(float) for table in tables], axis=0).astype(np.float32)
        np.testing.assert_array_equal(reader.get_tensor(name), wanted)
    for command in ("evaluate", "predict", "export"):
        ran = jobs.trainer(command, f"--model_dir={tmp_path / 'model'}", "--checkpoint=average")
        assert ran.returncode == 0, ran.stderr
        if command == "evaluate":
            assert json.loads(ran.stdout) == content["average"]


@pytest.mark.soak
def test_an_id_out_of_range_names_the_table_of_a_ps(tmp_path):
    path = tmp_path / "tables.py"
    path.write_text(_MODEL.replace("66_667]", "100_003]"))
    args = [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path / 'model'}",
            "--train_steps=20"]
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), args) as tasks:
        jobs.wait_for(lambda: all(task.code is not None for task in tasks.values()), 120)
    for task in tasks.values():
        assert task.code == 1 and "Traceback" not in task.log, task.log
    assert re.search("the id 100003 is not in the table '(table|dense_features/item_embedding/"
                     "embedding_weights' of the column 'item)', which has the ids 0 to 99999",
                     tasks["chief:0"].log + tasks["worker:0"].log)
