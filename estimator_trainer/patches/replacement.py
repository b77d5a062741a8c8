"""Replaces attributes, such as methods of a class, within a `with` statement."""

import contextlib
import functools
import threading
from typing import Any, Callable, Iterator, Sequence

# Trainings in two threads replace the same attributes, and end in any order.
_LOCK = threading.RLock()
_LAYERS: dict[tuple[Any, str], list[Any]] = {}


@contextlib.contextmanager
def attributes(places: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Sets attributes, each an owner, a name and a value, within a `with` statement.

    At the end the value before is restored, which may be another thread's.
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
    """Sets functions and methods as `attributes` does, for this thread's calls only."""
    mine = threading.get_ident()
    has_ended = threading.Event()

    def for_this_thread(before: Callable[..., Any], value: Callable[..., Any]) -> Any:
        @functools.wraps(before)
        def call(*args: Any, **kwargs: Any) -> Any:
            is_mine = threading.get_ident() == mine and not has_ended.is_set()
            return (value if is_mine else before)(*args, **kwargs)

        return call

    try:
        with contextlib.ExitStack() as stack:
            # Without the lock, another thread's function that begins now would not be called.
            with _LOCK:
                stack.enter_context(attributes([
                    (owner, name, for_this_thread(getattr(owner, name), value))
                    for owner, name, value in places]))
            yield
    finally:
        # A later replacement of another thread still calls the functions above.
        has_ended.set()
