"""The state of Python's and NumPy's random numbers, which user's functions and Keras layers draw.

A call that the Estimator does not make must not change what is drawn later.
"""

import contextlib
import pickle
import random
from typing import Iterator
import zlib

import numpy as np
import tensorflow as tf

from estimator_trainer.patches import private_api

# TensorFlow returns this number where no seed is set.
_NO_SEED = 87654321


class RandomState:
    """The state when the object is made, with that of `tf.keras.utils.set_random_seed`."""

    def __init__(self) -> None:
        self.python, self.numpy = random.getstate(), np.random.get_state(legacy=False)
        self._keras = {id(holder): (generator, generator and generator.getstate())
                       for holder in private_api.keras_seeds()
                       for generator in [getattr(holder, "generator", None)]}

    def has_changed(self) -> bool:
        """Returns whether numbers were drawn since, or a generator was seeded."""
        now = np.random.get_state(legacy=False)  # With an array, whose repr would be cut short.
        return self.python != random.getstate() or pickle.dumps(self.numpy) != pickle.dumps(now)

    def put_back(self) -> None:
        """Makes this the state."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)
        for holder in private_api.keras_seeds():
            holder.generator, state = self._keras.get(id(holder), (None, None))
            if holder.generator:
                holder.generator.setstate(state)

    def put_back_unless_seeded(self, since: "RandomState") -> None:
        """Makes this the state of each generator that was not seeded since `since`.

        A seed gives a Mersenne Twister 624 other words; few draws only advance in them.
        """
        if random.getstate()[1][:-1] == since.python[1][:-1]:
            random.setstate(self.python)
        now = np.random.get_state(legacy=False)["state"]["key"]
        if np.array_equal(now, since.numpy["state"]["key"]):
            np.random.set_state(self.numpy)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restores the state after a `with` statement, and TensorFlow's seed."""
    state, seed = RandomState(), _tensorflow_seed()
    try:
        yield
    finally:
        state.put_back()
        if _tensorflow_seed() != seed:
            tf.random.set_seed(seed)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds Python, NumPy and TensorFlow within a `with` statement, as `kept`; 0 seeds nothing."""
    if not seed:
        yield
        return
    with kept():
        random.seed(seed)
        np.random.seed(seed)
        tf.random.set_seed(seed)
        yield


@contextlib.contextmanager
def alike_in_all_tasks(name: str) -> Iterator[None]:
    """Draws the same numbers in each task of a job within a `with` statement.

    Afterwards the generators go on where they were, but one that the code within has seeded keeps
    its seed, as `np.random.seed(0)` at the top of a module is meant.
    """
    state, seed, own_seed = RandomState(), _tensorflow_seed(), zlib.crc32(name.encode())
    random.seed(own_seed)
    np.random.seed(own_seed)
    tf.random.set_seed(own_seed)
    # Only the first draw after a seed makes the words that further draws advance in.
    random.random()
    np.random.random_sample()
    alike = RandomState()
    try:
        yield
    finally:
        state.put_back_unless_seeded(alike)
        if _tensorflow_seed() == own_seed:
            tf.random.set_seed(seed)


def _tensorflow_seed() -> int | None:
    # In place of the seed of an operation, any number does.
    found = tf.compat.v1.get_seed(1)[0]
    return None if found == _NO_SEED else found
