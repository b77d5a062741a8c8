"""Several evaluators share out the checkpoints of a job that evaluates slowly, each once."""

from __future__ import annotations

import json
import signal

import pytest

from tests.support import cloud_storage, event_files, jobs, slow_jobs

pytestmark = pytest.mark.cluster

_PLUGIN = jobs.REPO / "tests" / "support" / "slow_evaluation.py"
_EVERY, _STEPS = 30, 300


def _flags(tmp_path, *extra):
    return [f"--model_fn={_PLUGIN}", f"--input_fn={_PLUGIN}", f"--model_dir={tmp_path}/model",
            "--param=step_secs=0.03", f"--save_checkpoints_steps={_EVERY}",
            f"--train_steps={_STEPS}", "--exporters=final,best,latest", "--param=best_step=200",
            *extra]


def _evaluations(tmp_path):
    """Returns the task and the step of each evaluation in the history."""
    lines = map(json.loads, (tmp_path / "model" / "history.jsonl").read_text().splitlines())
    return [(line["task"], line["step"]) for line in lines if line["kind"] == "evaluation"]


def _assert_evaluated_once(tmp_path, last=_STEPS):
    model_dir, steps = tmp_path / "model", [step for _, step in _evaluations(tmp_path)]
    assert len(steps) == len(set(steps)) and max(steps) == last
    assert sorted(set(jobs.evaluated_steps(model_dir))) == sorted(steps)
    assert event_files.read(model_dir)["eval/loss"]
    # One writer: TensorBoard shows only parts of a curve from several files.
    assert len(list((model_dir / "eval").glob("events*"))) == 1
    best = json.loads((model_dir / "best.json").read_text())
    assert best["value"] == min(abs(step - 200) for step in steps)
    result = jobs.result(model_dir)
    assert result["step"] == last == result["metrics"]["global_step"]
    exported = [path.parts[-2] for path in (model_dir / "export").glob("*/*/saved_model.pb")]
    assert len(list((model_dir / "export" / "final").iterdir())) == 1 and exported
    assert not list((model_dir / "evaluators").glob("step-*"))
    return steps


def _evaluators(count):
    return jobs.cluster(chief=1, evaluator=count)


@pytest.mark.parametrize("count, is_listed", [
    (3, True), pytest.param(2, False, marks=pytest.mark.soak)])
def test_each_checkpoint_is_evaluated_once(tmp_path, count, is_listed):
    hosts = _evaluators(count) if is_listed else jobs.cluster(chief=1, ps=1)
    with jobs.running(tmp_path, hosts, _flags(tmp_path), evaluator=not is_listed) as tasks:
        if not is_listed:
            # Some platforms list no evaluator, and start one after the other.
            config = json.dumps({"cluster": hosts, "task": {"type": "evaluator", "index": 1}})
            tasks["evaluator:1"] = jobs.start(tmp_path, "evaluator:1", _flags(tmp_path), config)
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
        assert all(f"role={name} status=done step={_STEPS}" in task.last_line
                   for name, task in tasks.items()), [t.log for t in tasks.values()]
    steps = _assert_evaluated_once(tmp_path)
    # All kept checkpoints, which are five, have been evaluated.
    assert set(range(_STEPS - 4 * _EVERY, _STEPS + 1, _EVERY)) <= set(steps)
    assert len({task for task, _ in _evaluations(tmp_path)}) == count


@pytest.mark.soak
@pytest.mark.parametrize("kind", list(slow_jobs.CLUSTERS))
def test_trainers_of_a_cluster_are_evaluated_by_several(tmp_path, kind):
    counts, extra = slow_jobs.CLUSTERS[kind]
    with jobs.running(tmp_path, jobs.cluster(**counts, evaluator=2), _flags(tmp_path, *extra)
                      ) as tasks:
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
    steps = [step for _, step in _evaluations(tmp_path)]
    assert len(steps) == len(set(steps)) and max(steps) == jobs.result(tmp_path / "model")["step"]
    assert {task for task, _ in _evaluations(tmp_path)} == {"evaluator:0", "evaluator:1"}


@pytest.mark.soak
def test_checkpoint_of_a_killed_evaluator_is_evaluated_by_another(tmp_path):
    with jobs.running(tmp_path, _evaluators(2), _flags(tmp_path, "--param=eval_secs=0.5")
                      ) as tasks:
        state = tmp_path / "model" / "evaluators" / "evaluator-1.json"
        jobs.wait_for(lambda: state.exists() and _taken(state) >= 0, slow_jobs.TIMEOUT_SECS)
        lost = tasks.pop("evaluator:1")
        slow_jobs.send(lost, signal.SIGKILL)
        step = _taken(state)
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
        assert f"evaluator:1 is gone: another one evaluates step {step}" in tasks[
            "evaluator:0"].log
    _assert_evaluated_once(tmp_path)


@pytest.mark.soak
def test_checkpoint_of_a_stopped_evaluator_is_evaluated_by_another(tmp_path):
    with jobs.running(tmp_path, _evaluators(2), _flags(tmp_path, "--param=eval_secs=0.5")
                      ) as tasks:
        state = tmp_path / "model" / "evaluators" / "evaluator-1.json"
        jobs.wait_for(lambda: state.exists() and _taken(state) >= 0, slow_jobs.TIMEOUT_SECS)
        stopped = tasks.pop("evaluator:1")
        slow_jobs.send(stopped, signal.SIGTERM)
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
        assert stopped.code == 143 and "status=stopped" in stopped.last_line, stopped.log
    _assert_evaluated_once(tmp_path)


@pytest.mark.soak
def test_evaluators_share_out_the_checkpoints_in_a_bucket(tmp_path):
    with cloud_storage.CloudStorage(tmp_path, is_write_limited=True) as storage:
        flags = _flags(tmp_path, "--model_dir=gs://bucket/job", "--exporters=final",
                       "--param=step_secs=0.2", "--train_steps=300", "--report")
        with jobs.running(tmp_path, _evaluators(2), flags, variables=storage.environment) as tasks:
            jobs.wait(list(tasks.values()), 150)
            lines = map(json.loads, storage.objects.read("job/history.jsonl").splitlines())
        found = [(line["task"], line["step"]) for line in lines if line["kind"] == "evaluation"]
        steps = [step for _, step in found]
        assert len(steps) == len(set(steps)) and max(steps) == _STEPS
        assert len({task for task, _ in found}) == 2
        assert json.loads(storage.objects.read("job/result.json"))["step"] == _STEPS
        assert not storage.objects.names("job/evaluators/step-")


def _taken(state):
    found = json.loads(state.read_text())
    return -1 if found["outcome"] else found["step"]


@pytest.mark.soak
def test_killed_lead_starts_again_and_loses_nothing(tmp_path):
    args, hosts = _flags(tmp_path), _evaluators(2)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: "evaluated step" in tasks["evaluator:0"].log,
                      slow_jobs.TIMEOUT_SECS)
        lead = tasks.pop("evaluator:0")
        slow_jobs.send(lead, signal.SIGKILL)
        lead.process.wait()
        tasks["evaluator:0"] = jobs.start(
            tmp_path, "evaluator:0", args, json.dumps(
                {"cluster": hosts, "task": {"type": "evaluator", "index": 0}}))
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
    steps = [step for _, step in _evaluations(tmp_path)]
    assert max(steps) == _STEPS and jobs.result(tmp_path / "model")["step"] == _STEPS
    # Only the evaluation that was killed may be made again.
    assert len(steps) - len(set(steps)) <= 1


@pytest.mark.soak
def test_evaluations_of_all_evaluators_stop_training_early(tmp_path):
    flags = [*_flags(tmp_path, "--early_stopping_metric=loss", "--early_stopping_steps=60",
                     "--train_steps=3000", "--param=best_step=90", "--keep_checkpoint_max=50")]
    with jobs.running(tmp_path, _evaluators(3), flags) as tasks:
        jobs.wait(list(tasks.values()), slow_jobs.TIMEOUT_SECS)
    steps = {step for _, step in _evaluations(tmp_path)}
    result = jobs.result(tmp_path / "model")
    assert result["reason"] == "early_stopping" and result["step"] == max(steps) < 3000
    best = json.loads((tmp_path / "model" / "best.json").read_text())
    assert best["step"] == min(steps, key=lambda step: abs(step - 90))
