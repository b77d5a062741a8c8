"""The section "What to look at": at most five hints, the most important first."""

from typing import Any, Mapping, Sequence

from absl import logging

from estimator_trainer.evaluation import curve_hints, data_hints, hints
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.reports import markup, task_lives, task_load
from estimator_trainer.reports.run_files import RunFiles
from estimator_trainer.result import Result

MOST = 5


def section(run: RunFiles, lives: Mapping[str, Sequence[task_lives.Life]]) -> markup.Markup:
    """Returns the section; empty if the figures support no hint."""
    found = of_run(run, lives)[:MOST]
    rows = "".join(f"<li>{markup.text(_capitalised(each))}.</li>" for each in found)
    return markup.section("What to look at", f'<ul class="hints">{rows}</ul>' if rows else "")


def _capitalised(hint: str) -> str:
    """Returns a hint as a sentence; the name of a task stays as it is."""
    return hint if ":" in hint.split()[0] else hint[:1].upper() + hint[1:]


def of_run(run: RunFiles, lives: Mapping[str, Sequence[task_lives.Life]]) -> list[str]:
    """Returns a sentence for each thing that the user should look at, the most important first.

    `lives` are those of the run's tasks.
    """
    course = of_history(run.lines, run.result, run.record)
    try:
        found = _of_judged(run, run.judgement, course) if run.judgement else course
    except KeyError:
        found = course  # An earlier version wrote fewer entries.
    _, slow = task_load.slowest(task_load.of_run(run))
    return [*task_lives.hints(lives), *([slow.removesuffix(".")] if slow else ()), *found]


def _of_judged(run: RunFiles, content: Mapping[str, Any], course: Sequence[str]) -> list[str]:
    params = _params(run.record)
    losses = [loss for _, loss in _losses(run.lines, "train")]
    return [*data_hints.of_leak(content, params), *hints.of_answers(content),
            *(hints.of_training([losses[0], *losses], content, params) if losses else ()),
            *course, *data_hints.of_few(content), *data_hints.of_drift(content),
            *data_hints.of_unseen(content), *data_hints.of_certainty(content),
            *data_hints.of_missed(content),
            *data_hints.of_slices(content)]


def of_history(lines: Sequence[Mapping[str, Any]], result: Result | None,
               record: RunRecord | None) -> list[str]:
    """Returns the hints on the course of a training that has ended."""
    if result is None or result.status != "done":
        return []
    settings = record.settings if record else {}
    epochs = settings.get("train_epochs", 0)
    course = curve_hints.Course(
        _losses(lines, "train"), _losses(lines, "evaluation"), result.step, result.reason,
        epochs if isinstance(epochs, int) else 0, result.task == "local")
    return curve_hints.of_course(course, _params(record))


def log(run: RunFiles) -> None:
    """Logs the hints on the course of a training; the others are logged after the evaluation."""
    for hint in of_history(run.lines, run.result, run.record):
        logging.warning("%s.", hint)


def _params(record: RunRecord | None) -> dict[str, Any]:
    return {**record.params, **record.unrecorded} if record else {}


def _losses(lines: Sequence[Mapping[str, Any]], kind: str) -> list[tuple[int, float]]:
    """Returns the losses (step, loss) of the first task with lines of a kind."""
    found = [line for line in lines if line["kind"] == kind]
    task = found[0]["task"] if found else ""
    if kind == "train":
        points = [(line["step"], line.get("loss")) for line in found if line["task"] == task]
    else:
        points = [(line["step"], line.get("metrics", {}).get("loss")) for line in found]
    kept: list[tuple[int, float]] = []
    for step, loss in points:
        if isinstance(step, int) and isinstance(loss, (int, float)):
            # A resumed run repeats the steps after its checkpoint.
            while kept and kept[-1][0] >= step:
                kept.pop()
            kept.append((step, float(loss)))
    return kept
