"""Serving input receivers, derived from what the input_fn yields."""

import re
from typing import Any, Callable

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import passthrough
from estimator_trainer.input import batches
from estimator_trainer.plugins import loader

_NOT_IN_OP_NAMES = re.compile(r"[^A-Za-z0-9_.\\/>-]")
ReceiverFn = Callable[[], Any]

# The dtype in a tf.Example for each dtype that a model may take.
_EXAMPLE_DTYPES = {tf.float16: tf.float32, tf.bfloat16: tf.float32, tf.float64: tf.float32,
                   tf.int8: tf.int64, tf.int16: tf.int64, tf.int32: tf.int64, tf.uint8: tf.int64,
                   tf.uint16: tf.int64, tf.uint32: tf.int64, tf.bool: tf.int64}
# A key may be a number or a text; a text can hold both.
_KEY = tf.TensorSpec([None], tf.string)
_OVERRIDE = "define serving_input_receiver_fn in the input_fn's module"


def receiver_fn(features: Any, kind: str, is_needed: bool = True,
                key: str = "") -> ReceiverFn:
    """Derives a serving_input_receiver_fn from the features' specs.

    Args:
      features: A spec, or a dict of them, with the batch dimension first.
      kind: "raw", one input tensor a feature; or "example", one string tensor `examples` of
        serialized tf.Example protos, shape [batch].
      is_needed: Whether the job exports, and should fail now rather than at its end.
      key: The name of a text that is no feature, and goes through the export; "": none.

    Raises:
      ConfigError: if a feature cannot be served; without `is_needed`, when the result is called.
    """
    specs = features if isinstance(features, dict) else {"feature": features}
    passed = {key: _KEY} if key else {}

    def check() -> None:
        for name, spec in specs.items():
            _check(name, spec, kind)

    if is_needed:
        check()

    def serving_input_receiver_fn() -> Any:
        check()
        tensors, receivers = (raw_tensors({**specs, **passed}) if kind == "raw" else
                              _parsed_examples({**specs, **passed}, passed))
        made = {name: tensors[name] for name in specs}
        if isinstance(features, dict) or key:
            made = made if isinstance(features, dict) else made["feature"]
            return tf.estimator.export.ServingInputReceiver(
                passthrough.with_key(made, tensors[key] if key else None), receivers)
        return tf.estimator.export.TensorServingInputReceiver(made["feature"], receivers)

    return serving_input_receiver_fn


def adapt(function: ReceiverFn, name: str, params: dict[str, Any]) -> ReceiverFn:
    """Makes a user's function, or one that makes it, a serving_input_receiver_fn.

    The result raises ConfigError when `function` returns nothing that can be served. The
    `InputFnOps` of `tf.contrib.learn` become a receiver.
    """
    def serving_input_receiver_fn() -> Any:
        made: Any = function
        while callable(made):
            made = loader.call(made, {"params": params})
        if hasattr(made, "default_inputs"):
            return tf.estimator.export.ServingInputReceiver(made.features, made.default_inputs)
        if not hasattr(made, "receiver_tensors"):
            raise errors.ConfigError(
                f"serving_input_fn {name!r} returned a {type(made).__name__}; expected a"
                " ServingInputReceiver. For example: return"
                " tf.estimator.export.ServingInputReceiver(features, receiver_tensors)")
        return made

    return serving_input_receiver_fn


def raw_tensors(specs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns placeholders for the specs by name, as features and as receivers."""
    tensors = {}
    for feature, spec in specs.items():
        name = _op_name(feature)
        if isinstance(spec, tf.SparseTensorSpec):
            tensors[feature] = tf.compat.v1.sparse_placeholder(
                spec.dtype, [None, *spec.shape[1:]], name=name)
        elif isinstance(spec, tf.RaggedTensorSpec):
            tensors[feature] = tf.compat.v1.ragged.placeholder(
                spec.dtype, spec.ragged_rank, spec.shape[spec.ragged_rank + 1:], name=name)
        else:
            shape = None if spec.shape.rank is None else [None, *spec.shape[1:]]
            tensors[feature] = tf.compat.v1.placeholder(spec.dtype, shape, name=name)
    return tensors, tensors


def _op_name(feature: str) -> str:
    """Returns a feature's name as the name of an operation, in which few characters are allowed."""
    name = _NOT_IN_OP_NAMES.sub("_", feature)
    return name if name[:1].isalnum() or name.startswith(".") else f"feature{name}"


def _parsed_examples(specs: dict[str, Any],
                     passed: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the tensors by name, and the receiver; those of `passed` may be missing."""
    serialized = tf.compat.v1.placeholder(tf.string, [None], name="examples")
    parsed = tf.io.parse_example(serialized, {
        name: tf.io.FixedLenFeature([], spec.dtype, "") if name in passed else _stored(spec)
        for name, spec in specs.items()})
    # A cast to its own dtype returns the tensor itself.
    return ({name: tf.cast(value, specs[name].dtype) for name, value in parsed.items()},
            {"examples": serialized})


def _stored(spec: Any) -> Any:
    dtype = _stored_dtype(spec)
    if isinstance(spec, tf.SparseTensorSpec):
        return tf.io.VarLenFeature(dtype)
    if isinstance(spec, tf.RaggedTensorSpec):
        return tf.io.RaggedFeature(dtype, row_splits_dtype=spec.row_splits_dtype)
    return tf.io.FixedLenFeature(spec.shape[1:], dtype)


def _stored_dtype(spec: Any) -> tf.DType:
    return _EXAMPLE_DTYPES.get(spec.dtype, spec.dtype)


def _check(name: str, spec: Any, kind: str) -> None:
    if not isinstance(spec, batches.SPECS):
        raise errors.ConfigError(
            f"feature {name!r} is a {type(spec).__name__}, which cannot be a raw serving input;"
            f" expected a dense, sparse or ragged tensor, or {_OVERRIDE}.")
    if kind == "raw":
        return
    problem = ""
    if isinstance(spec, tf.RaggedTensorSpec) and spec.shape.rank != 2:
        problem = (f"is ragged, of shape {spec.shape}, and a tf.Example holds lists of numbers or"
                   " texts; expected [batch, None],")
    elif isinstance(spec, tf.TensorSpec) and not spec.shape[1:].is_fully_defined():
        problem = (f"has shape {spec.shape}, which a tf.Example cannot hold; expected a known shape"
                   " after the batch dimension,")
    elif _stored_dtype(spec) not in (tf.float32, tf.int64, tf.string):
        problem = f"has dtype {spec.dtype.name}, which a tf.Example cannot hold; expected"
    if problem:
        raise errors.ConfigError(
            f"feature {name!r} {problem} {errors.Setting('serving_input', 'raw')}, or {_OVERRIDE}.")
