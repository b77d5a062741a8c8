"""The state of Python's and NumPy's random numbers, of which a user's functions may draw.

The initializers of Keras layers do, too. What this program calls beside what the Estimator calls
must not change what is drawn later.
"""

from __future__ import annotations

import contextlib
import pickle
import random
from typing import Iterator

import numpy as np


class RandomState:
    """The state at the time when the object is made."""

    def __init__(self) -> None:
        self._python, self._numpy = random.getstate(), np.random.get_state(legacy=False)

    def has_changed(self) -> bool:
        """Returns whether numbers were drawn since, or a generator was seeded."""
        # NumPy's state holds an array, whose repr would be cut short.
        now = np.random.get_state(legacy=False)
        return self._python != random.getstate() or pickle.dumps(self._numpy) != pickle.dumps(now)

    def put_back(self) -> None:
        """Makes this the state."""
        random.setstate(self._python)
        np.random.set_state(self._numpy)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Puts the state back after a `with` statement."""
    state = RandomState()
    try:
        yield
    finally:
        state.put_back()
