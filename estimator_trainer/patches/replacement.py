"""The replacement of attributes, such as methods of a class, for as long as a `with` lasts."""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any, Callable, Iterator, Sequence

# Two trainings in two threads replace the same attributes, and end in any order.
_LOCK = threading.RLock()
_LAYERS: dict[tuple[Any, str], list[Any]] = {}


@contextlib.contextmanager
def attributes(places: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Sets attributes within a `with` statement; each is an owner, a name and the value.

    At its end the value below comes back, be it the first one or that of another thread.
    """
    with _LOCK:
        for owner, name, value in places:
            _LAYERS.setdefault((owner, name), [getattr(owner, name)]).append(value)
            setattr(owner, name, value)
    try:
        yield
    finally:
        with _LOCK:
            for owner, name, value in places:
                layers = _LAYERS[owner, name]
                del layers[max(i for i, layer in enumerate(layers) if layer is value)]
                setattr(owner, name, layers[-1])
                if len(layers) == 1:
                    del _LAYERS[owner, name]


@contextlib.contextmanager
def functions_of_this_thread(
        places: Sequence[tuple[Any, str, Callable[..., Any]]]) -> Iterator[None]:
    """Sets functions and methods as `attributes` does; other threads call what was there before.

    A training in another thread has hooks, inputs and a graph of its own.
    """
    mine = threading.get_ident()
    has_ended = threading.Event()

    def for_this_thread(before: Callable[..., Any], value: Callable[..., Any]) -> Any:
        @functools.wraps(before)
        def call(*args: Any, **kwargs: Any) -> Any:
            is_mine = threading.get_ident() == mine and not has_ended.is_set()
            return (value if is_mine else before)(*args, **kwargs)

        return call

    try:
        with attributes([(owner, name, for_this_thread(getattr(owner, name), value))
                         for owner, name, value in places]):
            yield
    finally:
        # A replacement that began later, in another thread, still calls the functions above.
        has_ended.set()
