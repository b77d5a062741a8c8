"""Patches of functions that an input_fn or a model_fn calls while it builds a graph."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer.patches import private_api, replacement


@contextlib.contextmanager
def iterating_with(iterate: Callable[..., Any], enqueue: Callable[..., Any]) -> Iterator[None]:
    """Replaces the makers of iterators and of queues of arrays, within a `with` statement.

    An input_fn that returns tensors leaves no other trace of their dataset.

    Args:
      iterate: Takes a dataset, TensorFlow's own maker of its iterator, whether that iterator needs
        no initializer, and further arguments.
      enqueue: Takes Estimator's own `_enqueue_data`, and its arguments.
    """
    data = tf.compat.v1.data
    iterators = [
        (owner, name, _iterating(iterate, getattr(owner, name), "one_shot" in name))
        for owner in (data, data.Dataset)
        for name in ("make_one_shot_iterator", "make_initializable_iterator")]
    queues, name = private_api.array_queues()
    filled = functools.partial(enqueue, getattr(queues, name))
    with replacement.functions_of_this_thread([*iterators, (queues, name, filled)]):
        yield


def _iterating(iterate: Callable[..., Any], make: Callable[..., Any],
               is_one_shot: bool) -> Callable[..., Any]:
    """Returns the replacement of TensorFlow's `make`, as a function and as a method."""
    def made(dataset: tf.data.Dataset, *args: Any, **kwargs: Any) -> Any:
        return iterate(dataset, make, is_one_shot, *args, **kwargs)

    return made


@contextlib.contextmanager
def seeding_as(graph_of: Callable[[tf.Graph], tf.Graph]) -> Iterator[None]:
    """Gives random ops the seeds that they would have in another graph, within a `with` statement.

    A graph numbers its random ops, and derives their seeds from the numbers. A loop's body is a
    separate graph, whose numbers begin at 0, while the initializers of its variables are in the
    graph around it. No public name sets the number.

    Args:
      graph_of: Takes the graph of a random op, and returns the graph that numbers the op.
    """
    module = private_api.seeds()
    derive = module.get_seed

    @functools.wraps(derive)
    def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
        graph = tf.compat.v1.get_default_graph()
        numbering = graph_of(graph)
        if numbering is graph:
            return derive(op_seed)
        with numbering.as_default():
            return derive(op_seed)

    with replacement.attributes([(module, "get_seed", get_seed)]):
        yield


@contextlib.contextmanager
def initializing_outside() -> Iterator[None]:
    """Makes `tf.train.init_from_checkpoint` work in a loop's body, within a `with` statement.

    Its initializers of variables are made in the current graph, but no session reaches those of a
    loop's body; the variables are in the graph around it.
    """
    train = tf.compat.v1.train
    original = train.init_from_checkpoint

    @functools.wraps(original)
    def init_from_checkpoint(*args: Any, **kwargs: Any) -> None:
        def outside(_: Any) -> None:
            with tf.init_scope():
                original(*args, **kwargs)

        replica = tf.distribute.get_replica_context()
        if replica is None:
            # The training of another thread, which replaced the function later, calls it there.
            original(*args, **kwargs)
        else:
            # A replica cannot leave its graph; the caller of the replicas can.
            replica.merge_call(outside)

    with replacement.attributes([(train, "init_from_checkpoint", init_from_checkpoint)]):
        yield
