"""Serving input receivers, derived from what the input_fn yields."""

import re
from typing import Any, Callable, Mapping, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import passthrough
from estimator_trainer.input import batches
from estimator_trainer.plugins import loader

_NOT_IN_OP_NAMES = re.compile(r"[^A-Za-z0-9_.\\/>-]")
ReceiverFn = Callable[[], Any]
# Returns the tensors of named fields from lines, a string tensor of shape [batch].
ParseLines = Callable[[tf.Tensor, Sequence[str]], Mapping[str, tf.Tensor]]
# The name of the one input of each kind that takes texts.
_INPUTS = {"example": "examples", "csv": "csv_row"}

# The dtype in a tf.Example for each dtype that a model may take.
_EXAMPLE_DTYPES = {tf.float16: tf.float32, tf.bfloat16: tf.float32, tf.float64: tf.float32,
                   tf.int8: tf.int64, tf.int16: tf.int64, tf.int32: tf.int64, tf.uint8: tf.int64,
                   tf.uint16: tf.int64, tf.uint32: tf.int64, tf.bool: tf.int64}
# A key may be a number or a text; a text can hold both.
_KEY = tf.TensorSpec([None], tf.string)
_OVERRIDE = "define serving_input_receiver_fn in the input_fn's module"


def receiver_fn(features: Any, kinds: str, is_needed: bool = True, key: str = "",
                parse_lines: ParseLines | None = None) -> ReceiverFn:
    """Derives a serving_input_receiver_fn from the features' specs.

    Args:
      features: A spec, or a dict of them, with the batch dimension first.
      kinds: Some of these, with commas, the one of the default signature first: "raw", one input
        tensor a feature; "example", one string tensor `examples` of serialized tf.Example protos,
        shape [batch]; "csv", one string tensor `csv_row` of lines with the features in their order.
        Of several kinds, each has signatures of its own too: "raw:serving_default".
      is_needed: Whether the job exports, and should fail now rather than at its end.
      key: The name of a text that is no feature, and goes through the export; "": none. A line has
        it as the last field.
      parse_lines: Returns the fields of lines, as the input_fn reads them; None: they are plain.

    Raises:
      ConfigError: if a feature cannot be served; without `is_needed`, when the result is called.
    """
    specs = features if isinstance(features, dict) else {"feature": features}
    passed = {key: _KEY} if key else {}

    def check() -> None:
        for name, spec in specs.items():
            for kind in kinds.split(","):
                _check(name, spec, kind)

    if is_needed:
        check()

    def serving_input_receiver_fn() -> Any:
        check()
        if "csv" in kinds:
            logging.info("a line of csv for the export has %s", ",".join([*specs, *passed]))
        tensors, receivers = _received(kinds.split(","), specs, passed, parse_lines)
        made = {name: tensors[name] for name in specs}
        of_default = next(iter(receivers.values()))
        alternatives = receivers if len(receivers) > 1 else None
        if isinstance(features, dict) or key:
            made = made if isinstance(features, dict) else made["feature"]
            return tf.estimator.export.ServingInputReceiver(
                passthrough.with_key(made, tensors[key] if key else None), of_default, alternatives)
        return tf.estimator.export.TensorServingInputReceiver(
            made["feature"], of_default, alternatives)

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


def _received(kinds: Sequence[str], specs: dict[str, Any], passed: dict[str, Any],
              parse_lines: ParseLines | None
              ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Returns the tensors by name, and the receivers of each kind, in the order of `kinds`."""
    texts = [kind for kind in kinds if kind != "raw"]
    receivers: dict[str, dict[str, Any]] = dict.fromkeys(kinds, {})
    parsed = []
    for kind in texts:
        received = tf.compat.v1.placeholder(tf.string, [None], name=_INPUTS[kind]) if (
            len(texts) == 1) else tf.compat.v1.placeholder_with_default(
                tf.constant([], tf.string), [None], name=_INPUTS[kind])
        receivers[kind] = {_INPUTS[kind]: received}
        parsed.append(_parsed_examples(received, specs, passed) if kind == "example" else
                      _parsed_lines(received, specs, passed, parse_lines))
    if not parsed:
        tensors = receivers["raw"] = raw_tensors({**specs, **passed})[0]
        return tensors, receivers
    # A request feeds one kind; the other has no rows.
    tensors = parsed[0] if len(parsed) == 1 else {
        name: tf.concat([each[name] for each in parsed], 0) for name in parsed[0]}
    if "raw" in kinds:
        tensors = receivers["raw"] = {
            name: _replaceable(value, name) for name, value in tensors.items()}
    return tensors, receivers


def _replaceable(value: Any, feature: str) -> Any:
    """Returns a tensor, dense or not, in whose place a request may feed another one."""
    return tf.nest.map_structure(
        lambda part: tf.compat.v1.placeholder_with_default(
            part, part.shape, name=_op_name(feature)), value, expand_composites=True)


def _parsed_examples(serialized: tf.Tensor, specs: dict[str, Any],
                     passed: dict[str, Any]) -> dict[str, Any]:
    """Returns the tensors by name; those of `passed` may be missing."""
    parsed = tf.io.parse_example(serialized, {
        **{name: _stored(spec) for name, spec in specs.items()},
        **{name: tf.io.FixedLenFeature([], spec.dtype, "") for name, spec in passed.items()}})
    # A cast to its own dtype returns the tensor itself.
    return {name: tf.cast(parsed[name], spec.dtype) for name, spec in {**specs, **passed}.items()}


def _parsed_lines(lines: tf.Tensor, specs: dict[str, Any], passed: dict[str, Any],
                  parse_lines: ParseLines | None) -> dict[str, Any]:
    """Returns the tensors by name; without `parse_lines`, a text alone may be empty."""
    fields = {**specs, **passed}
    if parse_lines is not None:
        parsed = parse_lines(lines, list(fields))
    else:
        parsed = dict(zip(fields, tf.io.decode_csv(lines, [
            [""] if spec.dtype == tf.string else tf.constant([], _written_dtype(spec))
            for spec in fields.values()])))
    return {name: tf.cast(parsed[name], spec.dtype) for name, spec in fields.items()}


def _written_dtype(spec: Any) -> tf.DType:
    return spec.dtype if spec.dtype == tf.float64 else _stored_dtype(spec)


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
    if kind == "csv":
        if not isinstance(spec, tf.TensorSpec) or spec.shape.rank != 1 or (
                _stored_dtype(spec) not in (tf.float32, tf.int64, tf.string)):
            problem = (f"is {spec.dtype.name} of shape {spec.shape}, which a field of a line of CSV"
                       " cannot hold; expected a number or a text for each instance,")
    elif isinstance(spec, tf.RaggedTensorSpec) and spec.shape.rank != 2:
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
