"""Finds the number of the training input that is NaN or infinite, after a model was ruined."""

import contextlib
import time
from typing import Any, Callable, Generator

import numpy as np
import tensorflow as tf

from estimator_trainer.input import read_batches

# A pass over all data may take hours; a number that ruined a model in this run came early.
_MOST_SECS = 3.0


def found(input_fn: Callable[..., Any], params: dict[str, Any]) -> str:
    """Returns the place of the first such number, as a clause; "" if none was found in time.

    Args:
      input_fn: The adapted input_fn, called in mode "train".
      params: The params of both plug-ins.
    """
    until = time.monotonic() + _MOST_SECS
    with contextlib.closing(_batches(input_fn, params)) as batches:
        for number, (features, labels) in enumerate(batches, 1):
            for name, value in (*_named(features, "feature"), *_named(labels, "label")):
                place = _place(value)
                if place:
                    return f"{name} {place} of batch {number} of the training input"
            if time.monotonic() > until:
                break
    return ""


def _named(values: Any, kind: str) -> list[tuple[str, Any]]:
    """Returns features or labels with what a sentence calls them, and its verb."""
    if isinstance(values, dict):
        return [(f"{kind} {name!r} is", value) for name, value in values.items()]
    return [] if values is None else [(f"the {kind}s are", values)]


def _place(value: Any) -> str:
    """Returns the first number that is not finite, and its example, counted from 1; "" for none."""
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        rows, numbers = value.indices[:, 0], value.values
    elif isinstance(value, np.ndarray) and value.ndim:
        rows, numbers = np.arange(len(value)), value
    else:
        return ""
    if numbers.dtype.kind != "f":
        return ""
    is_bad = ~np.isfinite(numbers)
    if not is_bad.any():
        return ""
    first = np.argwhere(is_bad)[0]
    return f"{numbers[tuple(first)]} in example {rows[first[0]] + 1}"


def _batches(input_fn: Callable[..., Any], params: dict[str, Any]) -> Generator[Any, None, None]:
    """Yields features and labels of each training batch; labels are None without any."""
    def make() -> Any:
        made = input_fn(tf.estimator.ModeKeys.TRAIN, params, is_marked=False)
        if not isinstance(made, tf.data.Dataset):
            raise ValueError("tensors of queues may have no end")
        return made

    with contextlib.closing(read_batches.values(make)) as batches:
        for batch in batches:
            yield batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
