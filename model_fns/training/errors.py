"""What a user can get wrong with the params of a model_fn; the text is one sentence."""

from __future__ import annotations


class ParamError(ValueError):
    """A param that cannot be; ends the program with `exit_code` and no traceback."""

    exit_code = 2
