"""Describes the table that the params of `input_fns/csv.py` name, without TensorFlow.

`input_fns/__init__.py` has what an INSPECTION offers.
"""

from __future__ import annotations

import collections
from typing import Any, Mapping, Optional

import numpy as np

from input_fns.reading import (column_kinds, file_system, header, image_files, naive_loss,
                               table_facts, table_file, table_scan)
from input_fns.reading.file_names import matched_tables
from input_fns.reading.log_lines import warnings_collected

# Fields that are read in a few tenths of a second.
_QUICK_FIELDS = 60_000
# Line breaks of a text file of this size are counted in as long.
_MOST_COUNTED_BYTES = 64 * 1024**2
_SHOWN_CLASSES = 5
_MOST_WRITTEN_CLASSES = 50
_WORDS = {int: "integer", float: "number", str: "text"}


def starting_params(data: str) -> Optional[dict[str, Any]]:
    """Returns the params that name a table, or a folder of tables; None for other data."""
    if file_system.is_folder(data):
        has_table = any(map(table_file.has_ending, file_system.names_in(data)))
        return {"train_files": data} if has_table else None
    return None if image_files.is_image(data) else {"train_files": data}


def labels(params: Mapping[str, Any]) -> list[str]:
    """Returns the names of the columns, each of which may be the label."""
    path = matched_tables("train_files", params["train_files"])[0]
    return [name for name in header.header_of(path, params).names if name]


def described(params: Mapping[str, Any], is_quick: bool) -> dict[str, Any]:
    """Returns what is in the table: see `input_fns/__init__.py`."""
    files = matched_tables("train_files", params["train_files"])
    if is_quick and file_system.is_remote(files[0]):
        return {"facts": {"data": f"{_named(files)}; to look into it: check --probe"}}
    most = _QUICK_FIELDS if is_quick else table_scan.MOST_FIELDS
    with warnings_collected() as lines:
        known = table_facts.examined(files, params, most)
        hints = list(table_facts.hints(known, params))
    if not is_quick:
        table_facts.keep(params, known)
    label, scan = params["label"], known.scan
    facts = {"data": _extent(files, scan, params), "label": _label(label, known),
             "columns": _columns(known, label)}
    if not scan.is_whole and is_quick:
        facts["learned from"] = f"{scan.extent}; from more of them: check --probe"
    return {"facts": facts, "warnings": [*lines, *(f"{hint}." for hint in hints)],
            "num_classes": known.facts["num_classes"], "params": _of_project(known),
            "naive_loss": _naive_loss(known, label)}


def _named(files: list[str]) -> str:
    return table_file.shown(files[0]) + (f" and {len(files) - 1:,} more" if files[1:] else "")


def _extent(files: list[str], scan: table_scan.Scan, params: Mapping[str, Any]) -> str:
    size = sum(file_system.stat(path).length for path in files
               if not path.startswith(table_file.MEMORY_SCHEME))
    text = f"{_named(files)}, " + (f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size:,} bytes")
    rows, training = len(scan.places), int(scan.is_training.sum())
    if not scan.is_whole:
        count = _counted_lines(files) if size <= _MOST_COUNTED_BYTES else 0
        return text + (f": about {count:,} rows" if count else "")
    parts = "" if training == rows else f", {training:,} to train on and {rows - training:,} to " \
        f"evaluate (eval_every={params['eval_every']})"
    return f"{text}: {rows:,} rows{parts}"


def _counted_lines(files: list[str]) -> int:
    """Returns about how many rows text files have; 0 if one is of another kind, or packed."""
    count = 0
    for path in files:
        if path.startswith(table_file.MEMORY_SCHEME) or table_file.is_packed(path) or (
                table_file.kind_of(path) not in (table_file.CSV, table_file.JSON)):
            return 0
        with file_system.opened(path) as file:
            while block := file.read(1 << 22):
                count += block.count(b"\n")
        count -= table_file.kind_of(path) == table_file.CSV
    return count


def _label(label: str, known: table_facts.Examined) -> str:
    texts, numbers = known.scan.columns[label], known.columns[label].numbers
    count = known.facts["num_classes"]
    if count < 1:
        assert numbers is not None
        return (f"{label}: a number, {numbers.min():,g} to {numbers.max():,g}, mean "
                f"{numbers.mean():,g}, deviation {numbers.std():,g}")
    shares = collections.Counter(texts).most_common()
    shown = ", ".join(f"{text} {rows / len(texts):.0%}" for text, rows in shares[:_SHOWN_CLASSES])
    return f"{label}: {count} classes: {shown}{', ...' * (len(shares) > _SHOWN_CLASSES)}"


def _columns(known: table_facts.Examined, label: str) -> list[str]:
    """Returns a line of counts, and a line for each column."""
    if known.decisions:
        kinds = collections.Counter(each.kind for each in known.decisions.values())
        lines = column_kinds.log_rows(known.decisions)
    else:
        columns = {name: each for name, each in known.columns.items() if name != label}
        kinds = collections.Counter(_WORDS[each.kind] for each in columns.values())
        width = max(map(len, map(column_kinds.shown, columns)))
        lines = [f"{column_kinds.shown(name):<{width}}  {_WORDS[each.kind]}"
                 + f"  {each.num_empty:,} empty" * bool(each.num_empty)
                 for name, each in columns.items()]
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return [f"{kinds.total():,} beside the label: {counts}", *(line.strip() for line in lines)]


def _of_project(known: table_facts.Examined) -> dict[str, Any]:
    """Returns the learned params that a project may have in its source."""
    texts = known.facts.get("label_vocabulary")
    if texts:
        return {"label_vocabulary": texts} if len(texts) <= _MOST_WRITTEN_CLASSES else {}
    return {"num_classes": known.facts["num_classes"]}


def _naive_loss(known: table_facts.Examined, label: str) -> float:
    """Returns the loss of one answer for all rows to evaluate, or else for those to train on."""
    is_training = known.scan.is_training
    is_evaluated = ~is_training if (~is_training).any() else is_training
    if known.facts["num_classes"] < 1:
        numbers = np.asarray(known.columns[label].numbers, np.float64)
        return naive_loss.of_numbers(numbers[is_training], numbers[is_evaluated])
    values, classes = np.unique(list(known.scan.columns[label]), return_inverse=True)
    return naive_loss.of_classes(np.bincount(classes[is_training], minlength=len(values)),
                                 classes[is_evaluated])
