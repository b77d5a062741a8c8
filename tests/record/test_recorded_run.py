"""Values that a run takes from an earlier record, and those that it may not change."""

from __future__ import annotations

import dataclasses

import pytest

from estimator_trainer.checks import run_plan
from estimator_trainer.checks.plan import Invocation
from estimator_trainer.environment import Environment
from estimator_trainer.plugins import loader, source_files
from estimator_trainer.record import recorded_run, run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.settings.trainer_config import TrainerConfig

pytestmark = pytest.mark.any_tensorflow


def _entry(kind, name, **others):
    plugin = loader.find(kind, name)
    return {"name": plugin.name, "path": plugin.path, "function": plugin.function,
            "is_file": plugin.is_file, "sha256": source_files.sha256(plugin.path), **others}


@pytest.fixture
def model_dir(tmp_path):
    """Returns a model_dir that wide_deep and csv have written, up to a checkpoint."""
    record = RunRecord(
        plugins={"model_fn": _entry("model_fn", "wide_deep"),
                 "input_fn": _entry("input_fn", "csv")},
        params={"label": "income", "label_vocabulary": ["no", "yes"], "train_files": "/data/a.csv",
                "numeric_scale": {"age": [38.6, 13.7]}, "hidden_units": [8], "num_classes": 2,
                "dnn_learning_rate": 0.5},
        given=["label", "hidden_units"],
        settings={"model_fn": "wide_deep", "input_fn": "csv", "train_epochs": 5, "train_steps": 0,
                  "exporters": ["best"], "mixed_precision": "bfloat16", "verbose": True})
    _write(tmp_path, record)
    (tmp_path / "checkpoint").write_text("")
    return tmp_path


def _write(folder, record):
    (folder / "record.json").write_text(run_record.to_json(record))


def _train(model_dir, user_set=None, values=None, **settings):
    config = TrainerConfig(model_dir=str(model_dir), **settings)
    return run_plan.for_training(config, Environment(), Invocation(user_set, values or {}))


def _use(model_dir, **settings):
    return run_plan.for_one_process(TrainerConfig(model_dir=str(model_dir), **settings),
                                    Environment())


def test_find_gives_a_resume_plugins_params_and_settings(model_dir):
    plan = _train(model_dir)
    assert not plan.problems and not plan.changes
    assert (plan.config.model_fn, plan.config.input_fn) == ("wide_deep", "csv")
    assert plan.config.train_epochs == 5 and plan.config.train_steps == 0
    assert plan.config.exporters == ("best",) and plan.config.mixed_precision == "bfloat16"
    assert not plan.config.verbose
    assert plan.params.values["numeric_scale"] == {"age": [38.6, 13.7]}
    # The data's facts do not override the values that the model was trained with.
    assert plan.params.with_data({"num_classes": 3})["num_classes"] == 2


def test_find_gives_evaluate_the_model_but_not_its_training(model_dir):
    plan = _use(model_dir)
    assert plan.config.mixed_precision == "bfloat16" and plan.config.exporters == ("final",)
    assert plan.config.train_epochs == 0
    assert plan.params.values["label_vocabulary"] == ["no", "yes"]


@pytest.mark.parametrize("trained", ["train_input_fn", "input_fn"])
def test_find_reports_no_data_of_training_beside_new_data(trained, tmp_path):
    _write(tmp_path, RunRecord(
        plugins={"model_fn": _entry("model_fn", "linear"), trained: _entry(trained, "digits"),
                 "eval_input_fn": _entry("eval_input_fn", "csv")}, params={}, given=[],
        settings={}))
    (tmp_path / "checkpoint").write_text("")
    assert not _use(tmp_path, eval_input_fn="csv").changes
    assert [str(change) for change in _use(tmp_path, eval_input_fn="tfds").changes] == [
        "eval_input_fn is 'tfds', and was 'csv'"]


def test_find_refuses_reversed_classes_and_reports_another_rate(model_dir):
    [problem] = map(str, _train(model_dir, values={"label_vocabulary": ["yes", "no"]}).problems)
    assert "label_vocabulary is ['yes', 'no'], and was ['no', 'yes']" in problem
    assert "--allow_changed=label_vocabulary" in problem
    plan = _train(model_dir, values={"label_vocabulary": ["yes", "no"], "dnn_learning_rate": 0.1},
                  allow_changed=("label_vocabulary",))
    assert not plan.problems
    assert [change.name for change in plan.changes] == ["dnn_learning_rate", "label_vocabulary"]
    plan = _use(model_dir, param=('label_vocabulary=["yes", "no"]',))
    assert not plan.problems and len(plan.changes) == 1


@pytest.mark.parametrize("settings, name", [
    ({"model_fn": "canned"}, "model_fn"),
    ({"param": ("train_files=/data/b.csv",)}, "train_files"),
    ({"mixed_precision": "float16"}, "mixed_precision"),
    ({"param": ("hidden_units=[9]",)}, "hidden_units"),
])
def test_find_refuses_other_models_and_data(settings, name, model_dir):
    problems = "\n".join(map(str, _train(model_dir, **settings).problems))
    assert f"{name} is " in problems and f"--allow_changed={name}" in problems.replace(",", " ")


def test_find_respects_a_default_that_the_user_set(model_dir):
    plan = _train(model_dir, user_set=frozenset({"model_dir", "mixed_precision", "train_steps"}))
    assert plan.config.train_epochs == 0 and plan.config.train_steps == 1000
    assert "mixed_precision is 'none', and was 'bfloat16'" in str(plan.problems[0])


def test_find_gives_other_data_no_params_of_the_old_plugin(model_dir):
    plan = _use(model_dir, input_fn="tfrecord", param=("train_files=x",))
    assert plan.params.values["label"] == "label" and plan.params.values["hidden_units"] == [8]


def test_find_allows_a_change_of_a_param_that_is_free(tmp_path):
    own = tmp_path / "own.py"
    own.write_text('DEFAULT_PARAMS = {"temperature": 1.0, "units": 3}\n'
                   'FREE_PARAMS = ("temperature",)\n'
                   "def model_fn(features): ...\ndef input_fn(): ...\n")
    _write(tmp_path, RunRecord(
        plugins={kind: _entry(kind, str(own)) for kind in ("model_fn", "input_fn")},
        params={"temperature": 1.0, "units": 3}))
    (tmp_path / "checkpoint").write_text("")
    plan = _train(tmp_path, values={"temperature": 2.0})
    assert not plan.problems and str(plan.changes[0]) == "temperature is 2.0, and was 1.0"
    assert _train(tmp_path, values={"units": 4}).problems


def test_find_gives_an_older_model_dir_its_own_model(tmp_path):
    # Version 1.0 recorded these, and had no param for the columns of a table.
    _write(tmp_path, RunRecord(
        plugins={"model_fn": _entry("model_fn", "canned"), "input_fn": _entry("input_fn", "csv")},
        params={"estimator": "DNNRegressor", "hidden_units": [64, 32], "dnn_optimizer": "Adagrad",
                "dnn_learning_rate": 0.05, "numeric_scale": {"age": [38.6, 13.7]},
                "num_classes": -1, "label": "price", "columns": {"age": 38, "price": 0}}))
    (tmp_path / "checkpoint").write_text("")
    for plan in (_use(tmp_path), _train(tmp_path)):
        params = plan.params.with_data({"label_scale": {"mean": 9, "deviation": 2},
                                        "table_columns": {"age": {"kind": "number"}}})
        assert not plan.problems and not params["prepare_columns"]
        assert params["label_scale"] == {"mean": 0, "deviation": 1}
        assert params["dnn_optimizer"] == "Adagrad" and params["hidden_units"] == [64, 32]
    assert "prepare_columns is True, and was not there" in str(
        _train(tmp_path, values={"prepare_columns": True}).problems[0])


@pytest.mark.parametrize("model_fn, rate", [
    ("wide_deep", "dnn_learning_rate"), ("dcn", "learning_rate"), ("deepfm", "learning_rate")])
def test_find_gives_an_older_model_of_a_table_its_own_columns(model_fn, rate, tmp_path):
    _write(tmp_path, RunRecord(
        plugins={"model_fn": _entry("model_fn", model_fn), "input_fn": _entry("input_fn", "csv")},
        params={"hidden_units": [9], rate: 0.05, "numeric_scale": {"age": [38.6, 13.7]},
                "num_classes": -1, "label": "price", "columns": {"age": 38, "price": 0},
                **({} if model_fn == "wide_deep" else {"weight_decay": 0.0})}))
    (tmp_path / "checkpoint").write_text("")
    params = _train(tmp_path).params.with_data({
        "label_scale": {"mean": 9, "deviation": 2}, "table_columns": {"age": {"kind": "number"}}})
    assert not params["prepare_columns"] and params["hidden_units"] == [9] and params[rate] == 0.05
    assert params["label_scale"] == {"mean": 0, "deviation": 1} and not params.get("weight_decay")


def test_find_names_the_record_of_a_wrong_setting(model_dir):
    record = run_record.from_json((model_dir / "record.json").read_text(), "record")
    _write(model_dir, dataclasses.replace(record, plugins={
        "model_fn": {"name": "gone", "function": "model_fn"}, "input_fn": {"name": "csv"}}))
    problems = "\n".join(map(str, _train(model_dir).problems))
    assert f"model_fn is 'gone' (from {model_dir}/record.json)" in problems


def test_find_reports_a_record_of_a_script(model_dir):
    _write(model_dir, RunRecord(plugins={"script": {"name": "./train.py"}}))
    [problem, *_] = map(str, _use(model_dir).problems)
    assert "the script './train.py' wrote it" in problem and "--model_fn=NAME" in problem


def test_find_uses_the_record_of_an_export(model_dir, tmp_path):
    export = model_dir / "export" / "final" / "1700000000"
    extra = export / recorded_run.EXTRA
    extra.mkdir(parents=True)
    by_folder = run_plan.for_one_process(TrainerConfig(export_dir=f"{export}/"), Environment())
    assert by_folder.config.model_fn == "wide_deep"
    record = run_record.from_json((model_dir / "record.json").read_text(), "record")
    _write(extra, dataclasses.replace(record, params={**record.params, "label": "other"}))
    own = run_plan.for_one_process(TrainerConfig(export_dir=str(export)), Environment())
    assert own.params.values["label"] == "other"


def _with_secrets(model_dir, **record):
    before = run_record.from_json((model_dir / "record.json").read_text(), "record")
    _write(model_dir, dataclasses.replace(before, **record))


def test_as_recorded_leaves_out_secrets_and_what_is_not_json():
    kept, hidden = run_record.split_params({
        "db_password": "a", "api_key": "", "key": "id", "tokens": 3, "access_token": "b",
        "fn": len, "db": {"host": "h", "password": "c"}, "url": "https://me:d@host/x"})
    assert kept == {"api_key": "", "key": "id", "tokens": 3}
    assert hidden == {"db_password": "****", "access_token": "****",
                      "fn": "<built-in function len>", "url": "https://****@host/x",
                      "db": '{"host": "h", "password": "****"}'}
    assert run_record.split_flags(("hidden=3", "token=a=")) == (["hidden=3"], "token=****")


def test_find_requires_a_secret_again_and_does_not_compare_it(model_dir):
    _with_secrets(model_dir, given=["label"], unrecorded={"label": "****"}, params={})
    [problem] = map(str, _use(model_dir).problems)
    assert "param label was **** in training" in problem and "--params_file=FILE" in problem
    assert not _use(model_dir, param=("label=a",)).problems
    _with_secrets(model_dir, given=[])
    assert not _use(model_dir).problems  # The default is what it was.


def test_find_never_takes_the_mask_for_a_secret(tmp_path):
    own = tmp_path / "own.py"
    own.write_text("def model_fn(features, params): ...\ndef input_fn(): ...\n")
    settings = {"model_fn": str(own), "input_fn": str(own)}
    [problem] = map(str, _train(tmp_path, param=("api_key=****",), **settings).problems)
    assert "expected the secret that this stands for" in problem
    assert not _train(tmp_path, param=("pattern=****",), **settings).problems


def test_find_requires_a_secret_flag_of_a_plugin_again(model_dir):
    settings = {"plugin_flag": ["hidden=3"]}
    _with_secrets(model_dir, unrecorded={"plugin_flag": "api_key=****"}, settings=settings)
    [problem] = map(str, _use(model_dir).problems)
    assert "flags api_key=**** were set in training" in problem
    assert problem.endswith("For example: -- --api_key=VALUE")
    assert not _use(model_dir, plugin_flag=("hidden=3", "api_key=new")).problems
    plan = _use(model_dir, plugin_flag=("hidden=4", "api_key=new"))
    assert [str(change) for change in plan.changes] == [
        "plugin_flag is ['hidden=4'], and was ['hidden=3']"]
