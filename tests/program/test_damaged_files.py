"""A file of a model_dir that is JSON of another shape is one sentence, and never a traceback."""

from __future__ import annotations

import json
import math

import hypothesis
from hypothesis import strategies
import numpy as np
import pytest

from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.evaluation import exporters, judgement
from estimator_trainer.evaluation.regression import Regression
from estimator_trainer.record import record_file, recorded_run, runs
from estimator_trainer.reports import history, page, show
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs, line_model, run_files

_CONTENTS = run_files.contents()

_OTHERS = (None, -1, 1.5, "x", "", [], [1], {}, {"a": 1}, True, 10**400, math.nan, math.inf,
           "\ud800", "a\0b", [[[None]]])

_CASES = [(name, place) for name, content in _CONTENTS.items()
          for place in run_files.places(content)]

_JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() |
    strategies.text() | strategies.sampled_from(_OTHERS),
    lambda each: strategies.lists(each, max_size=3) | strategies.dictionaries(
        strategies.text(max_size=8) | strategies.sampled_from(
            ("step", "kind", "time", "name", "examples", "runs")), each, max_size=3), max_leaves=5)

_BOUNDED = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": [
    hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow]}

_DAMAGES = {
    "history.jsonl": ((1, "time"), "yesterday", "in line 2, time is 'yesterday'; expected seconds"),
    "best.json": (("value",), "0.1", "value is '0.1'; expected a number. The best value so far is"
                  " not known"),
    "result.json": (("metrics", "loss"), [], "metrics.loss is a list; expected a finite number"),
    "evaluation.json": (("points",), None, "points is null; expected an object")}


def _content(path):
    text = path.read_text()
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else (
        json.loads(text))


@pytest.mark.cluster
def test_a_training_whose_history_and_other_files_are_damaged_ends_done(tmp_path):
    plugin, model_dir = line_model.write(tmp_path), tmp_path / "model"
    args = (f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={model_dir}",
            "--exporters=best,final", "--num_evaluations=1", "--report")
    first = jobs.trainer(*args, "--train_steps=10")
    assert first.returncode == 0, first.stderr
    for name, (place, value, _) in _DAMAGES.items():
        run_files.write(model_dir, name, run_files.changed(
            _content(model_dir / name), place, value))
    # The same command finds that nothing is left to train, and writes the result again.
    again = jobs.trainer(*args, "--train_steps=10")
    assert again.returncode == 0, again.stderr
    assert "role=local status=done step=10 reason=train_steps" in again.stderr
    for name in ("history.jsonl", "result.json"):
        assert again.stderr.count(f"/{name} is damaged: {_DAMAGES[name][2]}") == 1, again.stderr
    assert "step 10 was evaluated before" in again.stderr and "Traceback" not in again.stderr
    assert jobs.result(model_dir)["metrics"]["loss"] > 0

    run_files.write(model_dir, "history.jsonl", run_files.changed(
        _content(model_dir / "history.jsonl"), (0, "time"), "x"))
    run_files.write(model_dir, "best.json", run_files.changed(
        _content(model_dir / "best.json"), ("value",), "0.1"))
    more = jobs.trainer(*args, "--train_steps=20")
    assert more.returncode == 0, more.stderr
    assert more.stderr.rstrip().endswith("role=local status=done step=20 reason=train_steps")
    assert more.stderr.count("time is 'x'; expected seconds") == 1, more.stderr
    assert more.stderr.count(_DAMAGES["best.json"][2]) == 1, more.stderr
    assert "Traceback" not in more.stderr
    assert json.loads((model_dir / "best.json").read_text())["step"] == 20
    steps = [line["step"] for line in _content(model_dir / "history.jsonl")
             if line["kind"] == "end"]
    assert steps == [10, 10, 20]


@pytest.mark.cluster
def test_a_damaged_record_is_refused_by_training_and_shown_by_show(tmp_path):
    plugin, model_dir = line_model.write(tmp_path), tmp_path / "model"
    args = (f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={model_dir}",
            "--num_evaluations=0", "--exporters=none", "--train_steps=10")
    assert jobs.trainer(*args).returncode == 0
    before = (model_dir / "record.json").read_text()
    run_files.write(model_dir, "record.json", run_files.changed(
        json.loads(before), ("runs", 0, "from_step"), "x"))
    damaged = (model_dir / "record.json").read_text()
    refused = jobs.trainer(*args)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    sentence = (f"{model_dir}/record.json is damaged: runs[0].from_step is 'x'; expected an"
                " integer. Restore the file, or remove it")
    assert sentence in refused.stderr
    assert (model_dir / "record.json").read_text() == damaged
    run_files.write(model_dir, "record.json", run_files.changed(
        json.loads(before), ("params", "scale"), "x"))
    refused = jobs.trainer(*args)
    assert refused.returncode == 2 and (
        f"param scale is 'x' (from {model_dir}/record.json); expected a number. For example:"
        " --param scale=1.0") in refused.stderr
    (model_dir / "record.json").write_text(damaged)
    shown = jobs.trainer("show", f"--model_dir={model_dir}")
    assert shown.returncode == 0 and sentence in shown.stdout and "step 10" in shown.stdout
    made = jobs.trainer("report", f"--model_dir={model_dir}")
    assert made.returncode == 0 and sentence in made.stderr


def _write_all(folder, *changed):
    folder.mkdir(exist_ok=True)
    for name, content in {**_CONTENTS, **dict(changed)}.items():
        run_files.write(folder, name, content)
    return str(folder)


def _read(model_dir):
    """Reads the files in each way; returns the sentences that the readers tell of damages."""
    reported = []
    checkpoints.read_best(model_dir, reported.append)
    checkpoints.read_result(model_dir, reported.append)
    judgement.read(model_dir, reported.append)
    history.read(model_dir, reported.append)
    record_file.read_if_whole(model_dir, reported.append)
    runs.as_recorded(model_dir)
    return reported


def _show(model_dir):
    """Runs `show` in both forms, `report` and a comparison."""
    text = show.show(model_dir, as_json=False)
    content = json.loads(show.show(model_dir, as_json=True))
    text.encode()
    path = page.write([model_dir])
    page.write([model_dir, model_dir], f"{model_dir}/comparison.html")
    with open(path, encoding="utf-8") as file:
        return content, text, file.read()


def _resume(model_dir):
    """Takes the settings of the record, as a training that goes on does."""
    with open(f"{model_dir}/checkpoint", "w", encoding="utf-8"):
        pass
    config = TrainerConfig(model_dir=model_dir)
    found = recorded_run.find(config, frozenset(), is_training=True, read=recorded_run.read_local)
    return found.settings(config)


@pytest.mark.parametrize("name, place, value, sentence", [
    ("best.json", (), [1], "best.json is damaged: the file is a list; expected an object."),
    ("best.json", ("value",), "x", "value is 'x'; expected a number."),
    ("best.json", ("value",), math.nan, "value is nan; expected a number."),
    ("best.json", ("step",), 1.5, "step is 1.5; expected an integer."),
    ("best.json", ("step",), True, "step is true; expected an integer."),
    ("result.json", ("status",), "running", "status is 'running'; expected one of 'done', "),
    ("result.json", ("metrics", "loss"), "x", "metrics.loss is 'x'; expected a finite number or"
     " null."),
    ("result.json", ("metrics", "global_step"), 1.5, "expected numbers, with an integer as"
     " global_step."),
    ("result.json", ("exports",), {"a": 1}, "exports is an object; expected a list."),
    ("evaluation.json", ("kind",), "other", "kind is 'other'; expected one of 'classification', "),
    ("evaluation.json", ("matrix", "names"), ["a"], "expected counts of each pair of names or"
     " null."),
    ("evaluation.json", ("matrix", "counts", 0, 1), "x", "matrix.counts[0][1] is 'x'; expected an"
     " integer of at least 0."),
    ("evaluation.json", ("worst", 0), {}, "worst[0] has no 'inputs'; expected an object with"),
    ("record.json", ("runs", 0, "from_step"), "x", "record.json is damaged: runs[0].from_step is"
     " 'x'; expected an integer. Restore the file, or remove it"),
    ("record.json", ("plugins", "model_fn", "git"), [], "plugins.model_fn.git is a list;"),
    ("record.json", ("given",), 3, "given is 3; expected a list."),
    ("record.json", ("params", "scale"), 10**400, "expected a number that a float can hold."),
    ("record.json", ("unrecorded", "api_key"), 5, "unrecorded.api_key is '****'; expected a text"),
    ("history.jsonl", (0, "time"), "x", "in line 1, time is 'x'; expected seconds since 1970."),
    ("history.jsonl", (0, "time"), 1e300, "in line 1, time is 1e+300;"),
    ("history.jsonl", (4, "step"), [], "in line 5, step is a list; expected an integer or null."),
    ("history.jsonl", (5, "metrics"), None, "in line 6, metrics is null; expected an object."),
    ("history.jsonl", (6, "status"), "", "in line 7, status is ''; expected a text that is not"),
])
def test_a_damaged_file_is_one_sentence_and_the_rest_is_shown(
        tmp_path, name, place, value, sentence):
    model_dir = _write_all(tmp_path / "m", (name, run_files.changed(_CONTENTS[name], place, value)))
    reported = _read(model_dir)
    [text] = reported
    assert f"/m/{name} is damaged: " in text and sentence in text
    assert "\n" not in text and len(text) < 700
    content, text, html = _show(model_dir)
    shown_in = text if name in ("best.json", "result.json", "record.json") else html
    assert f"/m/{name} is damaged: " in shown_in
    if shown_in is text:
        assert content["damaged"] == reported
    for other in {"best", "result", "record"} - {name.partition(".")[0]}:
        assert content[other]
    assert "0.5" in html and "Training and evaluation" in html


@pytest.mark.parametrize("text, why", [
    ("", "the file is empty"), (" \n", "the file is empty"), ('{"a": 1', "is not JSON: Expecting"),
    ("[" * 100_000, "on more than 100 levels"), ("[" * 500 + "]" * 500, "on more than 100 levels"),
    ("9" * 5000, "is not JSON"), ('{"step": "\\ud800"}', "step has half a character")])
@pytest.mark.parametrize("name", ["best.json", "result.json", "evaluation.json", "record.json"])
def test_a_text_that_no_program_can_use_is_one_sentence(tmp_path, name, text, why):
    model_dir = _write_all(tmp_path / "m")
    (tmp_path / "m" / name).write_text(text)
    reported = _read(model_dir)
    assert len(reported) == 1 and why in reported[0], reported
    assert "Traceback" not in "".join(map(str, _show(model_dir)))


def test_keys_of_newer_and_older_versions_are_taken(tmp_path):
    newer = {name: {**content, "newer": [1]} for name, content in _CONTENTS.items()
             if isinstance(content, dict)}
    newer["record.json"]["runs"][0]["newer"] = 1
    newer["evaluation.json"]["matrix"] = {**newer["evaluation.json"]["matrix"], "newer": 1}
    lines = [{**line, "newer": 1} for line in _CONTENTS["history.jsonl"]]
    lines.append({"task": "local", "kind": "newer", "time": 1.0, "step": "any"})
    model_dir = _write_all(tmp_path / "m", *newer.items(), ("history.jsonl", lines))
    assert not _read(model_dir) and len(history.read(model_dir)) == len(lines)
    _show(model_dir)
    # A run that is kept keeps what a newer version knows of the run.
    assert record_file.read(model_dir).runs[0]["newer"] == 1

    old_result = {name: value for name, value in _CONTENTS["result.json"].items()
                  if name not in ("was_finished", "note")}
    old_run = {name: _CONTENTS["record.json"]["runs"][0][name]
               for name in ("began", "from_step", "command")}
    model_dir = _write_all(tmp_path / "old", ("result.json", old_result),
                           ("record.json", {"format": 1, "runs": [old_run]}))
    assert not _read(model_dir) and checkpoints.read_result(model_dir).note == ""
    assert "it runs, or was killed" in show.show(model_dir, as_json=False)


def test_what_the_program_writes_is_read(tmp_path):
    assert not _read(_write_all(tmp_path / "m"))
    judge = Regression()
    for label in (1e200, -1e200, 0.0):
        judge.add(label, 0.0, {})
    with np.errstate(over="ignore", invalid="ignore"):
        large = {**judge.content(), "step": 1, "evaluated": 3}
    for content in (run_files.of_regression(), large):
        model_dir = _write_all(tmp_path / "m", ("evaluation.json", content))
        assert not _read(model_dir) and "residuals" in _show(model_dir)[2]


def test_damaged_lines_are_counted_and_the_others_are_kept(tmp_path):
    lines = [*_CONTENTS["history.jsonl"], {"task": 1}, [], "x", {}]
    model_dir, reported = _write_all(tmp_path / "m", ("history.jsonl", lines)), []
    assert history.read(model_dir, reported.append) == _CONTENTS["history.jsonl"]
    [sentence] = reported
    assert "in line 9, the file has no 'kind'" in sentence and "(and 3 more lines)" in sentence


def test_an_unknown_best_value_gives_way_to_the_next(tmp_path, caplog):
    model_dir = _write_all(tmp_path / "m", ("best.json", {"metric": "loss", "value": "1.0"}))
    best, config = checkpoints.read_best(model_dir), TrainerConfig(model_dir=model_dir)
    assert exporters.is_best({"loss": 9.0}, best, config)
    assert "The best value so far is not known" in caplog.text and "best_checkpoint" in caplog.text
    # An infinite value may be the best, and none is better than NaN.
    run_files.write(tmp_path / "m", "best.json", {**_CONTENTS["best.json"], "value": math.inf})
    assert checkpoints.read_best(model_dir).value == math.inf


def test_an_evaluator_and_an_export_do_not_fail_for_a_damaged_record(tmp_path, caplog):
    model_dir = _write_all(tmp_path / "m", ("record.json", {"runs": 5}))
    (tmp_path / "export").mkdir()
    assert not runs.as_recorded(model_dir).note
    record_file.copy_into(str(tmp_path / "export"), model_dir, 10)
    assert caplog.text.count("runs is 5; expected a list") == 2


@pytest.mark.parametrize("name, value, expected", [
    ("train_steps", "x", "settings.train_steps is 'x'; expected an integer"),
    ("train_steps", math.inf, "settings.train_steps is inf; expected an integer"),
    ("exporters", "best", "settings.exporters is 'best'; expected a list"),
    ("exporters", [1], "settings.exporters[0] is 1; expected a text"),
    ("peer_timeout_secs", None, "settings.peer_timeout_secs is null; expected")])
def test_a_resume_takes_no_setting_of_another_type(tmp_path, name, value, expected):
    model_dir = _write_all(tmp_path / "m", ("record.json", run_files.changed(
        _CONTENTS["record.json"], ("settings", name), value)))
    with pytest.raises(errors.ConfigError) as raised:
        _resume(model_dir)
    assert f"/m/record.json is damaged: {expected}" in str(raised.value)


def _examine(folder, name, content):
    model_dir = _write_all(folder, (name, content))
    for use in (_read, _show, _resume):
        try:
            use(model_dir)
        except errors.TrainerError as error:
            assert str(error) and "Traceback" not in str(error)


@hypothesis.settings(max_examples=60, **_BOUNDED)
@hypothesis.given(case=strategies.sampled_from(_CASES), value=_JSON)
@pytest.mark.soak
def test_no_json_ends_in_a_traceback(tmp_path, case, value):
    _examine(tmp_path / "m", case[0], run_files.changed(_CONTENTS[case[0]], case[1], value))


@pytest.mark.soak
@pytest.mark.timeout(3600)
@hypothesis.settings(max_examples=5_000, **_BOUNDED)
@hypothesis.given(case=strategies.sampled_from(_CASES), value=_JSON)
def test_no_json_at_all_ends_in_a_traceback(tmp_path, case, value):
    _examine(tmp_path / "m", case[0], run_files.changed(_CONTENTS[case[0]], case[1], value))


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", list(_CONTENTS))
def test_each_value_of_each_file_may_be_another_or_missing(tmp_path, name):
    contents = [_CONTENTS[name], *([run_files.of_regression()] * (name == "evaluation.json"))]
    for content in contents:
        for place in run_files.places(content):
            for value in _OTHERS:
                _examine(tmp_path / "m", name, run_files.changed(content, place, value))
            if place:
                _examine(tmp_path / "m", name, run_files.without(content, place))
