"""Trackers receive a real run: settings, the curve, each evaluation, exports, page and end."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests.support import cloud_storage, jobs, plain_lines

pytestmark = pytest.mark.cluster

_KEEP = """
import json, os
def send(event):
    with open(os.environ["EVENTS"], "a") as file:
        file.write(json.dumps({**event, "pid": os.getpid()}) + "\\n")
"""
_TIMEOUT_SECS = 200


@pytest.fixture(name="events")
def fixture_events(tmp_path, monkeypatch):
    """Returns a function of the events that a tracker, ./my_tracker.py:send, has received."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENTS", str(tmp_path / "events"))
    pathlib.Path("my_tracker.py").write_text(_KEEP)
    return lambda: list(map(json.loads, pathlib.Path("events").read_text().splitlines()))


def _of_kind(events, kind):
    return [event for event in events if event["kind"] == kind]


def _program(data_dir, *args, **variables):
    """Runs a training as a user does, whose trackers may start processes of their own."""
    ran = subprocess.run(
        [*jobs.PROGRAM, *plain_lines.of([*args, f"--param=data_dir={data_dir}"])], text=True,
        capture_output=True, timeout=_TIMEOUT_SECS, check=False, env=jobs.environment(**variables))
    assert ran.returncode == 0 and "has failed" not in ran.stderr, ran.stderr
    return ran


_HANG = """
import atexit, threading
over = threading.Event()
atexit.register(over.wait)
def send(event):
    over.wait()
"""


@pytest.mark.soak
def test_a_tracker_that_waits_at_exit_does_not_keep_the_process(tmp_path, data_dir, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("hung.py").write_text(_HANG)
    ended = subprocess.run(
        [*jobs.PROGRAM, "--model_dir=model", "--train_steps=20", "--track=./hung.py:send",
         f"--param=data_dir={data_dir}"], text=True, capture_output=True, timeout=_TIMEOUT_SECS,
        check=False, env=jobs.environment())
    assert ended.returncode == 0 and "it did not answer within 30 s" in ended.stderr, ended.stderr


def test_a_function_receives_a_whole_run(events, run, tmp_path):
    run(f"--model_dir={tmp_path}/model", "--train_steps=20", "--num_evaluations=2", "--report",
        "--param=learning_rate=0.002", "--track=./my_tracker.py:send")
    [start], [end] = _of_kind(events(), "start"), _of_kind(events(), "end")
    assert start["params"]["learning_rate"] == 0.002 and start["settings"]["train_steps"] == 20
    assert start["settings"]["model_fn"] == "cnn" and start["tags"]["version_tensorflow"]
    steps = _of_kind(events(), "step")
    assert [event["step"] for event in steps] == list(range(1, 21))
    assert all(event["metrics"]["loss"] > 0 for event in steps)
    evaluations = _of_kind(events(), "evaluation")
    assert [event["step"] for event in evaluations] == [10, 20]
    result = jobs.result(tmp_path / "model")
    assert end["metrics"]["accuracy"] == result["metrics"]["accuracy"] == pytest.approx(
        evaluations[-1]["metrics"]["accuracy"], rel=1e-4)
    assert end["exports"] == result["exports"] and (end["status"], end["step"]) == ("done", 20)
    assert end["report"] == f"{tmp_path}/model/report.html" and pathlib.Path(
        end["report"]).exists()


@pytest.mark.soak
def test_the_chief_of_a_cluster_sends_every_evaluation_of_the_evaluator(events, data_dir, tmp_path):
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", "--chief=1", "--worker=1", "--ps=1", "--evaluator=1", "--",
         f"--model_dir={tmp_path}/model", "--train_steps=200", "--num_evaluations=4",
         f"--param=data_dir={data_dir}", "--track=./my_tracker.py:send"],
        text=True, capture_output=True, timeout=_TIMEOUT_SECS, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stdout
    assert len({event["pid"] for event in events()}) == 1
    [start], [end] = _of_kind(events(), "start"), _of_kind(events(), "end")
    assert start["tags"]["cluster"] == "1 chief, 1 worker, 1 ps"
    assert [event["step"] for event in _of_kind(events(), "evaluation")] == jobs.evaluated_steps(
        tmp_path / "model")
    assert {event["task"] for event in _of_kind(events(), "evaluation")} == {"evaluator:0"}
    result = jobs.result(tmp_path / "model")
    assert (end["status"], end["step"]) == ("done", result["step"])
    assert end["exports"] == result["exports"] and end["report"]


@pytest.mark.soak
def test_a_run_in_a_bucket_is_sent_whole_and_resumed(events, data_dir, tmp_path):
    with cloud_storage.CloudStorage(tmp_path, is_write_limited=True) as storage:
        for steps in (20, 30):
            ran = jobs.trainer(
                "--model_dir=gs://bucket/job", f"--train_steps={steps}", "--num_evaluations=2",
                "--report", f"--param=data_dir={data_dir}", "--track=./my_tracker.py:send",
                cwd=tmp_path, **storage.environment("local"))
            assert ran.returncode == 0 and "has failed" not in ran.stderr, ran.stderr
    assert [event["is_resumed"] for event in _of_kind(events(), "start")] == [False, True]
    assert len({event["run_id"] for event in events()}) == 1
    steps = [event["step"] for event in _of_kind(events(), "step")]
    assert steps == sorted(set(steps)) and steps[-1] == 30
    assert {event["report"] for event in _of_kind(events(), "end")} == {
        "gs://bucket/job/report.html"}


@pytest.mark.soak
def test_a_killed_run_is_joined_without_a_repeated_step(events, data_dir, tmp_path):
    flags = [f"--model_dir={tmp_path}/model", "--num_evaluations=0", f"--param=data_dir={data_dir}",
             "--save_checkpoints_steps=50", "--track=./my_tracker.py:send"]
    task = jobs.start(tmp_path, "local", [*flags, "--train_steps=100000"])
    jobs.wait_for(lambda: pathlib.Path("events").exists() and len(_of_kind(
        events(), "step")) > 10, _TIMEOUT_SECS)
    jobs.kill(task)
    last = jobs.saved_step(tmp_path / "model")
    task = jobs.start(tmp_path, "local", [*flags, f"--train_steps={last + 100}"])
    jobs.wait([task], _TIMEOUT_SECS)
    assert [event["kind"] for event in events() if event["kind"] in ("start", "end")] == [
        "start", "start", "end"]
    assert len({event["run_id"] for event in events()}) == 1
    times = [event["time"] for event in _of_kind(events(), "step")]
    assert len(times) == len(set(times)) and events()[-1]["step"] == last + 100


@pytest.mark.soak
def test_each_training_of_a_script_is_a_run(events, tmp_path):
    script = jobs.REPO / "tests" / "program" / "scripts" / "whole.py"
    ran = subprocess.run(
        [*jobs.PROGRAM, "run", "--track=./my_tracker.py:send", str(script), "--",
         f"--output_dir={tmp_path}/model"],
        text=True, capture_output=True, timeout=_TIMEOUT_SECS, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stderr
    [start], [end] = _of_kind(events(), "start"), _of_kind(events(), "end")
    assert start["settings"]["script"].endswith("whole.py") and end["status"] == "done"
    assert _of_kind(events(), "evaluation") and _of_kind(events(), "step") and end["report"]


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")  # MLflow's own.
def test_mlflow_has_the_run_and_a_resumed_run_joins_it(data_dir, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install mlflow")
    monkeypatch.chdir(tmp_path)
    store = {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/store.db",
             "MLFLOW_EXPERIMENT_NAME": "digits"}
    for steps in (20, 30):
        _program(data_dir, f"--model_dir={tmp_path}/model", f"--train_steps={steps}",
                 "--num_evaluations=2", "--report", "--track=mlflow", **store)
    client = mlflow.MlflowClient(store["MLFLOW_TRACKING_URI"])
    experiment = client.get_experiment_by_name("digits")
    [found] = client.search_runs([experiment.experiment_id])
    assert found.info.run_name == "model" and found.info.status == "FINISHED"
    assert found.data.params["model_fn"] == "cnn" and found.data.params["train_steps"] == "20"
    tags = found.data.tags
    assert tags["changes"] == "train_steps is 30, and was 20" and tags["status"] == "done"
    assert tags["exports"] == jobs.result(tmp_path / "model")["exports"][0]

    def of_metric(name):
        return {point.step: point.value
                for point in client.get_metric_history(found.info.run_id, name)}

    assert set(of_metric("eval/accuracy")) == set(jobs.evaluated_steps(tmp_path / "model"))
    assert of_metric("eval/accuracy")[30] == pytest.approx(
        jobs.result(tmp_path / "model")["metrics"]["accuracy"], rel=1e-4)
    assert max(of_metric("train/loss")) == 30 and len(of_metric("train/steps_per_sec")) > 20
    assert [each.path for each in client.list_artifacts(found.info.run_id)] == ["report.html"]


@pytest.mark.soak
def test_wandb_has_the_run_and_a_resumed_run_joins_it(data_dir, tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="wandb is not installed: pip install wandb")
    monkeypatch.chdir(tmp_path)
    for steps in (20, 30):
        _program(data_dir, f"--model_dir={tmp_path}/model", f"--train_steps={steps}",
                 "--num_evaluations=2", "--report", "--track=wandb", WANDB_MODE="offline",
                 WANDB_PROJECT="digits")
    paths = sorted(pathlib.Path("wandb").glob("offline-run-*/run-*.wandb"))
    assert len(paths) == 2 and len({path.stem for path in paths}) == 1  # The id of one run.
    first, second = map(_records, paths)
    assert first["config"]["model_fn"] == "cnn" and second["config"]["train_steps"] == 30
    accuracies = {row["global_step"]: row["eval/accuracy"] for row in
                  [*first["rows"], *second["rows"]] if "eval/accuracy" in row}
    assert set(accuracies) == set(jobs.evaluated_steps(tmp_path / "model"))
    assert any("train/loss" in row for row in first["rows"])
    assert second["summary"]["status"] == "done" and first["artifacts"]


@pytest.mark.soak
def test_wandb_out_of_reach_does_not_keep_the_process(data_dir, tmp_path):
    pytest.importorskip("wandb", reason="wandb is not installed: pip install wandb")
    # wandb itself tries for 90 s, and once more at the end of the process.
    ran = jobs.program(
        f"--model_dir={tmp_path}/model", "--train_steps=20", f"--param=data_dir={data_dir}",
        "--track=wandb", timeout_secs=100, cwd=tmp_path, WANDB_BASE_URL="http://127.0.0.1:9",
        WANDB_API_KEY=40 * "a")
    assert ran.returncode == 0 and "status=done" in ran.stderr, ran.stderr
    assert ran.stderr.count("tracker wandb has failed") == 1, ran.stderr


def _records(path):
    """Returns what the file of a wandb run holds: config, rows of history, summary, artifacts."""
    code = """
import json, pathlib, sys
from wandb.proto import wandb_internal_pb2
# The format of LevelDB's log, after 7 bytes: blocks with parts of records, each with a header of a
# checksum (4 bytes), a length (2) and the kind of part: 1 whole, 2 first, 3 middle, 4 last.
BLOCK, HEADER = 32768, 7
content, at, data = pathlib.Path(sys.argv[1]).read_bytes(), 7, b""
found = {"config": {}, "rows": [], "summary": {}, "artifacts": []}
while at + HEADER <= len(content):
    if BLOCK - at % BLOCK < HEADER:
        at += BLOCK - at % BLOCK
        continue
    length, kind = int.from_bytes(content[at + 4:at + 6], "little"), content[at + 6]
    data += content[at + HEADER:at + HEADER + length]
    at += HEADER + length
    if kind not in (1, 4):
        continue
    record, data = wandb_internal_pb2.Record.FromString(data), b""
    for update in [*record.run.config.update, *record.config.update]:
        found["config"][update.key] = json.loads(update.value_json)
    if record.HasField("history"):
        found["rows"].append({"/".join(item.nested_key) or item.key: json.loads(item.value_json)
                              for item in record.history.item})
    for item in record.summary.update:
        found["summary"]["/".join(item.nested_key) or item.key] = json.loads(item.value_json)
    if record.HasField("artifact"):
        found["artifacts"].append(record.artifact.name)
    if record.request.HasField("log_artifact"):
        found["artifacts"].append(record.request.log_artifact.artifact.name)
print(json.dumps(found))
"""
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True,
                         timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
