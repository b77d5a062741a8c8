"""Savers and event files, patched: each patch is still needed, works, and ends."""

from __future__ import annotations

import contextlib
import socket
import time

from google.protobuf import text_format
import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.patches import private_api, saving_patches
from tests.support import weight_model


def test_a_saver_takes_steps_or_seconds_but_not_both(tmp_path):
    with pytest.raises(ValueError, match="both"):
        tf.estimator.CheckpointSaverHook(str(tmp_path), save_secs=1, save_steps=1)
    assert hasattr(tf.estimator.CheckpointSaverHook(str(tmp_path), save_steps=1),
                   private_api.SAVER_TIMER)


def test_saving_with_adds_a_listener(tmp_path):
    class Counts(tf.estimator.CheckpointSaverListener):
        """Counts the checkpoints."""

        saved = 0

        def before_save(self, session, global_step_value):
            self.saved += 1

    ours, own, init = Counts(), Counts(), tf.estimator.CheckpointSaverHook.__init__
    estimator = tf.estimator.Estimator(weight_model.model_fn, str(tmp_path), tf.estimator.RunConfig(
        save_checkpoints_steps=5))
    with saving_patches.saving_with(ours, None):
        estimator.train(lambda: weight_model.input_fn().repeat(), steps=8, saving_listeners=[own])
    assert tf.estimator.CheckpointSaverHook.__init__ is init
    assert ours.saved == own.saved == 3


@pytest.mark.parametrize("secs, saved", [(0.2, True), (600, False)])
def test_saving_with_saves_by_time_too(secs, saved, tmp_path):
    class Slow(tf.estimator.SessionRunHook):
        """Makes each step take a while."""

        def after_run(self, run_context, run_values):
            time.sleep(0.1)

    slow = tf.estimator.Estimator(weight_model.model_fn, str(tmp_path), tf.estimator.RunConfig(
        save_checkpoints_steps=5))
    init = tf.estimator.CheckpointSaverHook.__init__
    with saving_patches.saving_with(None, secs):
        slow.train(lambda: weight_model.input_fn().repeat(), hooks=[Slow()], steps=8)
    assert tf.estimator.CheckpointSaverHook.__init__ is init
    steps = {int(path.name.partition("-")[2].partition(".")[0])
             for path in tmp_path.glob("model.ckpt-*.index")}
    assert bool(steps & {2, 3, 4}) if saved else steps == {0, 5, 8}


@pytest.mark.parametrize("is_apart", [False, True])
def test_saving_apart_keeps_the_checkpoints_of_another_saver(
        is_apart, tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("w", [])
        session.run(tf.compat.v1.global_variables_initializer())
        path = tf.compat.v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
        other = tf.compat.v1.train.Saver(max_to_keep=1)
        with saving_patches.saving_apart() if is_apart else contextlib.nullcontext():
            other.recover_last_checkpoints([path])
        other.save(session, str(tmp_path / "apart.ckpt"))
    assert (tmp_path / "model.ckpt.index").exists() == is_apart


def test_naming_event_files_ends_the_name_with_the_task(tmp_path):
    summary = tf.compat.v1.summary
    with tf.Graph().as_default():
        writers = [summary.FileWriter(str(tmp_path / "plain"))]
        with saving_patches.naming_event_files("worker:1"):
            writers += [summary.FileWriterCache.get(str(tmp_path / "named")),
                        summary.FileWriter(str(tmp_path / "own"), filename_suffix=".own")]
        for writer in writers:
            writer.add_summary(tf.compat.v1.Summary(), 1)
            writer.close()
    names = {path.parent.name: path.name for path in tmp_path.rglob("events*")}
    # Where TensorFlow puts the process into the name itself, this patch can go.
    assert names["plain"].removeprefix("events.out.tfevents.")[10:] == f".{socket.gethostname()}"
    assert names["named"].endswith(".worker_1") and names["own"].endswith(".own")


def test_the_text_of_a_graph_is_read_as_the_same_graph(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant([1e-7, 0.1, float("nan"), float("inf"), 3e38], name="numbers")
        tf.constant(["\u00e4\x00\n\"'?"], name="text")
        large = np.random.default_rng(0).random(2**15, np.float32)
        tf.constant(large, name="large")
        tf.constant(np.frombuffer(b"'\n?\\" * 2**15, np.uint8), name="quotes")
        tf.while_loop(lambda i: i < 3, lambda i: i + tf.reduce_sum(tf.constant(large)), [0.0])
        wanted = graph.as_graph_def(add_shapes=True)
    names = ("native.pbtxt", "plain.pbtxt")
    before = wanted.SerializeToString(deterministic=True)
    with saving_patches.writing_graphs_natively():
        tf.io.write_graph(wanted, str(tmp_path), names[0])
    assert wanted.SerializeToString(deterministic=True) == before
    tf.io.write_graph(wanted, str(tmp_path), names[1])
    native, plain = [text_format.Parse((tmp_path / name).read_text(), tf.compat.v1.GraphDef())
                     for name in names]
    [body] = [each for each in native.library.function if "body" in each.signature.name]
    assert any(len(node.attr["value"].tensor.tensor_content) == large.nbytes
               for node in body.node_def)
    assert native.SerializeToString(deterministic=True) == plain.SerializeToString(
        deterministic=True)
