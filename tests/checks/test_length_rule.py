"""Which rule ends a training, as it is decided before the data are read."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.checks import printout, run_plan
from estimator_trainer.checks.plan import Findings, Invocation
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig

_CLUSTER = ('{"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["d:1"]},'
            ' "task": {"type": "chief", "index": 0}}')


def _plan(tmp_path, declared='TRAINS_UNTIL = "no_improvement"', tf_config="", user_set=None,
          **settings):
    path = tmp_path / "own.py"
    path.write_text(f"DEFAULT_PARAMS = {{'epochs': 0}}\n{declared}\n"
                    "def input_fn(mode, params): pass\n")
    config = TrainerConfig(input_fn=str(path), model_dir=str(tmp_path / "m"), **settings)
    return run_plan.for_training(config, Environment(tf_config=tf_config), Invocation(user_set))


@pytest.mark.parametrize("settings", [
    {}, {"train_distribute": "mirrored"}, {"train_distribute": "one_device"},
    {"eval_every_steps": 50}, {"save_checkpoints_secs": 60}, {"exporters": ("best",)}])
def test_an_input_fn_may_declare_the_rule(tmp_path, settings):
    plan = _plan(tmp_path, **settings)
    assert not plan.problems and plan.config.is_until_no_improvement
    assert plan.config.max_steps is None


@pytest.mark.parametrize("settings", [
    {"train_steps": 500}, {"train_steps": 0, "train_epochs": 5}, {"num_evaluations": 3},
    {"early_stopping_metric": "loss"}, {"train_until": "train_steps"}, {"param": ("epochs=3",)},
    {"train_distribute": "multi_worker_mirrored"}, {"tf_config": _CLUSTER}, {"declared": ""},
    {"user_set": frozenset({"train_steps"})}])
def test_a_length_of_the_user_and_a_cluster_keep_the_steps(tmp_path, settings):
    plan = _plan(tmp_path, **settings)
    assert not plan.problems and not plan.config.is_until_no_improvement
    assert plan.config.train_steps == settings.get("train_steps", 1000)


def test_any_input_fn_trains_until_no_improvement_on_request(tmp_path):
    plan = _plan(tmp_path, "", train_until="no_improvement")
    assert plan.config.is_until_no_improvement and plan.config.max_steps is None
    plan = _plan(tmp_path, "", train_until="no_improvement", train_steps=300)
    assert plan.config.is_until_no_improvement and plan.config.max_steps == 300


@pytest.mark.parametrize("settings, expected", [
    ({"tf_config": _CLUSTER}, "train_until is 'no_improvement' (from --train_until), and chief:0"
     " trains in a cluster; expected a number of steps there. For example: --train_steps=1000"),
    ({"train_distribute": "multi_worker_mirrored"}, "which needs the evaluations of one process")])
def test_a_request_that_cannot_be_met_is_a_sentence(tmp_path, settings, expected):
    [problem] = _plan(tmp_path, train_until="no_improvement", **settings).problems
    assert expected in str(problem)


@pytest.mark.parametrize("settings", [{"train_epochs": 3, "train_steps": 0},
                                      {"early_stopping_metric": "auc"}])
def test_two_rules_for_the_end_are_refused(settings):
    with pytest.raises(errors.ConfigError, match="which decides by itself when training ends"):
        TrainerConfig(train_until="no_improvement", **settings)


def test_a_wrong_declaration_is_a_sentence(tmp_path):
    [problem] = _plan(tmp_path, 'TRAINS_UNTIL = "no_improvment"').problems
    assert ("own.py, line 2, is 'no_improvment'; expected one of train_steps, no_improvement"
            in str(problem))


@pytest.mark.parametrize("settings, expected", [
    ({}, "until 8 evaluations in a row, over 400 steps or 50 passes, find no better loss (lower"),
    ({"best_metric": "auc", "best_mode": "max"}, "find no better auc (higher is better)"),
    ({"train_steps": 70}, "to step 70"),
    ({"train_steps": 0, "train_epochs": 3}, "3 passes over the training data"),
    ({"train_steps": 0, "user_set": frozenset({"train_steps"})}, "to the end of the input")])
def test_check_prints_the_rule(tmp_path, settings, expected):
    shown = printout.describe(_plan(tmp_path, **settings), Findings(), as_json=False)
    assert expected in shown
