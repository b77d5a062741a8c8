"""A plug-in is the user's model_fn or input_fn: where it is, and what its source tells."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping


@dataclasses.dataclass(frozen=True)
class Plugin:
    """A plug-in's module as its source tells, before it is imported.

    Attributes:
      kind: The name of the flag, one of plugin_kinds.ARGUMENTS.
      name: The name as the user typed it.
      module: The import name; a file's stem for a plug-in given as a file.
      path: The source file.
      function: The name in the module, of the function or of a class in a model_fn's place.
      is_file: Whether the plug-in was given as a file.
      default_params: The module's DEFAULT_PARAMS, or None when it declares none.
      doc: The first line of the module's docstring.
      free_params: The module's FREE_PARAMS: params that a later run may change unasked.
      global_batch_param: The module's GLOBAL_BATCH_PARAM: the param that counts the examples of a
        global step, which the replicas share; "" if it names none.
      thing: What a Python program gave in place of a name, or None.
    """

    kind: str
    name: str
    module: str
    path: str
    function: str
    is_file: bool
    default_params: Mapping[str, Any] | None
    doc: str
    free_params: tuple[str, ...] = ()
    global_batch_param: str = ""
    thing: Any = None


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
