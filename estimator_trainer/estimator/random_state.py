"""The state of Python's and NumPy's random numbers, which user's functions and Keras layers draw.

A call that the Estimator does not make must not change what is drawn later.
"""

import contextlib
import pickle
import random
from typing import Iterator

import numpy as np
import tensorflow as tf

# TensorFlow returns this number where no seed is set.
_NO_SEED = 87654321


class RandomState:
    """The state when the object is made."""

    def __init__(self) -> None:
        self._python, self._numpy = random.getstate(), np.random.get_state(legacy=False)

    def has_changed(self) -> bool:
        """Returns whether numbers were drawn since, or a generator was seeded."""
        now = np.random.get_state(legacy=False)  # With an array, whose repr would be cut short.
        return self._python != random.getstate() or pickle.dumps(self._numpy) != pickle.dumps(now)

    def put_back(self) -> None:
        """Makes this the state."""
        random.setstate(self._python)
        np.random.set_state(self._numpy)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restores the state after a `with` statement."""
    state = RandomState()
    try:
        yield
    finally:
        state.put_back()


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds Python, NumPy and TensorFlow within a `with` statement; 0 seeds nothing.

    Afterwards Python and NumPy go on where they were, and TensorFlow has its earlier seed.
    """
    if not seed:
        yield
        return
    # In place of the seed of an operation, any number does.
    before = tf.compat.v1.get_seed(1)[0]
    with kept():
        try:
            random.seed(seed)
            np.random.seed(seed)
            tf.random.set_seed(seed)
            yield
        finally:
            tf.random.set_seed(None if before == _NO_SEED else before)
