"""Model_fns of TensorFlow 1 work in a loop, or training makes single steps."""

from __future__ import annotations

import contextlib
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.training import loop_unsupported
from tests.support import jobs

pytestmark = pytest.mark.cluster

_MODEL = """
    import tensorflow as tf
    v1 = tf.compat.v1
    DEFAULT_PARAMS = {"idiom": "", "pretrained": ""}
    def model_fn(features, labels, mode, params):
        with v1.variable_scope("net", use_resource=params["idiom"] != "reference"):
            w = v1.get_variable("w", [64, 10], initializer=v1.zeros_initializer())
            b = v1.get_variable("b", [10], initializer=v1.zeros_initializer())
        logits = tf.matmul(tf.reshape(features["image"], [-1, 64]), w) + b
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        # The collection holds what an assignment to a variable returns, which is no operation.
        made = v1.get_variable("made", [], initializer=v1.zeros_initializer(), trainable=False)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(made, 1.0))
        scaffold = None
        if mode == "train" and params["idiom"] == "init_from_checkpoint":
            v1.train.init_from_checkpoint(params["pretrained"], {"net/": "net/"})
        if mode == "train" and params["idiom"] == "saver":
            scaffold = v1.train.Scaffold(saver=v1.train.Saver(max_to_keep=2))
        if mode == "train" and params["idiom"] == "local_init_op":
            scaffold = v1.train.Scaffold(local_init_op=tf.group(
                v1.local_variables_initializer(), v1.tables_initializer()))
        if mode == "train" and params["idiom"] == "init_fn":
            ones = v1.assign(b, tf.ones([10])).op
            scaffold = v1.train.Scaffold(init_fn=lambda scaffold, session: session.run(ones))
        step = v1.train.get_or_create_global_step()
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = v1.train.GradientDescentOptimizer(1e-6).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=scaffold)
"""
# A whole program that switches TensorFlow 2 off, and logs as such programs do.
_PROGRAM = """
    import logging
    import tensorflow as tf
    v1 = tf.compat.v1
    v1.disable_v2_behavior()
    v1.logging.set_verbosity(v1.logging.INFO)
    def input_fn(mode):
        features = {"x": tf.constant([[i % 2, 1.0] for i in range(40)])}
        dataset = v1.data.Dataset.from_tensor_slices((features, [i % 2 for i in range(40)]))
        return dataset.repeat(None if mode == "train" else 1).batch(8)
    def model_fn(features, labels, mode):
        v1.logging.info("mode %s, by TensorFlow's logger", mode)
        logging.getLogger(__name__).info("mode %s, by Python's", mode)
        w = v1.get_variable("w", [2, 4], use_resource=False)
        hidden = v1.layers.batch_normalization(v1.matmul(features["x"], w), momentum=0.9,
                                               training=mode == "train")
        logits = v1.layers.dense(hidden, 2)
        classes = v1.argmax(logits, 1)
        if mode == "infer":
            return v1.estimator.EstimatorSpec(
                mode, predictions={"class": classes}, export_outputs={
                    "serving_default": v1.estimator.export.PredictOutput({"class": classes})})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        with v1.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = v1.train.AdamOptimizer(0.1).minimize(
                loss, global_step=v1.train.get_global_step())
        hook = v1.train.LoggingTensorHook({"mine": loss}, every_n_iter=30)
        return v1.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op, training_hooks=[hook] if mode == "train" else [],
            eval_metric_ops={"accuracy": v1.metrics.accuracy(labels, classes)})
"""


@pytest.mark.parametrize("idiom, reason", [
    ("init_from_checkpoint", ""),
    ("saver", "it makes operations that read or write checkpoints"),
    ("local_init_op", "its Scaffold has a local_init_op"),
    ("init_fn", "its init_fn raises"),
    pytest.param("reference", "it has reference variables", marks=pytest.mark.soak),
])
def test_loop_runs_ops_that_set_variables(idiom, reason, tmp_path, data_dir):
    (tmp_path / "model.py").write_text(textwrap.dedent(_MODEL))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saved = [tf.compat.v1.get_variable(f"net/{name}", initializer=np.full(shape, 2.0, "f"))
                 for name, shape in (("w", [64, 10]), ("b", [10]))]
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver(saved).save(session, f"{tmp_path}/pretrained")
    ran = jobs.trainer(f"--model_fn={tmp_path}/model.py", f"--param=data_dir={data_dir}",
                       f"--model_dir={tmp_path}/model", "--train_steps=20", "--exporters=none",
                       f"--param=idiom={idiom}", f"--param=pretrained={tmp_path}/pretrained")
    assert ran.returncode == 0, ran.stderr
    assert ("one step in a session run: " + reason if reason else
            "of its time for input") in ran.stderr, ran.stderr
    reader = tf.train.load_checkpoint(f"{tmp_path}/model/model.ckpt-20")
    expected = {"init_from_checkpoint": 2.0, "init_fn": 1.0}.get(idiom, 0.0)
    np.testing.assert_allclose(reader.get_tensor("net/b"), expected, atol=0.01)
    assert reader.get_tensor("made") == 20


def test_loop_unsupported_for_a_program_of_tensorflow_1(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(_PROGRAM))
    flags = [f"--model_fn={tmp_path}/program.py", f"--input_fn={tmp_path}/program.py",
             f"--model_dir={tmp_path}/model"]
    ran = jobs.trainer(*flags, "--train_steps=60")
    assert ran.returncode == 0, ran.stderr
    assert "one step in a session run: TensorFlow 1's control flow is on" in ran.stderr
    result = jobs.result(tmp_path / "model")
    assert result["metrics"]["accuracy"] > 0.9
    predicted = [jobs.trainer("predict", *flags, *more) for more in (
        [], [f"--export_dir={result['exports'][0]}"])]
    assert predicted[0].stdout == predicted[1].stdout != ""
    assert predicted[0].stdout.count("\n") == 40
    # The program's log lines are shown once, in our format; TensorFlow's are not.
    lines = [line.partition(" local  ")[2] for line in ran.stderr.splitlines()]
    for text in ("mode train, by TensorFlow's logger", "mode train, by Python's",
                 "mode eval, by TensorFlow's logger"):
        assert text in lines
    assert sum(line.startswith("mine = ") for line in lines) == 2
    assert not [line for line in lines if line.startswith(("loss = ", "Calling model_fn",
                                                           "Graph was finalized"))]


@pytest.mark.parametrize(("num_tables", "devices", "is_slower"), [
    (10, ["/job:ps/task:0", "/job:ps/task:1"], True), (10, ["/job:ps/task:0"], True),
    (9, ["/job:ps/task:0"], False), (10, ["/job:worker/task:0"], False), (10, [""], False)])
@pytest.mark.parametrize("is_caught", [False, True])
def test_lookups_in_many_tables_on_ps_are_made_in_single_steps(
        num_tables, devices, is_slower, is_caught):
    caught = pytest.raises(loop_unsupported.LoopUnsupported, match="10 or more tables on ps")
    built = 0
    with tf.Graph().as_default(), caught if is_slower else contextlib.nullcontext(), (
            loop_unsupported.refusing_tables()):
        for i in range(num_tables):
            with tf.device(devices[i % len(devices)]):
                table = tf.compat.v1.get_variable(f"table_{i}", [9, 4], use_resource=True)
            try:
                tf.nn.embedding_lookup(table, [0])
            except loop_unsupported.LoopUnsupported:
                if not is_caught:
                    raise
                tf.gather(table.read_value(), [0])
            built += 1
    # Without a program that catches the error, no more than the last table is built in vain.
    assert built == num_tables - (is_slower and not is_caught)
