"""The part of a page on a classification's predictions."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import charts as charts_lib, markup, shown_examples


def parts(judged: Mapping[str, Any]) -> list[markup.Markup]:
    """Returns the tables and the examples."""
    rows = [(each["name"], each["examples"], each["precision"], each["recall"])
            for each in judged["per_class"]]
    return [
        _matrix(judged["matrix"]) if judged["matrix"] else _confused(judged["confused"]),
        markup.details("precision and recall of each class", markup.table(
            ["class", "examples", "precision", "recall"], rows), is_open=len(rows) <= 20),
        shown_examples.of("the worst errors: the label had the least probability", judged["worst"]),
        shown_examples.of("the most certain errors", judged["most_certain"])]


def charts_of(judged: Mapping[str, Any]) -> list[charts_lib.Chart]:
    """Returns the charts of calibration, and of precision by recall."""
    charts = _of_calibration(judged["calibration"]) if "calibration" in judged else []
    curves = [(curve["name"], "line", _precision_by_recall(curve))
              for curve in judged.get("pr_curves", ())]
    return [*charts,
            *([charts_lib.chart("precision by recall", "recall", "", curves)] if curves else [])]


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


def _precision_by_recall(curve: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Returns (recall, precision), the best precision of several thresholds for one recall."""
    best: dict[float, float] = {}
    for right, wrong in zip(curve["true_positives"], curve["false_positives"]):
        if right and curve["positives"]:
            recall, precision = right / curve["positives"], right / (right + wrong)
            best[recall] = max(best.get(recall, 0.0), precision)
    return sorted(best.items())
