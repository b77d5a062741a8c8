"""The section on the evaluated examples."""

from typing import Any, Mapping

from estimator_trainer.reports import (classification_section, columns_section, markup,
                                       multi_label_section, ranking_section, regression_section,
                                       slices_section)

_KINDS: Mapping[str, Any] = {
    "classification": classification_section, "regression": regression_section,
    "multi_label": multi_label_section, "ranking": ranking_section}


def section(judged: Mapping[str, Any] | None, charts: markup.Charts) -> markup.Markup:
    """Returns the section on the predictions for evaluated examples; empty without any."""
    if not judged:
        return markup.Markup("")
    part = ("" if judged["examples"] == judged["evaluated"] else
            f" The figures are of the first {judged['examples']:,} of {judged['evaluated']:,}"
            " examples, and so differ a little from the metrics above.")
    kind = _KINDS[judged["kind"]]
    importance = judged.get("columns", {}).get("importance", {"found": ()})
    order = [column["name"] for column in importance["found"]]
    weight = (f" The metrics above weigh each example by {judged['weight']}; here each counts once."
              if judged.get("weight") else "")
    return markup.Markup(markup.section(
        f"The evaluation of step {judged['step']}", markup.note(
            f"{judged['examples']:,} examples, each predicted once more.{part}{weight}"),
        *kind.body(judged, charts, order))
        + columns_section.section(judged.get("columns", {}), charts)
        + slices_section.of_residuals(judged.get("column_residuals", ()), charts)
        + slices_section.of_slices(judged.get("slices"))
        + slices_section.of_data(judged.get("data")))
