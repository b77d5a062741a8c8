"""Patches of the methods of an Estimator, and of what a script calls."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from typing import Any, Callable, Iterable, Iterator, Mapping

import tensorflow as tf

from estimator_trainer.patches import private_api, replacement

Train = Callable[..., tf.estimator.Estimator]


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


@contextlib.contextmanager
def discarding_events(estimator: tf.estimator.Estimator) -> Iterator[None]:
    """Makes evaluations of an Estimator write their events to a temporary folder, within a `with`.

    `Estimator.evaluate` adds an event to `eval/` at every call, so a second evaluation of a
    checkpoint shows as a second point of its step. None of its arguments leaves the event out.
    """
    with tempfile.TemporaryDirectory() as folder:
        estimator.eval_dir = lambda name=None: folder
        try:
            yield
        finally:
            del estimator.eval_dir
            # Otherwise the cache of writers keeps the file open.
            tf.compat.v1.summary.FileWriterCache.get(folder).close()


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
    with replacement.attributes([
            (place, name, _through(replacements[name], getattr(place, name)))
            for place, name in places]):
        yield


def _through(called: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return called(original, *args, **kwargs)

    return call
