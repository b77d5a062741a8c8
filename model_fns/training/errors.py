"""The error for wrong params of a model_fn; its text is one sentence."""

from __future__ import annotations


class ParamError(ValueError):
    """A param has a wrong value; the program ends with `exit_code` and no traceback."""

    exit_code = 2
