"""Patches of the methods of an Estimator, and of what a script calls."""

import contextlib
import functools
import tempfile
from typing import Any, Callable, Iterable, Iterator, Mapping

import tensorflow as tf

from estimator_trainer.patches import private_api, replacement

Train = Callable[..., tf.estimator.Estimator]


def train_with(estimator: tf.estimator.Estimator, train: Train) -> None:
    """Makes an Estimator train with `train`.

    This changes the object's class, because an Estimator cannot be constructed as a subclass that
    overrides its methods. An attribute, as in `evaluating_with`, would not be enough: with a
    strategy a copy of the Estimator trains. `train` takes the Estimator, the original `train`, and
    its arguments.
    """
    class Training(type(estimator)):  # type: ignore[misc]
        def train(self, *args: Any, **kwargs: Any) -> tf.estimator.Estimator:
            return train(self, super().train, *args, **kwargs)

    estimator.__class__ = Training


@contextlib.contextmanager
def changing_steps_with(change: Callable[[tf.Operation], None]) -> Iterator[None]:
    """Calls `change` with the train op of each model for training, within a `with` statement.

    The models are those that Estimators build in this thread, also those of a class with its own
    `train`, which may make more Estimators (adanet's does).
    """
    kind, name = tf.compat.v1.estimator.Estimator, private_api.CALL_MODEL_FN
    build = getattr(kind, name)

    def built(self: Any, features: Any, labels: Any, mode: str,
              config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        spec = build(self, features, labels, mode, config)
        if mode == tf.estimator.ModeKeys.TRAIN:
            change(spec.train_op)
        return spec

    with replacement.functions_of_this_thread([(kind, name, built)]):
        yield


@contextlib.contextmanager
def evaluating_with(estimators: Iterable[tf.estimator.Estimator],
                    evaluate: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Makes Estimators evaluate with `evaluate`, within a `with` statement.

    `train_and_evaluate`, which calls it, takes only Estimators, and these refuse a subclass that
    overrides their methods, so it is an attribute of each object.
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
            # Otherwise the cache of writers keeps the file open. After an evaluation that failed
            # early the cache makes a writer, which needs a graph.
            with tf.Graph().as_default():
                tf.compat.v1.summary.FileWriterCache.get(folder).close()


@contextlib.contextmanager
def calling(replacements: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Replaces `train_and_evaluate` and methods, within a `with` statement.

    The methods are those of every Estimator, and of the executor that `train_and_evaluate` makes.

    A script makes its own Estimator and calls `tf.estimator.train_and_evaluate` by any name of the
    function, so both are replaced where they are defined. Each replacement, by name, takes the
    original, then the arguments.
    """
    places: list[tuple[Any, str]] = [
        (module, "train_and_evaluate") for module in private_api.homes_of_train_and_evaluate()]
    # Some methods of TPUEstimator call Estimator's.
    for kind in (tf.compat.v1.estimator.Estimator, tf.estimator.Estimator,
                 tf.compat.v1.estimator.tpu.TPUEstimator, private_api.executor()):
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
