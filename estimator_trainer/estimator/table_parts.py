"""Large tables in parts, one on each ps (`--partition_mb`).

TensorFlow divides a variable that `tf.compat.v1.get_variable` makes, if a partitioner asks for it,
and saves the parts as slices of one tensor, so a checkpoint does not depend on their number. What
it lacks is the partitioner of a program that sets none, and partitions of the variables that
`tf.keras.layers.DenseFeatures` makes, in which canned Estimators have their feature columns.
"""

import contextlib
import functools
import re
from typing import Any, Callable, Iterator

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.graph import operations
from estimator_trainer.patches import private_api, training_patches

v1 = tf.compat.v1
_OF_PART = re.compile(r"((.*)/part_\d+)(/.+)")
_LOOKUPS = ("ResourceGather", "GatherV2")


@contextlib.contextmanager
def spread(partition_mb: int, num_ps: int) -> Iterator[None]:
    """Divides the tables that a model_fn makes within a `with` statement, if they are larger.

    A table is a trainable variable of two dimensions. One that the program divides by itself stays
    so. A part has at most `partition_mb` megabytes, unless there are too few ps.

    Raises:
      ConfigError: if the model looks rows up by a rule that depends on the number of parts.
    """
    if not partition_mb or num_ps < 2:
        yield
        return
    partitioner = v1.min_max_variable_partitioner(num_ps, min_slice_size=partition_mb << 20)
    scope = v1.get_variable_scope()
    outer = scope.custom_getter
    scope.set_custom_getter(_getter(partitioner, outer))
    try:
        with training_patches.creating_columns_with(_creator(partitioner)):
            yield
    finally:
        scope.set_custom_getter(outer)
    parts = [each for each in v1.global_variables() if operations.is_part(each)]
    _save_as_slices(parts)
    _check_lookups(parts)


def _getter(partitioner: Any, outer: Callable[..., Any] | None) -> Callable[..., Any]:
    """Returns a getter of variables, for a scope, that divides large tables."""
    def get(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        initializer = kwargs.get("initializer")
        is_function = initializer is None or callable(initializer)
        # A slot, which is not trainable, is as whole as its variable.
        is_wanted = kwargs.get("partitioner") is None and kwargs.get("trainable") is not False
        if is_wanted and is_function and _num_parts(
                partitioner, kwargs.get("shape"), kwargs.get("dtype")) > 1:
            kwargs["partitioner"] = partitioner
        return outer(getter, *args, **kwargs) if outer else getter(*args, **kwargs)

    return get


def _num_parts(partitioner: Any, shape: Any, dtype: Any) -> int:
    shape = tf.TensorShape(shape)
    if shape.rank != 2 or not shape.is_fully_defined():
        return 1
    return int(partitioner(shape=shape, dtype=tf.dtypes.as_dtype(dtype or tf.float32))[0])


def _creator(partitioner: Any) -> Callable[..., Any]:
    """Returns a creator of variables, for `tf.variable_creator_scope`, that divides large tables.

    TensorFlow itself calls it again for each part.
    """
    is_inside = False

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        nonlocal is_inside
        # Keras passes its initializer with the arguments of one call.
        make = kwargs.get("initial_value")
        initializer = make.func if isinstance(make, functools.partial) else None
        shape, dtype = kwargs.get("shape"), kwargs.get("dtype")
        if is_inside or initializer is None or _num_parts(partitioner, shape, dtype) < 2:
            return next_creator(**kwargs)
        # Keras opens scopes of names, and not of variables.
        name = "/".join(filter(None, [tf.get_current_name_scope(), kwargs["name"]]))
        is_inside = True
        try:
            with v1.variable_scope(v1.VariableScope(None), auxiliary_name_scope=False):
                return v1.get_variable(name, shape, dtype, initializer, use_resource=True,
                                       trainable=kwargs["trainable"], partitioner=partitioner)
        finally:
            is_inside = False

    return create


def _save_as_slices(parts: list[tf.Variable]) -> None:
    """Makes checkpoints hold the slots of parts as slices, where an optimizer of Keras made them.

    Such a slot has the name of its part within its own.
    """
    by_name = {_name(part): part for part in parts}
    for slot in v1.global_variables():
        found = _OF_PART.match(_name(slot))
        if found is None or private_api.slice_of(slot) is not None:
            continue
        # An optimizer may put a scope before the name.
        part = next((part for name, part in by_name.items()
                     if f"/{found[1]}".endswith(f"/{name}")), None)
        if part is not None and part.shape == slot.shape:
            private_api.set_slice(slot, found[2] + found[3], part)


def _name(variable: Any) -> str:
    return str(variable.name.partition(":")[0])


def _check_lookups(parts: list[tf.Variable]) -> None:
    """Raises ConfigError for rows divided by the remainder of their ids; warns of whole reads."""
    graph = v1.get_default_graph()
    outside = operations.outside(graph)
    holders = {part.op: operations.saved_name(part) for part in parts}
    whole = set()
    for op in graph.get_operations():
        if op.type in _LOOKUPS:
            name = holders.get(operations.variable_of(op, outside))
            if name and _is_by_remainder(op.inputs[1].op):
                raise errors.ConfigError(
                    f"the model looks up rows of {name!r} with partition_strategy='mod', the"
                    " default of tf.compat.v1.nn.embedding_lookup, which keeps a row in another"
                    f" place for another number of parts, and {errors.Setting('partition_mb')}"
                    " divides that table; expected partition_strategy='div'. For example:"
                    " tf.compat.v1.nn.embedding_lookup(table, ids, partition_strategy='div')")
        elif op.type == "ConcatV2" and op.name.endswith("/ConcatPartitions/concat"):
            whole.add(op.name.removesuffix("/ConcatPartitions/concat"))
    if whole:
        logging.warning(
            "the model reads %s as a whole, so a trainer gets all parts in each step; to look up"
            " rows, call tf.nn.embedding_lookup(table, ids) in place of tf.gather",
            operations.some(whole))


def _is_by_remainder(ids: tf.Operation) -> bool:
    """Returns whether ids are divided among parts by their remainder."""
    if ids.type != "DynamicPartition":
        return False
    number = ids.inputs[1].op
    number = number.inputs[0].op if number.type == "Cast" else number
    return bool(number.type == "FloorMod")
