"""The names of variables: the same on every replica, and for each part of one."""

from __future__ import annotations

import re
from typing import Any, Iterable

from estimator_trainer import errors

# A scope of the model may have such a name, too.
_PART = re.compile(r"(/part_\d+)?(/replica_\d+)?$")
_SHOWN = 10


def of(variable: Any) -> str:
    """Returns the name under which a checkpoint holds a variable."""
    return _PART.sub("", variable.name.partition(":")[0])


def is_part(variable: Any) -> bool:
    """Returns whether a variable is a part of a partitioned one."""
    return bool(re.search(r"/part_\d+(/replica_\d+)?:", variable.name))


def shown(names: Iterable[str]) -> str:
    """Returns some of the names, for a message."""
    found = sorted(names)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def near(name: str, names: Iterable[str]) -> str:
    """Returns a sentence with the variables that the user may have meant."""
    found = sorted(names)
    # A pattern may have characters that no name has.
    plain = re.sub(r"[^\w/]+", "", name)
    alike = errors.near_match(plain, found) or errors.near_match(
        plain, {each.rpartition("/")[0] for each in found} - {""})
    return f"{alike} The variables: {shown(found)}."
