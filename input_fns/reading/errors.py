"""Errors that a user can make with data; the text of each is one sentence.

DataError
├── DataParamError        ValueError    2  a param that names nothing, or cannot work
├── DataNotPreparedError  RuntimeError  2  the dataset is not on disk and cannot be put there
└── DataFileError         RuntimeError  1  a file that is missing or has wrong content

The number is the program's exit code.
"""

from __future__ import annotations


class DataError(Exception):
    """Ends the program with `exit_code` and no traceback; a retry would not help."""

    exit_code = 2


class DataParamError(DataError, ValueError):
    """A param of the input plug-in names nothing, or cannot work."""


class DataNotPreparedError(DataError, RuntimeError):
    """The dataset is not on disk and cannot be put there."""


class DataFileError(DataError, RuntimeError):
    """A file is missing or has wrong content."""

    exit_code = 1
