"""One and the same job really runs in the words of many platforms."""

from __future__ import annotations

import json

import pytest

from tests.support import dialects, jobs

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow]

_STEPS = 200
_TIMEOUT_SECS = 120


def _soak(*values):
    return pytest.param(*values, marks=pytest.mark.soak)


@pytest.mark.parametrize("dialect, names, trainers", [
    _soak("Vertex AI", ("chief:0", "worker:0", "ps:0"), 2),
    _soak("Vertex AI, job as a text", ("chief:0", "ps:0", "evaluator:0"), 1),
    ("Vertex AI, CLUSTER_SPEC", ("workerpool0:0", "workerpool1:0", "workerpool2:0"), 2),
    _soak("AI Platform, master", ("master:0", "worker:0", "ps:0"), 2),
    _soak("TFJob, chief", ("chief:0", "ps:0", "evaluator:0"), 1),
    _soak("TFJob, no head", ("worker:0", "worker:1", "ps:0"), 2),
    _soak("SageMaker, ps", ("master:0", "worker:0", "ps:0"), 2),
    _soak("tf-yarn", ("chief:0", "worker:0", "ps:0"), 2),
    _soak("ecosystem jinja", ("worker:0", "worker:1", "evaluator:0"), 2),
    _soak("Azure ML", ("worker:0", "worker:1", "ps:0"), 2),
])
def test_a_job_trains_and_evaluates_in_the_words_of_its_platform(
        dialect, names, trainers, tmp_path, data_dir):
    strategy = dialects.strategy(dialect)
    model_dir = tmp_path / "model"
    flags = ["--model_fn=linear", "--input_fn=digits", f"--param=data_dir={data_dir}",
             f"--train_steps={_STEPS}", f"--model_dir={tmp_path}/model",
             f"--train_distribute={strategy}"]
    environments = dialects.placed(dialect, dict(zip(names, jobs.free_addresses(len(names)))))
    assert tuple(environments) == names
    if '"trial"' in str(environments):
        model_dir /= "1"  # Each trial of a tuning job has its own.
    tasks = []
    try:
        for name, variables in environments.items():
            tasks.append(jobs.start(tmp_path, name, flags, **variables))
        jobs.wait(tasks, _TIMEOUT_SECS)
    finally:
        for task in tasks:
            jobs.kill(task)
    assert [task.last_line.partition(" step=")[0] for task in tasks] == [
        f"role={name} status=done" for name in names]
    step = jobs.saved_step(model_dir)
    overshoot = trainers if strategy == "none" else 0  # Asynchronous trainers finish their step.
    assert _STEPS <= step <= _STEPS + overshoot
    assert jobs.evaluated_steps(model_dir)[-1] == step
    result = json.loads((model_dir / "result.json").read_text())
    assert (result["status"], result["step"]) == ("done", step)
    assert result["metrics"]["accuracy"] > 0.5
