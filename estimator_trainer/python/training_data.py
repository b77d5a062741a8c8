"""Data of a Python program for the input_fn: a table in memory, or paths of files or folders."""

from __future__ import annotations

import collections
import os
from typing import Any, Iterable, Mapping, NamedTuple

from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import ConfigError, Problem, Setting, Words
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.plugin import Plugin

# Plug-ins for data of a call that names none, in a model_dir without a record.
_OF_TABLES = {"model_fn": "canned", "input_fn": "table"}
_OF_FOLDERS = {"input_fn": "image_folder"}
_OF_ARRAYS = {"input_fn": "arrays"}
# The params that name data, of the plug-ins that read files, and of those that read folders.
_TRAIN, _EVAL = ("train_files", "train_dir"), ("eval_files", "eval_dir")
# Later calls of this process may evaluate on a table, or go on with its training.
_MOST_KEPT = 8
_kept: collections.OrderedDict[str, Any] = collections.OrderedDict()


class Data(NamedTuple):
    """The data of a call: a table, a path, several paths, or None."""

    train: Any = None
    label: str = ""
    evaluation: Any = None

    def __bool__(self) -> bool:
        return self.train is not None or self.evaluation is not None or bool(self.label)

    @property
    def has_table(self) -> bool:
        """Whether a part of the data is in memory."""
        parts = (self.train, self.evaluation)
        return any(data is not None and not is_path(data) for data in parts)


def default_plugins(data: Data) -> dict[str, str]:
    """Returns the names of the plug-ins for data, where a call names none."""
    first = data.train if data.train is not None else data.evaluation
    if first is None:
        return {}
    is_folder = is_path(first) and isinstance(first, (str, os.PathLike)) and any(
        entry.is_dir() for entry in _entries(os.fspath(first)))
    return _OF_FOLDERS if is_folder else _OF_ARRAYS if _has_pictures(first) else _OF_TABLES


def check_label(label: Any) -> None:
    """Raises ConfigError if a label is no name."""
    if not isinstance(label, str):
        raise ConfigError(Problem(
            "label", Words(_shown(label)), expected="the name of the column or the array in data"
            " that is the label", example="data={'image': images, 'kind': kinds}, label='kind'"))


def params_of(plan: Plan, data: Data) -> dict[str, Any]:
    """Returns the params that name the data; TensorFlow is imported if there is a table.

    Raises:
      ConfigError: The input_fn cannot read them, or they are no table.
    """
    found: dict[str, Any] = {}
    assert plan.data is not None
    for name, part, plugin, params in (
            ("data", data.train, plan.train_data or plan.data, _TRAIN),
            ("eval_data", data.evaluation, plan.data, _EVAL)):
        if part is not None:
            found[_param(name, part, plugin, params)] = _path(name, part, plugin)
    return {**found, **({"label": data.label} if data.label else {})}


def _param(name: str, data: Any, plugin: Plugin, params: tuple[str, ...]) -> str:
    for param in params:
        if param in (plugin.default_params or {}):
            return param
    raise ConfigError(Problem(
        name, Words(_shown(data)), f"and input_fn {plugin.name!r} reads no such data: its"
        f" DEFAULT_PARAMS have no {' or '.join(map(repr, params))}", "an input_fn that does",
        Setting("input_fn", "table")))


def _path(name: str, data: Any, plugin: Plugin) -> str:
    if is_path(data):
        return paths(data)
    in_memory = getattr(loader.load(plugin)[1], "in_memory", None)
    if in_memory is None:
        raise ConfigError(Problem(
            name, Words(_shown(data)), f"and input_fn {plugin.name!r} reads only files",
            "the path of a file or a folder, or an input_fn that reads tables in memory",
            Setting("input_fn", "table")))
    from estimator_trainer.prediction import frames
    table = frames.arrow_table(name, data)
    path = str(in_memory(table))
    _kept[path] = table
    _kept.move_to_end(path)
    while len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)
    return path


def is_path(data: Any) -> bool:
    """Returns whether data are a path or a list of paths."""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and bool(data) and all(
        isinstance(each, (str, os.PathLike)) for each in data)


def check_instances(data: Any) -> None:
    """Raises ConfigError if data to predict are neither paths, rows, columns nor a picture."""
    is_picture = hasattr(data, "__array_interface__") and getattr(data, "ndim", 3) > 1
    is_number = getattr(data, "ndim", 1) == 0
    if is_number or not (isinstance(data, Iterable) or hasattr(data, "__arrow_c_stream__")
                         or is_picture):
        raise ConfigError(Problem(
            "data", data, expected="a path, a list of paths, a list of dicts that are rows, a"
            " DataFrame, an Arrow table, or a dict from name to column",
            example=Setting("data", "new.csv")))


def paths(data: Any) -> str:
    """Returns one or several paths as the text of a setting."""
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else ",".join(
        map(os.fspath, data))


def described(data: Any) -> str:
    """Returns data as in a call: paths as they are, and the type of what is in memory."""
    return _shown(data) if is_path(data) else f"<{type(data).__name__}>"


def _shown(data: Any) -> str:
    if is_path(data):
        return repr(data if isinstance(data, (str, list, tuple)) else os.fspath(data))
    return "a dict" if isinstance(data, Mapping) else f"a {type(data).__name__}"


def _has_pictures(data: Any) -> bool:
    """Returns whether data are files of arrays, or have a column with pictures in its rows."""
    if is_path(data):
        return paths(data).endswith(".npz")
    return isinstance(data, Mapping) and any(
        len(getattr(column, "shape", ())) > 2 or isinstance(column, (list, tuple)) and bool(column)
        and len(getattr(column[0], "shape", ())) > 1 for column in data.values())


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.expanduser(folder)) as entries:
            return list(entries)
    except OSError:
        return []
