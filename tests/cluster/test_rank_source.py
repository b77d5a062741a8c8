"""Whose word counts: TF_CONFIG's, a launcher's, or nobody's."""

from __future__ import annotations

import json

import pytest

import estimator_trainer
from estimator_trainer import cli
from estimator_trainer.cluster import rank_source

_STEP = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "2", "SLURM_STEP_NODELIST": "localhost",
         "SLURM_STEP_NUM_TASKS": "3", "SLURM_STEP_TASKS_PER_NODE": "3", "SLURM_PROCID": "2",
         "SLURM_NODEID": "0", "SLURM_LOCALID": "2"}
_CLUSTER = {"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]}


@pytest.fixture(name="environment")
def _environment(monkeypatch):
    for name in ("TF_CONFIG", "CLUSTER_SPEC", *rank_source.VARIABLES):
        monkeypatch.delenv(name, raising=False)

    def change(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
    return change


def _check(capsys, *flags):
    code = cli.main(["check", "--json", "--model_dir=/tmp/m", *flags])
    return code, json.loads(capsys.readouterr().out)


def test_ranks_of_slurm_are_tasks_and_check_names_slurm(environment, capsys):
    environment(_STEP)
    code, found = _check(capsys, "--num_ps=1")
    assert code == 0 and found["task"] == "ps:0"
    assert found["notes"] == ["TF_CONFIG is not set: the cluster is that of Slurm's step 7.2, in"
                              " which this is rank 2 of 3"]


def test_ranks_are_left_out_where_tf_config_is_set(environment, capsys):
    environment({**_STEP, "TF_CONFIG": json.dumps(
        {"cluster": _CLUSTER, "task": {"type": "worker", "index": 0}})})
    assert _check(capsys)[1]["task"] == "worker:0"
    environment({"TF_CONFIG": "{}"})
    code, found = _check(capsys)
    assert code == 0 and found["task"] == "local" and not found["notes"]


def test_a_batch_script_without_srun_is_named(environment, capsys):
    environment({"SLURM_NTASKS": "5", "SLURM_PROCID": "0"})
    code, found = _check(capsys)
    assert code == 0 and "this process was not started by srun" in found["notes"][0]


def test_ranks_of_unknown_size_are_refused_by_check(environment, capsys):
    environment({"PMIX_RANK": "1"})
    code, found = _check(capsys)
    assert code == 2 and found["problems"][0].startswith("PMIX_RANK is 1 (from the environment)")
    code, found = _check(capsys, "--rank_hosts=node1:2,localhost", "--num_ps=1")
    assert code == 0 and found["task"] == "worker:0"
    assert cli.main(["--model_dir=/tmp/m"]) == 2
    assert "each would train by itself" in capsys.readouterr().err
    environment({"TF_CONFIG": "{}"})
    assert _check(capsys)[1]["task"] == "local"


@pytest.mark.parametrize("flag, launch", [
    ("--num_ps=2", "launch --ps=2"), ("--num_evaluators=1", "launch --evaluator=1")])
def test_refuse_roles_without_ranks(environment, capsys, flag, launch):
    code, found = _check(capsys, flag)
    assert code == 2 and launch in found["problems"][0]


def test_ranks_have_at_most_64_evaluators(capsys):
    assert cli.main(["check", "--num_evaluators=65"]) == 2
    assert "num_evaluators is 65 (from --num_evaluators); expected at most 64" in (
        capsys.readouterr().err)


def test_ranks_are_left_out_by_launch_and_manifest(environment, capsys):
    for command in ("launch", "manifest"):
        assert cli.main([command, "--worker=1", "--", "--num_ps=1", "--model_dir=/tmp/m"]) == 2
        assert "num_ps is set (from the words after `--`)" in capsys.readouterr().err


def test_ranks_get_roles_from_python_too(environment, tmp_path):
    environment(_STEP)
    with pytest.raises(estimator_trainer.ConfigError, match="num_ps is 3 .*of 3 tasks"):
        estimator_trainer.train(model_dir=tmp_path, num_ps=3)
