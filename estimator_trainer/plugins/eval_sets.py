"""Further sets of evaluation data, beside the main one: NAME:param=value,param=value.

    --eval_set=recent:eval_files=recent.csv
    --eval_set=mobile:input_fn=./mobile.py

Each set has the params of the job, but for those that it names. With an input_fn of its own it has
the defaults of that module too, where the user has set no other value for the whole job.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, Iterator, Mapping, Sequence

from estimator_trainer import redaction
from estimator_trainer.errors import (ConfigError, near_match, nearest, Param, Problem, refuse,
                                      Setting, UNKNOWN, Words)
from estimator_trainer.plugins import loader, param_defaults
from estimator_trainer.plugins.params import example_of, Params, typed
from estimator_trainer.plugins.plugin import Plugin

_INPUT_FN = "input_fn"
# A part of the folder's name, and of the names of metrics.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,60}")
# A comma within a value, as in a list of files, has no `key=` behind it.
_COMMA = re.compile(r",(?=\s*[A-Za-z_]\w*=)")
_EXAMPLE = Setting("eval_set", ("recent:eval_files=recent.csv",))


@dataclasses.dataclass(frozen=True)
class EvalSet:
    """A named set of evaluation data.

    Attributes:
      plugin: The input_fn plug-in of this set alone, or None.
      values: The params that differ from the job's, by key.
      defaults: The params of `plugin` that the user has not set, by key.
    """

    name: str
    plugin: Plugin | None
    values: Mapping[str, Any]
    defaults: Mapping[str, Any]

    def __str__(self) -> str:
        shown = {_INPUT_FN: self.plugin.name} if self.plugin else {}
        return f"{self.name}:" + ",".join(
            f"{key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in {**shown, **self.values}.items())


def of_settings(texts: Sequence[str], data: Plugin, params: Params) -> tuple[EvalSet, ...]:
    """Returns the sets of --eval_set; `data` is the main input_fn, `params` are the job's.

    Raises:
      ConfigError: naming every text of another form, unknown param, and value of a wrong type.
    """
    found: list[EvalSet] = []
    problems: list[Problem | str] = []
    for text in texts:
        try:
            found.append(_parsed(text, data, params, [each.name for each in found]))
        except ConfigError as error:
            problems += error.problems
    refuse(problems)
    return tuple(found)


def metric_problems(metrics: Mapping[str, str], names: Sequence[str]) -> Iterator[Problem]:
    """Yields a problem for each metric, by its setting, of a set that is not one of `names`."""
    for setting, metric in metrics.items():
        before, slash, rest = metric.rpartition("/")
        near = nearest(before, names) if slash and before not in names else ""
        if near:
            yield Problem(setting, metric, f"and no eval_set is called {before!r}",
                          f"a metric, or that of one of {', '.join(names)}",
                          Setting(setting, f"{near}/{rest}"))


def _parsed(text: str, data: Plugin, params: Params, known: Sequence[str]) -> EvalSet:
    name, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in _COMMA.split(rest)] if rest.strip() else []
    if not _NAME.fullmatch(name) or not all(key.strip() and equals for key, equals, _ in pairs):
        raise ConfigError(Problem("eval_set", redaction.masked("", text),
                                  expected="NAME:param=value,param=value", example=_EXAMPLE))
    if not pairs:
        raise ConfigError(Problem(
            "eval_set", text, "which names no data: it would be the main evaluation again",
            "NAME:param=value, with the param whose value differs", _EXAMPLE))
    if name in known:
        raise ConfigError(Problem("eval_set", text, f"and another eval_set is called {name!r}",
                                  "different names", _EXAMPLE))
    texts = {key.strip(): value for key, _, value in pairs}
    plugin = _plugin(name, texts.pop(_INPUT_FN)) if _INPUT_FN in texts else None
    declared = (plugin or data).default_params
    refuse(_problems(name, texts, declared))
    is_set = params.user_set | params.recorded_user_set | params.of_flags
    own = (plugin.default_params or {}) if plugin else {}
    values = {key: _typed(name, key, value, (declared or {}).get(key, params.values.get(key)))
              for key, value in texts.items()}
    return EvalSet(name, plugin, values, {key: param_defaults.with_home(value)
                                          for key, value in own.items()
                                          if key not in is_set and key not in values})


def _plugin(name: str, value: str) -> Plugin:
    try:
        return loader.find("eval_input_fn", value)
    except ConfigError as error:
        raise ConfigError(*(
            dataclasses.replace(each, field=f"{_INPUT_FN} of eval_set {name}",
                                source=Setting("eval_set"), example="")
            if isinstance(each, Problem) else each for each in error.problems)) from error


def _problems(name: str, texts: Mapping[str, str],
              declared: Mapping[str, Any] | None) -> Iterator[Problem]:
    for key in texts:
        if redaction.is_secret(key):
            yield Problem(f"param {key} of eval_set {name}", Words(redaction.MASK),
                          "a secret, which the record and the log would show", "it for all data",
                          Param(key, Words("VALUE")), Setting("eval_set"))
        elif declared is not None and key not in declared:
            near = near_match(key, declared)
            yield Problem(
                f"param {key!r} of eval_set {name}", UNKNOWN, source=Setting("eval_set"),
                advice=near, expected="a param of its input_fn" if near else
                f"one of {', '.join(sorted(declared)) or '(no params)'}")


def _typed(name: str, key: str, value: str, default: Any) -> Any:
    try:
        return param_defaults.with_home(typed(value, default))
    except ValueError as error:
        example = example_of(key, default, value).value
        raise ConfigError(Problem(
            f"param {key} of eval_set {name}", value, expected=str(error),
            example=Setting("eval_set", (f"{name}:{key}={example}",)),
            source=Setting("eval_set"))) from error
