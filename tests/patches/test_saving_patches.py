"""What saves every so many steps saves by time, too; a test fails when TensorFlow changes that."""

from __future__ import annotations

import contextlib
import time

import pytest
import tensorflow as tf

from estimator_trainer.patches import private_api, saving_patches
from tests.patches.test_upstream import _input_fn, _model_fn


def test_a_saver_takes_steps_or_seconds_and_not_both(tmp_path):
    with pytest.raises(ValueError, match="both"):
        tf.estimator.CheckpointSaverHook(str(tmp_path), save_secs=1, save_steps=1)
    assert hasattr(tf.estimator.CheckpointSaverHook(str(tmp_path), save_steps=1),
                   private_api.SAVER_TIMER)


def test_a_saver_calls_a_listener_of_ours_beside_its_own(tmp_path):
    class Counts(tf.estimator.CheckpointSaverListener):
        """Counts the checkpoints."""

        saved = 0

        def before_save(self, session, global_step_value):
            self.saved += 1

    ours, own, init = Counts(), Counts(), tf.estimator.CheckpointSaverHook.__init__
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path), tf.estimator.RunConfig(
        save_checkpoints_steps=5))
    with saving_patches.saving_with(ours):
        estimator.train(lambda: _input_fn().repeat(), steps=8, saving_listeners=[own])
    assert tf.estimator.CheckpointSaverHook.__init__ is init
    assert ours.saved == own.saved == 3


@pytest.mark.parametrize("secs, saved", [(0.2, True), (600, False)])
def test_a_saver_by_steps_saves_by_time_too(secs, saved, tmp_path):
    class Slow(tf.estimator.SessionRunHook):
        """Makes each step take a while."""

        def after_run(self, run_context, run_values):
            time.sleep(0.1)

    slow = tf.estimator.Estimator(_model_fn, str(tmp_path), tf.estimator.RunConfig(
        save_checkpoints_steps=5))
    init = tf.estimator.CheckpointSaverHook.__init__
    with saving_patches.saving_by_time_too(secs):
        slow.train(lambda: _input_fn().repeat(), hooks=[Slow()], steps=8)
    assert tf.estimator.CheckpointSaverHook.__init__ is init
    steps = {int(path.name.partition("-")[2].partition(".")[0])
             for path in tmp_path.glob("model.ckpt-*.index")}
    assert bool(steps & {2, 3, 4}) if saved else steps == {0, 5, 8}


@pytest.mark.parametrize("is_apart", [False, True])
def test_a_saver_that_goes_on_deletes_the_checkpoints_of_another_unless_it_saves_apart(
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
