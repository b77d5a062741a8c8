"""Puts functions in the place of others, under every name that TensorFlow has for them."""

from __future__ import annotations

import functools
import inspect
import sys
from types import ModuleType
from typing import Any, Callable, Mapping

import tensorflow as tf

from estimator_trainer.compat.tensorflow1 import homes
from estimator_trainer.patches import op_seeds

# Makes a function of the newer one, whose place it takes.
Make = Callable[[Callable[..., Any]], Callable[..., Any]]
# Packages whose modules have names of TensorFlow's functions.
_HOLDERS = ("tensorflow", "keras", "tf_keras", "tensorflow_estimator", "tf_slim")


def more(number: int) -> Make:
    """Counts operations that a function made besides, or makes only today."""
    def counting(newer: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            op_seeds.count(number)
            return newer(*args, **kwargs)

        return counted

    return counting


def functions(makers: Mapping[str, Make]) -> None:
    """Replaces functions, each the dotted name where it is defined, under all of their names.

    In eager execution there is no graph whose operations count, and the newer function is called.
    """
    new: dict[int, Any] = {}
    for name, make in makers.items():
        newer = homes.resolve(name)
        new[id(newer)] = _in_graphs(newer, make(newer))
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and name.partition(".")[0] in _HOLDERS:
            for attribute, value in list(vars(module).items()):
                if id(value) in new:
                    setattr(module, attribute, new[id(value)])


def methods(makers: Mapping[str, Make]) -> None:
    """Replaces methods, each the dotted name of a class and its own, where they are defined.

    The definition may be in a base of the class. "tf." stands for `tf.compat.v1.`.
    """
    for name, make in makers.items():
        kind, _, method = name.rpartition(".")
        [definer, *_] = [each for each in homes.resolve(kind).__mro__ if method in vars(each)]
        newer = vars(definer)[method]
        setattr(definer, method, _in_graphs(newer, make(newer)))


def _in_graphs(newer: Callable[..., Any], older: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(newer)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (newer if tf.executing_eagerly() else older)(*args, **kwargs)

    # Keras passes `training` to a layer whose `call` has it as argument, or has **kwargs.
    setattr(call, "__signature__", inspect.signature(newer))
    return call
