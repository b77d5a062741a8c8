"""Words to type that mend a run: what the user has set stays in them."""

from __future__ import annotations

import json
import shlex
from typing import Any, Mapping, Sequence

# A label of more values is hardly a class; more are not listed.
MOST_CLASSES = 50


def typed(name: str, value: Any) -> str:
    """Returns the words that set a param on the command line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"--param {name}={shlex.quote(text)}"


def dropped(name: str, params: Mapping[str, Any]) -> str:
    """Returns the words that leave a column out, beside those that the user leaves out."""
    return typed("drop", [*params["drop"], name])


def of_type(name: str, kind: str, params: Mapping[str, Any]) -> str:
    """Returns the words that set a column's type, beside the types that the user sets."""
    return typed("column_types", {**params["column_types"], name: kind})


def as_number(params: Mapping[str, Any]) -> str:
    """Returns the words with which the model learns a label that is a number."""
    estimator = str(params.get("estimator", ""))
    if estimator.endswith("Classifier"):
        return typed("num_classes", -1) + " " + typed(
            "estimator", estimator.removesuffix("Classifier") + "Regressor")
    return "--model_fn=canned " * learns_classes_alone(params) + typed("num_classes", -1)


def as_classes(texts: Sequence[str], params: Mapping[str, Any]) -> str:
    """Returns the words with which the values of a label are classes."""
    number = typed("num_classes", len(texts)) + " "
    return number * bool(params["num_classes"]) + typed("label_vocabulary", list(texts))


def learns_classes_alone(params: Mapping[str, Any]) -> bool:
    """Returns whether the model is one of this program's that learn no numbers."""
    return "label_smoothing" in params
