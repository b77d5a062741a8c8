"""The examples of an evaluation that a page shows, each with its inputs."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import markup


def of(title: str, examples: Sequence[Mapping[str, Any]]) -> markup.Markup:
    """Returns the examples below a heading; empty without any."""
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
