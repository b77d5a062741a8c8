"""The part of a page on examples with several labels each."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import confusion, markup, shown_examples, threshold_section


def body(judged: Mapping[str, Any], charts: markup.Charts,
         order: Sequence[str] = ()) -> list[markup.Markup]:
    """Returns the metrics at the threshold 0.5, those of each label, and the worst examples."""
    del charts
    wrong, curves = judged["hamming_loss"], judged["curves"]
    cut = "" if judged["labels"] == len(curves) else (
        f" The {len(curves)} most frequent of {judged['labels']:,} labels are shown.")
    return [
        markup.paragraph(
            f"All labels are right in {judged['subset_accuracy']:.1%} of the examples (subset"
            f" accuracy); {wrong:.2%} of the single labels are wrong (Hamming loss). A label is"
            f" predicted from the probability 0.5 on.{cut}"),
        confusion.per_class(judged),
        threshold_section.part(curves, "Each label has a threshold of its own."),
        shown_examples.of("The worst errors", judged["worst"], order)]
