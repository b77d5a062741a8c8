"""The best checkpoint becomes the latest one at the end of training, after a kill too."""

from __future__ import annotations

import pathlib

import pytest
import tensorflow as tf

from estimator_trainer.coordination import best_model, checkpoint_choice, checkpoints
from tests.support import saved


@pytest.fixture(name="model_dir")
def _model_dir(tmp_path):
    """A model_dir of which the best checkpoint is that of step 20."""
    saved.checkpoints(tmp_path, 10, 20, 30, 40)
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
    saved.checkpoints(pathlib.Path(model_dir), 30)
    _remove(model_dir, 20)
    best = best_model.make_latest(model_dir, "most_steps", 99)
    assert (best.ended, best.last_step) == ("no_improvement", 40)
    assert checkpoints.latest_step(model_dir) == 20
    assert checkpoints.is_whole(f"{model_dir}/model.ckpt-20")
    assert checkpoints.step_of(checkpoints.paths_in(model_dir)[-1]) == 20


def test_without_a_best_checkpoint_the_latest_stays(tmp_path):
    saved.checkpoints(tmp_path, 10, 20)
    assert best_model.make_latest(str(tmp_path), "no_improvement", 20) is None
    assert checkpoints.latest_step(str(tmp_path)) == 20


@pytest.mark.parametrize("is_kept", [True, False])
def test_another_rule_goes_on_from_the_best(model_dir, is_kept):
    best_model.make_latest(model_dir, "no_improvement", 40)
    best_model.begin(model_dir, is_kept)
    assert best_model.ended(model_dir) is None and checkpoints.latest_step(model_dir) == 20
    assert bool(checkpoints.read_best(model_dir)) == is_kept
    assert bool(checkpoints.latest_best(model_dir)) == is_kept


@pytest.mark.parametrize("is_damaged", [True, False])
def test_a_repair_lists_no_checkpoint_that_is_kept_for_good(is_damaged, tmp_path):
    saved.checkpoints(tmp_path, 10, 20, 30, 40, 50)
    broken = tmp_path / ("checkpoint" if is_damaged else "model.ckpt-50.data-00000-of-00001")
    broken.write_bytes(b"x")
    checkpoint_choice.fall_back(str(tmp_path), keep_max=2)
    listed = tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
    assert [checkpoints.step_of(path) for path in listed] == (
        [40, 50] if is_damaged else [30, 40])


def test_the_best_checkpoint_as_model_lists_none_that_is_kept_for_good(tmp_path):
    saved.checkpoints(tmp_path, 10, 20, 30, 40)
    checkpoints.copy_best(str(tmp_path), f"{tmp_path}/model.ckpt-30")
    checkpoints.write_best(str(tmp_path), checkpoints.Best("loss", 0.5, 30, ""),
                           f"{tmp_path}/model.ckpt-30")
    best_model.make_latest(str(tmp_path), "no_improvement", 40, keep_max=1)
    listed = tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
    assert [checkpoints.step_of(path) for path in listed] == [30]
    assert [checkpoints.step_of(path) for path in checkpoints.paths_in(str(tmp_path))] == [
        10, 20, 30]
