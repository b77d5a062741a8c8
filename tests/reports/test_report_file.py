"""report.json, the data behind a page: strict JSON with a schema, as docs/report.md has it."""

from __future__ import annotations

import json

import pytest

import estimator_trainer
from estimator_trainer import cli, errors
from estimator_trainer.reports import report_command, report_file, run_files
from tests.support import compared_runs, run_files as damaged_files
from tests.support.compared_runs import Run


@pytest.fixture(name="run")
def fixture_run(tmp_path):
    folder = compared_runs.write(tmp_path / "good", Run(
        (0.5, 0.9, 0.8), tasks=("chief:0", "worker:0")))
    damaged_files.write(folder, "evaluation.json", damaged_files.contents()["evaluation.json"])
    return folder


def _strict(path):
    return json.loads(path.read_text(encoding="utf-8"),
                      parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_report_writes_the_data_of_the_page(run):
    page = estimator_trainer.report(run)
    assert page == str(run / "report.html") == page.path and isinstance(page, str)
    assert page.data == _strict(run / "report.json")
    [found] = page.data["runs"]
    head = found["head"]
    assert head["metrics"]["accuracy"] == {"value": 0.8, "step": 300}
    assert head["best"]["accuracy"] == {"value": 0.9, "step": 200}
    assert (head["status"], head["step"], head["wall_secs"], head["evaluated"]) == (
        "done", 300, 130.0, 200)
    assert head["began"] == compared_runs.BEGAN and head["ended"] == compared_runs.BEGAN + 130
    assert found["record"]["params"]["learning_rate"] == 0.1
    assert found["evaluation"]["examples"] == 3
    curves = {(each["task"], each["name"]): each for each in found["curves"]}
    loss = curves["worker:0", "loss"]
    assert loss["steps"] == [100, 200, 300] and loss["seconds"] == [40.0, 80.0, 120.0]
    assert loss["values"] == pytest.approx([0.5, 0.1, 0.2]) and loss["run"] == "good"
    assert curves["evaluation", "accuracy"]["values"] == [0.5, 0.9, 0.8]
    assert [each["task"] for each in found["tasks"]] == ["chief:0", "worker:0"]
    assert found["tasks"][1]["lives"][0]["status"] == "done"
    assert found["tasks"][1]["load"]["shares"] == {"input": 0.25}


def test_report_of_several_runs_has_what_differs(run, tmp_path, capsys):
    other = compared_runs.write(tmp_path / "other", Run(learning_rate=0.5))
    assert cli.main(["report", str(run), str(other), f"--output={tmp_path}/both.html"]) == 0
    content = _strict(tmp_path / "both.json")
    assert [each["name"] for each in content["runs"]] == ["good", "other"]
    assert {"name": "param learning_rate", "values": ["0.1", "0.5"]} in content["different"]


def test_report_of_a_folder_has_a_head_for_each_run(run, tmp_path):
    compared_runs.write(tmp_path / "now", Run((0.4,), status="running"))
    report_command.write([str(tmp_path)])
    content = _strict(tmp_path / "runs.json")
    heads = {each["name"]: each["head"] for each in content["runs"]}
    assert heads["now"]["status"] == "running" and heads["now"]["ended"] is None
    assert heads["good"]["metrics"]["accuracy"]["value"] == 0.8
    assert not any(each["curves"] or each["tasks"] for each in content["runs"])


def test_report_has_null_for_what_is_no_number(run):
    result = json.loads((run / "result.json").read_text())
    result["metrics"]["loss"] = None
    (run / "result.json").write_text(json.dumps(result))
    history = run / "history.jsonl"
    history.write_text(history.read_text().replace('"loss": 0.5', '"loss": null'))
    estimator_trainer.report(run)
    content = _strict(run / "report.json")
    [loss] = [each for each in content["runs"][0]["curves"]
              if (each["task"], each["name"]) == ("chief:0", "loss")]
    assert loss["values"][0] is None


def test_report_of_many_tasks_stays_small(tmp_path):
    accuracy = tuple(i / 200 for i in range(200))
    folder = compared_runs.write(tmp_path / "many", Run(
        accuracy, tasks=("chief:0", *(f"worker:{i}" for i in range(63)))))
    text = report_file.text_of(report_file.of_runs(
        [run_files.read(str(folder))], compared_runs.BEGAN))
    assert len(text) < 2_000_000


def test_data_that_is_damaged_or_gone_is_one_sentence(run):
    page = estimator_trainer.report(run)
    content = _strict(run / "report.json")
    content["runs"][0]["head"]["step"] = "x"
    (run / "report.json").write_text(json.dumps(content))
    with pytest.raises(errors.ConfigError, match=r"report.json is damaged: runs\[0\].head.step is"
                       " 'x'; expected an integer. `report` writes"):
        page.data
    (run / "report.json").unlink()
    with pytest.raises(errors.ConfigError, match="report.json does not exist; `report` writes"):
        page.data


@pytest.mark.parametrize("page, data", [
    ("/a/report.html", "/a/report.json"), ("x", "x.json"), ("gs://b/x.html", "gs://b/x.json"),
    ("page.json", "page.json.json")])
def test_data_lie_beside_the_page(page, data):
    assert report_file.path_beside(page) == data


def test_notebook_shows_the_page_in_a_frame_of_its_own(run):
    hostile = "\"></iframe><script>alert(1)</script>"
    record = json.loads((run / "record.json").read_text())
    record["params"]["learning_rate"] = hostile
    (run / "record.json").write_text(json.dumps(record))
    page = estimator_trainer.report(run)
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.count("<") == 2
    assert 'sandbox="allow-scripts"' in shown and "allow-same-origin" not in shown
    (run / "report.html").unlink()
    assert "no longer there" in page._repr_html_() and "<iframe" not in page._repr_html_()
