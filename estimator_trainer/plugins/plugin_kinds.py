"""The kinds of plug-ins: one flag names each, and more than one flag an input_fn."""

from __future__ import annotations

# The Estimator passes these arguments, by name, to the functions of each kind.
ARGUMENTS = {
    "model_fn": ("features", "labels", "mode", "params", "config"),
    "input_fn": ("mode", "params", "config", "input_context"),
    "train_input_fn": ("mode", "params", "config", "input_context"),
    "eval_input_fn": ("mode", "params", "config", "input_context"),
    "serving_input_fn": ("params",),
}
# The functions that a plug-in may have, where its name picks none; the first one there is taken.
_FUNCTIONS = {
    "train_input_fn": ("train_input_fn", "input_fn"),
    "eval_input_fn": ("eval_input_fn", "input_fn"),
    "serving_input_fn": ("serving_input_receiver_fn", "serving_input_fn"),
}


def folder(kind: str) -> str:
    """Returns the folder of the project's own plug-ins that a bare name of this kind is in."""
    return "model_fns" if kind == "model_fn" else "input_fns"


def function(kind: str, defined: set[str]) -> str:
    """Returns the name of the function that a plug-in of this kind has, where none is picked.

    Args:
      kind: The kind, which is the name of the flag.
      defined: The names that its module defines.
    """
    names = _FUNCTIONS.get(kind, (kind,))
    return next((name for name in names if name in defined), names[0])
