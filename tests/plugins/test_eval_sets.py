"""The sets of --eval_set: their params, their own input_fns, and mistakes in them."""

from __future__ import annotations

import json

import pytest

from estimator_trainer.checks import printout, run_plan
from estimator_trainer.checks.plan import Findings
from estimator_trainer.environment import Environment
from estimator_trainer.record import run_record
from estimator_trainer.settings.trainer_config import TrainerConfig

pytestmark = pytest.mark.any_tensorflow

_MAIN = {"files": "a.csv", "batch_size": 8, "rate": 0.5, "names": ["x"]}


def _plan(tmp_path, *texts, param=(), **settings):
    for name, defaults in (("main", _MAIN), ("mobile", {**_MAIN, "files": "m.csv", "zoom": 2})):
        (tmp_path / f"{name}.py").write_text(
            f"DEFAULT_PARAMS = {defaults!r}\n"
            "def input_fn(mode, params): pass\n"
            "def model_fn(features, labels, mode, params): pass\n")
    main = str(tmp_path / "main.py")
    return run_plan.for_training(TrainerConfig(
        model_fn=main, input_fn=main, param=param, eval_set=texts, **settings), Environment())


def test_a_set_has_the_typed_params_that_differ(tmp_path):
    plan = _plan(tmp_path, "recent:files=b.csv,c.csv,batch_size=16,rate=1", 'old:names=["y", "z"]')
    recent, old = plan.eval_sets
    assert not plan.problems
    assert recent.values == {"files": "b.csv,c.csv", "batch_size": 16, "rate": 1.0}
    assert old.name == "old" and old.values == {"names": ["y", "z"]} and old.plugin is None


def test_an_own_input_fn_has_its_own_defaults_where_the_user_has_set_none(tmp_path):
    text = f"mobile:input_fn={tmp_path}/mobile.py,zoom=3"
    [found] = _plan(tmp_path, text, param=("batch_size=32",)).eval_sets
    assert found.plugin.path == f"{tmp_path}/mobile.py" and found.values == {"zoom": 3}
    assert found.defaults == {"files": "m.csv", "rate": 0.5, "names": ["x"]}


@pytest.mark.parametrize("text, expected", [
    ("recent", "eval_set is 'recent' (from --eval_set), which names no data"),
    ("recent:b.csv", "expected NAME:param=value,param=value. For example:"
     " --eval_set=recent:eval_files=recent.csv"),
    ("a b:files=b.csv", "expected NAME:param=value,param=value"),
    ("recent:file=b.csv", "param 'file' of eval_set recent (from --eval_set) is unknown; expected a"
     " param of its input_fn. Did you mean 'files'?"),
    ("recent:batch_size=x", "param batch_size of eval_set recent is 'x' (from --eval_set); expected"
     " an integer. For example: --eval_set=recent:batch_size=8"),
    ("recent:api_key=b", "param api_key of eval_set recent is **** (from --eval_set), a secret"),
    ("recent:input_fn=./nothing.py", "input_fn of eval_set recent is './nothing.py' (from"
     " --eval_set), and there is no such plug-in")])
def test_a_mistake_in_a_set_is_one_sentence(tmp_path, text, expected):
    [problem] = map(str, _plan(tmp_path, text).problems)
    assert expected in problem


def test_two_sets_of_one_name_are_a_mistake(tmp_path):
    [problem] = map(str, _plan(tmp_path, "a:files=b.csv", "a:files=c.csv").problems)
    assert "another eval_set is called 'a'" in problem


@pytest.mark.parametrize("setting", ["best_metric", "early_stopping_metric"])
def test_a_metric_of_an_unknown_set_names_the_near_one(tmp_path, setting):
    plan = _plan(tmp_path, "recent:files=b.csv", **{setting: "recnt/accuracy"})
    [problem] = map(str, plan.problems)
    assert f"{setting} is 'recnt/accuracy' (from --{setting}), and no eval_set is called" in problem
    assert f"--{setting}=recent/accuracy" in problem
    assert not _plan(tmp_path, "recent:files=b.csv", **{setting: "recent/accuracy"}).problems
    assert not _plan(tmp_path, "recent:files=b.csv", **{setting: "label/mean"}).problems


def test_check_names_the_sets_and_the_metrics_that_decide(tmp_path):
    plan = _plan(tmp_path, "recent:files=b.csv", best_metric="recent/auc", best_mode="max",
                 early_stopping_metric="loss")
    shown = json.loads(printout.describe(plan, Findings(), as_json=True))
    assert shown["eval_sets"] == ["recent:files=b.csv"]
    assert shown["best_metric"] == "recent/auc, the highest"
    assert shown["early_stopping"] == "loss, the lowest"


def test_the_record_names_the_files_of_a_set_by_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.csv").write_text("x\n")
    [found] = _plan(tmp_path, "recent:input_fn=./mobile.py,files=b.csv").eval_sets
    assert run_record.eval_set_text(found) == (
        f"recent:input_fn={tmp_path}/mobile.py:input_fn,files={tmp_path}/b.csv")
