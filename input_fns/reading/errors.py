"""Errors that a user can make with data; the text of each is one sentence.

DataError
├── DataParamError        ValueError    2  a param that names nothing, or cannot work
│   └── MissingColumnError              2  a param that names a column that a file lacks
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


class MissingColumnError(DataParamError):
    """A param names a column that a file lacks.

    Attributes:
      param: The name of the param.
      of_model: The sentence to show in its place for a model that was trained on that column.
    """

    def __init__(self, sentence: str, param: str, of_model: str):
        """Takes the sentence to show, and the other one."""
        super().__init__(sentence)
        self.param, self.of_model = param, of_model


class DataNotPreparedError(DataError, RuntimeError):
    """The dataset is not on disk and cannot be put there."""


class DataFileError(DataError, RuntimeError):
    """A file is missing or has wrong content."""

    exit_code = 1


class RecordError(ValueError):
    """A record cannot be used; TensorFlow makes an InvalidArgumentError of it.

    Attributes:
      sentence: The file, the record, and what is wrong.
    """

    def __init__(self, sentence: str, sign: str = "a record cannot be used"):
        """Puts the sign, a few words that tell kinds of errors apart, before the sentence."""
        # A byte that is no UTF-8 may be in it as a surrogate, which cannot be printed.
        self.sentence = sentence.encode("utf-8", "replace").decode()
        super().__init__(f"{sign}: {self.sentence}")
