"""The curves of a training: by step, time since its start, time of day, or epoch.

A chart of curves is a dict as in charts.py, but has `runs` in place of `data`. Each of `runs` has
`start`, the time of its step 0 in seconds since 1970, and `epoch`, the steps of an epoch, where
that is known. Each of its series has

  run: the index of its run;
  colour, dash: numbers, the same for a run, or for a task within a run, in all charts;
  step, secs, value: a list each, with the seconds since `start`. A value of null is a gap.

The kinds of series are "line", "dots" (a line with a dot at each point), and "low" and "high", the
edges of a band. `best` of a chart is "min", "max" or "".
"""

import dataclasses
import itertools
import math
from typing import Any, Callable, Iterable, NamedTuple, Sequence

from estimator_trainer.reports import charts, many_tasks, metric_direction, task_lives, task_load
from estimator_trainer.reports.charts import Chart
from estimator_trainer.reports.run_files import Point, RunFiles, without_repeats

_MOST_POINTS = 400
# The points of all series of a chart, of which there may be forty.
_MOST_CELLS = 3_000
_MOST_METRICS = 40
# The points of all curves of a run in its JSON file, which then has about 1 MB.
_MOST_OF_RUN, _LEAST_POINTS = 40_000, 20
# Entries of the lines of training in history.jsonl.
_KEYS = ("loss", "examples_per_sec", "steps_per_sec", "input_wait", "memory_mb")
# Values of an evaluation that are no metrics of the model.
_NO_METRICS = ("global_step", "eval_name")


@dataclasses.dataclass(frozen=True)
class _Curve:
    """A series of a chart; `look` is the number of its colour and of its dashes."""

    label: str
    kind: str
    points: Sequence[Point]
    run: int
    look: tuple[int, int]


class _Run:
    """A run among those of a page: its start, its epoch, and its tasks' looks and deaths."""

    def __init__(self, files: RunFiles, index: int, num_runs: int):
        self.files, self.index = files, index
        self.prefix = f"{files.name} " if num_runs > 1 else ""
        self._is_alone = num_runs == 1
        self._lives = task_lives.of_tasks(files.lines, 0.0)
        self._tasks = list(dict.fromkeys(line["task"] for line in files.of_kind("train")))
        self._tasks.sort(key=list(self._lives).index)
        # The tasks of training come first, so that the tasks' events are those of the first.
        self.head = self._tasks[0] if self._tasks else next(iter(self._lives), "")
        self.start = self._start()

    def _start(self) -> float:
        lines = self.files.of_kind("trains") or self.files.lines
        scalars = self.files.events.scalars.values()
        times = [lines[0]["time"]] if lines else [
            *self.files.evaluation_times, *(points[0].time for points in scalars)]
        return min(times, default=0.0)

    @property
    def epoch(self) -> float | None:
        """The steps of an epoch; None if the examples of the data or of a step are not known."""
        data = self.files.record.data if self.files.record else {}
        sizes = data.get("train_examples"), data.get("global_batch_size")
        examples, batch = (each if isinstance(each, int) else 0 for each in sizes)
        return examples / batch if examples > 0 and batch > 0 else None

    def look(self, task: str = "", is_evaluation: bool = False) -> tuple[int, int]:
        """Returns the numbers of a task's colour and dashes, or those of the run among several."""
        if not self._is_alone:
            return self.index, self.index
        if is_evaluation:
            return 1, 0
        place = self._tasks.index(task) if task in self._tasks else 0
        return (place + 1, place) if place else (0, 0)

    def with_gaps(self, task: str, points: Iterable[Point]) -> list[Point]:
        """Returns the points of a task, with one without a value wherever it was dead."""
        starts = [life.start for life in self._lives.get(task, [])[1:]]
        kept: list[Point] = []
        for point in points:
            if kept and any(kept[-1].time < start <= point.time for start in starts):
                before = kept[-1]
                kept.append(Point((before.step + point.step) / 2, (before.time + point.time) / 2,
                                  None))
            kept.append(point)
        return kept

    def of_tasks(self, key: str, factor: float = 1.0) -> dict[str, list[Point]]:
        """Returns the curve of each task from the lines of training, or from its samples."""
        found: dict[str, list[Point]] = {task: [] for task in self._tasks}
        is_sampled = key in task_load.SAMPLED
        for line in self.files.of_kind("sample" if is_sampled else "train"):
            if line.get("step") is not None and line["task"] in found:
                value = task_load.sampled(line, key) if is_sampled else line.get(key)
                found[line["task"]].append(Point(
                    line["step"], line["time"], None if value is None else factor * value))
        kept = {task: without_repeats(points) for task, points in found.items()}
        return {task: self.with_gaps(task, points) for task, points in kept.items()
                if any(point.value is not None for point in points)}

    def evaluations(self) -> dict[tuple[str, str], list[Point]]:
        """Returns the curve of each metric and evaluation set, from events and history."""
        found: dict[tuple[str, int], tuple[float, dict[str, Any]]] = {}
        lines = [line for line in self.files.of_kind("evaluation") if line.get("step") is not None]
        is_named = all("eval_name" in metrics for metrics in self.files.evaluations)
        # The history does not know the set's name, and has the evaluations of the only set.
        for time, metrics in zip(self.files.evaluation_times, self.files.evaluations):
            if not (lines and is_named):
                found[metrics.get("eval_name", ""), metrics["global_step"]] = time, metrics
        sets = [line for line in self.files.of_kind("evaluation_set") if line.get("eval_name")]
        for line in lines:
            found["", line["step"]] = line["time"], {
                name: value for name, value in line.get("metrics", {}).items()
                if not any(name.startswith(f"{each['eval_name']}/") for each in sets)}
        for line in sets:
            found[line["eval_name"], line["step"]] = line["time"], line.get("metrics", {})
        curves: dict[tuple[str, str], list[Point]] = {}
        for (name, step), (time, metrics) in sorted(found.items(), key=lambda item: item[0]):
            for metric, value in metrics.items():
                if metric not in _NO_METRICS:
                    curves.setdefault((metric, name), []).append(Point(step, time, value))
        writer = lines[0]["task"] if lines else ""
        return {key: self.with_gaps(writer, points) for key, points in curves.items()}


def of_training(runs: Sequence[RunFiles]) -> list[Chart]:
    """Returns the curves of loss, metrics and scalars of all runs."""
    known = _known(runs)
    found: dict[str, list[_Curve]] = {"loss": []}
    for run in known:
        found["loss"] += _tasks_curves(run, "loss", ("lowest", "highest"), "training")
        for name, points in run.files.events.scalars.items():
            found.setdefault(name, []).append(_Curve(
                f"{run.prefix}training", "line", run.with_gaps(run.head, points), run.index,
                run.look(run.head)))
        evaluations = run.evaluations()
        sets = sorted({eval_name for _, eval_name in evaluations} - {""})
        for (name, eval_name), points in evaluations.items():
            colour, dash = run.look(is_evaluation=True)
            place = sets.index(eval_name) + 1 if eval_name else 0
            found.setdefault(name, []).append(_Curve(
                f"{run.prefix}evaluation {eval_name}".strip(), "dots", points, run.index,
                (colour if run.prefix else colour + place, dash + place)))
    names = sorted(found, key=lambda name: (
        # The parts of a model and of its labels, such as "dnn/logits/...", come last.
        name != "loss", name != "accuracy", "/" in name, name == "learning_rate", name))
    settings = next((run.record.settings for run in runs if run.record), {})
    charts_found = [_chart(name, name, found[name], known, metric_direction.of_metric(
        name, settings)) for name in names]
    return [each for each in charts_found if each["series"]][:1 + _MOST_METRICS]


class Series(NamedTuple):
    """The curve of a figure: of a task, or of an evaluation, named "evaluation" and its set.

    `start` is the time of the run's step 0, in seconds since 1970.
    """

    task: str
    name: str
    start: float
    points: list[Point]


def series_of(files: RunFiles) -> list[Series]:
    """Returns all curves of a run with the names of its files' entries, for programs."""
    run = _Run(files, 0, 1)
    found = [Series(task, key, run.start, points) for key in _KEYS
             for task, points in run.of_tasks(key).items()]
    found += [Series(run.head, name, run.start, points)
              for name, points in files.events.scalars.items()]
    found += [Series(f"evaluation {eval_name}".strip(), name, run.start, points)
              for (name, eval_name), points in run.evaluations().items()]
    most = max(_LEAST_POINTS, min(_MOST_POINTS, _MOST_OF_RUN // max(1, len(found))))
    return [each._replace(points=charts.fewer(each.points, most)) for each in found]


def of_speed(runs: Sequence[RunFiles]) -> list[Chart]:
    """Returns the curves of speed, waiting and memory for each task that trains."""
    known = _known(runs)
    wanted = (("speed of each task", "examples_per_sec", 1.0, "examples/s", ("slowest", "fastest")),
              ("waiting for input", "input_wait", 100.0, "% of the time", ("least", "most")),
              ("waiting for the ps", "ps", 100.0, "% of traced steps", ("least", "most")),
              ("waiting for other trainers", "workers", 100.0, "% of traced steps",
               ("least", "most")),
              ("CPU", "cpu", 100.0, "% of a core", ("least", "most")),
              ("memory", "memory_mb", 1.0, "MB", ("least", "most")))
    found = [_chart(title, unit, [
        curve for run in known for curve in _tasks_curves(run, key, words, factor=factor)], known)
             for title, key, factor, unit, words in wanted]
    return [each for each in found if each["series"]]


def _known(runs: Sequence[RunFiles]) -> list[_Run]:
    return [_Run(files, index, len(runs)) for index, files in enumerate(runs)]


def _tasks_curves(run: _Run, key: str, words: tuple[str, str], title: str = "",
                  factor: float = 1.0) -> list[_Curve]:
    """Returns a curve for each task; of many tasks the quartiles, the lowest and the highest.

    A run among several has only the first task's loss, and the quartiles of all tasks.
    """
    curves = run.of_tasks(key, factor)

    def curve(label: str, task: str, kind: str = "line", points: Sequence[Point] = ()) -> _Curve:
        return _Curve(f"{run.prefix}{label}".strip(), kind, points or curves[task], run.index,
                      run.look(task))

    if run.prefix and title and curves:
        return [curve(title, next(iter(curves)))]
    if len(curves) <= (1 if run.prefix else many_tasks.MOST_CURVES):
        return [curve("" if run.prefix else _label(title, task), task) for task in curves]
    low, middle, high = many_tasks.spread(curves)
    shown = [curve(f"median of {len(curves)} tasks", run.head, "line", middle),
             curve("middle half of the tasks", run.head, "low", low),
             curve("middle half of the tasks", run.head, "high", high)]
    if run.prefix:
        return shown
    looks = ((2, 1), (3, 2))
    return [*shown, *(dataclasses.replace(curve(f"{word}: {task}", task), look=look) for
                      word, task, look in zip(words, many_tasks.extremes(curves), looks))]


def _label(title: str, task: str) -> str:
    return title if title and task == "local" else f"{title}, {task}".lstrip(", ")


def _chart(title: str, y: str, curves: Iterable[_Curve], runs: Sequence[_Run],
           best: str = "") -> Chart:
    shown = [curve for curve in curves if any(_is_finite(point) for point in curve.points)]
    kept = shown[:charts.MOST_SERIES]
    title = charts.titled(title, y) + (
        f" ({len(kept)} of {len(shown)} series)" if len(kept) < len(shown) else "")
    most = min(_MOST_POINTS, _MOST_CELLS // max(1, len(kept)))
    alt = charts.alternative(title, "step", [
        (curve.label, curve.kind, [(step, value if value is None or math.isfinite(value) else None)
                                   for step, _, value in curve.points])
        for curve in shown if curve.kind in ("line", "dots")])
    return {"title": title, "alt": alt, "best": best,
            "runs": [{"start": run.start, **({"epoch": charts.rounded(run.epoch)} if run.epoch
                                             else {})} for run in runs],
            "series": [_series(curve, runs[curve.run].start, most) for curve in kept]}


def _series(curve: _Curve, start: float, most: int) -> dict[str, Any]:
    points: list[Point] = []
    for is_known, group in itertools.groupby(curve.points, _is_finite):
        part = list(group)
        # Each part of a line keeps its ends, however many parts there are.
        points += charts.fewer(part, max(4, most * len(part) // len(curve.points))) if (
            is_known) else [part[len(part) // 2]._replace(value=None)]
    columns = ([point.step for point in points], [point.time - start for point in points],
               [point.value for point in points])
    shorten: tuple[Callable[[Any], Any], ...] = (
        lambda step: step, lambda secs: round(secs, 2), lambda value: value if value is None else
        charts.rounded(float(value)))
    step, secs, value = ([each(cell) for cell in column] for each, column in zip(shorten, columns))
    return {"label": curve.label, "kind": curve.kind, "run": curve.run, "colour": curve.look[0],
            "dash": curve.look[1], "step": step, "secs": secs, "value": value}


def _is_finite(point: Point) -> bool:
    return point.value is not None and math.isfinite(point.value)
