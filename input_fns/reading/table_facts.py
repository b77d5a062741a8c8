"""Learns from a table's training files what the user has not set: types, classes, fills, scales."""

from __future__ import annotations

import functools
import json
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from absl import logging
import numpy as np

from input_fns.reading import (column_kinds, file_system, label_classes, label_scale, same_files,
                               table_file, table_hints, table_params)
from input_fns.reading.column import Column, column_of
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.field import Value
from input_fns.reading.file_names import matched_tables
from input_fns.reading.table import check_features, chosen, OF_UNPREPARED, unknown, wants_kinds
from input_fns.reading.table_file import MEMORY_SCHEME
from input_fns.reading.table_scan import MOST_FIELDS, Scan, scan, Texts

# A remote file system takes a while to return the size of a file.
_FILES_TO_STAT = 64
# More rows to evaluate are not compared with those to train on.
_MOST_COMPARED_BYTES = 20 * 1024**2
# The facts that are learned depend on these params.
_USED = ("columns", "column_types", "drop", "label", "label_vocabulary", "num_classes",
         "delimiter", "na_value", "empty_numbers", "empty_labels", "eval_files",
         "eval_every", "train_files", "number_formats", "prepare_columns", "table_columns",
         "label_scale", "estimator", "label_smoothing", *OF_UNPREPARED)


class _Inputs(NamedTuple):
    """Key of a scan in the cache; equal values give equal facts.

    Attributes:
      files: The training files.
      stats: Sizes and times of change of the first files.
      params: The params that are used, as JSON.
    """

    files: tuple[str, ...]
    stats: tuple[tuple[int, int], ...]
    params: str


_KEPT: dict[_Inputs, dict[str, Any]] = {}


def facts(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts about a table, for `data_params`.

    Files are read only if the params leave something open.

    Args:
      params: The params of `input_fns/csv.py`; `numeric_scale` is learned if it is one of them.

    Raises:
      DataParamError: A param cannot be used.
      DataFileError: A value in the first lines cannot be used.
    """
    table_params.check(params)
    user_set: dict[str, Any] = {
        name: params[name] for name in ("label_vocabulary", "numeric_scale", "table_columns")
        if params.get(name)}
    known = _learned(params) if _is_open(params) else {
        "columns": chosen(params), "num_classes": params["num_classes"], **user_set}
    if known.get("label_vocabulary") and known["num_classes"] < 1:
        known["num_classes"] = len(known["label_vocabulary"])
    names = known.get("label_vocabulary") or [str(i) for i in range(known["num_classes"])]
    return {**known, **({"class_names": names} if names else {})}


def completed(params: Mapping[str, Any], labelled: bool) -> dict[str, Any]:
    """Returns the params with all that reading needs: types, and the texts of the label.

    Args:
      params: The params of `input_fns/csv.py`.
      labelled: Whether the label is read.
    """
    table_params.check(params)
    label, columns, kind = params["label"], chosen(params), _label_kind(params)
    is_unknown = kind is None or kind is str and not params["label_vocabulary"]
    if not params["columns"] or labelled and is_unknown:
        learned = _learned(params)
        texts = params["label_vocabulary"] or learned.get("label_vocabulary", [])
        return {**params, "columns": learned["columns"], "label_vocabulary": texts,
                "na_value": params["na_value"] or learned.get("na_value", ""),
                "number_formats": params["number_formats"] or learned.get("number_formats", {}),
                "num_classes": params["num_classes"] or learned["num_classes"]}
    if kind is not None:
        columns[label] = columns.get(label, kind())
    return {**params, "columns": columns}


def _is_open(params: Mapping[str, Any]) -> bool:
    """Returns whether the training files have to be read."""
    columns, kind = chosen(params), _label_kind(params)
    if columns and params["predict_files"]:
        return False  # The training files may be missing.
    is_number = any(not isinstance(value, str) for name, value in columns.items()
                    if name != params["label"])
    return (not params["columns"] or kind is None or kind is str and not params["label_vocabulary"]
            or kind is not str and not params["num_classes"]
            or wants_kinds(params) and not params["table_columns"]
            or is_number and "numeric_scale" in params and not params["numeric_scale"]
            and not wants_kinds(params))


def _label_kind(params: Mapping[str, Any]) -> Optional[type]:
    """Returns the type of the label, None if the user has not set it."""
    label = params["label"]
    if params["label_vocabulary"]:
        return str
    if label in chosen(params):
        return type(chosen(params)[label])
    return table_params.KINDS.get(params["column_types"].get(label, ""))


def keep(params: Mapping[str, Any], known: Examined) -> None:
    """Keeps what was examined for these params, so that `facts` does not read and log it again."""
    _KEPT[_inputs(params)] = known.facts


def _learned(params: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_learned_once(_inputs(params)))


def _inputs(params: Mapping[str, Any]) -> _Inputs:
    files = matched_tables("train_files", params["train_files"])
    stats = (file_system.stat(path) for path in files[:_FILES_TO_STAT]
             if not path.startswith(MEMORY_SCHEME))
    used = {name: params[name] for name in _USED if name in params}
    return _Inputs(tuple(files), tuple((each.length, each.mtime_nsec) for each in stats),
                   json.dumps(used))


@functools.lru_cache(maxsize=16)
def _learned_once(inputs: _Inputs) -> dict[str, Any]:
    """Returns the facts without class_names, and logs them; cached, so once per process."""
    if inputs in _KEPT:
        return _KEPT.pop(inputs)
    params: dict[str, Any] = json.loads(inputs.params)
    known = examined(list(inputs.files), params)
    if known.decisions:
        _log_decisions(inputs.files[0], known)
    else:
        _log(inputs.files[0], known)
    for hint in hints(known, params):
        logging.warning("%s.", hint)
    return known.facts


class Examined(NamedTuple):
    """The training files of a table, examined.

    Attributes:
      facts: The facts for `data_params`, without class_names.
      scan: The records that were read.
      columns: The columns that are used, and the label, by name.
      decisions: What each column is to a model that prepares columns; {} for another model.
      label: The label in words.
    """

    facts: dict[str, Any]
    scan: Scan
    columns: Mapping[str, Column]
    decisions: Mapping[str, column_kinds.Decision]
    label: str


def examined(files: list[str], params: Mapping[str, Any],
             most_fields: int = MOST_FIELDS) -> Examined:
    """Returns what a table's training files hold, from so many fields of them at most."""
    found = scan(files, params, most_fields)
    params = {**params, "na_value": found.na_value}
    kinds = _kinds(found, params, files[0])
    columns = {name: column_of(name, found, kind, params) for name, kind in kinds.items()}
    label = columns.pop(params["label"])
    of_label = label_classes.learned(found, label, params)
    decisions = {name: column_kinds.decided(name, found, column, params)
                 for name, column in columns.items()} if wants_kinds(params) else {}
    _check_decisions(decisions, found, files[0], params["label"])
    columns = {name: column for name, column in columns.items()
               if not decisions or decisions[name].entry}
    check_features(columns, files[0], params["label"])
    fills = {name: _fill(name, column, params) for name, column in columns.items()}
    empty = {name: [column.num_empty, fills[name]] for name, column in columns.items()
             if column.num_empty and column.kind is not str}
    scale = label_scale.learned(label) if params.get("label_scale") == {} else {}
    scales = {name: [column.mean, column.deviation] for name, column in columns.items()
              if column.kind is not str}
    facts = {
        "columns": {**fills, params["label"]: of_label.kind()}, **of_label.facts,
        **({"numeric_scale": params["numeric_scale"] or scales}
           if "numeric_scale" in params and not decisions else {}),
        **({"table_columns": {name: each.entry for name, each in decisions.items() if each.entry}}
           if decisions else {}),
        **({"label_scale": scale} if scale else {}),
        **({"identifiers": [name for name, each in decisions.items() if each.is_identifier]}
           if decisions else {}),
        **({"na_value": found.na_value} if found.na_value else {}),
        **({"number_formats": dict(found.number_formats)} if found.number_formats else {}),
        **({"train_examples": int(found.is_training.sum())} if found.is_whole else {}),
        **({"empty_fields": empty} if empty else {})}
    return Examined(facts, found, {**columns, params["label"]: label}, decisions, of_label.text)


def _kinds(found: Scan, params: Mapping[str, Any], path: str) -> dict[str, Optional[type]]:
    """Returns the types of the columns to read and of the label; None unless the user set one."""
    label, names, columns = params["label"], list(found.columns), chosen(params)
    of_param = {"column_types": params["column_types"], "columns": columns, "label": [label],
                "drop": [] if params["columns"] else params["drop"]}
    for param, used in of_param.items():
        wrong = next((name for name in used if name not in names), None)
        if wrong is not None:
            raise unknown(wrong, names, path, param)
    wanted = columns if params["columns"] else [n for n in names if n not in params["drop"]]
    check_features(wanted, path, label)
    types = {**found.kinds,
             **{name: table_params.KINDS[kind] for name, kind in params["column_types"].items()},
             **{name: type(value) for name, value in columns.items()},
             **({label: str} if params["label_vocabulary"] else {})}
    return {name: types.get(name) for name in dict.fromkeys([*wanted, label])}


def _fill(name: str, column: Column, params: Mapping[str, Any]) -> Value:
    """Returns the value of empty fields, of the column's type."""
    if name in params["columns"]:
        return chosen(params)[name]
    if column.kind is str or params["empty_numbers"] != "mean":
        zero: Value = column.kind()
        return zero
    return round(column.mean) if column.kind is int else float(column.mean)


def _check_decisions(decisions: Mapping[str, column_kinds.Decision], found: Scan, path: str,
                     label: str) -> None:
    """Raises an error if no column is left, or a category has a value that is no UTF-8."""
    if decisions and not any(each.entry for each in decisions.values()):
        name, first = next(iter(decisions.items()))
        raise DataParamError(
            f"{path} has no column to learn {label!r} from: {column_kinds.shown(name)!r}"
            f"{' and others are' * (len(decisions) > 1)}{' is' * (len(decisions) == 1)} left out, "
            f"as {first.text.partition('; to use')[0]}. More rows may help; to use it anyway: "
            f"{first.text.partition('to use it: ')[2]}")
    for name, each in decisions.items():
        bad = next((value for value in (each.entry or {}).get("values", ())
                    if table_file.NO_TEXT in value), None)
        if bad is not None:
            place = found.place(list(found.columns[name]).index(bad))
            raise DataFileError(
                f"{place}: column {name!r} is {bad!r}, which has bytes that are no UTF-8; "
                f"{table_file.as_utf8(path)}")


def _log_decisions(path: str, known: Examined) -> None:
    logging.info("columns of %s; label: %s%s", path, known.label, _part(known.scan))
    for line in column_kinds.log_rows(known.decisions):
        logging.info("%s", line)


def _part(found: Scan) -> str:
    return "" if found.is_whole else f"; learned from {found.extent} of the training files"


def hints(known: Examined, params: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each oddity of a table whose columns the model prepares."""
    if not known.decisions:
        return []
    found, columns = known.scan, known.columns
    params = {**params, "na_value": found.na_value}
    training, evaluated = [
        {name: [text for text, is_in in zip(texts[name], rows) if is_in]
         for name in columns if name in texts}
        for texts, rows in ((found.columns, found.is_training), _evaluated(found, params))]
    categories = {name: [*each.entry["values"], params["na_value"]]
                  for name, each in known.decisions.items()
                  if each.entry and each.kind == "category"}
    label = params["label"]
    of_classes = table_hints.of_classes(found.columns[label], label) if (
        columns[label].kind is str and not params["label_vocabulary"]) else []
    return [*of_classes, *table_hints.of_label(found, columns, params,
                                               known.facts["num_classes"] > 0),
            *table_hints.of_parts(training, evaluated, categories)]


class Part(NamedTuple):
    """The rows to train on, or those to evaluate, as far as they were read.

    Attributes:
      columns: The texts of each column, by name, of these and other rows.
      is_in: Whether a row is one of the part, bool [rows].
      is_whole: Whether the part has no other rows.
    """

    columns: Mapping[str, Texts]
    is_in: np.ndarray
    is_whole: bool

    @property
    def rows(self) -> int:
        """Number of the part's rows."""
        return int(self.is_in.sum())


def parts(params: Mapping[str, Any]) -> tuple[Part, Part]:
    """Returns the rows to train on and those to evaluate, read again; `params` are completed."""
    found = scan(matched_tables("train_files", params["train_files"]), params)
    columns, is_in = _evaluated(found, params)
    return (Part(found.columns, found.is_training, found.is_whole),
            Part(columns, np.array(is_in, bool), found.is_whole or bool(params["eval_files"])))


def _evaluated(found: Scan, params: Mapping[str, Any]
               ) -> tuple[Mapping[str, Texts], Sequence[bool]]:
    """Returns the texts of a table that has the rows to evaluate, and which rows those are."""
    if not params["eval_files"]:
        return found.columns, [not is_training for is_training in found.is_training]
    try:
        files = matched_tables("eval_files", params["eval_files"])
        training = matched_tables("train_files", params["train_files"])
        if same_files.same(tuple(training), tuple(files)):
            return {}, []  # A warning names the files.
        if len(files) > _FILES_TO_STAT or sum(
                file_system.stat(path).length for path in files
                if not path.startswith(MEMORY_SCHEME)) > _MOST_COMPARED_BYTES:
            return {}, []
        other = scan(files, {**params, "number_formats": dict(found.number_formats)})
    except (DataFileError, DataParamError):
        return {}, []  # Reading the files raises the error.
    return other.columns, [True] * len(other.places)


def _log(path: str, known: Examined) -> None:
    words = {int: "int64", float: "float32", str: "text"}
    *features, _ = known.columns.items()  # The label is the last.
    types = ", ".join(f"{name} {words[each.kind]}" for name, each in features)
    logging.info("columns of %s: %s; label: %s%s", path, types, known.label, _part(known.scan))
    empty = known.facts.get("empty_fields", {})
    if empty:
        logging.info("empty numbers: %s", "; ".join(
            f"{name}: {count:,} of {len(known.scan.places):,} empty, filled with {fill:.6g}"
            for name, (count, fill) in empty.items()))
