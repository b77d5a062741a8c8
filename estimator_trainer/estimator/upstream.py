"""Where TensorFlow is bent: each method that is replaced, and each value that has no public name.

Nothing else in this package outside `compat/` changes how TensorFlow works. Each function says
why; a test in `tests/estimator/test_upstream_bends.py` fails when a TensorFlow no longer needs it,
or no longer takes it. The private names that are read are in `compat/private_api.py`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any, Callable, Iterable, Iterator, Mapping

import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer.compat import private_api

POLL_SECS = 1
# Values of tensorflow.RewriterConfig.Toggle, an enum that TensorFlow exports under no name.
REWRITER_ON, REWRITER_OFF = 1, 2

Train = Callable[..., tf.estimator.Estimator]
Values = list[Any]


def poll_every_second() -> None:
    """Makes every session that is created from now on wait in steps of POLL_SECS for its model.

    A trainer looks this often whether the chief has initialized or restored the model. The default
    is 30 seconds, at the start and after a ps came back, and is out of reach: it is neither in
    RunConfig nor in a Scaffold (tensorflow/tensorflow#10679, whose maintainers agree).
    """
    manager = tf.compat.v1.train.SessionManager
    if inspect.signature(manager.__init__).parameters["recovery_wait_secs"].default != POLL_SECS:
        manager.__init__ = functools.partialmethod(
            manager.__init__, recovery_wait_secs=POLL_SECS)


def train_with(estimator: tf.estimator.Estimator, train: Train) -> None:
    """Makes an Estimator train with `train`.

    The class of the object is changed. The Estimator refuses to be constructed as a subclass that
    overrides one of its methods. An attribute of the object, as in `evaluating_with`, would not do:
    under a strategy a copy of the Estimator trains.

    Args:
      estimator: The Estimator.
      train: Takes the Estimator, its class's own `train`, and the arguments of that.
    """
    class Training(type(estimator)):  # type: ignore[misc]
        """An Estimator with another `train`."""

        def train(self, *args: Any, **kwargs: Any) -> tf.estimator.Estimator:
            """Trains."""
            return train(self, super().train, *args, **kwargs)

    estimator.__class__ = Training


@contextlib.contextmanager
def evaluating_with(estimators: Iterable[tf.estimator.Estimator],
                    evaluate: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Makes Estimators evaluate with `evaluate`, within a `with` statement.

    It is an attribute of each object, since the Estimator refuses a subclass that overrides it,
    and `train_and_evaluate`, which calls it, takes no other kind of object.
    """
    estimators = list(estimators)
    for estimator in estimators:
        estimator.evaluate = evaluate
    try:
        yield
    finally:
        for estimator in estimators:
            del estimator.evaluate


def convert_gradients(strategy: tf.distribute.Strategy, sent: Callable[[Values], Values],
                      received: Callable[[Values], Values]) -> None:
    """Makes a strategy convert what an all-reduce sends.

    Every optimizer of TensorFlow hands its gradients to `StrategyExtended.batch_reduce_to`. No
    option of a strategy says in which dtype they travel, and its class is not the user's to choose.
    The class of the object is changed, since a copy of the strategy trains.

    Args:
      strategy: The strategy.
      sent: Converts the values of one replica before the all-reduce.
      received: Converts the values of one replica after it.
    """
    class Converting(type(strategy.extended)):  # type: ignore[misc]
        """A StrategyExtended that converts what it reduces."""

        def batch_reduce_to(self, reduce_op: tf.distribute.ReduceOp,
                            value_destination_pairs: Iterable[Any], options: Any = None) -> Any:
            """Reduces each value to its destination."""
            values, destinations = zip(*value_destination_pairs)
            small = self.call_for_each_replica(sent, args=(list(values),))
            reduced = super().batch_reduce_to(
                reduce_op, list(zip(small, destinations)), options)
            return self.call_for_each_replica(received, args=(list(reduced),))

    strategy.extended.__class__ = Converting


@contextlib.contextmanager
def calling(replacements: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Makes what a script calls of an Estimator call something else, within a `with` statement.

    The script makes its own Estimator and calls `tf.estimator.train_and_evaluate` by any of that
    function's names, so function and methods are replaced where they are defined.

    Args:
      replacements: Takes the place of "train_and_evaluate", or of an Estimator's method, by name.
        Each is called with what it replaces, then with the arguments.
    """
    places: list[tuple[Any, str]] = [
        (module, "train_and_evaluate") for module in private_api.homes_of_train_and_evaluate()]
    # TPUEstimator has some methods of its own, which call those of Estimator.
    for kind in (tf.compat.v1.estimator.Estimator, tf.estimator.Estimator,
                 tf.compat.v1.estimator.tpu.TPUEstimator):
        places += [(kind, name) for name in replacements if name in vars(kind)]
    before = [(place, name, getattr(place, name)) for place, name in places]
    for place, name, original in before:
        setattr(place, name, _through(replacements[name], original))
    try:
        yield
    finally:
        for place, name, original in before:
            setattr(place, name, original)


def _through(replacement: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    return call


@contextlib.contextmanager
def alone_in_an_evaluator(role: str) -> Iterator[None]:
    """Lets an evaluator make a `MultiWorkerMirroredStrategy`, within a `with` statement.

    The constructor dies there with `KeyError: 'evaluator'`, since an evaluator is no part of the
    cluster. A script makes the strategy in every task.
    """
    if role != "evaluator":
        yield
        return
    kinds = (tf.distribute.MultiWorkerMirroredStrategy,
             tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy)
    before = [(kind, vars(kind)["__init__"]) for kind in kinds]
    for kind, construct in before:
        kind.__init__ = _without_cluster(construct)
    try:
        yield
    finally:
        for kind, construct in before:
            kind.__init__ = construct


def _without_cluster(construct: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(construct)
    def construct_alone(*args: Any, **kwargs: Any) -> None:
        with environment.no_cluster():
            construct(*args, **kwargs)

    return construct_alone
