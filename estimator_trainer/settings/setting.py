"""A setting is a dataclass field that is a flag too, with help, choices and a minimum.

Standard library only, so a mistake is reported before TensorFlow is imported.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from estimator_trainer.errors import near_match, Problem, Setting


def setting(group: str,
            default: Any,
            help_text: str,
            choices: tuple[str, ...] = (),
            minimum: float | None = None) -> Any:
    """Returns a field that defines a flag of its name, default and help.

    Args:
      group: The heading in --help.
      default: The default value; the flag has its type.
      help_text: One sentence.
      choices: The values allowed; empty for any value.
      minimum: The smallest number allowed, or None.
    """
    metadata = {"group": group, "help": help_text, "choices": choices, "minimum": minimum}
    return dataclasses.field(default=default, metadata=metadata)


def out_of_range(config: Any) -> list[Problem]:
    """Returns a problem for each setting of a dataclass that is out of its range."""
    found = []
    for field in dataclasses.fields(config):
        name, value, choices = field.name, getattr(config, field.name), field.metadata["choices"]
        minimum = field.metadata["minimum"]
        if choices and value not in choices:
            named = sorted(filter(None, choices))
            found.append(Problem(name, value, expected=f"one of {', '.join(named)}",
                                 advice=near_match(value, named),
                                 example=Setting(name, field.default or named[0])))
        elif minimum is not None and value < minimum:
            found.append(Problem(name, value, expected=f"a number of at least {minimum}",
                                 example=Setting(name, field.default)))
    return found
