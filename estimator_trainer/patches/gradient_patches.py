"""Patches of how gradients are sent to other replicas, and applied."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterable, Iterator

import tensorflow as tf

from estimator_trainer.patches import replacement

Values = list[Any]


def convert_gradients(strategy: tf.distribute.Strategy, sent: Callable[[Values], Values],
                      received: Callable[[Values, Values], Values]) -> None:
    """Makes a strategy convert what an all-reduce sends.

    Every optimizer of TensorFlow passes its gradients to `StrategyExtended.batch_reduce_to`, and no
    option of a strategy splits them or sets their dtype. A copy of the strategy trains, so this
    changes the object's class.

    Args:
      strategy: The strategy.
      sent: Returns what the all-reduce gets for the values of one replica.
      received: Returns the sums, from the results of the all-reduce and the values.
    """
    class Converting(type(strategy.extended)):  # type: ignore[misc]
        """A StrategyExtended that converts what it reduces."""

        def batch_reduce_to(self, reduce_op: tf.distribute.ReduceOp,
                            value_destination_pairs: Iterable[Any], options: Any = None) -> Any:
            """Reduces each value to its destination."""
            values, destinations = zip(*value_destination_pairs)
            packs = self.call_for_each_replica(sent, args=(list(values),))
            reduced = super().batch_reduce_to(
                reduce_op, [(pack, destinations[0]) for pack in packs], options)
            return self.call_for_each_replica(received, args=(list(reduced), list(values)))

    strategy.extended.__class__ = Converting


@contextlib.contextmanager
def applying_gradients_with(apply: Callable[..., Any]) -> Iterator[None]:
    """Makes optimizers apply gradients by `apply`, within a `with` statement.

    A model_fn makes its optimizer, and calls `minimize`, `get_updates` or `apply_gradients` with
    variables of its choice; all of them end in `apply_gradients`.

    Args:
      apply: Takes the optimizer's own `apply_gradients`, whether it is the base class's, the pairs
        of gradients and variables, and further arguments.
    """
    bases = (tf.compat.v1.train.Optimizer, tf.keras.optimizers.legacy.Optimizer,
             tf.keras.optimizers.Optimizer)
    kinds = {kind for base in bases for kind in _with_subclasses(base)
             if "apply_gradients" in vars(kind)}

    def applied(kind: type) -> Callable[..., Any]:
        own = vars(kind)["apply_gradients"]

        @tf.autograph.experimental.do_not_convert
        @functools.wraps(own)
        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            return apply(functools.partial(own, optimizer), kind in bases, grads_and_vars, *args,
                         **kwargs)

        return apply_gradients

    with replacement.attributes([(kind, "apply_gradients", applied(kind)) for kind in kinds]):
        yield


def _with_subclasses(base: type) -> set[type]:
    subclasses: list[type] = base.__subclasses__()
    return {base}.union(*map(_with_subclasses, subclasses))
