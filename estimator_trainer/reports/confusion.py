"""The confusion of classes on a page: the matrix, the metrics of each class, the worst class."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import markup

_LEVELS = 9
# A class with fewer examples may be the worst by chance.
_LEAST_EXAMPLES = 10
_OPEN_ROWS = 20
_SHOWN = (("count", "counts"), ("label", "share of the label: recall"),
          ("prediction", "share of the prediction: precision"))


def matrix(found: Mapping[str, Any]) -> markup.Markup:
    """Returns the confusion matrix of `names` and `counts`, a row per label."""
    names = found["names"]
    head = "".join(f'<th scope="col">{markup.text(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{markup.text(name)}</th>'
        + "".join(_cell(count, sum(row), i == j) for j, count in enumerate(row)) + "</tr>"
        for i, (name, row) in enumerate(zip(names, found["counts"])))
    options = "".join(f'<option value="{value}">{label}</option>' for value, label in _SHOWN)
    return markup.Markup(
        "<h3>Confusion matrix</h3><div data-confusion>"
        f"<label>Show <select>{options}</select></label>"
        '<div class="wide"><table class="matrix"><caption>A row is a label, a column the predicted'
        f' class.</caption><thead><tr><th scope="col">label</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></div>")


def _cell(count: int, of_label: int, is_right: bool) -> str:
    """Returns a cell that is shaded by its share of the label."""
    if not count:
        return "<td></td>"
    # Rare errors must be visible, too.
    level = max(1, round(_LEVELS * count / of_label))
    return (f'<td class="{"right" if is_right else "wrong"} s{level}" data-count="{count}">'
            f"{count:,}</td>")


def pairs(found: Sequence[Mapping[str, Any]]) -> markup.Markup:
    """Returns the table of the classes that are confused most often; empty without any."""
    rows = [(pair["label"], pair["predicted"], pair["count"]) for pair in found]
    return markup.Markup("<h3>Classes that are confused most often</h3>" + markup.table(
        ["label", "predicted", "examples"], rows)) if rows else markup.Markup("")


def per_class(judged: Mapping[str, Any]) -> markup.Markup:
    """Returns precision, recall and F1 of each class, with the areas under its curves."""
    areas = {curve["name"]: curve for curve in judged.get("curves", ())}
    # The curve of two classes is the second's alone.
    has_areas = len(areas) > 1
    rows = [(each["name"], each["examples"], each["precision"], each["recall"], f1(each),
             *((areas.get(each["name"], {}).get(key) for key in ("auc", "average_precision"))
               if has_areas else ())) for each in judged["per_class"]]
    headings = ["class", "examples", "precision", "recall", "F1",
                *(("AUC", "average precision") if has_areas else ())]
    return markup.details("Precision, recall and F1 of each class", markup.table(
        headings, rows, "sortable"), is_open=len(rows) <= _OPEN_ROWS)


def f1(each: Mapping[str, Any]) -> float | None:
    """Returns the harmonic mean of `precision` and `recall`; 0 for a class that is never found."""
    precision, recall = each["precision"], each["recall"]
    if precision is None or recall is None:
        return None if recall is None else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def worst(judged: Mapping[str, Any]) -> str:
    """Returns a sentence on the class of the lowest recall, or ""."""
    known = [each for each in judged["per_class"] if each["examples"] >= _LEAST_EXAMPLES]
    found = min(known, key=lambda each: (each["recall"], f1(each) or 0.0), default=None)
    if found is None or len(known) < 2 or found["recall"] == 1:
        return ""
    count = found["examples"]
    sentence = (f"The worst class is {found['name']!r}: {round(count * found['recall']):,} of its"
                f" {count:,} examples are found")
    taken = next((pair for pair in judged["confused"] if pair["label"] == found["name"]), None)
    if taken is None or len(judged["per_class"]) == 2:
        return sentence + "."
    return f"{sentence}; {taken['count']:,} of them are taken for {taken['predicted']!r}."
