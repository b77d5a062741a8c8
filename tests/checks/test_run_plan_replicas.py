"""The batch that replicas share is found wrong, or rounded, before a process starts."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import cli
from estimator_trainer.checks import run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig

pytestmark = pytest.mark.any_tensorflow
_THREE = json.dumps({"cluster": {"chief": ["127.0.0.1:1"],
                                 "worker": ["127.0.0.1:2", "127.0.0.1:3"]},
                     "task": {"type": "worker", "index": 1}})


def _plan(tf_config="", **settings):
    return run_plan.for_training(TrainerConfig(model_dir="/tmp/none", **settings), Environment(
        tf_config=tf_config, cuda_visible_devices="-1"))


@pytest.mark.parametrize("input_fn", ["csv", "digits", "image_folder", "tfds", "tfrecord"])
def test_share_batch_rounds_a_default_batch_up(input_fn):
    plan = _plan(_THREE, train_distribute="multi_worker_mirrored", input_fn=input_fn)
    assert not plan.problems and plan.params.values["batch_size"] == 66
    assert plan.notes == ("batch_size is 66, not 64, so that the 3 replicas can share it",)


@pytest.mark.parametrize("settings, expected", [
    ({"param": ("batch_size=64",)}, "batch_size is 64 (from --param batch_size)"),
    ({"global_batch_size": 64}, "global_batch_size is 64 (from --global_batch_size)"),
])
def test_share_batch_refuses_a_batch_that_cannot_be_shared(settings, expected):
    plan = _plan(_THREE, train_distribute="multi_worker_mirrored", **settings)
    [problem] = map(str, plan.problems)
    assert expected in problem and "multiple of the 3 replicas" in problem and "=66" in problem


def test_share_batch_counts_replicas_and_gradients_of_a_step():
    assert _plan(train_distribute="mirrored", num_replicas=3).params.values["batch_size"] == 66
    ps = json.dumps({"cluster": {"chief": ["127.0.0.1:1"], "ps": ["127.0.0.1:2"],
                                 "worker": ["127.0.0.1:3", "127.0.0.1:4"]},
                     "task": {"type": "chief", "index": 0}})
    assert _plan(ps, sync_replicas=3).params.values["batch_size"] == 66
    assert _plan(ps).params.values["batch_size"] == 64


def test_share_batch_is_checked_before_launch_starts_a_task(tmp_path, capsys):
    assert cli.main(["launch", "--worker=2", "--", "--train_distribute=multi_worker_mirrored",
                     "--param=batch_size=64", f"--model_dir={tmp_path / 'job'}"]) == 2
    assert "multiple of the 3 replicas" in capsys.readouterr().err
    assert not (tmp_path / "job").exists()


def test_share_batch_refuses_a_batch_of_nothing():
    [problem] = map(str, _plan(param=("batch_size=0",)).problems)
    assert "expected 1 or more" in problem and "replicas" not in problem


def test_replica_problems_of_replicas_without_a_strategy():
    [problem] = map(str, _plan(num_replicas=2).problems)
    assert "--train_distribute=mirrored" in problem
    assert not _plan(num_replicas=2, eval_distribute="mirrored").problems


def test_share_batch_leaves_a_users_own_batch_size(tmp_path):
    own = tmp_path / "own.py"
    own.write_text('DEFAULT_PARAMS = {"batch_size": 64}\ndef input_fn(mode, params): ...\n')
    plan = _plan(_THREE, train_distribute="multi_worker_mirrored", input_fn=str(own))
    assert not plan.problems and plan.params.values["batch_size"] == 64
