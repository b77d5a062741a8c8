"""Several runs beside each other: which is best, what differs, and when each task ran."""

from __future__ import annotations

import json
import re

import pytest

import estimator_trainer
from estimator_trainer import cli, errors
from estimator_trainer.reports import (compared_settings, comparison, markup, metric_direction,
                                       run_files, run_names)
from tests.support import compared_runs, run_files as damaged_files
from tests.support.compared_runs import Run

_HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def _compared(folders, now=compared_runs.BEGAN + 1e4):
    runs = run_names.named([run_files.read(str(each)) for each in folders])
    return str(comparison.section(runs, markup.Charts(), now))


def _rows(page):
    """Returns the texts of the cells of each row by its heading."""
    rows = {}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page):
        cells = [re.sub(r"<[^>]+>", "", each) for each in re.findall(
            r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        rows.setdefault(cells[0], cells[1:])
    return rows


@pytest.fixture(name="folders")
def fixture_folders(tmp_path):
    return [compared_runs.write(tmp_path / "slow/model", Run((0.5, 0.7), 0.01)),
            compared_runs.write(tmp_path / "fast/model", Run((0.5, 0.9, 0.85), 0.1)),
            compared_runs.write(tmp_path / "bad/model", Run(
                (0.3,), 10.0, "failed", "the loss became NaN",
                ("chief:0", "worker:0", "worker:1")))]


def test_comparison_names_the_best_run_and_what_it_alone_has(folders):
    page = _compared(folders)
    assert "Best accuracy: 0.9, of fast at step 200. Next: 0.7, of slow." in page
    assert "What differs in fast alone: param learning_rate 0.1." in page
    rows = _rows(page)
    assert rows["accuracy (higher is better)"] == ["0.7", "0.85 best", "0.3"]
    assert rows["accuracy at its best step"] == [
        "0.7 step 200", "0.9 best step 200", "0.3 step 100"]
    assert rows["loss (lower is better)"] == ["0.3", "0.15 best", "0.7"]
    # Nobody knows which mean of labels would be better.
    assert rows["label/mean"] == ["0.5", "0.5", "0.5"]
    assert rows["status"] == ["done train_steps", "done train_steps", "failed the loss became NaN"]
    assert rows["wall time"][0] == "90.0 s" and rows["examples/s, all tasks"][2] == "3,000"


def test_comparison_shows_only_settings_that_differ(folders):
    rows = _rows(_compared(folders))
    assert rows["param learning_rate"] == ["0.01", "0.1", "10"]
    assert rows["tasks"] == ["one process", "one process", "1 chief, 2 worker"]
    assert rows["command"][0] == "estimator-trainer --param=learning_rate=0.01"
    assert not {"param units", "version of python", "--train_steps", "model_fn"} & rows.keys()


def test_comparison_shows_the_tasks_on_one_clock(folders):
    rows = re.findall(r'<td>(\w+:?\d?)</td><td><div class="life".*?left:([\d.]+)%;width:([\d.]+)%',
                      _compared(folders))
    # The longest run takes 130 s.
    assert rows == [("local", "0.00", "69.23"), ("local", "0.00", "100.00"),
                    ("chief:0", "0.00", "38.46"), ("worker:0", "0.00", "38.46"),
                    ("worker:1", "0.00", "38.46")]


def test_comparison_marks_nothing_where_all_are_equal(tmp_path):
    page = _compared([compared_runs.write(tmp_path / name) for name in "ab"])
    assert 'class="best"' not in page and "Best " not in page
    assert "have the same plug-ins, params, settings, data and versions" in page


def test_comparison_shows_that_evaluations_had_other_data(tmp_path):
    folders = [compared_runs.write(tmp_path / name, Run((0.5, accuracy)))
               for name, accuracy in (("a", 0.8), ("b", 0.7), ("c", 0.8))]
    history = folders[2] / "history.jsonl"
    history.write_text(history.read_text().replace('"examples": 200', '"examples": 20').replace(
        "0.8", "0.99"))
    page = _compared(folders)
    assert "other data than most runs, and therefore not ranked: c (20 examples)" in page
    assert _rows(page)["accuracy (higher is better)"] == ["0.8 best", "0.7", "0.8"]


def test_comparison_shows_recall_of_each_class_beside_each_other(tmp_path):
    folders = [compared_runs.write(tmp_path / name) for name in "ab"]
    for folder, recall in zip(folders, (0.25, 0.75)):
        content = damaged_files.contents()["evaluation.json"]
        content["per_class"][1]["recall"] = recall
        damaged_files.write(folder, "evaluation.json", content)
    rows = _rows(_compared(folders))
    assert rows["yes"] == ["0.25", "0.75", "0.5"]
    # The classes are certain, and two of three examples right: the area by hand.
    assert rows["ROC AUC, of several classes their mean (higher is better)"] == ["0.75", "0.75"]


def test_comparison_shows_the_importance_of_columns_beside_each_other(tmp_path):
    folders = [compared_runs.write(tmp_path / name) for name in "ab"]
    for folder, drop in zip(folders, (0.25, 0.01)):
        content = damaged_files.of_regression()
        content["columns"] = {"secs": 1.0, "importance": {
            "metric": "R²", "base": 0.9, "rows": 20, "repeats": 5, "columns": 2, "tried": 2,
            "found": [{"name": name, "drop": value, "deviation": 0.001}
                      for name, value in (("age", 0.1), ("<b>", drop))]}}
        damaged_files.write(folder, "evaluation.json", content)
    rows = _rows(_compared(folders))
    assert rows["&lt;b&gt;"] == ["0.25", "0.01"] and rows["age"] == ["0.1", "0.1"]
    assert list(rows).index("&lt;b&gt;") < list(rows).index("age")
    assert rows["mean absolute error (lower is better)"][0] == rows[
        "mean absolute error (lower is better)"][1]


def test_comparison_escapes_everything(tmp_path):
    folders = [compared_runs.write(tmp_path / "a"), compared_runs.write(
        tmp_path / "b<img src=x onerror=alert(1)>", Run(params={_HOSTILE: _HOSTILE}))]
    record = json.loads((folders[1] / "record.json").read_text())
    record["runs"][0]["command"] = [_HOSTILE]
    record["plugins"]["model_fn"]["name"] = record["settings"][_HOSTILE] = _HOSTILE
    (folders[1] / "record.json").write_text(json.dumps(record))
    history = folders[1] / "history.jsonl"
    history.write_text(history.read_text().replace('"local"', json.dumps(_HOSTILE)).replace(
        '"accuracy"', json.dumps(_HOSTILE)))
    page = _compared(folders)
    assert "alert(1)" in page and "<script" not in page and "<img" not in page
    assert not re.search(r"<[^>]*\sonerror=", page.replace("&quot;", ""))


@pytest.mark.parametrize("name, direction", [
    ("accuracy", "max"), ("loss", "min"), ("average_loss", "min"), ("auc", "max"),
    ("auc_precision_recall", "max"), ("accuracy_baseline", ""), ("label/mean", ""),
    ("head/precision_1", "max"), ("r2", "max"), ("RootMeanSquaredError", "min"),
    ("recall_at_5", "max"), ("prediction/mean", ""), ("false_positives", "min"),
    ("log_likelihood", "max"), ("negative_log_likelihood", "min"), ("mine", ""),
    ("mean_average_precision", "max"), ("precision/positive_threshold_0.500000", "max")])
def test_direction_follows_the_name_of_a_metric(name, direction):
    assert metric_direction.of_metric(name) == direction


def test_direction_is_that_of_best_mode():
    settings = {"best_metric": "mine", "best_mode": "max"}
    assert metric_direction.of_metric("mine", settings) == "max"
    assert metric_direction.of_metric("loss", settings) == "min"


@pytest.mark.parametrize("paths, names", [
    (["/r/a", "/r/b"], ["a", "b"]), (["/r/a/model", "/r/b/model/"], ["a", "b"]),
    (["/r/x/1", "/s/y/1", "/s/x/1"], ["r/x", "s/y", "s/x"]), (["/r", "/r/a"], ["r", "a"]),
    (["gs://one/job", "gs://two/job"], ["one", "two"]), (["a/m", "b/a/m"], ["a", "b/a"])])
def test_names_are_the_shortest_that_differ(paths, names):
    assert run_names.of_paths(paths) == names


@pytest.mark.parametrize("values, texts", [
    ([0.1, 0.2], ["0.1", "0.2"]), ([0.12345678, 0.12345679], ["0.12345678", "0.12345679"]),
    ([None, 1], [None, "1"]), ([1, 1.0], ["1", "1"]), (["a", True], ["a", "true"])])
def test_values_are_shown_fully_enough_to_differ(values, texts):
    assert compared_settings.shown(values) == texts


def test_equal_numbers_do_not_differ(tmp_path):
    folders = [compared_runs.write(tmp_path / name, Run(learning_rate=rate))
               for name, rate in (("a", 1), ("b", 1.0))]
    assert "param learning_rate" not in _rows(_compared(folders))


def test_long_values_are_cut_where_they_differ():
    one, two = compared_settings.shown([500 * "a" + "b" + 500 * "a", 1001 * "a"])
    assert "b" in one and "b" not in two and len(one) < 300


@pytest.mark.parametrize("words, sentence", [
    (["{0}", "{0}/../a"], "a' (from the command line), which is named twice as '"),
    (["{0}", "{1}/none"], "none' (from the command line), which does not exist; expected"),
    (["{0}", "{0}/record.json"], "which is a file"),
    (["{1}/*/none"], "which matches no directory;"),
    (["{1}/empty"], "and no folder with them")])
def test_report_refuses_a_mistake_in_one_sentence(tmp_path, capsys, words, sentence):
    folder = compared_runs.write(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    words = [each.format(folder, tmp_path) for each in words]
    assert cli.main(["report", *words]) == 2
    text = capsys.readouterr().err
    assert sentence in text and "For example: estimator-trainer report /tmp/digits" in text
    with pytest.raises(errors.ConfigError) as caught:
        estimator_trainer.report(words)
    assert "(from model_dir=)" in str(caught.value) and "model_dir='/tmp/digits'" in str(
        caught.value)


def test_report_takes_directories_a_pattern_and_flags(tmp_path, capsys):
    for name in ("a1", "a2", "b"):
        compared_runs.write(tmp_path / name)
    output = tmp_path / "all.html"
    assert cli.main(["report", f"{tmp_path}/a*", f"--model_dir={tmp_path}/b",
                     f"--output={output}"]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    assert "<title>a1, a2, b</title>" in output.read_text()
