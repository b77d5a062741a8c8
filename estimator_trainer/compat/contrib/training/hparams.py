"""`tf.contrib.training.HParams`: a model's parameters by name, each of one type.

Behaves as `tensorflow/contrib/training/python/training/hparam.py` of TensorFlow 1.15, errors' types
among it.
"""

from __future__ import annotations

import json
import numbers
import re
from typing import Any, Mapping, NoReturn, Optional

from tensorflow.python.framework import ops

from estimator_trainer.compat.contrib.training import hparam_protos

_ASSIGNMENT = re.compile(r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
                         r"((?P<scalar>[^,\[]*)|\[(?P<list>[^\]]*)\])($|,\s*)")


def parse_values(values: str, type_map: Mapping[str, Any], ignore_unknown: bool = False
                 ) -> dict[str, Any]:
    """Returns the values in a text such as `rate=0.1,layers=[8,4],layers[1]=2,name=x`.

    Args:
      values: Assignments, with commas between them.
      type_map: The type of each parameter; of a list, the type of its elements.
      ignore_unknown: Whether parameters that are not in `type_map` are left out.

    Returns:
      By name a value, a list of values, or {index: value} for assignments to single elements.

    Raises:
      ValueError: The text is not of that form, or assigns one name twice, or a value has not the
        type of its parameter, or a name is not in `type_map`.
    """
    found: dict[str, Any] = {}
    at = 0
    while at < len(values):
        match = _ASSIGNMENT.match(values, at)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[at:]}; expected NAME=VALUE "
                             "or NAME=[VALUE,VALUE]")
        at, name = match.end(), match["name"]
        if name in type_map:
            _assign(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}; expected one of "
                             f"{sorted(type_map)}")
    return found


def _assign(found: dict[str, Any], match: re.Match[str], kind: Any, values: str) -> None:
    name, index, scalar = match["name"], match["index"], match["scalar"]
    if index is None:
        if name in found:
            _refuse_second(name, values)
        found[name] = _parse(name, kind, scalar, values) if scalar is not None else [
            _parse(name, kind, each, values) for each in re.split("[ ,]", match["list"]) if each]
        return
    if scalar is None:
        raise ValueError(f"Assignment of a list to a list index. {name}[{index}] is one value.")
    elements = found.setdefault(name, {})
    if not isinstance(elements, dict) or int(index) in elements:
        _refuse_second(f"{name}[{index}]" if isinstance(elements, dict) else name, values)
    elements[int(index)] = _parse(name, kind, scalar, values)


def _refuse_second(name: str, values: str) -> NoReturn:
    raise ValueError(f"Multiple assignments to variable {name!r} in {values}")


def _parse(name: str, kind: Any, text: str, values: str) -> Any:
    try:
        if kind is not bool:
            return kind(text)
        truths = {"true": True, "True": True, "false": False, "False": False}
        return truths[text] if text in truths else bool(int(text))
    except ValueError:
        raise ValueError(f"Could not parse hparam {name!r} of type {kind.__name__!r} with value "
                         f"{text!r} in {values}") from None


class HParams:
    """The parameters are attributes; each keeps the type that it was made with."""

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        self._hparam_types: dict[str, Any] = {}
        self._model_structure = model_structure
        if hparam_def and kwargs:
            raise ValueError("hparam_def and initialization values are mutually exclusive")
        if hparam_def:
            kwargs = hparam_protos.values(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a parameter; a list has elements of one type.

        Raises:
          ValueError: An attribute has that name, or the list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = type(value[0] if is_list else value), is_list
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a parameter, after conversion to its type.

        Raises:
          KeyError: There is no parameter of that name.
          ValueError: The value is not of the parameter's type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(f"Must {'' if is_list else 'not '}pass a list for "
                             f"{'multi' if is_list else 'single'}-valued parameter: {name}")
        setattr(self, name, [_cast(name, kind, each) for each in value] if is_list
                else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a parameter, if there is one of that name."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets parameters from text such as `rate=0.1,layers=[8,4],name=x`; returns itself.

        Raises:
          ValueError: as `parse_values` and `set_hparam`.
        """
        return self.override_from_dict(parse_values(
            values, {name: kind for name, (kind, _) in self._hparam_types.items()}))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets the parameters in a dict, as `set_hparam`; returns itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """Does what `override_from_dict` does."""
        return self.override_from_dict(values_map)

    def parse_json(self, values_json: str) -> HParams:
        """Sets the parameters in a JSON object; returns itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """Returns all parameters."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Returns all parameters as a JSON object."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a parameter, `default` if there is none of that name.

        Raises:
          ValueError: The default is not of the parameter's type.
        """
        if key not in self._hparam_types:
            return default
        kind, is_list = self._hparam_types[key]
        if default is not None:
            if is_list != isinstance(default, list):
                raise ValueError(f"Hparam {key!r} of type {'list of ' if is_list else ''}{kind} is "
                                 f"incompatible with default={default}")
            for each in default if is_list else [default]:
                _cast(key, kind, each)
        return getattr(self, key)

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps an object for `get_model_structure`."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Returns the object that `set_model_structure` was given."""
        return self._model_structure

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns all parameters as an `HParamDef`.

        Raises:
          ValueError: A parameter is not a number, truth value or text.
        """
        return hparam_protos.hparam_def(
            {name: (kind, getattr(self, name)) for name, (kind, _) in self._hparam_types.items()})

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: Optional[str] = None) -> HParams:
        """Returns the parameters of an `HParamDef`."""
        return HParams(hparam_def=hparam_def)

    def __contains__(self, key: object) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"


def _cast(name: str, kind: Any, value: Any) -> Any:
    """Returns `value` as `kind`, where that loses nothing.

    Raises:
      ValueError: The conversion would be between text, truth values and numbers, or round.
    """
    # True is an int to isinstance.
    if type(value) is kind or issubclass(kind, type(None)):
        return value
    if (issubclass(kind, (str, bytes)) and not isinstance(value, (str, bytes))
            or issubclass(kind, bool) != isinstance(value, bool)
            or any(issubclass(kind, each) and not isinstance(value, each)
                   for each in (numbers.Integral, numbers.Number))):
        raise ValueError(f"Could not cast hparam {name!r} of type {kind} from value {value!r}")
    return kind(value)


# Graphs keep HParams in the collection of that name.
ops.register_proto_function("hparams", hparam_protos.HParamDef, HParams.to_proto,
                            HParams.from_proto)
