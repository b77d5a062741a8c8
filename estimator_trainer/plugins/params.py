"""Params are the one dict that both plug-ins receive, typed by their defaults.

The Estimator passes the same `params` to `model_fn` and `input_fn`, so their DEFAULT_PARAMS are
merged, then --params_file, then --param; what only the data knows comes in last (`with_data`).
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import functools
import json
import pathlib
from typing import Any, Mapping, NamedTuple, Sequence

from estimator_trainer import redaction
from estimator_trainer.errors import (ConfigError, near_match, nearest, Param, Problem, refuse,
                                      Setting, UNKNOWN, Words)
from estimator_trainer.plugins import param_defaults
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings.trainer_config import TrainerConfig

_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclasses.dataclass(frozen=True)
class Params:
    """The merged params.

    Attributes:
      user_set: The keys that the user set; the data does not override them.
      recorded: The keys whose values come from an earlier run; the data does not override them.
      recorded_user_set: The keys of `recorded` that the user had set in that run.
      of_flags: The keys that flags stand for.
    """

    values: Mapping[str, Any]
    user_set: frozenset[str]
    recorded: frozenset[str] = frozenset()
    recorded_user_set: frozenset[str] = frozenset()
    of_flags: frozenset[str] = frozenset()

    def with_data(self, known: Mapping[str, Any],
                  if_absent: Mapping[str, Any] | None = None) -> PluginParams:
        """Returns the params for the plug-ins, with known values in place of mere defaults.

        `if_absent` has values for keys that do not exist.
        """
        defaults = self.values.keys() - self.user_set - self.recorded
        filled = {key: value for key, value in known.items() if key in defaults}
        values = {key: param_defaults.resolved(value) for key, value in self.values.items()}
        return PluginParams({**(if_absent or {}), **values, **filled})


class UserParam(NamedTuple):
    """A param that the user has set.

    Attributes:
      value: A typed value, or the text of a flag.
      source: Where the value comes from, such as the setting `train_epochs`.
      instead: The settings to type beside another value of the param.
      is_typed: Whether the value keeps its type where the default has none.
    """

    key: str
    value: Any
    source: Setting | Param | str
    instead: tuple[Setting, ...] = ()
    is_typed: bool = False


class Recorded(NamedTuple):
    """The params of an earlier run, with the keys that the user had set, and the record's path."""

    values: Mapping[str, Any]
    user_set: Sequence[str]
    source: str = ""


def merge(used: Sequence[Plugin], pairs: Sequence[str | UserParam], params_file: str,
          of_flags: Sequence[UserParam] = (), recorded: Recorded = Recorded({}, ())) -> Params:
    """Merges the plug-ins' defaults with what the user set.

    Args:
      pairs: `key=value` texts of --param, or what a Python program passes; the last of a key wins.
      of_flags: The params that other flags stand for, which win over all.
      recorded: The params of an earlier run, which win over the defaults.

    Raises:
      ConfigError: naming every unknown key, value of a wrong type, or clash of defaults.
    """
    defaults, problems = _defaults(used)
    # A module without DEFAULT_PARAMS (plain Estimator code) may take any key.
    is_open = any(plugin.default_params is None for plugin in used
                  if plugin.kind != "serving_input_fn")
    user_set: dict[str, Any] = {}
    for key, value, source, instead, is_typed in [
            *_from_file(params_file), *_from_pairs(pairs), *of_flags]:
        if key not in defaults and not is_open:
            near = near_match(key, defaults)
            problems.append(Problem(
                f"param {key!r}", UNKNOWN, source=source, advice=near,
                expected="a param of model_fn or input_fn" if near else
                f"one of {', '.join(sorted(defaults)) or '(no params)'}"))
            continue
        default = defaults.get(key)
        try:
            if value == redaction.MASK and redaction.is_secret(key):
                raise ValueError("the secret that this stands for in records and logs")
            user_set[key] = value if is_typed and default is None else typed(value, default)
        except ValueError as error:
            problems.append(Problem(f"param {key}", value, source=source, expected=str(error),
                                    example=(*instead, example_of(key, default, value))))
    before = {}
    for key in recorded.values:
        if (key in defaults or is_open) and key not in user_set:
            before[key], problem = _as_default(key, defaults.get(key), recorded)
            problems += [problem] if problem else []
    refuse(problems)
    values = {key: param_defaults.with_home(value)
              for key, value in {**defaults, **before, **user_set}.items()}
    return Params(values, frozenset(user_set), frozenset(before),
                  frozenset(before.keys() & set(recorded.user_set)),
                  frozenset(each.key for each in of_flags))


def example_of(key: str, default: Any, value: Any = None) -> Param:
    """Returns a param with its default to type, or VALUE where the default is a secret.

    For an empty list, the example has the value that stood alone. A number that is 0 by default
    usually means that something is left out, so the example has another.
    """
    if isinstance(default, (list, tuple)) and not default and isinstance(value, (str, int, float)):
        return Param(key, [_guess(value)])
    if isinstance(default, float) and default == 0:
        default = 0.1
    is_shown = redaction.masked(key, default) == default and default is not None
    return Param(key, default if is_shown else Words("VALUE"))


def _defaults(used: Sequence[Plugin]) -> tuple[dict[str, Any], list[Problem | str]]:
    """Returns the defaults of all plug-ins, and a sentence for each two that differ."""
    defaults: dict[str, Any] = {}
    places: dict[str, str] = {}
    clashes: list[Problem | str] = []
    for plugin in used:
        own = plugin.default_params or {}
        clashes += [
            f"param {key} defaults to {redaction.masked(key, defaults[key])!r} in {places[key]}"
            f" but to {redaction.masked(key, own[key])!r} in {plugin.path}; expected"
            " one default, since both plug-ins receive the same params."
            for key in sorted(own.keys() & defaults.keys()) if own[key] != defaults[key]]
        defaults |= own
        places |= dict.fromkeys(own, plugin.path)
    return defaults, clashes


def _from_file(params_file: str) -> list[UserParam]:
    if not params_file:
        return []
    problem = functools.partial(Problem, "params_file", params_file)
    example = '{"learning_rate": 0.1}'
    try:
        # Bytes may have a byte order mark, as the files of Windows do.
        content = json.loads(pathlib.Path(params_file).read_bytes())
    except OSError as error:
        raise ConfigError(
            problem(f"which cannot be read: {error.strerror}", "a file with a JSON object",
                    example)) from error
    except (ValueError, RecursionError) as error:
        why = error if isinstance(error, ValueError) else "too many brackets in each other"
        raise ConfigError(problem(f"which is not JSON: {why}", "an object", example)) from error
    if not isinstance(content, dict):
        raise ConfigError(
            problem(f"which holds a JSON {type(content).__name__}", "an object", example))
    source = str(Setting("params_file", params_file))
    return [UserParam(key, value, source) for key, value in content.items()]


def _from_pairs(pairs: Sequence[str | UserParam]) -> list[UserParam]:
    of_program = [pair for pair in pairs if isinstance(pair, UserParam)]
    texts = [pair for pair in pairs if isinstance(pair, str)]
    malformed = [pair for pair in texts if not pair.partition("=")[1]]
    if malformed:
        raise ConfigError(Problem("param", redaction.masked("param", malformed)[0],
                                  expected="key=value", example=Param("learning_rate", 0.1)))
    split = ((key.strip(), value) for key, _, value in (pair.partition("=") for pair in texts))
    return [*of_program, *(UserParam(key, value, Param(key)) for key, value in split)]


def typed(value: Any, default: Any) -> Any:
    """Converts `value`, a flag's text or a JSON value, to the type of `default`.

    Raises:
      ValueError: saying what was expected.
    """
    if default is None:
        return _guess(value)
    if isinstance(default, bool):
        if str(value).lower() in _BOOLEANS and isinstance(value, (bool, str)):
            return _BOOLEANS[str(value).lower()]
        raise ValueError("true or false")
    if isinstance(default, (int, float)):
        return _number(value, type(default))
    if isinstance(default, str):
        if isinstance(value, str):
            return value
        raise ValueError("a string")
    parsed = _guess(value)
    if isinstance(parsed, (list, tuple)) and isinstance(default, (list, tuple)):
        return type(default)(parsed)
    if isinstance(parsed, dict) and isinstance(default, dict):
        return parsed
    raise ValueError(f"a JSON {'object' if isinstance(default, dict) else 'list'}")


def _as_default(key: str, default: Any, recorded: Recorded) -> tuple[Any, Problem | None]:
    """Returns a recorded value as the type of the default, where it can be, and what is wrong.

    The data may have filled in a value of another type, or None, but no text for a number.
    """
    value = recorded.values[key]
    try:
        return typed(value, default), None
    except ValueError as error:
        if key in recorded.user_set or isinstance(default, (int, float)) and value is not None:
            return value, Problem(f"param {key}", value, source=recorded.source,
                                  expected=str(error), example=example_of(key, default))
        return value, None


def _number(value: Any, kind: type[int] | type[float]) -> int | float:
    taken = (str, int) if kind is int else (str, int, float)
    if isinstance(value, taken) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):
            return kind(value)
    raise ValueError("an integer" if kind is int else "a number")


def _guess(value: Any) -> Any:
    """Reads text as JSON where it is JSON (`0.1`, `true`, `[1, 2]`), else leaves it a string."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


class MissingParam(ConfigError, KeyError):
    """A param that a plug-in reads and nobody has set."""

    def __str__(self) -> str:
        # KeyError's own puts the sentence in quotes.
        return str(self.args[0])


class PluginParams(dict[str, Any]):
    """A dict whose items are attributes too, and whose `values()` has items as a dict has.

    `params["units"]`, `params.units`, `params.get("units")` and `params.values()["units"]` are the
    same. A dict's method wins over an item of the same name. A key that is not there is a
    MissingParam (a KeyError) or, as an attribute, an AttributeError.
    """

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name.startswith("__"):  # Python and TensorFlow look for their own.
            raise AttributeError(name)
        raise AttributeError(_problem(self, name, f"params.{name}"))

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __missing__(self, key: str) -> Any:
        raise MissingParam(_problem(self, key, f"params[{key!r}]"))

    def values(self) -> _Values:  # type: ignore[override]
        """Returns the values, to be iterated over, or used as a dict."""
        return _Values(self)

    add_hparam = __setattr__


class _Values(collections.abc.ValuesView[Any]):
    """The values of a dict; HParams.values() is a dict, so this has a dict's reading methods."""

    def __init__(self, params: PluginParams):
        super().__init__(params)
        self.keys, self.items, self.get = params.keys, params.items, params.get
        self._params = params

    def __getitem__(self, key: str) -> Any:
        return self._params[key]

    def __repr__(self) -> str:
        return dict.__repr__(self._params)


def _problem(params: PluginParams, name: str, code: str) -> str:
    # Either the code or the user may have misspelt the name.
    near = nearest(name, map(str, params))
    instead = (Setting("global_batch_size", 64) if name == "batch_size" else
               example_of(name, params.get(near)))
    return (f"param {name} is missing: a plug-in asks for {code}, and there are"
            f" {', '.join(sorted(map(str, params))) or 'no params'}"
            f"{f', of which {near!r} is the most similar' if near else ''}. For example: {instead}")


# A plug-in that declares this param gets the names of the classes in their order.
CLASS_NAMES = "class_names"


def class_names(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of the classes in their order, if params have them.

    A folder may be called "0"; of a table, an empty label_vocabulary says that labels are numbers.
    """
    names = tuple(map(str, params.get(CLASS_NAMES) or params.get("label_vocabulary") or ()))
    are_numbers = names == tuple(map(str, range(len(names))))
    return () if are_numbers and params.get("label_vocabulary") == [] else names


# An input_fn that declares this param reads these files in mode "infer".
FILES = "predict_files"
# One that declares this param makes a feature of that name, of the names of files.
_FILE_NAME = "file_name"


def problems(config: TrainerConfig, data: Plugin) -> list[Problem]:
    """Returns why an input_fn cannot read --data, or nothing."""
    if not config.data or config.is_data_json or FILES in (data.default_params or {}):
        return []
    return [Problem(
        "data", config.data, f"and input_fn {data.name!r} reads no new data: its DEFAULT_PARAMS"
        f" have no {FILES!r}", "JSON lines, a file that ends in .jsonl, or `-` for standard input",
        Setting("data", "new.jsonl"))]


def params_of(config: TrainerConfig, data: Plugin) -> list[UserParam]:
    """Returns the params of the input_fn that --data and --with_inputs stand for."""
    declared = data.default_params or {}
    found = []
    if config.data and FILES in declared:
        found.append(UserParam(FILES, config.data, Setting("data")))
    is_chosen = any(pair.startswith(f"{_FILE_NAME}=") for pair in config.param)
    if config.with_inputs and declared.get(_FILE_NAME) == "" and not is_chosen:
        found.append(UserParam(_FILE_NAME, _FILE_NAME, Setting("with_inputs")))
    return found
