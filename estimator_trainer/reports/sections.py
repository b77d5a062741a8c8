"""The sections of a page: the evaluated examples, what ran, and the comparison of runs."""

import json
import posixpath
import shlex
from typing import Any, Mapping, Sequence

from estimator_trainer.record import run_record
from estimator_trainer.reports import charts as charts_lib, markup
from estimator_trainer.reports.run_files import RunFiles


def examples(judged: Mapping[str, Any] | None, charts: markup.Charts) -> markup.Markup:
    """Returns the section on the predictions for evaluated examples; empty without any."""
    if not judged:
        return markup.Markup("")
    part = ("" if judged["examples"] == judged["evaluated"] else
            f" The first {judged['examples']:,} of {judged['evaluated']:,} examples are shown.")
    parts = _of_regression(judged) if judged["kind"] == "regression" else _of_classes(judged)
    return markup.section(
        f"The evaluation of step {judged['step']}, in pictures", markup.note(
            f"{judged['examples']:,} examples, each predicted once more.{part}"),
        charts.grid(charts_of(judged)), *parts)


def _of_classes(judged: Mapping[str, Any]) -> list[markup.Markup]:
    rows = [(each["name"], each["examples"], each["precision"], each["recall"])
            for each in judged["per_class"]]
    return [
        _matrix(judged["matrix"]) if judged["matrix"] else _confused(judged["confused"]),
        markup.details("precision and recall of each class", markup.table(
            ["class", "examples", "precision", "recall"], rows), is_open=len(rows) <= 20),
        _examples("the worst errors: the label had the least probability", judged["worst"]),
        _examples("the most certain errors", judged["most_certain"])]


def _of_regression(judged: Mapping[str, Any]) -> list[markup.Markup]:
    facts = [(name.replace("_", " "), judged[name]) for name in (
        "mean_error", "mean_absolute_error", "r_squared") if judged[name] is not None]
    odd = judged["not_finite"]
    return [markup.table([], facts),
            markup.note(f"{odd} examples had no finite prediction or label." if odd else ""),
            _examples("the worst errors", judged["worst"])]


def _matrix(matrix: Mapping[str, Any]) -> markup.Markup:
    names, counts = matrix["names"], matrix["counts"]
    head = "".join(f"<th>{markup.text(name)}</th>" for name in names)
    body = []
    for i, row in enumerate(counts):
        cells = "".join(_matrix_cell(count, sum(row), i == j) for j, count in enumerate(row))
        body.append(f"<tr><th>{markup.text(names[i])}</th>{cells}</tr>")
    return markup.Markup("<h3>confusion matrix: a row is a label, a column what the model"
                         " chose</h3>"
                         f'<div class="wide"><table class="matrix"><tr><th></th>{head}</tr>'
                         f'{"".join(body)}</table></div>')


def _matrix_cell(count: int, of_label: int, is_right: bool) -> str:
    if not count:
        return "<td></td>"
    # Rare errors must be visible, too.
    share = 0.15 + 0.85 * count / of_label
    colour = f"rgba(43,127,75,{share:.2f})" if is_right else f"rgba(200,50,56,{share:.2f})"
    ink = "#fff" if share > 0.6 else "#1d2430"
    return f'<td style="background:{colour};color:{ink}">{count}</td>'


def _confused(pairs: Sequence[Mapping[str, Any]]) -> markup.Markup:
    rows = [(pair["label"], pair["predicted"], pair["count"]) for pair in pairs]
    return markup.Markup("<h3>the classes that are confused most often</h3>" + markup.table(
        ["label", "taken for", "examples"], rows)) if rows else markup.Markup("")


def _examples(title: str, examples: Sequence[Mapping[str, Any]]) -> markup.Markup:
    if not examples:
        return markup.Markup("")
    shown = "".join(map(_example, examples))
    return markup.Markup(f'<h3>{markup.text(title)}</h3><div class="examples">{shown}</div>')


def _example(example: Mapping[str, Any]) -> str:
    images = "".join(f'<img src="{markup.text(each["image"])}" alt="{markup.text(each["name"])}">'
                     for each in example["inputs"] if "image" in each)
    rows = "".join(f"<div><b>{markup.text(each['name'])}</b> {markup.text(each['text'])}</div>"
                   for each in example["inputs"] if "text" in each)
    label, predicted = markup.text(example["label"]), markup.text(example["predicted"])
    has_both = {"probability", "probability_of_label"} <= example.keys()
    sure = (f" with {100 * example['probability']:.0f} %, {label} has"
            f" {100 * example['probability_of_label']:.2g} %" if has_both else "")
    return (f'<div class="example">{images}{rows}'
            f"<div>label {label}, predicted {predicted}{sure}</div>"
            f'<div class="quiet">example {markup.text(example["position"])}</div></div>')


def charts_of(judged: Mapping[str, Any]) -> list[charts_lib.Chart]:
    """Returns the charts of a classification, or of a regression."""
    if judged["kind"] == "regression":
        return _charts_of_regression(judged)
    charts = _of_calibration(judged["calibration"]) if "calibration" in judged else []
    curves = [(curve["name"], "line", _precision_by_recall(curve))
              for curve in judged.get("pr_curves", ())]
    return [*charts,
            *([charts_lib.chart("precision by recall", "recall", "", curves)] if curves else [])]


def _of_calibration(calibration: Mapping[str, Any]) -> list[charts_lib.Chart]:
    bins = calibration["bins"]
    seen = [(each["certainty"], each["accuracy"]) for each in bins if each["certainty"] is not None]
    middles = [(i + 0.5) / len(bins) for i in range(len(bins))]
    return [
        charts_lib.chart(f"calibration: expected error {calibration['expected_error']:.3f}",
                         "probability of the chosen class", "",
                         [("the model", "dots", seen),
                          ("a calibrated one", "dashes", [(0, 0), (1, 1)])]),
        charts_lib.chart("how sure the model is", "probability of the chosen class", "examples",
                         [("examples", "bars", [(middle, each["examples"])
                                                for middle, each in zip(middles, bins)])])]


def _charts_of_regression(judged: Mapping[str, Any]) -> list[charts_lib.Chart]:
    points, residuals = judged["points"], judged["residuals"]
    labels, edges = points["labels"], residuals["edges"]
    if not labels:
        return []
    # A label has one x, with many points.
    rows = [(label, predicted, None) for label, predicted in zip(labels, points["predictions"])]
    rows += [(value, None, value) for value in (min(labels), max(labels))]
    columns = [list(column) for column in zip(*sorted(rows, key=lambda row: row[0]))]
    return [
        {"title": "prediction by label", "x": "label", "data": columns,
         "series": [{"label": "an example", "kind": "points"},
                    {"label": "a right one", "kind": "dashes"}]},
        charts_lib.chart("residuals", "prediction - label", "examples",
                         [("examples", "bars", [((low + high) / 2, count) for low, high, count in
                                                zip(edges, edges[1:], residuals["counts"])])])]


def _precision_by_recall(curve: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Returns (recall, precision), the best precision of several thresholds for one recall."""
    best: dict[float, float] = {}
    for right, wrong in zip(curve["true_positives"], curve["false_positives"]):
        if right and curve["positives"]:
            recall, precision = right / curve["positives"], right / (right + wrong)
            best[recall] = max(best.get(recall, 0.0), precision)
    return sorted(best.items())


_MOST_CHARACTERS = 300


def what_ran(run: RunFiles) -> markup.Markup:
    """Returns the section "What ran"."""
    record = run.record
    if record is None:
        return markup.section("What ran", markup.note(
            f"What wrote this directory is not known: {no_record(run.model_dir, run.damaged)}."))
    rows: list[tuple[str, str]] = [
        (kind, markup.code(describe_plugin(entry))) for kind, entry in record.plugins.items()]
    params = {**record.params, **record.unrecorded}
    others = {key: value for key, value in params.items() if key not in record.given}
    settings = {name: value for name, value in record.settings.items()
                if name not in record.plugins}
    rows += [("params that you set", _pairs({
        key: value for key, value in params.items() if key in record.given})),
             ("settings that are no defaults", _pairs(settings, "--")),
             ("data", _pairs(record.data)),
             ("versions", ", ".join(f"{name} {version}" for name, version in
                                    record.versions.items() if version))]
    return markup.section(
        "What ran", markup.table([], rows), _layers(run),
        markup.details("all other params", _pairs(others) if others else ""),
        markup.details("runs and their commands", _runs(record), is_open=True))


def no_record(model_dir: str, damaged: Sequence[str]) -> str:
    """Returns a clause on a missing record; `damaged` are the sentences about damaged files."""
    path = posixpath.join(model_dir, run_record.NAME)
    is_damaged = any(each.startswith(f"{path} is damaged") for each in damaged)
    return f"there is no {run_record.NAME}{' that is whole' * is_damaged}"


def describe_plugin(entry: Mapping[str, Any]) -> str:
    """Returns name, path and commit of a plug-in."""
    commit = entry.get("git")
    at = f" (git {commit['commit'][:12]}{', changed' * commit['is_changed']})" if commit else ""
    return f"{entry.get('name')}  {entry.get('path') or ''}{at}"


def _pairs(values: Mapping[str, Any], prefix: str = "") -> markup.Markup:
    if not values:
        return markup.Markup("none")
    shown = []
    for name, value in sorted(values.items()):
        whole = str(markup.text(value))
        cut = whole if len(whole) <= _MOST_CHARACTERS else f"{whole[:_MOST_CHARACTERS]} ..."
        shown.append(f"<code>{markup.text(prefix + name)}={cut}</code>")
    return markup.Markup(" &nbsp; ".join(shown))


def _layers(run: RunFiles) -> markup.Markup:
    models = run.of_kind("model")
    if not models:
        return markup.Markup("")
    model = models[-1]
    rows = [(layer["name"], ", ".join(f"{name} {shape}" for name, shape in
                                      layer["shapes"].items()), layer["parameters"])
            for layer in model["layers"]]
    return markup.details(
        f"{len(rows)} layer{'s' * (len(rows) != 1)}, {model['parameters']:,} parameters",
        markup.table(["layer", "variables", "parameters"], rows), is_open=len(rows) <= 12)


def _runs(record: run_record.RunRecord) -> markup.Markup:
    parts: list[str] = []
    for run in record.runs:
        parts.append(markup.note(run_record.describe(run)))
        parts.append(f"<pre>{markup.text(shlex.join(run['command']))}</pre>")
        parts += [markup.note(change) for change in run.get("changes", ())]
    return markup.Markup("".join(parts))


def names(runs: Sequence[RunFiles]) -> list[str]:
    """Returns a name for each run: the last part of its directory, or the whole path."""
    short = [run.name for run in runs]
    return short if len(set(short)) == len(short) else [run.model_dir for run in runs]


def comparison(runs: Sequence[RunFiles], charts: markup.Charts) -> markup.Markup:
    """Returns the comparison, which precedes the runs' own parts."""
    shown = names(runs)
    different = _rows([_settings(run) for run in runs], only_different=True)
    return markup.Markup("".join((
        f"<h1>{markup.text(', '.join(shown))}</h1>",
        markup.section("What came of them", markup.table(
            ["", *shown], _rows([_results(run) for run in runs], only_different=False))),
        markup.section("What differs", markup.table(["", *shown], different) if different else
                       markup.note("The records of these runs name the same plug-ins, params,"
                                   " settings and versions.")),
        markup.section("Training and evaluation", charts.grid(charts_lib.of_training(runs))),
        markup.section("Speed", charts.grid(charts_lib.of_speed(runs))))))


def _results(run: RunFiles) -> dict[str, Any]:
    found: dict[str, Any] = {"model_dir": run.model_dir}
    models, lines = run.of_kind("model"), run.of_kind("train")
    if run.result:
        found |= {"status": run.result.status, "step": run.result.step, "reason": run.result.reason,
                  **{name: value for name, value in run.result.metrics.items()
                     if name != "global_step"}}
    elif run.evaluations:
        found |= run.evaluations[-1]
    if models:
        found["parameters"] = models[-1]["parameters"]
    speeds = [line["examples_per_sec"] for line in lines if line.get("examples_per_sec")]
    if speeds:
        found["examples/s, median of a task"] = sorted(speeds)[len(speeds) // 2]
    return found


def _settings(run: RunFiles) -> dict[str, Any]:
    record = run.record
    if record is None:
        return {}
    cluster = record.runs[-1].get("cluster", {}) if record.runs else {}
    return {
        **{kind: entry.get("name") for kind, entry in record.plugins.items()},
        **{f"param {name}": value for name, value in {**record.params,
                                                      **record.unrecorded}.items()},
        **{f"--{name}": value for name, value in record.settings.items()},
        **{f"data: {name}": value for name, value in record.data.items()},
        **{f"version of {name}": value for name, value in record.versions.items()},
        "tasks": ", ".join(f"{count} {role}" for role, count in cluster.items()) or "one process"}


def _rows(of_runs: Sequence[dict[str, Any]], only_different: bool) -> list[list[Any]]:
    keys = list(dict.fromkeys(key for each in of_runs for key in each))
    rows = []
    for key in keys:
        values = [each.get(key) for each in of_runs]
        if not only_different or len({json.dumps(value) for value in values}) > 1:
            rows.append([key, *values])
    return rows
