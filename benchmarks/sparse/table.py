"""Shows the runs as tables of medians; ratios are made inside one repetition."""

from __future__ import annotations

import statistics
from typing import Any, Callable, Iterator

from benchmarks import repetitions
from benchmarks.sparse import rows

# A measured run: its place in the tables, and the fields of `measurement.Measured`.
Run = dict[str, Any]

# A share of the plain Estimator's loss. A run's loss has a standard deviation of about 1%.
LOSS_TOLERANCE = 0.05
_FIRST = "plain"
_CASE = ("columns", "dimension", "batch", "ps")


def text(results: dict[str, Any]) -> str:
    """Returns a table of speeds for each case, then a table of what each task takes."""
    cases: dict[tuple[int, ...], dict[str, list[Run]]] = {}
    for run in sorted(results["runs"], key=lambda run: list(rows.ROWS).index(run["row"])):
        case = tuple(run[name] for name in _CASE)
        cases.setdefault(case, {}).setdefault(run["row"], []).append(run)
    lines: list[str] = []
    for show in (_speeds, _tasks):
        for case in sorted(cases):
            lines += [*show(case, cases[case]), ""]
    return "\n".join([*lines, *_origin(results, cases.values())])


def _speeds(case: tuple[int, ...], runs: dict[str, list[Run]]) -> Iterator[str]:
    yield (f"| {_title(case)} | steps/s | examples/s | compared with plain | CPU ms a step |"
           " compared with plain | loss |")
    yield "|---|---|---|---|---|---|---|"
    sentences = []
    for row, own in runs.items():
        sentence = _disagreement(row, runs)
        sentences += [sentence] * bool(sentence)
        mark = r" \*" * bool(sentence)
        yield (f"| {_label(row, case)}{mark}"
               f" | {_middle(own, lambda run: run['steps_per_sec']):.1f}"
               f" | {_middle(own, lambda run: run['examples_per_sec']):,.0f}"
               f" | {_ratio(row, runs, lambda run: run['steps_per_sec'])}"
               f" | {_middle(own, _cpu_ms):.1f} | {_ratio(row, runs, _cpu_ms)}"
               f" | {_middle(own, lambda run: run['loss']):.4f} |")
    for sentence in sentences:
        yield from ("", sentence)


def _tasks(case: tuple[int, ...], runs: dict[str, list[Run]]) -> Iterator[str]:
    yield (f"| {_title(case)} | CPU ms a step, by task | calls a step | kB a step |"
           " memory, MiB | cores busy elsewhere |")
    yield "|---|---|---|---|---|---|"
    for row, own in runs.items():
        calls = sorted({run["calls"] for run in own} - {None})
        yield (f"| {_label(row, case)} | {_by_task(own, 'cpu_ms', '.1f')}"
               f" | {'-'.join(map(str, dict.fromkeys(calls[:1] + calls[-1:])))}"
               f" | {_middle(own, lambda run: run['kilobytes']):,.0f}"
               f" | {_by_task(own, 'memory_mb', ',.0f')}"
               f" | {_middle(own, lambda run: run['foreign_cores']):.2f} |")


def _title(case: tuple[int, ...]) -> str:
    columns, dimension, batch, ps = case
    place = ("one process" if not ps else "chief, worker, ps" if ps == 1 else
             f"chief, {ps} workers, {ps} ps")
    return f"{place}; {columns} columns, dimension {dimension}, batch {batch}"


def _label(row: str, case: tuple[int, ...]) -> str:
    found, ps = rows.ROWS[row], case[-1]
    return f"{found.label}; {ps + 1} trainers, gloo" if found.is_torch and ps else found.label


def _cpu_ms(run: Run) -> float:
    return float(sum(run["cpu_ms"].values()))


def _middle(runs: list[Run], number: Callable[[Run], float]) -> float:
    return statistics.median(map(number, runs))


def _by_task(runs: list[Run], field: str, form: str) -> str:
    return ", ".join(f"{name} {statistics.median(run[field][name] for run in runs):{form}}"
                     for name in runs[0][field])


def _ratio(row: str, runs: dict[str, list[Run]], number: Callable[[Run], float]) -> str:
    """Returns the median ratio, with the lowest and the highest, of the common repetitions."""
    firsts = {run["repeat"]: number(run) for run in runs.get(_FIRST, [])}
    common = [run for run in runs[row] if run["repeat"] in firsts]
    if row == _FIRST or not common:
        return ""
    ratios = repetitions.Repetitions({
        _FIRST: [firsts[run["repeat"]] for run in common],
        row: [number(run) for run in common]}).ratios(row)
    return f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})"


def _disagreement(row: str, runs: dict[str, list[Run]]) -> str:
    """Returns a sentence if a row's loss is not that of the plain Estimator; "" if it is."""
    loss, expected = (_middle(runs[name], lambda run: run["loss"])
                      for name in (row, _FIRST if _FIRST in runs else row))
    # Unlike its opposite, this condition finds a NaN too.
    if abs(loss - expected) <= LOSS_TOLERANCE * expected:
        return ""
    return (f"\\* Its loss of {loss:.4f} is more than {LOSS_TOLERANCE:.0%} from {expected:.4f}, so"
            " it did not train the same.")


def _origin(results: dict[str, Any], cases: Any) -> Iterator[str]:
    counts = sorted({len(own) for runs in cases for own in runs.values()})
    repeats = "1 repetition" if counts == [1] else f"{'-'.join(map(str, counts))} repetitions"
    commits = dict.fromkeys(run["commit"] for run in results["runs"])
    flags = dict.fromkeys(" ".join(run["flags"]) for run in results["runs"] if run["flags"])
    versions = (f"{name} {version}" for name, version in results["versions"].items())
    yield (f"{results['date']}, estimator_trainer {', '.join(commits)}, {results['machine']};"
           f" {', '.join(versions)}. Medians of {repeats} in turn, with the lowest and the highest"
           f" ratio in brackets. Losses are within {LOSS_TOLERANCE:.0%} of the plain Estimator's,"
           " or marked.")
    if flags:
        yield f"This project's flags: {'; '.join(flags)}."
