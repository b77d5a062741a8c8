"""A script passes a list of EvalSpecs: each is evaluated, with its own name and exporters."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.support import event_files, jobs

pytestmark = pytest.mark.cluster

_SCRIPT = str(jobs.REPO / "tests" / "program" / "scripts" / "eval_specs.py")


def _exported(out):
    return [json.loads(line) for line in out.splitlines() if line.startswith("[")]


def test_each_eval_spec_has_its_events_its_metrics_and_its_exporters(tmp_path):
    ran = jobs.trainer("run", "--noreport", _SCRIPT, "--", f"--output_dir={tmp_path}/model")
    assert ran.returncode == 0, ran.stderr
    assert _exported(ran.stdout) == [
        ["of_first", 10, 0.5, False, "accuracy"], ["of_second", 10, 0.75, False, "accuracy"],
        ["of_first", 20, 0.5, True, "accuracy"], ["of_second", 20, 0.75, True, "accuracy"]]
    assert ran.stdout.splitlines()[-1] == "returned accuracy"
    metrics = json.loads((tmp_path / "model" / "result.json").read_text())["metrics"]
    assert (metrics["label/mean"], metrics["shifted/label/mean"]) == (0.5, 0.75)
    assert event_files.read(tmp_path / "model")["eval_shifted/accuracy"] == [10, 20]


@pytest.mark.parametrize("words, expected", [
    (["--name="], "the EvalSpecs of train_and_evaluate have the names '', '';"),
    (["--exporter=of_first"], "have two exporters called 'of_first'; expected different names")])
def test_eval_specs_of_one_name_are_refused(tmp_path, words, expected):
    ran = jobs.trainer("run", _SCRIPT, "--", f"--output_dir={tmp_path}/model", *words)
    assert ran.returncode == 2 and expected in ran.stderr and "Traceback" not in ran.stderr


@pytest.mark.soak
@pytest.mark.parametrize("job", [["--worker=1", "--ps=1", "--evaluator=1"],
                                 ["--worker=1", "--ps=1"]])
def test_in_a_cluster_one_task_evaluates_every_eval_spec(tmp_path, job):
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", *job, "--", "run", _SCRIPT, "--",
         f"--output_dir={tmp_path}/model"],
        text=True, capture_output=True, timeout=120, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stdout
    metrics = json.loads((tmp_path / "model" / "result.json").read_text())["metrics"]
    assert (metrics["label/mean"], metrics["shifted/label/mean"]) == (0.5, 0.75)
    assert ["of_second", metrics["global_step"], 0.75, True, "accuracy"] in [
        each for path in (tmp_path / "logs").glob("*.log")
        for each in _exported(path.read_text())]
