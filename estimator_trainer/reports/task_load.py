"""How busy each task of a job was: its speed, what it waited for, its CPU, memory and transfers."""

import dataclasses
import statistics
from typing import Any, Callable, Iterable, Sequence

from estimator_trainer.reports import markup, task_lives
from estimator_trainer.reports.run_files import RunFiles

# A share of the time that is worth a sentence, as for the log of training.
_MUCH = 0.1
# A task is slower than others from this ratio on.
_SLOWER = 1.2
# A ps with this share of a core may be what its trainers wait for: one thread applies an update.
_BUSY = 0.8
_PARTS = ("own", "input", "ps", "workers")
# The parts of a step that only samples know.
SAMPLED = ("ps", "workers")
_WAITS = {"input": "input", "ps": "the ps", "workers": "other trainers"}


@dataclasses.dataclass(frozen=True)
class Load:
    """How busy a task was, as means over its time of training; None where that is unknown.

    Speeds are medians of its lines.

    Attributes:
      steps_per_sec: The task's own steps, in an all-reduce the job's.
      shares: The shares of its time that it waits: "input", "ps", "workers" (the others of a
        synchronous step); and "own", in which it computes. A ps has none.
      paused: The share of the time that evaluations and checkpoints take.
      cpu: CPU time as a share of the time: 1.0 is one core.
      computes_secs: The seconds of a step in which it computes.
      own_secs: The seconds of a step in which it computes or waits for input.
      others_updates: Updates by other trainers for each of its own, and the most in a line.
      is_synchronous: Whether it makes each step together with others.
    """

    task: str
    examples_per_sec: float | None = None
    steps_per_sec: float | None = None
    shares: dict[str, float] = dataclasses.field(default_factory=dict)
    paused: float | None = None
    cpu: float | None = None
    memory_mb: float | None = None
    received_bytes: float | None = None
    sent_bytes: float | None = None
    computes_secs: float | None = None
    own_secs: float | None = None
    others_updates: tuple[float, float] | None = None
    is_synchronous: bool = False
    num_samples: int = 0

    @property
    def is_trainer(self) -> bool:
        """Whether the task trains."""
        return self.steps_per_sec is not None


def of_run(run: RunFiles) -> list[Load]:
    """Returns the load of each task that has written how busy it was, the slowest trainer first."""
    tasks: dict[str, dict[str, list[dict[str, Any]]]] = {}
    prepares: set[str] = set()
    for line in run.lines:
        task, kind = line["task"], line["kind"]
        if kind == "trains":
            prepares.add(task)
            tasks.setdefault(task, {})
        elif kind in ("train", "evaluation", "load", "sample"):
            # The first line of a training has the preparation of the graph in its time.
            kind = "first" if kind == "train" and task in prepares else kind
            prepares -= {task} if kind == "first" else set()
            tasks.setdefault(task, {}).setdefault(kind, []).append(line)
    is_synchronous = any("sample" in kinds for kinds in tasks.values()) and not any(
        line.get("others_updates") is not None for line in run.of_kind("train"))
    found = [_of_task(task, kinds, is_synchronous) for task, kinds in tasks.items()]
    return sorted(found, key=lambda load: (not load.is_trainer, -_slowness(load),
                                           task_lives.place(load.task)))


def _of_task(task: str, kinds: dict[str, list[dict[str, Any]]], is_synchronous: bool) -> Load:
    lines, samples = kinds.get("train") or kinds.get("first", []), kinds.get("sample", [])
    busy = [*lines, *kinds.get("load", []), *kinds.get("evaluation", [])]
    # The last line of a chief has its wait for the others' ends. A slow task may have samples
    # before its first line.
    steps_per_sec = (_known(statistics.median, lines, "own_steps_per_sec")
                     or _known(statistics.median, lines, "steps_per_sec")
                     or _sampled_speed(samples))
    shares = _shares(samples, _mean(lines, "input_wait"))
    own_secs = None
    computes_secs = _known(statistics.median, samples, "own_secs")
    if steps_per_sec and computes_secs is not None:
        own_secs = computes_secs + shares.get("input", 0.0) / steps_per_sec
    others = [line["others_updates"] for line in lines if line.get("others_updates") is not None]
    mean_of_others = _mean([{**line, "secs": line["secs"] * line["own_steps_per_sec"]}
                            for line in lines if line.get("secs") and line.get(
                                "own_steps_per_sec")], "others_updates")
    return Load(
        task, _known(statistics.median, lines, "examples_per_sec"), steps_per_sec,
        shares, _paused(lines),
        _mean(busy, "cpu"), max((line["memory_mb"] for line in busy
                                 if line.get("memory_mb") is not None), default=None),
        _known(statistics.median, samples, "received_bytes"),
        # A sample may lack tensors that a ps received while another trainer's trace ended.
        _known(max, samples, "sent_bytes"), computes_secs, own_secs,
        None if mean_of_others is None else (mean_of_others, max(others)),
        is_synchronous, len(samples))


def _mean(lines: Iterable[dict[str, Any]], key: str) -> float | None:
    """Returns the mean over the time that the lines took; lines without `secs` count the same."""
    known = [(line[key], line.get("secs") or 1.0) for line in lines if line.get(key) is not None]
    return sum(value * secs for value, secs in known) / sum(
        secs for _, secs in known) if known else None


def _sampled_speed(samples: list[dict[str, Any]]) -> float | None:
    """Returns the steps per second of the traced steps."""
    secs = [sum(line.get(f"{name}_secs", 0.0) for name in _PARTS) for line in samples]
    return len(secs) / sum(secs) if sum(secs) else None


def _known(choose: Callable[[list[float]], float], lines: Iterable[dict[str, Any]],
           key: str) -> float | None:
    values = [line[key] for line in lines if line.get(key) is not None]
    return choose(values) if values else None


def sampled(line: dict[str, Any], name: str) -> float | None:
    """Returns the share of a part, one of SAMPLED, in the steps of a sample; None if unknown."""
    parts = [line[f"{each}_secs"] for each in _PARTS if f"{each}_secs" in line]
    part = line.get(f"{name}_secs")
    return part / sum(parts) if part is not None and sum(parts) else None


def _paused(lines: list[dict[str, Any]]) -> float | None:
    known = [line for line in lines if line.get("secs")]
    paused = sum(line.get("paused_secs") or 0.0 for line in known)
    secs = paused + sum(line["secs"] for line in known)
    saving = sum(line.get("saving_secs") or 0.0 for line in known)
    return (paused + saving) / secs if known else None


def _shares(samples: list[dict[str, Any]], input_wait: float | None) -> dict[str, float]:
    """Returns the shares of a trainer's time; the wait for input is measured in every step."""
    sums = {name: sum(line[f"{name}_secs"] for line in samples if f"{name}_secs" in line)
            for name in _PARTS if any(f"{name}_secs" in line for line in samples)}
    total = sum(sums.values())
    if not total:
        return {} if input_wait is None else {"input": input_wait}
    rest = total - sums.pop("input", 0.0)
    if input_wait is None:
        input_wait = 1 - rest / total
    return {"input": input_wait, **{
        name: (1 - input_wait) * secs / rest if rest else 0.0 for name, secs in sums.items()}}


def _slowness(load: Load) -> float:
    """Returns a number that is larger for a slower trainer of the same job."""
    if load.is_synchronous:
        return load.own_secs or 0.0
    return 1 / load.steps_per_sec if load.steps_per_sec else 0.0


def slowest(loads: Sequence[Load]) -> tuple[str, str]:
    """Returns the trainer that is clearly slower than the others, and a sentence; "" for none."""
    trainers = [load for load in loads if load.is_trainer and _slowness(load)]
    if len(trainers) < 2 or _silent(loads):
        return "", ""
    first, *others = sorted(trainers, key=_slowness, reverse=True)
    median = statistics.median(_slowness(load) for load in others)
    ratio = _slowness(first) / median
    if ratio < _SLOWER:
        return "", ""
    why = _why_slow(first, others)
    if not first.is_synchronous:
        return first.task, (
            f"{first.task} is the slowest: {first.steps_per_sec:.3g} steps/s, and the median of the"
            f" others is {1 / median:.3g}{why}.")
    return first.task, (
        f"{first.task} is the slowest: its part of a step takes {_millis(_slowness(first))},"
        f" {ratio:.3g} times the median of the others ({_millis(median)}){why}.")


def _silent(loads: Sequence[Load]) -> list[str]:
    """Returns the trainers without figures, of which one may be the slowest."""
    return [load.task for load in loads if not load.is_trainer and load.cpu is None
            and load.memory_mb is None]


def _why_slow(load: Load, others: Sequence[Load]) -> str:
    def excess(name: str) -> float:
        return load.shares.get(name, 0.0) - statistics.median(
            each.shares.get(name, 0.0) for each in others)

    name = max(("input", "ps"), key=excess)
    if excess(name) > _MUCH:
        return f"; {load.task} waits {_percent(load.shares[name])} of its time for {_WAITS[name]}"
    times = [each.computes_secs for each in others if each.computes_secs is not None]
    if not times or load.computes_secs is None:
        return ""
    median = statistics.median(times)
    return (f"; it computes {_millis(load.computes_secs)} for a step, the others {_millis(median)}"
            if load.computes_secs > _SLOWER * median else "")


def limit(loads: Sequence[Load]) -> str:
    """Returns sentences on what limits the speed of training; "" if the figures do not say it."""
    name, sentence = slowest(loads)
    trainers = [load for load in loads if load.is_trainer and load.task != name and load.shares]
    if not trainers:
        return sentence
    # The waits of all trainers but the slowest, which has a sentence of its own.
    shares = {each: statistics.median(load.shares.get(each, 0.0) for load in trainers)
              for each in _WAITS}
    longest = max(shares, key=lambda each: shares[each])
    alone = trainers[0].task if len(trainers) == 1 else ""
    who = alone or ("The others" if name else "The trainers")
    waits = (f"{who} wait{'s' * bool(alone)} {_percent(shares[longest])} of"
             f" {'its' if alone else 'their'} time for {_WAITS[longest]}")
    if shares[longest] < _MUCH:
        is_known = all("own" in load.shares for load in trainers) or len(loads) == 1
        return sentence or ("Computation limits the speed: no trainer waits for long." * is_known)
    if longest == "input":
        factor = 1 / (1 - min(shares["input"], 0.99))
        waits += (": if batches were always ready, training would be up to"
                  f" {factor:.2g} times as fast")
    return f"{sentence} {waits}.{_of_ps(loads) if longest == 'ps' else ''}".strip()


def _of_ps(loads: Sequence[Load]) -> str:
    """Returns a sentence on the busiest ps."""
    busy = [load for load in loads if load.task.startswith("ps:") and load.cpu is not None]
    if not busy:
        return ""
    most = max(busy, key=lambda load: load.cpu or 0.0)
    advice = (": more ps would share the work" if (most.cpu or 0.0) >= _BUSY else
              "; larger batches need fewer transfers for each example")
    return f" {most.task} uses {_percent(most.cpu or 0.0)} of a core{advice}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _millis(secs: float) -> str:
    return f"{1000 * secs:.3g} ms"


def section(run: RunFiles, charts: str = "") -> markup.Markup:
    """Returns the section on how busy the tasks were, with their charts; empty if nothing is known.
    """
    loads = of_run(run)
    if not any(load.is_trainer or load.cpu is not None for load in loads):
        return markup.Markup("")
    name, _ = slowest(loads)
    columns = [(title, cells) for title, cell in _COLUMNS if any(
        cells := [cell(load) for load in loads])]
    rows = [(_task(load.task, load.task == name), *(cells[i] for _, cells in columns))
            for i, load in enumerate(loads)]
    sentence = limit(loads)
    return markup.section(
        "The tasks at work", markup.Markup(f"<p><b>{markup.text(sentence)}</b></p>")
        if sentence else markup.Markup(""),
        markup.table(["task", *(title for title, _ in columns)], rows, "sortable load"),
        markup.note(" ".join(_explained(loads))), charts)


def _task(name: str, is_slowest: bool) -> markup.Markup:
    mark = ' <b class="slowest">slowest</b>' if is_slowest else ""
    return markup.Markup(f"{markup.text(name)}{mark}")


def _share(value: float | None) -> markup.Markup:
    """Returns a cell with a bar for a share."""
    if value is None:
        return markup.Markup("")
    bar = min(100.0, max(0.0, 100 * value))
    return markup.Markup(
        f'<span class="share" style="--share:{bar:.0f}%">{markup.text(_percent(value))}</span>')


def _amount(value: float | None, unit: str = "") -> markup.Markup:
    if value is None:
        return markup.Markup("")
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return markup.text(f"{shown} {unit}".strip())


def _bytes(value: float | None) -> markup.Markup:
    if value is None:
        return markup.Markup("")
    size, unit = next((size, unit) for size, unit in (
        (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0, "B")) if value >= size)
    return _amount(value / (size or 1), unit)


def _updates(load: Load) -> markup.Markup:
    if load.others_updates is None:
        return markup.Markup("")
    mean, most = load.others_updates
    return markup.text(f"{mean:.1f} (most {most:.1f})")


_COLUMNS: tuple[tuple[str, Callable[[Load], markup.Markup]], ...] = (
    ("examples/s", lambda load: _amount(load.examples_per_sec)),
    ("steps/s", lambda load: _amount(load.steps_per_sec)),
    ("computes", lambda load: _share(load.shares.get("own"))),
    ("waits for input", lambda load: _share(load.shares.get("input"))),
    ("waits for ps", lambda load: _share(load.shares.get("ps"))),
    ("waits for others", lambda load: _share(load.shares.get("workers"))),
    ("saves, evaluates", lambda load: _share(load.paused)),
    ("CPU, % of a core", lambda load: _share(load.cpu)),
    ("memory", lambda load: _amount(load.memory_mb, "MB")),
    ("received a step", lambda load: _bytes(load.received_bytes)),
    ("sent a step", lambda load: _bytes(load.sent_bytes)),
    ("updates by others", _updates))


def _explained(loads: Sequence[Load]) -> list[str]:
    """Returns how the figures were found, and what is not known."""
    trainers = [load for load in loads if load.is_trainer]
    samples = sum(load.num_samples for load in trainers)
    found = ["The input's share is of every step." if any(
        "input" in load.shares for load in trainers) else
        "How long a trainer waits for input is not known for this model."]
    if samples:
        found.append(f"Other waits and bytes come from {samples} traced samples of a few steps, the"
                     " bytes from the tensors and gradients in them; their protocol is left out.")
    elif len(trainers) > 1:
        found.append("Waits for other tasks, and bytes, are not known: no step was traced. Steps of"
                     " short trainings and of GPUs are not.")
    unknown = [load.task for load in trainers if load.examples_per_sec is None]
    if unknown:
        found.append(f"The steps/s of {', '.join(unknown)} are of traced steps: there is no line of"
                     " progress.")
    if silent := _silent(loads):
        found.append(f"There are no figures of {', '.join(silent)}: too few steps for a line of"
                     " progress or a sample.")
    if any(load.others_updates for load in trainers):
        found.append("Updates by others: how many updates other trainers make for each of its own,"
                     " and the most between two lines of the log. A gradient is at most so stale:"
                     " the count includes the time in which a task waits for input.")
    if all(load.cpu is None for load in loads):
        found.append("An earlier version of this program, which did not measure CPU time, wrote"
                     " this history.")
    return found
