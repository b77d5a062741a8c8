"""A training goes on in a model_dir whose files are JSON of another shape, and ends as it would."""

from __future__ import annotations

import json

import pytest

from tests.support import jobs, line_model, run_files

pytestmark = pytest.mark.cluster
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


def test_a_training_whose_history_and_other_files_are_damaged_ends_done(tmp_path):
    plugin, model_dir = line_model.write(tmp_path), tmp_path / "model"
    args = (f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={model_dir}",
            "--exporters=best,final", "--num_evaluations=1", "--report")
    first = jobs.trainer(*args, "--train_steps=10")
    assert first.returncode == 0, first.stderr
    for name, (place, value, _) in _DAMAGES.items():
        run_files.write(model_dir, name, run_files.changed(
            _content(model_dir / name), place, value))
    # The same command finds that nothing is left to train, and writes the result anew.
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


def test_a_damaged_record_is_refused_before_training_and_told_by_show(tmp_path):
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
