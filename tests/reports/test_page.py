"""The page is one file that needs no other; every text of a run is escaped."""

from __future__ import annotations

import json
import re
import shutil

import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import cli, errors
from estimator_trainer.evaluation import event_files
from estimator_trainer.reports import evaluation_section, markup, page
from tests.support import line_model


@pytest.fixture(name="trained", scope="module")
def fixture_trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("line")
    path = line_model.write(folder)
    estimator_trainer.train(str(path), str(path), folder / "model", train_steps=50,
                            params={"scale": 2.0})
    return folder / "model"


@pytest.mark.cluster
def test_html_needs_no_network_and_is_small(trained):
    text = (trained / "report.html").read_text()
    assert len(text) < 2_000_000
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", text)
    assert not re.findall(r"url\((?!data:)|@import|https?://(?!github\.com/leeoniya/uPlot)", text)


def test_html_shows_what_ran_and_its_result(trained):
    text = (trained / "report.html").read_text()
    for part in ("line.py", "scale=2<", "1 layer, 1 parameters", "slope", "residuals",
                 "The worst errors", "train_steps", "tensorflow", "mean absolute error",
                 "estimator_trainer.train(model_fn=", "params={&#x27;scale&#x27;: 2.0}"):
        assert part in text, part
    charts = json.loads(re.search(r'id="charts">(.*?)</script>', text).group(1))
    titles = [chart["title"] for chart in charts]
    assert titles[0] == "loss" and "residuals, examples" in titles
    labels = [each["label"] for each in charts[0]["series"]]
    assert labels == ["training", "evaluation"]
    # A short run has points enough for a curve, in the history and in the event files.
    assert len(charts[0]["series"][0]["step"]) >= 20
    assert len({event.step for event in event_files.events(str(trained))
                for value in event.summary.value if value.tag == "loss"}) >= 20
    for chart in charts:
        if "runs" in chart:
            assert all(len(each["step"]) == len(each["secs"]) == len(each["value"])
                       for each in chart["series"])
            continue
        assert len({len(column) for column in chart["data"]}) == 1
        assert len(chart["data"]) == 1 + len(chart["series"])


def test_html_escapes_texts_of_a_run(trained, tmp_path):
    record = json.loads((trained / "record.json").read_text())
    record["params"]["scale"] = "</script><script>alert(1)</script>"
    (tmp_path / "record.json").write_text(json.dumps(record))
    (tmp_path / "history.jsonl").write_text(json.dumps({
        "task": "<img src=x>", "kind": "train", "time": 1.0, "step": 1, "loss": 1.0}) + "\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/record.json").write_text(json.dumps(record))
    (tmp_path / "other/result.json").write_text((trained / "result.json").read_text().replace(
        '"done"', '"\\"><script>alert(2)"'))
    for folder, number in ((tmp_path, 1), (tmp_path / "other", 2)):
        page.write([str(folder)])
        text = (folder / "report.html").read_text()
        assert f"alert({number})" in text
        assert "<script>alert" not in text and "<img src=x>" not in text
        assert text.count("<script") == 1 + len(page._SCRIPTS)
        assert "script-src 'sha256-" in text


def test_html_escapes_class_names_and_texts_of_the_data(tmp_path):
    name = "</script><script>alert(1)</script>"
    each = {"label": name, "predicted": name, "position": name, "probability": 0.9,
            "probability_of_label": 0.1, "inputs": [{"name": name, "text": name},
                                                    {"name": name, "image": f'"{name}'}]}
    judged = {"kind": "classification", "step": 1, "examples": 2, "evaluated": 2,
              "matrix": {"counts": [[1, 1], [0, 0]], "names": [name, name]}, "confused": [],
              "per_class": [{"name": name, "examples": 2, "precision": 0.5, "recall": None}],
              "worst": [each], "most_certain": [each]}
    shown = str(evaluation_section.section(judged, markup.Charts()))
    assert "alert(1)" in shown and "<script>" not in shown and "</script>" not in shown


def test_html_of_a_folder_without_a_training(tmp_path):
    with pytest.raises(errors.ConfigError, match="expected the directory of a training"):
        page.write([str(tmp_path)])


def test_version_of_changes_with_the_content(trained, tmp_path):
    before = page.version_of([str(tmp_path)])
    (tmp_path / "history.jsonl").write_text("{}\n")
    assert page.version_of([str(tmp_path)]) != before
    assert page.version_of([str(trained)]) == page.version_of([str(trained)])


def test_write_compares_several_runs_from_python(trained, tmp_path):
    output = tmp_path / "both.html"
    shutil.copytree(trained, tmp_path / "copy")
    assert estimator_trainer.report([trained, tmp_path / "copy"], output) == str(output)
    assert "Settings that differ" in output.read_text()
    assert estimator_trainer.report(trained) == str(trained / "report.html")


def test_html_leaves_out_what_diverged(tmp_path):
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriter(str(tmp_path))
        for step, norm in enumerate((1.0, float("inf"), float("nan"), 2.0)):
            histo = tf.compat.v1.HistogramProto(
                min=norm, max=norm + 1, bucket_limit=[norm + 1], bucket=[4])
            writer.add_summary(tf.compat.v1.Summary(value=[
                tf.compat.v1.Summary.Value(tag="norm", simple_value=norm),
                tf.compat.v1.Summary.Value(tag="weights", histo=histo)]), step)
        writer.close()
    page.write([str(tmp_path)])
    text = (tmp_path / "report.html").read_text()
    charts = json.loads(re.search(r'id="charts">(.*?)</script>', text).group(1),
                        parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    [norm] = [chart for chart in charts if chart["title"] == "norm"]
    [series] = norm["series"]
    assert (series["step"], series["value"]) == ([0, 2, 3], [1.0, None, 2.0])
    [weights] = [chart for chart in charts if chart["title"].startswith("weights")]
    assert [each["label"] for each in weights["series"]] == ["step 0", "step 3"]


def test_write_by_command_prints_the_place_of_the_page(trained, tmp_path, capsys):
    assert cli.main(["report", f"--model_dir={trained}", f"--output={tmp_path}/a.html"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/a.html\n"
    assert "The worst errors" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize("args, sentence", [
    ([], "got no directory"), (["digits"], "model_dir is 'digits' (from the command line), which"),
    (["--model_dir=/none"], "model_dir is '/none'"), (["--model_dir=a", "--port=-1"], "port is -1"),
    (["--model_dir=a", "--train_steps=1"], "flag --train_steps")])
def test_write_refuses_a_mistake_in_one_sentence(args, sentence, capsys):
    assert cli.main(["report", *args]) == 2
    text = capsys.readouterr().err
    assert sentence in text and "For example: " in text or "expected a flag" in text
    assert "Traceback" not in text


def test_write_that_fails_is_one_sentence(trained, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.ConfigError, match="output is '.*file/page.html'"):
        page.write([str(trained)], f"{tmp_path}/file/page.html")
