"""The examples of an evaluation that a page shows: images and texts as cards, rows as a table."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import markup

# As many columns fit; the others are in a table of their own.
_MOST_COLUMNS = 8
_LONG_TEXT = 60


def of(title: str, examples: Sequence[Mapping[str, Any]],
       order: Sequence[str] = ()) -> markup.Markup:
    """Returns the examples below a heading; empty without any.

    `order` are names of inputs that come first in a table, the most important first.
    """
    if not examples:
        return markup.Markup("")
    is_table = all(_is_row(example["inputs"]) for example in examples)
    has_text = any("text" in each and len(each["text"]) > _LONG_TEXT
                   for example in examples for each in example["inputs"])
    kind = "examples texts" if has_text else "examples"
    shown = _table(examples, order) if is_table else (
        f'<div class="{kind}">{"".join(map(_card, examples))}</div>')
    return markup.Markup(f"<h3>{markup.text(title)}</h3>{shown}")


def _is_row(inputs: Sequence[Mapping[str, Any]]) -> bool:
    return len(inputs) > 1 and all(len(each.get("text", "x" * 1000)) <= _LONG_TEXT
                                   for each in inputs)


def _table(examples: Sequence[Mapping[str, Any]], order: Sequence[str]) -> str:
    """Returns a row for each example; columns that do not fit are in a second table."""
    names = list(dict.fromkeys(
        each["name"] for example in examples for each in example["inputs"]))
    first = [name for name in order if name in names]
    names = [*first, *(name for name in names if name not in first)]
    own = list(map(_own, examples))
    values = [{each["name"]: each["text"] for each in example["inputs"]} for example in examples]
    headings = ["example", *own[0]]

    def table(shown: Sequence[str]) -> markup.Markup:
        return markup.table([*headings, *shown], [
            [example["position"], *facts.values(), *(each.get(name) for name in shown)]
            for example, facts, each in zip(examples, own, values)])

    rest = markup.details(f"All {len(names)} columns of these rows", table(names)) if (
        len(names) > _MOST_COLUMNS) else ""
    return table(names[:_MOST_COLUMNS]) + rest


def _own(example: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what is known of an example beside its inputs, by the heading of its column."""
    label, predicted = example["label"], example["predicted"]
    found = {"label": label, "predicted": predicted}
    if "probability" in example:
        return {**found, "probability of the predicted": _percent(example["probability"]),
                "of the label": _percent(example["probability_of_label"])}
    if isinstance(label, (int, float)) and isinstance(predicted, (int, float)):
        return {key: markup.plain(value) for key, value in {
            **found, "error": predicted - label}.items()}
    return found


def _card(example: Mapping[str, Any]) -> str:
    """Returns a figure of an example's images and texts; its caption says what went wrong."""
    position, inputs = example["position"], example["inputs"]
    label, predicted = markup.text(example["label"]), markup.text(example["predicted"])
    images = "".join(
        f'<img src="{markup.text(each["image"])}" alt="'
        f'{markup.text(each["name"])} of example {markup.text(position)}, label {label}">'
        for each in inputs if "image" in each)
    texts = [each for each in inputs if "text" in each]
    shown = "".join(
        f"<p>{_name(each) if len(inputs) > 1 else ''}{markup.text(each['text'])}</p>"
        for each in texts)
    sure = (f": {_percent(example['probability'])} for {predicted},"
            f" {_percent(example['probability_of_label'])} for {label}"
            if "probability" in example else "")
    return (f'<figure class="example">{images}{shown}<figcaption>label <b>{label}</b>, predicted'
            f' <b>{predicted}</b>{sure} <span class="quiet">example {markup.text(position)}</span>'
            "</figcaption></figure>")


def _name(shown: Mapping[str, Any]) -> str:
    return f"<b>{markup.text(shown['name'])}</b> "


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %" if 0.1 <= value <= 0.995 else f"{100 * value:.3g} %"
