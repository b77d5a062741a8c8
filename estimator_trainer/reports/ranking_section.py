"""The part of a page on a ranking."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import charts as charts_lib, markup

_NO_QUERIES = ("The examples do not name their queries, so what each query's ranking looks like is"
               " not known here. The evaluation's own metrics are at the top of the page.")


def body(judged: Mapping[str, Any], charts: markup.Charts,
         order: Sequence[str] = ()) -> list[markup.Markup]:
    """Returns the scores of each label, and the mean label at each rank."""
    del order
    rows = [(each["label"], each["examples"], *each["quantiles"]) for each in judged["of_labels"]]
    headings = ["label", "examples", *(f"{share} % of the scores are below"
                                       for share in (10, 25, 50, 75, 90))]
    ranks = judged.get("at_ranks")
    drawn = [charts_lib.chart("mean label by rank of the score", "rank", "", [
        ("mean label", "bars", [(i + 1.0, value) for i, value in enumerate(ranks)])])] if (
            ranks) else []
    return [markup.paragraph("A higher label should have higher scores."),
            markup.table(headings, rows), charts.grid(drawn),
            markup.note("" if ranks else _NO_QUERIES)]
