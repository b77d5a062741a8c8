"""A setting is a dataclass field that is a flag too, with help, choices and a least value.

Standard library only, so a mistake is reported before TensorFlow is imported.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from estimator_trainer import errors


def setting(group: str,
            default: Any,
            help_text: str,
            choices: tuple[str, ...] = (),
            minimum: float | None = None) -> Any:
    """Returns a field whose name is the flag's name, and whose default and help are the flag's.

    Args:
      group: The heading in --help.
      default: The default value, whose type is that of the flag.
      help_text: One sentence.
      choices: The values allowed; empty for any value.
      minimum: The least number allowed, or None.
    """
    metadata = {"group": group, "help": help_text, "choices": choices, "minimum": minimum}
    return dataclasses.field(default=default, metadata=metadata)


def out_of_range(config: Any) -> list[str]:
    """Returns a sentence for each setting of a dataclass that is out of its range."""
    return [p for field in dataclasses.fields(config) for p in _field_problems(config, field)]


def _field_problems(config: Any, field: dataclasses.Field[Any]) -> list[str]:
    value, choices = getattr(config, field.name), field.metadata["choices"]
    minimum = field.metadata["minimum"]
    if choices and value not in choices:
        named = sorted(filter(None, choices))
        return [
            f"{field.name} is {value!r} (from --{field.name}); expected one of"
            f" {', '.join(named)}.{errors.near_match(value, named)}"
            f" For example: --{field.name}={field.default or named[0]}"
        ]
    if minimum is not None and value < minimum:
        return [
            f"{field.name} is {value!r} (from --{field.name}); expected a number of at least"
            f" {minimum}. For example: --{field.name}={field.default}"
        ]
    return []
