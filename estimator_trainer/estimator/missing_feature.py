"""Explains the error of a model_fn that asks for a feature that the input_fn does not yield."""

from __future__ import annotations

import contextlib
import re
import traceback
from typing import Any, Iterator

from estimator_trainer import errors

_COLUMN = re.compile(r"Feature (\S+) is not in features dictionary")


@contextlib.contextmanager
def explained(features: Any, model_fn: str) -> Iterator[None]:
    """Raises ConfigError in place of the error about a feature that is not there.

    Args:
      features: The features that the model_fn gets within.
      model_fn: The name of the model_fn, for the message.
    """
    try:
        yield
    except (KeyError, ValueError) as error:
        name = _missing(error, features) if isinstance(features, dict) else ""
        if not name:
            raise
        there = sorted(map(str, features))
        raise errors.ConfigError(
            f"model_fn {model_fn!r} asks for the feature {name!r}{_place(error)}, and the input_fn"
            f" yields {', '.join(there)}.{errors.near_match(name, there)}"
            " Take a model_fn and an input_fn that go together, or name the feature by a param of"
            " theirs. To see both: estimator-trainer check --probe") from error


def _place(error: BaseException) -> str:
    """Returns the line of code that asks, which may be another dict's."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({frame.filename}, line {frame.lineno}: `{frame.line}`)"


def _missing(error: BaseException, features: dict[str, Any]) -> str:
    """Returns the name of the feature that is missing; "" if the error is about something else."""
    column = _COLUMN.search(str(error))
    if column:
        return column[1].strip("'\".")
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(key, str) or key in features or isinstance(error, errors.TrainerError):
        return ""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    # Another dict of the model_fn's may lack a key too.
    looked_in = trace.tb_frame.f_locals.values() if trace else ()
    is_feature = any(isinstance(each, dict) and each.keys() == features.keys()
                     for each in looked_in)
    return key if is_feature else ""
