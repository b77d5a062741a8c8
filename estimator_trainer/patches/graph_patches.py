"""Patches of what an input_fn or a model_fn calls while it builds a graph."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer.patches import private_api, replacement


@contextlib.contextmanager
def iterating_with(iterate: Callable[..., Any], enqueue: Callable[..., Any]) -> Iterator[None]:
    """Makes iterators of datasets, and queues of arrays, by other functions, within a `with`.

    An input_fn that returns tensors has no other trace of the dataset that they come from.

    Args:
      iterate: Takes a dataset, TensorFlow's own function that makes an iterator of it, whether
        that one needs no initializer, and the further arguments.
      enqueue: Takes Estimator's own `_enqueue_data`, and the arguments of that.
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
    """Returns what stands for TensorFlow's `make`, as a function and as a method."""
    def made(dataset: tf.data.Dataset, *args: Any, **kwargs: Any) -> Any:
        return iterate(dataset, make, is_one_shot, *args, **kwargs)

    return made


@contextlib.contextmanager
def seeding_as(graph_of: Callable[[tf.Graph], tf.Graph]) -> Iterator[None]:
    """Gives the random ops of a graph the seeds that they would have in another one.

    A graph numbers its random ops, and derives the seed of each from its number. A loop's body is a
    graph of its own, whose numbers begin at 0, while the variables that are made in it have their
    initializers in the graph around it. No public name sets the number. It holds within a `with`.

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

    It makes the operations that initialize variables where it is called. In the body no session
    reaches them; the variables themselves are in the graph around it.
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
            # Another training, in a thread of its own, has called `outside` of this one.
            original(*args, **kwargs)
        else:
            # A replica cannot leave its graph; what calls the replicas can.
            replica.merge_call(outside)

    with replacement.attributes([(train, "init_from_checkpoint", init_from_checkpoint)]):
        yield
