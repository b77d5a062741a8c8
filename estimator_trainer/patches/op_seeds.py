"""Random ops take their seeds from the number of operations in the graph, as in TensorFlow 1.15.

Under `tf.set_random_seed` an op without a seed of its own needs one. TensorFlow 1 took the number
of operations that the graph had; later versions take the number of random ops. With the former a
program draws the initial values, and drops out the units, that it did with TensorFlow 1.15.

Source: tf.random.get_seed of TensorFlow 1.15
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from typing import Any, Iterator
import weakref

import tensorflow as tf

from estimator_trainer.patches import private_api

# Operations that TensorFlow 1.15 would have made besides, by graph.
_MISSING: weakref.WeakKeyDictionary[tf.Graph, int] = weakref.WeakKeyDictionary()
_IN_LOOP = contextvars.ContextVar("_IN_LOOP", default=0)


def install() -> None:
    """Makes the seed of a random op the number of operations before it; undone by `remove`."""
    if is_installed():
        return
    module = private_api.seeds()
    derive = module.get_seed

    @functools.wraps(derive)
    def get_seed(op_seed: int | None) -> Any:
        graph = tf.compat.v1.get_default_graph()
        if op_seed is None and not tf.executing_eagerly() and graph.seed is not None:
            op_seed = number(graph) + _IN_LOOP.get()
        return derive(op_seed)

    get_seed.by_calls = derive  # type: ignore[attr-defined]
    module.get_seed = get_seed
    tf.compat.v1.get_seed = tf.compat.v1.random.get_seed = get_seed


def remove() -> None:
    """Gives random ops the seeds of the installed TensorFlow again."""
    module = private_api.seeds()
    module.get_seed = getattr(module.get_seed, "by_calls", module.get_seed)
    tf.compat.v1.get_seed = tf.compat.v1.random.get_seed = module.get_seed


def is_installed() -> bool:
    """Returns whether the number of operations is the seed of a random op."""
    return hasattr(private_api.seeds().get_seed, "by_calls")


def number(graph: tf.Graph) -> int:
    """Returns the number of operations that TensorFlow 1.15 would have made in a graph."""
    made: int = graph.num_operations()
    return made + _MISSING.get(graph, 0)


def count(more: int) -> None:
    """Counts operations that TensorFlow 1.15 would have made now in the default graph."""
    graph = tf.compat.v1.get_default_graph()
    _MISSING[graph] = _MISSING.get(graph, 0) + more


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """Counts no operations that are made in the default graph, within a `with` statement."""
    graph = tf.compat.v1.get_default_graph()
    before = number(graph)
    try:
        yield
    finally:
        _MISSING[graph] = _MISSING.get(graph, 0) + before - number(graph)


@contextlib.contextmanager
def also_in(body: tf.Graph) -> Iterator[None]:
    """Counts the operations of a loop's body as those of the graph around it, within a `with`."""
    token = _IN_LOOP.set(number(body))
    try:
        yield
    finally:
        _IN_LOOP.reset(token)
