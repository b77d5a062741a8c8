"""The chief sends the run of all tasks to a tracker, once, and no tracker ends or blocks a job."""

from __future__ import annotations

import json
import sys
import textwrap
import threading

import pytest

from estimator_trainer import deadlines, task_events
from estimator_trainer.checks import run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.record import record_file, run_record
from estimator_trainer.reports import job_history, tracking
from estimator_trainer.reports.history import HistoryWriter
from estimator_trainer.result import Result
from estimator_trainer.settings.trainer_config import TrainerConfig

pytestmark = pytest.mark.any_tensorflow

_CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}
_KEEP = """
import json
def send(event):
    with open({path!r}, "a") as file:
        file.write(json.dumps(event) + "\\n")
"""


@pytest.fixture(name="tracked")
def fixture_tracked(tmp_path, monkeypatch):
    """Returns the plan of a task whose tracker is a function of this source, and its events."""
    def plan_of(role="chief", source=""):
        name = f"tracker_{tmp_path.name}".replace("-", "_")
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(source) or _KEEP.format(path=f"{tmp_path}/events"))
        monkeypatch.delitem(sys.modules, name, raising=False)
        config = TrainerConfig(model_dir=str(tmp_path / "model"), report=False,
                               track=(f"{path}:send",))
        tf_config = json.dumps({"cluster": _CLUSTER, "task": {"type": role, "index": 0}})
        return run_plan.for_training(config, Environment(tf_config=tf_config))

    def events():
        path = tmp_path / "events"
        return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []

    return plan_of, events


def _train(plan, steps, status="done"):
    """Does to the history what a task that trains does."""
    with job_history.kept(plan) as end:
        task_events.emit("trains", step=0)
        for step in steps:
            task_events.emit("train", step=step, loss=1 / step, steps_per_sec=10.0)
        end(Result(plan.task.name, status, steps[-1], "train_steps"))


def _evaluate(plan, steps):
    writer = HistoryWriter(plan.config.model_dir, "evaluator:0", is_head=False)
    for step in steps:
        writer.add("evaluation", step=step, metrics={"accuracy": step / 100, "auc": None})
    writer.close()


def test_the_chief_sends_its_steps_and_the_evaluators_evaluations(tracked):
    plan_of, events = tracked
    plan = plan_of()
    record_file.write(plan.config.model_dir, run_record.RunRecord(
        plugins={"model_fn": {"name": "cnn"}}, params={"learning_rate": 0.5},
        unrecorded={"api_key": "****"}, settings={"train_steps": 20},
        versions={"tensorflow": "2.15.1"}))
    _evaluate(plan, [10, 20])
    _train(plan_of("worker"), [1, 2])
    assert not events()
    _train(plan, [10, 20])
    start, *others, end = events()
    assert start["kind"] == "start" and start["name"] == "model" and not start["is_resumed"]
    assert start["params"] == {"learning_rate": 0.5, "api_key": "****"}
    assert start["settings"] == {"model_fn": "cnn", "train_steps": 20}
    assert start["tags"] == {"task": "chief:0", "cluster": "1 chief, 1 worker, 1 ps",
                             "version_tensorflow": "2.15.1"}
    assert [(each["kind"], each["step"], each["metrics"]) for each in others] == [
        ("evaluation", 10, {"accuracy": 0.1}), ("evaluation", 20, {"accuracy": 0.2}),
        ("step", 10, {"loss": 0.1, "steps_per_sec": 10.0}),
        ("step", 20, {"loss": 0.05, "steps_per_sec": 10.0})]
    assert (end["kind"], end["status"], end["step"], end["reason"], end["exit_code"]) == (
        "end", "done", 20, "train_steps", 0)
    assert len({event["run_id"] for event in events()}) == 1


def test_a_resumed_run_joins_the_old_one_and_repeats_nothing(tracked):
    plan_of, events = tracked
    _train(plan_of(), [10], status="stopped")
    # The evaluator went on while no chief was there.
    _evaluate(plan_of(), [10])
    _train(plan_of(), [20])
    assert [(event["kind"], event.get("step")) for event in events()] == [
        ("start", None), ("step", 10), ("end", 10), ("start", None), ("evaluation", 10),
        ("step", 20), ("end", 20)]
    assert [event["is_resumed"] for event in events() if event["kind"] == "start"] == [False, True]
    assert len({event["run_id"] for event in events()}) == 1


def test_a_run_that_fails_ends_as_failed(tracked):
    plan_of, events = tracked
    with pytest.raises(ValueError), job_history.kept(plan_of()):
        task_events.emit("trains", step=0)
        raise ValueError("no good")
    assert (events()[-1]["status"], events()[-1]["reason"]) == ("failed", "ValueError: no good")


def test_a_run_that_ends_before_its_work_begins_is_not_sent(tracked):
    plan_of, events = tracked
    with pytest.raises(ValueError), job_history.kept(plan_of()):
        raise ValueError("no data")
    assert not events()


@pytest.mark.parametrize("failure", ["raise OSError('the network is down')", "raise SystemExit(3)",
                                     "send()"])
def test_a_tracker_that_fails_is_named_once_and_does_not_end_the_job(tracked, caplog, failure):
    plan_of, _ = tracked
    _train(plan_of(source=f"def send(event):\n    {failure}\n"), [10])
    [warning] = [line for line in caplog.messages if line.startswith("tracker ")]
    assert ":send has failed, and does not have the whole run: " in warning


def test_a_tracker_that_hangs_does_not_block_the_job(tracked, caplog, monkeypatch):
    plan_of, _ = tracked
    monkeypatch.setattr(deadlines, "TRACKERS_SECS", 0.3)
    released = threading.Event()
    monkeypatch.setattr(tracking, "released", released, raising=False)
    _train(plan_of(source="""
        from estimator_trainer.reports import tracking
        def send(event):
            tracking.released.wait(60)
            raise ValueError("late")
    """), [10])
    assert tracking.is_hanging()
    released.set()
    for thread in threading.enumerate():
        if thread.name.startswith("track "):
            thread.join(10)
    [warning] = [line for line in caplog.messages if line.startswith("tracker ")]
    assert "it did not answer within 0 s" in warning and not tracking.is_hanging()


def test_a_damaged_file_of_trackers_begins_a_new_run(tracked, caplog, tmp_path):
    plan_of, events = tracked
    _train(plan_of(), [10])
    (tmp_path / "model" / tracking.NAME).write_text('{"run_id": 3}')
    _train(plan_of(), [20])
    assert "trackers.json is damaged" in caplog.text
    assert [event["step"] for event in events() if event["kind"] == "step"] == [10, 10, 20]
    assert len({event["run_id"] for event in events()}) == 2


def test_without_track_there_is_no_thread_and_no_import(tmp_path):
    plan = run_plan.for_training(TrainerConfig(model_dir=str(tmp_path), report=False),
                                 Environment())
    before = set(sys.modules)
    with job_history.kept(plan):
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("track")]
    assert not {"mlflow", "wandb"} & (sys.modules.keys() - before)
