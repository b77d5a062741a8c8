"""The replacement of attributes, such as methods of a class, for as long as a `with` lasts."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence


@contextlib.contextmanager
def attributes(places: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Sets attributes within a `with` statement; each is an owner, a name and the value."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for owner, name, value in places:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
