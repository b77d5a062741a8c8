"""Checks the params of tables, as far as possible without reading a file."""

from __future__ import annotations

import shlex
from typing import Any, Mapping

from input_fns.reading import advice
from input_fns.reading.errors import DataParamError

# The last two are kinds for a model that prepares columns itself; it takes both as texts.
KINDS = {"int": int, "float": float, "text": str, "category": str, "date": str}
_EMPTY = {"empty_numbers": ("mean", "zero", "error"), "empty_labels": ("error", "leave_out")}


def check(params: Mapping[str, Any]) -> None:
    """Raises DataParamError for the first param of `input_fns/csv.py` that cannot be used."""
    _check_delimiter(params["delimiter"])
    if not params["eval_files"] and params["eval_every"] < 2:
        raise DataParamError(
            f"eval_every is {params['eval_every']} and eval_files is ''; expected 2 or more, or "
            "files. For example: --param eval_every=5")
    if params["label"] in params["drop"]:
        others = [name for name in params["drop"] if name != params["label"]]
        raise DataParamError(
            f"drop has {params['label']!r}, which is the label; expected columns that are no label."
            f" For example: {advice.typed('drop', others)}")
    for name, values in _EMPTY.items():
        if params[name] not in values:
            raise DataParamError(f"{name} is {params[name]!r}; expected one of "
                                 f"{', '.join(values)}. For example: --param {name}={values[0]}")
    _check_columns(params)
    _check_classes(params)


def _check_delimiter(text: str) -> None:
    is_one = len(text) < 2 and text.isascii() and not (text and text in '"\r\n\0')
    if is_one or text in ("tab", "\\t"):
        return
    change = f"; or change the file: sed {shlex.quote(f's/{text}/;/g')} FILE > new.csv"
    raise DataParamError(
        f"delimiter is {text!r}; expected one character of ASCII that is no quote and ends no "
        "line, 'tab', or '' to find it. For example: --param delimiter=';'"
        + (change if text == 2 * text[:1] else ""))


def leaves_out(params: Mapping[str, Any]) -> bool:
    """Returns whether records without a label are left out."""
    return bool(params["empty_labels"] == "leave_out")


def _check_columns(params: Mapping[str, Any]) -> None:
    for name, default in params["columns"].items():
        if type(default) not in (int, float, str):
            raise DataParamError(
                f"columns has {default!r} for {name!r}; expected the value that stands for a "
                "missing one, of the column's type: 0, 0.0 or \"\". For example: "
                + advice.typed("columns", {**params["columns"], name: 0.0}))
    for name, kind in params["column_types"].items():
        if kind not in KINDS:
            raise DataParamError(
                f"column_types has {kind!r} for {name!r}; expected one of {', '.join(KINDS)}. For "
                f"example: {advice.of_type(name, 'text', params)}")


def _check_classes(params: Mapping[str, Any]) -> None:
    vocabulary, num_classes = params["label_vocabulary"], params["num_classes"]
    if not all(isinstance(text, str) for text in vocabulary):
        raise DataParamError(
            f"label_vocabulary is {vocabulary}; expected texts. For example: "
            "--param label_vocabulary='[\"no\", \"yes\"]'")
    if num_classes < -1:
        raise DataParamError(
            f"num_classes is {num_classes}; expected a number of classes, 0 to learn it from the "
            "data, or -1 where the label is no class. For example: --param num_classes=2")
    if vocabulary and num_classes and num_classes < len(vocabulary):
        raise DataParamError(
            f"num_classes is {num_classes} and label_vocabulary has {len(vocabulary)} texts; "
            "expected as many classes as texts. For example: --param "
            f"num_classes={len(vocabulary)}")
