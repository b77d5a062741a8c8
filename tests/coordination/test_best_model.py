"""The best checkpoint becomes the latest one at the end of training, after a kill too."""

from __future__ import annotations

import pathlib

import pytest
import tensorflow as tf

from estimator_trainer.coordination import best_model, checkpoints


def _saved(folder, *steps):
    """Saves checkpoints whose only variable is the step."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        step = tf.compat.v1.train.create_global_step()
        saver = tf.compat.v1.train.Saver(save_relative_paths=True)
        for number in steps:
            session.run(step.assign(number))
            saver.save(session, str(folder / "model.ckpt"), number)


@pytest.fixture(name="model_dir")
def _model_dir(tmp_path):
    """A model_dir of which the best checkpoint is that of step 20."""
    _saved(tmp_path, 10, 20, 30, 40)
    folder = str(tmp_path)
    checkpoints.copy_best(folder, f"{folder}/model.ckpt-20")
    checkpoints.write_best(folder, checkpoints.Best("loss", 0.5, 20, "", {"loss": 0.5}),
                           f"{folder}/model.ckpt-20")
    return folder


def _remove(model_dir, *steps):
    for number in steps:
        for path in tf.io.gfile.glob(f"{model_dir}/model.ckpt-{number}.*"):
            tf.io.gfile.remove(path)


@pytest.mark.parametrize("removed, left", [((), [10, 20]), ((10, 20), [20])])
def test_the_best_is_the_latest_and_later_ones_are_removed(model_dir, removed, left):
    _remove(model_dir, *removed)  # As `keep_checkpoint_max` does.
    assert best_model.ended(model_dir) is None
    best = best_model.make_latest(model_dir, "no_improvement", 40)
    assert (best.step, best.ended, best.last_step) == (20, "no_improvement", 40)
    assert best_model.ended(model_dir) == best
    assert [checkpoints.step_of(path) for path in checkpoints.paths_in(model_dir)] == left
    assert checkpoints.latest_step(model_dir) == 20
    assert tf.train.latest_checkpoint(model_dir) == f"{model_dir}/model.ckpt-20"
    assert checkpoints.is_whole(f"{model_dir}/model.ckpt-20")


def test_a_process_that_starts_after_a_kill_does_the_rest(model_dir):
    best_model.make_latest(model_dir, "no_improvement", 40)
    # Killed before the later checkpoint was removed, and within the copy of the best.
    _saved(pathlib.Path(model_dir), 30)
    _remove(model_dir, 20)
    best = best_model.make_latest(model_dir, "most_steps", 99)
    assert (best.ended, best.last_step) == ("no_improvement", 40)
    assert checkpoints.latest_step(model_dir) == 20
    assert checkpoints.is_whole(f"{model_dir}/model.ckpt-20")
    assert checkpoints.step_of(checkpoints.paths_in(model_dir)[-1]) == 20


def test_without_a_best_checkpoint_the_latest_stays(tmp_path):
    _saved(tmp_path, 10, 20)
    assert best_model.make_latest(str(tmp_path), "no_improvement", 20) is None
    assert checkpoints.latest_step(str(tmp_path)) == 20


@pytest.mark.parametrize("is_kept", [True, False])
def test_another_rule_goes_on_from_the_best(model_dir, is_kept):
    best_model.make_latest(model_dir, "no_improvement", 40)
    best_model.begin(model_dir, is_kept)
    assert best_model.ended(model_dir) is None and checkpoints.latest_step(model_dir) == 20
    assert bool(checkpoints.read_best(model_dir)) == is_kept
    assert bool(checkpoints.latest_best(model_dir)) == is_kept
