"""Processes that divide files need only a number, from any scheduler; each file has one process."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import share
from estimator_trainer.cluster.share import Share
from estimator_trainer.environment import Environment

pytestmark = pytest.mark.any_tensorflow
_ARRAY = {f"SLURM_ARRAY_TASK_{name}": value for name, value in (
    ("ID", "7"), ("COUNT", "4"), ("MIN", "1"), ("STEP", "3"))}


def _task(role: str, index: int) -> Environment:
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
    return Environment(json.dumps({"cluster": cluster, "task": {"type": role, "index": index}}))


@pytest.mark.parametrize("text, variables, expected", [
    ("", Environment(), Share(0, 1)),
    ("3/10", _task("ps", 0), Share(3, 10)),
    ("", _task("chief", 0), Share(0, 3)),
    ("", _task("worker", 1), Share(2, 3)),
    ("", _task("ps", 0), Share(0, 0)),
    ("", _task("evaluator", 0), Share(0, 0)),
    ("", Environment('{"cluster": {"worker": ["a:1", "b:1"]},'
                     ' "task": {"type": "worker", "index": 1}}', completion_index="1"),
     Share(1, 2)),
    ("", Environment(ranks=_ARRAY), Share(2, 4)),
    ("", Environment(ranks={"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}), Share(1, 2)),
    ("", Environment(ranks={**_ARRAY, "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}),
     Share(5, 8)),
    ("", Environment(ranks={"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8"}),
     Share(3, 8)),
])
def test_a_process_finds_its_share(text, variables, expected):
    assert share.of(text, variables) == expected


@pytest.mark.parametrize("variables, expected", [
    (Environment(completion_index="3"), "JOB_COMPLETION_INDEX is '3' (from the environment), and no"
     " variable has the number of the Job's pods; expected a share. Kubernetes fills in the index."
     " For example: --share='$(JOB_COMPLETION_INDEX)/10'"),
    (Environment(ranks={**_ARRAY, "SLURM_ARRAY_TASK_ID": "9"}), "SLURM_ARRAY_TASK_ID is '9'"),
    (Environment(ranks={"PMIX_RANK": "2"}), "the number of ranks is not known; expected a share"),
])
def test_a_number_without_the_number_of_processes_is_an_error(variables, expected):
    with pytest.raises(errors.ConfigError) as caught:
        share.of("", variables)
    assert expected in str(caught.value)


@pytest.mark.parametrize("text, output, expected", [
    ("3/3", "x/", "share is '3/3' (from --share); expected I/N"),
    ("one", "x/", "expected I/N"),
    ("1/3", "x.csv", "output is 'x.csv' (from --output)"),
])
def test_a_share_is_a_number_below_another_one(text, output, expected):
    [problem] = share.problems(text, output, output.endswith("/"))
    assert expected in str(problem)
    assert not share.problems("0/3", "x/", True)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 30])
def test_each_file_is_in_one_share_and_shares_are_alike(count):
    sizes = [(7 * i) % 13 for i in range(20)]
    shares = [Share(index, count).of_files(sizes) for index in range(count)]
    assert sorted(number for own in shares for number in own) == list(range(20))
    loads = [sum(max(1, sizes[number]) for number in own) for own in shares]
    assert max(loads) - min(loads) <= max(sizes)
