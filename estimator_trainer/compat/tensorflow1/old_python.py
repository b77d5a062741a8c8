"""Names of Python 3.7's standard library, and setuptools' pkg_resources, that newer ones lack.

Source: "What's New in Python" 3.8 to 3.13, the sections "Removed"
"""

from __future__ import annotations

import base64
import collections
from collections import abc
import fractions
import functools
import inspect
import random
import threading
import time
from typing import Any, Callable, NamedTuple, Optional
import unittest

from estimator_trainer.compat import module_aliases
from estimator_trainer.compat.tensorflow1 import late_names, logged_once


class ArgSpec(NamedTuple):
    """The result of `inspect.getargspec` until Python 3.11."""

    args: list[str]
    varargs: Optional[str]
    keywords: Optional[str]
    defaults: Optional[tuple[Any, ...]]


def getargspec(function: Callable[..., Any]) -> ArgSpec:
    """Returns the arguments of a function without keyword-only ones.

    Raises:
      ValueError: The function has keyword-only arguments or annotations.
    """
    found = inspect.getfullargspec(function)
    if found.kwonlyargs or found.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use"
                         " getfullargspec() API which can support them")
    return ArgSpec(*found[:4])


def formatargspec(args: Any, varargs: Any = None, varkw: Any = None, defaults: Any = None,
                  kwonlyargs: Any = (), kwonlydefaults: Any = None,
                  annotations: Any = None) -> str:
    """Returns what `inspect.getfullargspec` found as the text of a signature."""
    plain, defaults, notes = list(args), tuple(defaults or ()), annotations or {}
    own = dict(zip(plain[len(plain) - len(defaults):], defaults))
    kinds = inspect.Parameter
    parameters: list[tuple[Any, Any, Any]] = [
        (each, kinds.POSITIONAL_OR_KEYWORD, own) for each in plain]
    parameters += [(varargs, kinds.VAR_POSITIONAL, {})] if varargs else []
    parameters += [(each, kinds.KEYWORD_ONLY, kwonlydefaults or {}) for each in kwonlyargs or ()]
    parameters += [(varkw, kinds.VAR_KEYWORD, {})] if varkw else []
    empty = inspect.Signature.empty
    return str(inspect.Signature(
        [kinds(name, kind, default=values.get(name, empty), annotation=notes.get(name, empty))
         for name, kind, values in parameters], return_annotation=notes.get("return", empty)))


NAMES: dict[Any, tuple[str, dict[str, Any]]] = {
    base64: ("Python 3.9", {"encodestring": base64.encodebytes,
                            "decodestring": base64.decodebytes}),
    collections: ("Python 3.10", {name: f"collections.abc.{name}" for name in abc.__all__}),
    fractions: ("Python 3.9", {"gcd": "math.gcd"}),
    inspect: ("Python 3.11", {"getargspec": getargspec, "formatargspec": formatargspec}),
    time: ("Python 3.8", {"clock": "time.perf_counter"}),
}
# Methods of unittest.TestCase; the last came from TensorFlow's own tests.
TEST_METHODS = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual", "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex", "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex", "assertItemsEqual": "assertCountEqual",
}
_HERE = __name__.rpartition(".")[0]
# Modules; this project wrote the first two.
MODULES = {
    "imp": f"{_HERE}.old_modules_of_python.imp",
    "pkg_resources": f"{_HERE}.old_modules_of_python.pkg_resources",
    "pipes": "shlex",
    "xml.etree.cElementTree": "xml.etree.ElementTree",
}


def supply() -> None:
    """Makes the names available that this Python lacks."""
    for module, (release, names) in NAMES.items():
        lost = {name: home for name, home in names.items() if not hasattr(module, name)}
        late_names.offer(module, lost, release)
    for old, new in TEST_METHODS.items():
        if not hasattr(unittest.TestCase, old):
            setattr(unittest.TestCase, old, _renamed(old, new))
    if not hasattr(threading.Thread, "isAlive"):
        setattr(threading.Thread, "isAlive", threading.Thread.is_alive)
    random.sample = _sample(random.sample)
    random.shuffle = _shuffle(random.shuffle)
    random.randint, random.randrange = _whole(random.randint), _whole(random.randrange)
    for name, home in MODULES.items():
        if not module_aliases.is_there(name):
            module_aliases.add(name, home, f"The module {name} is gone; the program gets {home}.")


def _renamed(old: str, new: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        logged_once.log(f"TestCase.{old} went with Python 3.12; the program gets {new}.")
        return getattr(self, new)(*args, **kwargs)

    return method


def _sample(sample: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(sample)
    def of_sets_too(population: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(population, abc.Set):
            logged_once.log("random.sample takes no sets since Python 3.11; the program's are taken"
                            " as tuples.")
            population = tuple(population)
        return sample(population, *args, **kwargs)

    return of_sets_too


def _shuffle(shuffle: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(shuffle)
    def with_numbers_of_the_program(x: Any, random: Any = None) -> None:
        if random is None:
            shuffle(x)
            return
        logged_once.log("random.shuffle has no argument `random` since Python 3.11; the program's "
                        "shuffles as before.")
        for index in reversed(range(1, len(x))):
            other = int(random() * (index + 1))
            x[index], x[other] = x[other], x[index]

    return with_numbers_of_the_program


def _whole(draw: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(draw)
    def between(*bounds: Any) -> int:
        whole = [int(each) if isinstance(each, float) and each.is_integer() else each
                 for each in bounds]
        return draw(*whole)

    return between
