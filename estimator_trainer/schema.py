"""Schemas of JSON files: dataclasses whose annotations define the valid values.

A file of a model_dir may have been edited, or be a mixture of two versions, and still be JSON.
Therefore each file is read through a schema of its own module, and an invalid value is reported in
one sentence instead of a traceback somewhere later.

A dataclass becomes an instance. A TypedDict stays a dict, for parts that are passed on unchanged.
Unknown keys of newer versions are ignored by a dataclass, and kept by a TypedDict. A key may be
missing if it has a default, or total=False in a TypedDict.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from typing import Annotated, Any, Callable, Literal, Mapping, NamedTuple, TypeVar

from estimator_trainer import redaction

T = TypeVar("T")
_Reader = Callable[[Any], Any]
# Deeper than any file of this program, and less than Python's own stack.
_MOST_LEVELS, _SHOWN_LEVELS = 100, 6
_TOO_DEEP = f"has lists and objects within each other on more than {_MOST_LEVELS} levels"
_MOST_CHARACTERS, _MOST_OF_PLACE = 60, 120
# TensorFlow's integers have 64 bits, and Python's floats end at 2 ** 1024.
_INTEGER_BITS, _FLOAT_BITS = 63, 1023
_NOT_SHOWN = object()
_NAMES: dict[Any, str] = {
    str: "a text", int: "an integer", float: "a number", bool: "true or false",
    type(None): "null", list: "a list", tuple: "a list", dict: "an object"}


class Rule(NamedTuple):
    """A condition on a value beside its type, as an argument of Annotated."""

    expected: str  # The condition in words, such as "a path".
    holds: Callable[[Any], bool]


# A plain float may be NaN or infinite, too.
Number = Annotated[float, Rule("a finite number", math.isfinite)]
Count = Annotated[int, Rule("an integer of at least 0", lambda value: value >= 0)]
Metric = Annotated[bool | int | float | None, Rule(
    "a finite number or null", lambda value: value is None or math.isfinite(value))]
# Python has no dates after the year 9999.
Time = Annotated[float, Rule("seconds since 1970", lambda value: 0 <= value < 253_402_300_800)]
Word = Annotated[str, Rule("a text that is not empty", lambda value: bool(value.strip()))]
# No file system allows a 0 in a name, and Python raises errors for it.
Path = Annotated[str, Rule("a path", lambda value: "\0" not in value)]


class SchemaError(ValueError):
    """A JSON text that does not fit its schema.

    The message is a clause with the place, the value and the expected one: "runs[2].step is 'x';
    expected an integer". The place is completed while the error is raised through the levels.
    """

    def __init__(self, problem: str, value: Any = _NOT_SHOWN):
        """Makes the error; without a value, `problem` is a predicate, else the expected value."""
        super().__init__(problem)
        self._problem, self._value = problem, value
        self._place: list[str | int] = []

    @property
    def is_precise(self) -> bool:
        """Whether the value has the right type, and the problem is inside the value."""
        return bool(self._place) or self._value is _NOT_SHOWN

    def within(self, name: str | int) -> SchemaError:
        """Adds the entry `name` of a list or an object to the place, and returns this error."""
        self._place.insert(0, name)
        return self

    def __str__(self) -> str:
        place = ""
        for name in self._place:
            is_word = isinstance(name, str) and name.isidentifier()
            place += f"{'.' * bool(place)}{name}" if is_word else f"[{json.dumps(name)}]"
        place = _cut(place, _MOST_OF_PLACE) or "the file"
        if self._value is _NOT_SHOWN:
            return f"{place} {self._problem}"
        shown = _shown(str(self._place[-1]) if self._place else "", self._value)
        return f"{place} is {shown}; expected {self._problem}"


def parsed(schema: type[T], text: str) -> T:
    """Returns the value of a JSON text as a `schema`, or raises SchemaError."""
    return made(schema, decoded(text))


def decoded(text: str) -> Any:
    """Returns the value of a JSON text; raises SchemaError if it is not JSON, or not printable."""
    if not text.strip():
        raise SchemaError("is empty")
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise SchemaError(_TOO_DEEP) from error
    except ValueError as error:
        raise SchemaError(f"is not JSON: {error}") from error
    _check_plain(value, 0)
    return value


def made(schema: type[T], value: Any) -> T:
    """Returns a decoded JSON value as a `schema`, or raises SchemaError."""
    kind: Any = schema
    return typing.cast(T, _reader(kind)(value))


def field_value(schema: Any, name: str, value: Any) -> Any:
    """Returns a decoded JSON value as the type of a dataclass's field, or raises SchemaError."""
    return _reader(_hints(schema)[name])(value)


@functools.cache
def _hints(schema: Any) -> Mapping[str, Any]:
    """Returns the annotations of a schema and its parents by name."""
    return typing.get_type_hints(schema, include_extras=True)


@functools.cache
def _reader(hint: Any) -> _Reader:
    """Returns the function that reads values of an annotation, compiled once."""
    origin, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if hint is Any:
        return lambda value: value
    if origin is Annotated:
        return _ruled(inner[0], inner[1:])
    if origin in (typing.Union, types.UnionType):
        return _one_of(inner)
    if origin is Literal:
        return _plain(lambda value: isinstance(value, str) and value in inner,
                      f"one of {', '.join(map(repr, inner))}")
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
        return _object(hint)
    if origin in (list, tuple):
        return _list(origin, _reader(inner[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _entries(_reader(inner[1]))
    return _SCALARS[origin]


def _plain(is_right: Callable[[Any], bool], expected: str) -> _Reader:
    def read(value: Any) -> Any:
        if not is_right(value):
            raise SchemaError(expected, value)
        return value

    return read


def _object(schema: Any) -> _Reader:
    is_dict = typing.is_typeddict(schema)
    readers = {name: _reader(hint) for name, hint in _hints(schema).items()}
    required = schema.__required_keys__ if is_dict else {
        field.name for field in dataclasses.fields(schema)
        if field.default is field.default_factory is dataclasses.MISSING}

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise SchemaError("an object", value)
        if missing := required - value.keys():
            raise SchemaError(f"has no {min(missing)!r}; expected an object with"
                              f" {', '.join(sorted(required))}")
        found = dict(value) if is_dict else {}
        for name in readers.keys() & value.keys():
            found[name] = _read_within(name, readers[name], value[name])
        return found if is_dict else schema(**found)

    return read


def _read_within(name: str | int, read: _Reader, value: Any) -> Any:
    """Reads the entry `name` of a list or an object."""
    try:
        return read(value)
    except SchemaError as error:
        raise error.within(name)


def _list(kind: Any, read_item: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise SchemaError("a list", value)
        return kind([_read_within(i, read_item, item) for i, item in enumerate(value)])

    return read


def _entries(read_entry: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise SchemaError("an object", value)
        return {name: _read_within(name, read_entry, entry) for name, entry in value.items()}

    return read


def _ruled(hint: Any, rules: tuple[Rule, ...]) -> _Reader:
    read_value = _reader(hint)

    def read(value: Any) -> Any:
        try:
            found = read_value(value)
        except SchemaError as error:
            # The rule is more specific than the type.
            if not error.is_precise:
                raise SchemaError(rules[0].expected, value) from error
            raise
        for rule in rules:
            if not rule.holds(found):
                raise SchemaError(rule.expected, value)
        return found

    return read


def _one_of(hints: tuple[Any, ...]) -> _Reader:
    """Returns the reader of a union, which uses the first annotation that allows a value."""
    readers = [_reader(hint) for hint in hints]
    expected = " or ".join(map(_expected, hints))

    def read(value: Any) -> Any:
        precise = None
        for read_value in readers:
            try:
                return read_value(value)
            except SchemaError as error:
                precise = error if error.is_precise else precise
        raise precise or SchemaError(expected, value)

    return read


def _expected(hint: Any) -> str:
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return str(typing.get_args(hint)[1].expected)
    return _NAMES.get(origin or hint, "an object")


def _check_plain(value: Any, level: int) -> None:
    """Raises SchemaError for JSON values that a terminal or TensorFlow cannot process."""
    if isinstance(value, (dict, list)):
        if level > _MOST_LEVELS:
            raise SchemaError(_TOO_DEEP)
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            try:
                _check_plain(name, level + 1)
                _check_plain(each, level + 1)
            except SchemaError as error:
                # A place of a hundred levels would be unreadable.
                if level < _SHOWN_LEVELS:
                    error.within(name)
                raise
    elif isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise SchemaError("has half a character; expected text that UTF-8 can hold")
    elif isinstance(value, int) and value.bit_length() > _FLOAT_BITS:
        raise SchemaError("a number that a float can hold", value)


def _shown(name: str, value: Any) -> str:
    """Returns the value of an entry in a few words, with secrets masked."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (list, dict)):
        return _NAMES[type(value)]
    return _cut(repr(redaction.masked(name, value)), _MOST_CHARACTERS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


# True is an int in Python.
_read_number = _plain(lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
                      _NAMES[float])
_SCALARS: dict[Any, _Reader] = {
    str: _plain(lambda value: isinstance(value, str), _NAMES[str]),
    bool: _plain(lambda value: isinstance(value, bool), _NAMES[bool]),
    type(None): _plain(lambda value: value is None, _NAMES[type(None)]),
    int: _plain(lambda value: isinstance(value, int) and not isinstance(value, bool) and
                value.bit_length() <= _INTEGER_BITS, _NAMES[int]),
    float: lambda value: float(_read_number(value))}
