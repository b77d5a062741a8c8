"""Flag values: absl's flags, made of the fields of settings, and kept apart from a plug-in's."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Iterable, Sequence

from absl import flags


def of(fields: Iterable[dataclasses.Field[Any]]) -> flags.FlagValues:
    """Defines the flags on a FlagValues of our own, so that none of a plug-in's collide."""
    values = flags.FlagValues()  # type: ignore[no-untyped-call]
    for field in fields:
        define = _define(field)
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        define(field.name, default, field.metadata["help"], flag_values=values)
    return values


def _define(field: dataclasses.Field[Any]) -> Callable[..., Any]:
    # What a user writes there may have a comma.
    if field.name in ("param", "plugin_flag", "model_dir") and isinstance(field.default, tuple):
        return flags.DEFINE_multi_string
    by_type: dict[type, Callable[..., Any]] = {
        bool: flags.DEFINE_boolean, int: flags.DEFINE_integer, str: flags.DEFINE_string,
        tuple: flags.DEFINE_list}
    return by_type[type(field.default)]


def with_underscores(argv: Sequence[str], values: flags.FlagValues) -> list[str]:
    """Lets --job-dir, as the platforms write it, stand for --job_dir; so for every flag."""

    def fix(word: str) -> str:
        name, equals, value = word.partition("=")
        bare = "--" + name.lstrip("-").replace("-", "_")
        return bare + equals + value if bare[2:].removeprefix("no") in values or bare[
            2:] in values else word

    return [fix(word) if re.match(r"--\w", word) else word for word in argv]
