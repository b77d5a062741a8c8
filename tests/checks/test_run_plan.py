"""The plan finds the plug-ins; flags that stand for params set them, and are named."""

from __future__ import annotations

import pytest

from estimator_trainer import environment, errors
from estimator_trainer.checks import run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig


def _plan(tmp_path, defaults, **settings):
    path = tmp_path / "own.py"
    path.write_text(f"DEFAULT_PARAMS = {defaults!r}\ndef input_fn(mode, params): pass\n")
    return run_plan.for_training(TrainerConfig(input_fn=str(path), **settings), Environment())


@pytest.mark.parametrize("default, expected", [(3, 5), (3.0, 5.0), (None, 5)])
def test_for_training_sets_params_by_their_flags(tmp_path, default, expected):
    plan = _plan(tmp_path, {"epochs": default}, train_epochs=5, param=("epochs=7",))
    assert not plan.problems and plan.params.user_set == {"epochs"}
    assert plan.params.values["epochs"] == expected
    assert isinstance(plan.params.values["epochs"], type(expected))


@pytest.mark.parametrize("whose, expected", [("job", 5), ("worker", 15)])
def test_for_training_counts_epochs_of_the_job_or_of_each_worker(tmp_path, whose, expected):
    path = tmp_path / "own.py"
    path.write_text("DEFAULT_PARAMS = {'epochs': 1}\ndef input_fn(mode, params): pass\n")
    tf_config = ('{"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]},'
                 ' "task": {"type": "ps", "index": 0}}')
    config = TrainerConfig(input_fn=str(path), train_epochs=5, epochs_of=whose, model_dir="m")
    plan = run_plan.for_training(config, Environment(tf_config=tf_config))
    assert plan.params.values["epochs"] == plan.passes == expected
    [problem] = _problems(epochs_of="worker") if whose == "worker" else ["train_epochs is 0"]
    assert "train_epochs is 0" in problem


def _problems(**settings):
    with pytest.raises(errors.ConfigError) as raised:
        TrainerConfig(**settings)
    return str(raised.value).splitlines()


@pytest.mark.parametrize("flag, key", [("train_epochs", "epochs"),
                                       ("global_batch_size", "batch_size")])
def test_for_training_names_the_flag_of_a_mistake(tmp_path, flag, key):
    [problem] = map(str, _plan(tmp_path, {key: [1]}, **{flag: 5}).problems)
    assert problem == (f"param {key} is 5 (from --{flag}); expected a JSON list. For example:"
                       f" --{flag}=0 --param {key}='[1]'")


def test_for_training_sets_no_param_that_the_input_lacks(tmp_path):
    assert not _plan(tmp_path, {}, train_epochs=5).params.user_set


def test_for_training_takes_an_input_for_each_mode(tmp_path):
    for name, rows in (("train", 3), ("eval", 4)):
        (tmp_path / f"{name}.py").write_text(
            f"DEFAULT_PARAMS = {{'{name}_rows': {rows}}}\ndef {name}_input_fn(): pass\n"
            "def serving_input_fn(): pass\n")
    named = {f"{name}_input_fn": str(tmp_path / f"{name}.py") for name in ("train", "eval")}
    plan = run_plan.for_training(TrainerConfig(
        **named, serving_input_fn=named["eval_input_fn"], param=("train_rows=5",)), Environment())
    assert not plan.problems
    assert plan.params.values["train_rows"] == 5 and plan.params.values["eval_rows"] == 4
    assert [plugin.function for plugin in plan.plugins] == [
        "model_fn", "eval_input_fn", "train_input_fn", "serving_input_fn"]
    for kind, other in (("train_input_fn", "eval_input_fn"), ("eval_input_fn", "train_input_fn")):
        [problem] = map(str, run_plan.for_training(
            TrainerConfig(**{kind: named[kind]}), Environment()).problems)
        assert f"no --{other}" in problem and "For example: --" in problem
    plan = run_plan.for_one_process(TrainerConfig(
        model_dir=str(tmp_path), eval_input_fn=named["eval_input_fn"]), Environment())
    assert not plan.problems and plan.train_data is None
    assert plan.data.function == "eval_input_fn"


@pytest.mark.parametrize("make, name", [
    (run_plan.for_one_process, "model_dir"), (run_plan.for_one_process, "export_dir"),
    (run_plan.for_training, "warm_start_from")])
def test_a_directory_whose_name_tensorflow_takes_for_a_pattern_is_refused(make, name, tmp_path):
    folder = tmp_path / "run[1]"
    folder.mkdir()
    [problem] = map(str, make(TrainerConfig(**{name: str(folder)}), Environment()).problems)
    assert problem.startswith(f"{name} is '{folder}' (from --{name}), and TensorFlow takes [ in a")
    assert problem.endswith(f"Rename it. For example: --{name}={tmp_path}/run-1")


_VERTEX = "gs://bucket/out/7/model/"


@pytest.mark.parametrize("model_dir, aip_model_dir, expected", [
    ("", _VERTEX, _VERTEX),
    ("", "gs://bucket/out/model", "gs://bucket/out/model/7"),
    (_VERTEX, _VERTEX, _VERTEX),
    ("gs://bucket/out/7/checkpoints", _VERTEX, "gs://bucket/out/7/checkpoints"),
    ("/gcs/bucket/out/7/model", _VERTEX, "/gcs/bucket/out/7/model"),
    ("gs://bucket/out", _VERTEX, "gs://bucket/out/7"),
    ("gs://bucket/out/71", _VERTEX, "gs://bucket/out/71/7"),
    ("gs://bucket/job", "", "gs://bucket/job/7"),
    ("gs://bucket/7", "", "gs://bucket/7/7"),
])
@pytest.mark.parametrize("where", ["TF_CONFIG", "CLUSTER_SPEC", "CLOUD_ML_TRIAL_ID"])
def test_for_training_gives_a_trial_its_own_folder(model_dir, aip_model_dir, expected, where):
    ids = {"TF_CONFIG": '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0,'
                        ' "trial": "7"}}',
           "CLUSTER_SPEC": '{"cluster": {"workerpool0": ["a:1"]}, "task": {"type": "workerpool0",'
                           ' "index": 0, "trial": "7"}}',
           "CLOUD_ML_TRIAL_ID": "7"}
    field = {"TF_CONFIG": "tf_config", "CLUSTER_SPEC": "cluster_spec", "CLOUD_ML_TRIAL_ID": "trial"}
    variables = Environment(aip_model_dir=aip_model_dir, **{field[where]: ids[where]})
    config = TrainerConfig(model_dir=model_dir)
    assert run_plan.for_training(config, variables).config.model_dir == expected


@pytest.mark.parametrize("model_dir, expected", [
    ("", "gs://bucket/out/7/checkpoints/"), (_VERTEX, _VERTEX)])
def test_vertex_ais_folder_of_checkpoints_stands_for_that_of_the_model(model_dir, expected,
                                                                       monkeypatch):
    monkeypatch.setenv("AIP_CHECKPOINT_DIR", "gs://bucket/out/7/checkpoints/")
    monkeypatch.setenv("AIP_MODEL_DIR", model_dir)
    monkeypatch.setenv("CLOUD_ML_TRIAL_ID", "7")
    variables = environment.read()
    assert run_plan.for_training(TrainerConfig(), variables).config.model_dir == expected


def test_for_model_dir_searches_where_it_is_requested():
    variables = Environment(aip_model_dir=_VERTEX, trial="7")
    for model_dir, expected in (("", _VERTEX), ("/models/digits", "/models/digits")):
        plan = run_plan.for_model_dir(TrainerConfig(model_dir=model_dir), variables)
        assert plan.config.model_dir == expected
