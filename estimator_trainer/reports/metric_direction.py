"""Whether a lower or a higher value of a metric is better, as far as its name says so."""

from __future__ import annotations

import re
from typing import Any, Literal, Mapping

Direction = Literal["min", "max", ""]

_LOWER = frozenset("""
    loss losses error errors err mae mse rmse mape rmsle msle smape perplexity entropy nll deviance
    brier hinge divergence distance regret wer cer fpr fnr ece""".split())
_HIGHER = frozenset("""
    accuracy acc auc auroc auprc precision recall sensitivity specificity f1 fbeta fscore r2 ndcg
    dcg mrr map hit hits iou miou dice bleu rouge kappa mcc matthews correlation pearson spearman
    psnr ssim gini lift likelihood tpr tnr""".split())
_PHRASES: tuple[tuple[str, Direction], ...] = (
    ("negative_log_likelihood", "min"), ("false_positive", "min"), ("false_negative", "min"),
    ("r_squared", "max"), ("f_score", "max"), ("f_measure", "max"))
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def of_metric(name: str, settings: Mapping[str, Any] | None = None) -> Direction:
    """Returns "min" or "max", the better values of a metric; "" where its name does not say.

    Args:
      name: Such as "accuracy", "head/auc_1", "average_loss".
      settings: Settings that the user set; --best_mode decides for --best_metric.
    """
    settings = settings or {}
    if settings.get("best_metric", "loss") == name and settings.get("best_mode") in ("min", "max"):
        return "min" if settings["best_mode"] == "min" else "max"
    plain = _HUMP.sub("_", name).lower()
    words = re.split(r"[^a-z0-9]+", plain.replace("_", " "))
    # The accuracy of a constant answer is a property of the data.
    if "baseline" in words:
        return ""
    phrase = "_".join(words)
    for part, direction in _PHRASES:
        if part in phrase:
            return direction
    if _LOWER.intersection(words):
        return "min"
    return "max" if _HIGHER.intersection(words) else ""


def in_words(direction: Direction) -> str:
    """Returns the direction for a heading: "lower is better"; "" if unknown."""
    return {"min": "lower is better", "max": "higher is better", "": ""}[direction]
