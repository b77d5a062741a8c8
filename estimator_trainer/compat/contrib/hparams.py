"""`tf.contrib.training.HParams`: a model's parameters by name, each of one type."""

from __future__ import annotations

import csv
import json
import re
from typing import Any, Iterator, Mapping

from estimator_trainer.errors import ConfigError

_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*(\[\s*\d+\s*\])?\s*=\s*(\[[^\]]*\]|[^,\[]*)\s*(,|$)")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class HParams:
    """The parameters are attributes; each keeps the type that it was made with."""

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **values: Any) -> None:
        self._types: dict[str, Any] = {}
        self._model_structure = model_structure
        for name, value in values.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a parameter; a list has elements of one type."""
        if hasattr(self, name):
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = type(value[0] if is_list else value), is_list
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a parameter, after conversion to its type."""
        kind, is_list = self._type(name)
        if isinstance(value, list) != is_list:
            raise ValueError(f"{name} is {value!r}; expected "
                             f"{'a list' if is_list else 'a single value'}.")
        setattr(self, name, [_cast(name, kind, each) for each in value] if is_list
                else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a parameter, if there is one of that name."""
        if self._types.pop(name, None):
            delattr(self, name)

    def parse(self, values: str) -> HParams:
        """Sets parameters from text such as `rate=0.1,layers=[8,4],name=x`; returns itself."""
        found: dict[str, Any] = {}
        at = 0
        while at < len(values):
            match = _ASSIGNMENT.match(values, at)
            if match is None:
                raise ConfigError(f"Malformed hyperparameter value: {values[at:]!r} (from "
                                  f"{values!r}); expected NAME=VALUE. For example: rate=0.1")
            name, index, text, _ = match.groups()
            at = match.end()
            kind, is_list = self._type(name)
            if index:
                found.setdefault(name, list(getattr(self, name)))[int(index.strip("[] "))] = (
                    _parse(name, kind, text))
            elif is_list:
                found[name] = [_parse(name, kind, each.strip()) for each in
                               next(csv.reader([text.strip("[] ")]), [])]
            else:
                found[name] = _parse(name, kind, text)
        return self.override_from_dict(found)

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets the parameters in a dict; returns itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> HParams:
        """Sets the parameters in a JSON object; returns itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """Returns all parameters."""
        return {name: getattr(self, name) for name in self._types}

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Returns all parameters as a JSON object; functions are left out."""
        values = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a parameter, `default` if there is none of that name."""
        return getattr(self, key) if key in self._types else default

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps an object for `get_model_structure`."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Returns the object that `set_model_structure` was given."""
        return self._model_structure

    def _type(self, name: str) -> Any:
        if name not in self._types:
            raise ConfigError(f"Unknown hyperparameter: {name}; expected one of "
                              f"{sorted(self._types)}.")
        return self._types[name]

    def __contains__(self, key: object) -> bool:
        return key in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __repr__(self) -> str:
        return f"HParams({', '.join(f'{name}={v!r}' for name, v in self.values().items())})"


def _parse(name: str, kind: Any, text: str) -> Any:
    text = text.strip()
    try:
        if kind is bool:
            return _BOOLEANS[text.lower()]
        return text if kind in (str, type(None)) else kind(text)
    except (KeyError, ValueError):
        raise ConfigError(f"{name} is {text!r}; expected a value of type "
                          f"{kind.__name__}.") from None


def _cast(name: str, kind: Any, value: Any) -> Any:
    """Returns `value` as `kind`, where that loses nothing."""
    if kind is type(None) or value is None or isinstance(value, kind) and (
            kind is bool or not isinstance(value, bool)):
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is str and isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str) and kind is not str:
        return _parse(name, kind, value)
    raise ValueError(f"{name} is {value!r}; expected a value of type {kind.__name__}.")
