"""A job is evaluated and exported once, however often its last process is killed."""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest
import tensorflow as tf

from tests.support import jobs, slow_jobs

pytestmark = pytest.mark.cluster

_FLAGS = ["--train_steps=4", "--save_checkpoints_steps=2", "--exporters=latest,best,final"]


@pytest.fixture
def finished(plain, run, tmp_path):
    """Returns a finished model_dir, and its command line."""
    line = [*plain, f"--model_dir={tmp_path}/m", *_FLAGS]
    run(*line)
    return tmp_path / "m", line


def _exports(model_dir):
    return sorted(str(path) for path in (model_dir / "export").glob("*/*"))


def test_a_job_killed_before_result_json_repeats_nothing(finished, run):
    model_dir, line = finished
    before, exports = jobs.result(model_dir), _exports(model_dir)
    (model_dir / "result.json").unlink()
    _, err = run(*line)
    after = jobs.result(model_dir)
    assert "step 4 was evaluated before" in err and "evaluated step" not in err
    assert after["status"] == "done" and after["metrics"] == before["metrics"]
    assert _exports(model_dir) == exports
    assert jobs.evaluated_steps(model_dir).count(4) == 1
    assert {pathlib.Path(path).parent.name for path in after["exports"]} == {
        "latest", "best", "final"}


def test_a_job_that_was_killed_while_it_exported_exports_what_is_missing(finished, run):
    model_dir, line = finished
    (model_dir / "result.json").unlink()
    for name in ("latest", "final"):
        newest = max((model_dir / "export" / name).iterdir())
        newest.rename(newest.with_name(f"temp-{newest.name}"))
    best = json.loads((model_dir / "best.json").read_text())
    run(*line)
    assert not list(model_dir.rglob("temp-*"))
    for name, count in (("latest", 2), ("final", 1)):
        assert len(list((model_dir / "export" / name).iterdir())) == count
    assert json.loads((model_dir / "best.json").read_text()) == best
    assert jobs.evaluated_steps(model_dir).count(4) == 1
    assert len(jobs.result(model_dir)["exports"]) == len(_exports(model_dir)) - 2


def test_an_evaluation_of_another_checkpoint_of_that_name_does_not_count(finished, run):
    model_dir, line = finished
    for path in model_dir.iterdir():
        if path.name not in ("evaluated.json", "result.json"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (model_dir / "result.json").unlink()
    kept = model_dir / "evaluated.json"
    content = json.loads(kept.read_text())
    kept.write_text(json.dumps({**content, "saved": 1}))
    _, err = run(*line)
    assert "was evaluated before" not in err and "evaluated step 4" in err


@pytest.mark.parametrize("status", ["stopped", "failed"])
def test_a_result_that_is_not_done_is_written_again(status, finished, run):
    model_dir, line = finished
    before = jobs.result(model_dir)
    (model_dir / "result.json").write_text(json.dumps(
        {**before, "status": status, "reason": "SIGTERM", "metrics": {}, "exports": []}))
    exports = _exports(model_dir)
    run(*line)
    after = jobs.result(model_dir)
    assert (after["status"], after["step"], after["metrics"]) == ("done", 4, before["metrics"])
    assert _exports(model_dir) == exports


def test_a_result_names_only_exports_that_are_there(finished, run):
    model_dir, line = finished
    shutil.rmtree(jobs.result(model_dir)["exports"][0])
    run(*line)
    assert all(pathlib.Path(path).is_dir() for path in jobs.result(model_dir)["exports"])


@pytest.mark.parametrize("kind", [slow_jobs.soak("asynchronous"), slow_jobs.soak("all-reduce")])
def test_every_restarted_task_of_a_finished_cluster_ends_at_once(kind, tmp_path):
    _, extra = slow_jobs.CLUSTERS[kind]
    for turn in range(2):
        (tmp_path / str(turn)).mkdir()
        hosts, _ = slow_jobs.cluster(kind)
        args = slow_jobs.flags(tmp_path, "--train_steps=60", *extra)
        with jobs.running(tmp_path / str(turn), hosts, args, evaluator=True) as tasks:
            jobs.wait(list(tasks.values()), 60)
    model_dir = tmp_path / "model"
    assert len(list((model_dir / "export" / "final").iterdir())) == 1
    steps = jobs.evaluated_steps(model_dir)
    assert steps.count(steps[-1]) == 1
    assert jobs.result(model_dir)["metrics"]


@pytest.mark.soak
@pytest.mark.parametrize("kept", [1, 5])
def test_a_resumed_all_reduce_keeps_the_checkpoints_that_its_list_names(kept, tmp_path):
    _, extra = slow_jobs.CLUSTERS["all-reduce"]
    for steps in (100, 140):
        (tmp_path / str(steps)).mkdir()
        hosts, _ = slow_jobs.cluster("all-reduce")
        args = slow_jobs.flags(tmp_path, f"--train_steps={steps}", "--save_checkpoints_steps=20",
                               f"--keep_checkpoint_max={kept}", *extra)
        with jobs.running(tmp_path / str(steps), hosts, args) as tasks:
            jobs.wait(list(tasks.values()), 60)
    model_dir = tmp_path / "model"
    listed = tf.train.get_checkpoint_state(str(model_dir)).all_model_checkpoint_paths
    assert len(listed) == kept
    assert all(pathlib.Path(f"{path}.index").exists() for path in listed)


def test_a_record_that_was_cut_off_in_an_export_is_completed(finished, run):
    model_dir, line = finished
    record = next((model_dir / "export" / "latest").glob("*/assets.extra/record.json"))
    record.rename(record.with_name("record.json.new"))
    run(*line)
    assert json.loads(record.read_text())["step"] in (2, 4)
    assert not list(model_dir.rglob("*.new"))
