"""The sha256 of each part of a plug-in, by which a later run finds which of them has changed.

The parts of a module are source files. The parts of a function, class or object that a Python
program passes are its source (or its code, as of a lambda or of `exec`), its defaults, the values
of its closure, and the functions, classes and values of the user's code that it reads by name.
"""

from __future__ import annotations

import argparse
import contextlib
import dis
import functools
import hashlib
import inspect
import json
import os.path
import pathlib
import re
import sys
import sysconfig
import types
from typing import Any, Callable, Iterator, Mapping

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import redaction
from estimator_trainer.patches import private_api
from estimator_trainer.plugins import source_files
from estimator_trainer.plugins.plugin import Plugin

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_INSTALLED = tuple(os.path.join(path, "") for path in {
    *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
    os.path.dirname(os.path.dirname(__file__))})
# A deeper value counts by its type alone: a value may hold itself.
_MOST_LEVELS = 8
_MOST_OBJECTS = 100_000
# Keras counts the layers of a process: `dense`, `dense_1`, and their inputs.
_NUMBERED = r"_\d+(?=(_input)?\")"


def of(thing: Any, name: str) -> dict[str, str]:
    """Returns the sha256 of each part of a thing, by names that begin with `name` or a module's."""
    parts = _Parts()
    if isinstance(thing, types.FunctionType):
        parts.add_function(name, thing)
    else:
        parts.add(name, thing)
    return dict(sorted(parts.found.items()))


def sha256_of_text(text: str) -> str:
    """Returns the sha256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class _Parts:
    """Collects the parts, each once."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        # An object keeps its id for as long as it is held here.
        self._seen: dict[int, Any] = {}

    def add(self, name: str, thing: Any) -> None:
        """Adds what belongs to the user's code; anything else is left out."""
        if redaction.is_secret(name.rpartition(".")[2]) or id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        try:
            self._add_kind(name, thing)
        except Exception as error:  # pylint: disable=broad-except
            # An object of the user's may raise on any access. No record is worth a training.
            logging.debug("no part of the record: %s (%r)", name, error)

    def _add_kind(self, name: str, thing: Any) -> None:
        if isinstance(thing, functools.partial):
            self.add(name, thing.func)
            self._add_all(name, {**dict(enumerate(thing.args)), **thing.keywords})
        elif isinstance(thing, types.MethodType):
            self.add(name, thing.__func__)
            self.add(f"{name}.self", thing.__self__)
        elif isinstance(thing, types.FunctionType):
            if _is_own(thing.__code__.co_filename):
                self.add_function(name, thing)
        elif isinstance(thing, type):
            self._add_class(name, thing)
        elif isinstance(thing, types.ModuleType):
            path = getattr(thing, "__file__", None) or ""
            if path.endswith(".py") and _is_own(path):
                self.found[thing.__name__] = source_files.sha256(path)
        elif isinstance(thing, tf.estimator.Estimator):
            self._add_all(name, {"params": thing.params})
            self.add_function(f"{name}.model_fn", private_api.part(thing, "_model_fn"))
        else:
            self._add_value(name, thing)

    def add_function(self, name: str, function: Any) -> None:
        """Adds a function, and what it reads."""
        if not isinstance(function, types.FunctionType):
            self.add(name, function)
            return
        code = function.__code__
        self.found[name] = sha256_of_text(_source(code) or _text_of_code(code))
        positional = code.co_varnames[:code.co_argcount]
        defaults = function.__defaults__ or ()
        self._add_all(name, dict(zip(positional[len(positional) - len(defaults):], defaults)))
        self._add_all(name, function.__kwdefaults__ or {})
        self._add_all(name, _closure(function))
        for place, value in _read_globals(code, function.__globals__):
            self.add(place, value)

    def _add_class(self, name: str, kind: type) -> None:
        if not _is_of_user(kind):
            return
        source = _source(kind)
        if source:
            self.found[name] = sha256_of_text(source)
        for key, value in vars(kind).items():
            value = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(value, types.FunctionType) or not source and not key.startswith("__"):
                self.add(f"{name}.{key}", value)
        for base in kind.__bases__:
            self.add(f"{base.__module__}:{base.__qualname__}", base)

    def _add_value(self, name: str, value: Any) -> None:
        kind = type(value)
        is_of_user, is_keras = _is_of_user(kind), isinstance(value, tf.keras.layers.Layer)
        if is_of_user:
            self.add(f"{kind.__module__}:{kind.__qualname__}", kind)
        if is_of_user and not is_keras:
            self._add_all(name, getattr(value, "__dict__", {}))
        if callable(value) and not is_of_user and not hasattr(value, "get_config"):
            return
        if is_keras or not is_of_user or isinstance(value, (Mapping, list, set, tuple)):
            self.found[name] = sha256_of_text(self._text(name, value))

    def _add_all(self, name: str, values: Mapping[Any, Any]) -> None:
        for key, value in values.items():
            self.add(f"{name}.{key}", value)

    def _text(self, name: str, value: Any, level: int = 0) -> str:
        """Returns a text that differs for other values; functions in them are parts."""
        if isinstance(value, _PLAIN):
            return repr(value)
        if level > _MOST_LEVELS:
            return _type_of(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return _text_of_array(np.asarray(value))
        if isinstance(value, (argparse.Namespace, types.SimpleNamespace)):
            value = vars(value)
        if isinstance(value, Mapping):
            items = {str(key): self._text(f"{name}.{key}", each, level + 1)
                     for key, each in value.items() if not redaction.is_secret(str(key))}
            return f"{_type_of(value)} {items}"
        if isinstance(value, (list, tuple)):
            return f"{_type_of(value)} " + str([self._text(f"{name}.{i}", each, level + 1)
                                                for i, each in enumerate(value)])
        if isinstance(value, (set, frozenset)):
            return str(sorted(self._text(name, each, level + 1) for each in value))
        if isinstance(value, tf.keras.Model):
            return _text_of_keras_model(value)
        if type(value).__module__.partition(".")[0] == "pandas":
            return _text_of_frame(value)
        if level and (callable(value) or _is_of_user(type(value))):
            self.add(name, value)
        return _type_of(value) + _text_of_config(value)


def _is_own(path: str) -> bool:
    """Returns whether code of this file is the user's, as of a script or a notebook's cell."""
    return not path.startswith((*_INSTALLED, "<frozen")) and "-packages" not in path


def _is_of_user(kind: type) -> bool:
    path = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not path:
        # A notebook's cells have no file; neither have modules that are built into Python.
        return kind.__module__.partition(".")[0] not in sys.stdlib_module_names
    return _is_own(path)


def _source(thing: Any) -> str:
    """Returns the text of a class or code object; "" if it has none of its own."""
    if getattr(thing, "co_name", "") == "<lambda>":
        return ""  # The text would be the whole line that the lambda is in.
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError, IndexError, SyntaxError):
        return ""


def _text_of_code(code: types.CodeType) -> str:
    """Returns what compiled code does, without the lines and the file that it is from."""
    constants = [_text_of_code(each) if isinstance(each, types.CodeType) else
                 str(sorted(map(repr, each))) if isinstance(each, frozenset) else repr(each)
                 for each in code.co_consts]
    return str([code.co_code.hex(), constants, code.co_names, code.co_varnames])


def _closure(function: types.FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):  # The variable has no value yet.
            found[name] = cell.cell_contents
    return found


def _read_globals(code: types.CodeType, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields each global value that code reads, with its name; of a module what it reads there."""
    steps = list(dis.get_instructions(code))
    written = {step.argval for step in steps if step.opname == "STORE_GLOBAL"}
    for i, step in enumerate(steps):
        if step.opname == "IMPORT_NAME" and step.argval in sys.modules:
            yield step.argval, sys.modules[step.argval]
        if step.opname != "LOAD_GLOBAL" or step.argval in written or step.argval not in names:
            continue
        value = names[step.argval]
        place = f"{names.get('__name__', '')}:{step.argval}"
        for after in steps[i + 1:]:
            if not isinstance(value, types.ModuleType) or (
                    after.opname not in ("LOAD_ATTR", "LOAD_METHOD") or
                    not hasattr(value, after.argval)):
                break
            place, value = f"{value.__name__}:{after.argval}", getattr(value, after.argval)
        yield place, value
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _read_globals(inner, names)


def _type_of(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _text_of_array(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        return str([array.shape, array.tolist() if array.size < _MOST_OBJECTS else "objects"])
    # Unlike `tobytes`, a view does not copy an array of gigabytes.
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{array.dtype} {array.shape} {hashlib.sha256(content.data).hexdigest()}"


def _text_of_frame(frame: Any) -> str:
    try:
        rows = sys.modules["pandas"].util.hash_pandas_object(frame)
        return f"{list(getattr(frame, 'columns', ()))} {_text_of_array(rows.to_numpy())}"
    except (TypeError, ValueError, AttributeError):
        return f"{_type_of(frame)} {getattr(frame, 'shape', '')}"


def _text_of_keras_model(model: tf.keras.Model) -> str:
    """Returns the layers of a model and how it is compiled, without numbers in layers' names."""
    loss = getattr(model, "loss", None)
    compiled = [_text_of_config(model.optimizer), _text_of_config(loss) or (
        loss if isinstance(loss, str) else getattr(loss, "__name__", _type_of(loss)))]
    try:
        layers = model.to_json()
    except NotImplementedError:
        layers = _type_of(model)  # The class is a part.
    for i, layer in enumerate(getattr(model, "layers", ())):
        layers = layers.replace(json.dumps(layer.name), f'"layer {i}"')
    return f"{re.sub(_NUMBERED, '', layers)} {compiled}"


def _text_of_config(thing: Any) -> str:
    """Returns the config of an optimizer, a loss or a layer of Keras; "" for anything else."""
    try:
        config = thing.get_config() if hasattr(thing, "get_config") else None
        text = "" if config is None else json.dumps(config, default=_type_of, sort_keys=True)
        return re.sub(_NUMBERED, "", text)
    except (TypeError, ValueError, NotImplementedError):
        return ""


def of_plugin(plugin: Plugin, module: types.ModuleType) -> dict[str, str]:
    """Returns the sha256 of each source, by its path from the plug-in's folder or package.

    Beside its module, loaded modules of its folder or package count.
    """
    if plugin.thing is not None:
        return of(plugin.thing, plugin.name)
    folder = pathlib.Path(plugin.path).resolve().parent
    top = plugin.module.partition(".")[0]
    if not plugin.is_file:
        # The folder that holds the package.
        folder = folder.parents[plugin.module.count(".") - 1] if "." in plugin.module else folder
    loaded = [module, *(each for name, each in list(sys.modules.items())
                        if plugin.is_file or name.partition(".")[0] == top)]
    start = os.path.join(folder, "")
    # Thousands of modules are in a few hundred folders.
    real = functools.cache(os.path.realpath)
    paths = {path for each in loaded if (path := _path(each, real)).startswith(start)}
    places = {pathlib.Path(path).relative_to(folder).as_posix(): path for path in paths}
    return {place: source_files.sha256(path) for place, path in sorted(places.items())
            if "site-packages" not in place}


def _path(module: Any, real: Callable[[str], str]) -> str:
    """Returns the path of a module's source, with links resolved by `real`; "" if it has none."""
    path = getattr(module, "__file__", None)
    if not isinstance(path, str) or not path.endswith(".py"):
        return ""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    return os.path.join(real(folder), name)
