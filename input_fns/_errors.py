"""What a user can get wrong with data; each error's text is one sentence.

DataError
├── DataParamError        ValueError    a param that names nothing, or cannot work
└── DataNotPreparedError  RuntimeError  the dataset is not on disk and cannot be put there
"""

from __future__ import annotations


class DataError(Exception):
    """Ends the program with `exit_code` and no traceback; a retry would not help."""

    exit_code = 2


class DataParamError(DataError, ValueError):
    """A param of the input plug-in that names nothing, or cannot work."""


class DataNotPreparedError(DataError, RuntimeError):
    """The dataset is not on disk and cannot be put there."""
