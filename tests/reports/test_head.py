"""The head of a page says how far a run is, and from when each of its figures is."""

from __future__ import annotations

import pytest

from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.reports import head, run_files, task_lives
from estimator_trainer.result import Result


def _run(lines, result=None, record=None, checkpoint=""):
    return run_files.RunFiles("/tmp/<b>", record, lines, result, None,
                              run_files.Events({}, {}, True), [], [], [], checkpoint=checkpoint)


def _line(kind, time, task="chief:0", **values):
    return {"task": task, "kind": kind, "time": time, **values}


def _running(**begun):
    return [_line("start", 100.0), _line("start", 100.0, "worker:0"),
            _line("trains", 101.0, step=0, **begun), _line("train", 110.0, step=100, loss=1.0),
            _line("train", 115.0, "worker:0", step=150, loss=1.0),
            _line("evaluation", 116.0, step=100, metrics={"accuracy": 0.83, "loss": 0.4}),
            _line("train", 120.0, step=200, loss=0.9)]


def _shown(lines, now=123.0, **files):
    run = _run(lines, **files)
    return str(head.section(run, task_lives.of_tasks(lines, now), now))


def test_section_of_a_running_job_has_step_and_time_left():
    shown = _shown(_running(max_steps=1000, metric=""))
    assert "<b>step 200</b> of 1,000 &middot; 20 %" in shown and 'max="1000" value="200"' in shown
    # 100 steps took 10 s since the first line: the other 800 take 80.
    assert 'data-at="200.000" data-shows="left"' in shown
    assert 'data-at="120.000" data-shows="age"' in shown
    assert "accuracy at step 100" in shown and "<b>0.83</b>" in shown and "/tmp/&lt;b&gt;" in shown


def test_section_of_a_training_until_no_improvement_has_the_rule():
    shown = _shown(_running(max_steps=1000, metric="<auc>"))
    assert "until no better &lt;auc&gt;, at most 1,000" in shown and "ETA at most" in shown


@pytest.mark.parametrize("begun", [{}, {"max_steps": None, "metric": ""}])
def test_section_invents_no_last_step(begun):
    shown = _shown(_running(**begun))
    assert "step 200" in shown and "ETA" not in shown and "<progress" not in shown


def test_section_of_a_finished_run_has_the_best_evaluation_and_paths():
    lines = _running(max_steps=300, metric="")
    lines += [_line("end", 130.0, status="done", step=300, reason="train_steps", exit_code=0),
              _line("end", 131.0, "worker:0", status="done", step=300, reason="", exit_code=0)]
    result = Result("chief:0", "done", 300, "train_steps",
                    {"accuracy": 0.8, "loss": 0.5, "global_step": 300}, ("/tmp/export/1",))
    record = RunRecord(settings={"best_metric": "accuracy", "best_mode": "max"})
    shown = _shown(lines, 1000.0, result=result, record=record, checkpoint="/tmp/model.ckpt-300")
    for part in ("accuracy at step 300", "best accuracy, at step 100", "31.0 s", "wall time",
                 "/tmp/export/1", "/tmp/model.ckpt-300"):
        assert part in shown, part
    assert "ETA" not in shown and "data-at" not in shown


def test_wall_secs_leaves_out_pauses_between_runs():
    lives = {"local": [task_lives.Life(0.0, 10.0), task_lives.Life(1000.0, 1005.0)],
             "ps:0": [task_lives.Life(2.0, 12.0)]}
    assert head.wall_secs(lives) == 17.0
