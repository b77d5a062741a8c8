"""The section on the evaluated examples."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import charts as charts_lib, markup


def section(judged: Mapping[str, Any] | None, charts: markup.Charts) -> markup.Markup:
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
