"""Objects that a checkpoint keeps: ones with names that do not clash, and arrays of NumPy.

Follows the API of `tensorflow/contrib/checkpoint/python/` of TensorFlow 1.15.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from tensorflow.python.trackable import base, data_structures, python_state


class UniqueNameTracker(data_structures.TrackableDataStructure):
    """Tracks objects by names, of which a later one that is taken becomes `name_1`."""

    def __init__(self) -> None:
        super().__init__()
        self._maybe_initialize_trackable()
        self._numbers: dict[str, int] = {}

    @property
    def _values(self) -> Any:
        return [each.ref for each in self._unconditional_checkpoint_dependencies]

    def track(self, trackable: Any, base_name: str) -> Any:
        """Returns the object, which is a dependency from now on.

        Raises:
          ValueError: The object is not one that a checkpoint can keep.
        """
        if not isinstance(trackable, base.Trackable):
            raise ValueError(f"Expected a trackable value, got {trackable}")
        number = self._numbers.get(base_name, 0)
        name = f"{base_name}_{number}" if number else base_name
        while self._lookup_dependency(name) is not None:
            number += 1
            name = f"{base_name}_{number}"
        self._numbers[base_name] = number + 1
        self._track_value(trackable, name=name)
        return trackable


class NumpyState(base.Trackable):
    """An object whose attributes are arrays, which a checkpoint saves and restores at once."""

    def _lookup_dependency(self, name: str, *args: Any, **kwargs: Any) -> Any:
        # An attribute of the checkpoint that the object does not have yet is made.
        self._maybe_initialize_trackable()
        value = super()._lookup_dependency(name, *args, **kwargs)
        if value is None:
            value = _Array(np.array([]))
            self._unconditional_checkpoint_dependencies.append(
                base.TrackableReference(name=name, ref=value))
            self._unconditional_dependency_names[name] = value
            super().__setattr__(name, value)
        return value

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Array) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            kept = self.__dict__.get(name)
            if isinstance(kept, _Array):
                kept.array = value
                return
            value = _Array(value)
            self._track_trackable(value, name, overwrite=True)
        elif not name.startswith("_"):
            raise NotImplementedError(f"{name} of NumpyState got {value!r}; expected an array of "
                                      "NumPy")
        super().__setattr__(name, value)


class _Array(python_state.PythonState):
    """An array, as the text that a checkpoint keeps."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def serialize(self) -> bytes:
        """Returns the array in NumPy's format of files."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        """Takes the array of such a text."""
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)
