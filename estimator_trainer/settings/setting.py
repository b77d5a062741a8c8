"""One setting is one field of a dataclass, whose name, default and help are the flag's."""

import dataclasses
from typing import Any

from estimator_trainer import storage
from estimator_trainer.errors import did_you_mean, nearest, Problem, Setting


def setting(group: str, default: Any, help_text: str, choices: tuple[str, ...] = (),
            minimum: float | None = None, is_path: bool = False) -> Any:
    """Returns a field that defines a flag of its name, default and help.

    Args:
      group: The heading in --help.
      default: The default value; the flag has its type.
      help_text: One sentence.
      choices: The values allowed; empty for any value.
      minimum: The smallest number allowed, or None.
      is_path: Whether the value is a path, or several with commas.
    """
    metadata = {"group": group, "help": help_text, "choices": choices, "minimum": minimum,
                "is_path": is_path}
    return dataclasses.field(default=default, metadata=metadata)


def put_home_in_paths(config: Any) -> None:
    """Replaces `~/` in the paths of a dataclass that is being made, which may be frozen."""
    for field in dataclasses.fields(config):
        if field.metadata["is_path"]:
            value = getattr(config, field.name)
            object.__setattr__(config, field.name, storage.with_home(value) if isinstance(
                value, str) else tuple(map(storage.with_home, value)))


def out_of_range(config: Any) -> list[Problem]:
    """Returns a problem for each setting of a dataclass that is out of its range."""
    found = []
    for field in dataclasses.fields(config):
        name, value, choices = field.name, getattr(config, field.name), field.metadata["choices"]
        minimum = field.metadata["minimum"]
        if choices and value not in choices:
            named = sorted(filter(None, choices))
            near = nearest(value, named)
            found.append(Problem(name, value, expected=f"one of {', '.join(named)}",
                                 advice=did_you_mean(near) or field.metadata["help"],
                                 example=Setting(name, near or field.default or named[0])))
        elif minimum is not None and not value >= minimum:  # NaN is not either.
            found.append(Problem(name, value, expected=f"a number of at least {minimum}",
                                 advice=field.metadata["help"],
                                 example=Setting(name, field.default)))
    return found
