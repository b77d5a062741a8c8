"""Where TensorFlow is bent for a script; `patches/upstream.py` has the bends for every run.

A test in `tests/script/test_bends.py` fails when a TensorFlow no longer needs one of them.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator, Mapping

import tensorflow as tf

from estimator_trainer.patches import private_api, replacement


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
