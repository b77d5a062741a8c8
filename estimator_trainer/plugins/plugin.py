"""A plug-in: the user's model_fn or input_fn, its place, and the declarations of its source."""

import dataclasses
from typing import Any, Mapping, NamedTuple


@dataclasses.dataclass(frozen=True)
class Plugin:
    """A plug-in's module, read from its source before any import.

    Attributes:
      kind: The name of the flag, one of KINDS.
      name: The name as the user typed it.
      module: The import name; a file's stem if `is_file`.
      function: The name in the module, of the function or of a class in a model_fn's place.
      is_file: Whether `name` is that of a file.
      default_params: The module's DEFAULT_PARAMS, or None when it declares none.
      doc: The first line of the module's docstring.
      free_params: The module's FREE_PARAMS: params that a later run may change unasked.
      global_batch_param: The module's GLOBAL_BATCH_PARAM: the param that counts the examples of a
        global step, which the replicas share; "" if it names none.
      older_params: The module's OLDER_PARAMS: values of params that an older version of the module
        did not have, for a model_dir whose record lacks them.
      trains_until: The module's TRAINS_UNTIL: the rule that ends training where the user sets none,
        as `train_until`; "" if it names none.
      inspection: The module's INSPECTION: the module that looks into its data without TensorFlow.
      data: The module's DATA: the data that it is for, in words.
      labels: The module's LABELS: what the model learns, "classes" and "numbers"; () if unknown.
      first_params: The module's FIRST_PARAMS: the params that a user sets first.
      thing: The object that a Python program passed in place of a name, or None.
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
    older_params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    trains_until: str = ""
    inspection: str = ""
    data: str = ""
    labels: tuple[str, ...] = ()
    first_params: tuple[str, ...] = ()
    thing: Any = None


class Kind(NamedTuple):
    """One kind of plug-in.

    Attributes:
      folder: The folder of this project's own plug-ins, in which a bare name is looked up.
      arguments: The arguments that the Estimator passes, by name.
      functions: The functions that a module may have; the first one there is taken.
    """

    folder: str
    arguments: tuple[str, ...]
    functions: tuple[str, ...]


_OF_INPUT = ("mode", "params", "config", "input_context")
# All kinds, by the names of their flags.
KINDS = {
    "model_fn": Kind(
        "model_fns", ("features", "labels", "mode", "params", "config"), ("model_fn",)),
    "input_fn": Kind("input_fns", _OF_INPUT, ("input_fn",)),
    "train_input_fn": Kind("input_fns", _OF_INPUT, ("train_input_fn", "input_fn")),
    "eval_input_fn": Kind("input_fns", _OF_INPUT, ("eval_input_fn", "input_fn")),
    "serving_input_fn": Kind(
        "input_fns", ("params",), ("serving_input_receiver_fn", "serving_input_fn")),
}


def function(kind: str, defined: set[str]) -> str:
    """Returns the function that a module which defines these names has for a kind of plug-in."""
    names = KINDS[kind].functions
    return next((name for name in names if name in defined), names[0])
