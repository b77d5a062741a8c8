"""A job whose tasks know each other from Slurm's variables alone, in real processes."""

from __future__ import annotations

import json

import pytest

from tests.support import jobs

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow]
_NAMES = ("chief:0", "worker:0", "ps:0", "evaluator:0")


def test_the_ranks_of_a_step_train_and_the_last_one_evaluates(tmp_path, data_dir):
    flags = ["--model_fn=linear", "--input_fn=digits", f"--param=data_dir={data_dir}",
             "--train_steps=200", f"--model_dir={tmp_path}/model", "--num_ps=1",
             "--num_evaluators=1"]
    ports = sorted(int(each.rpartition(":")[2]) for each in jobs.free_addresses(4))
    kept = ",".join(map(str, ports))
    tasks = []
    try:
        for rank, name in enumerate(_NAMES):
            tasks.append(jobs.start(
                tmp_path, name, flags, SLURM_JOB_ID="5", SLURM_STEP_ID="0",
                SLURM_STEP_NODELIST="localhost", SLURM_STEP_NUM_TASKS="4",
                SLURM_STEP_TASKS_PER_NODE="4", SLURM_STEP_RESV_PORTS=kept, SLURM_NODEID="0",
                SLURM_PROCID=str(rank), SLURM_LOCALID=str(rank)))
        jobs.wait(tasks, 120)
    finally:
        for task in tasks:
            jobs.kill(task)
    assert [task.last_line.partition(" step=")[0] for task in tasks] == [
        f"role={name} status=done" for name in _NAMES]
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["status"] == "done" and 200 <= result["step"] <= 202
    assert result["metrics"]["accuracy"] > 0.5
