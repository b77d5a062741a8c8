"""An export that answers as TensorFlow Serving's REST interface does.

Paths, statuses and messages are those of TensorFlow Serving.
"""

import json
import posixpath
import re
from typing import Any, Mapping, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2

from estimator_trainer import errors
from estimator_trainer.prediction import exported_model, rest_values
from estimator_trainer.prediction.rest_values import ValueProblem

_DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_VERSION = r"/v1/models/([^/:]+)(?:/versions/(\d+))?"
_POST = re.compile(rf"{_VERSION}:(classify|regress|predict)", re.IGNORECASE)
_GET = re.compile(rf"{_VERSION}(/metadata)?", re.IGNORECASE)
_METHOD = "tensorflow/serving/"


class Response(NamedTuple):
    """The status of HTTP, and the JSON text."""

    code: int
    text: str


class RestModel:
    """One export as one version of one model.

    Attributes:
      path: The path of its address.
    """

    def __init__(self, export_dir: str, name: str):
        """Loads the export; raises ConfigError if there is none."""
        self._session, self._signatures = exported_model.loaded(export_dir)
        self._name = name
        version = posixpath.basename(export_dir.rstrip("/"))
        self._version = version if version.isdigit() else "1"
        self.path = f"/v1/models/{name}"

    def answer(self, method: str, path: str, body: bytes = b"") -> Response:
        """Returns the response to a request."""
        try:
            return Response(200, self._answered(method, path, body))
        except LookupError as error:
            return _error(404, error.args[0])
        except (ValueProblem, tf.errors.InvalidArgumentError) as error:
            return _error(400, errors.first_line(error))
        except tf.errors.OpError as error:
            return _error(500, errors.first_line(error))

    def _answered(self, method: str, path: str, body: bytes) -> str:
        found = (_POST if method == "POST" else _GET).fullmatch(path)
        if not path.lower().startswith("/v1/"):
            raise LookupError("Not Found")
        if method == "GET" and path.lower() == "/v1/models":
            raise ValueProblem("Missing model name in request.")
        if not found:
            raise ValueProblem(f"Malformed request: {method} {path}")
        name, version, what = found.groups()
        if name != self._name or version not in (None, self._version):
            wanted = f"Specific({name}, {version})" if version else f"Latest({name})"
            raise LookupError(f"Servable not found for request: {wanted}")
        if method == "GET":
            return self._metadata() if what else self._status()
        request = _parsed(body)
        signature = self._signature(request)
        if what.lower() == "predict":
            return self._predicted(request, signature)
        return self._of_examples(request, signature, what.lower())

    def _status(self) -> str:
        return json.dumps({"model_version_status": [{
            "version": self._version, "state": "AVAILABLE",
            "status": {"error_code": "OK", "error_message": ""}}]}, indent=1)

    def _metadata(self) -> str:
        return json.dumps({
            "model_spec": {"name": self._name, "signature_name": "", "version": self._version},
            "metadata": {"signature_def": {"signature_def": {
                name: {"inputs": _described(each.inputs), "outputs": _described(each.outputs),
                       "method_name": each.method_name}
                for name, each in sorted(self._signatures.items())}}}}, indent=1)

    def _signature(self, request: Mapping[str, Any]) -> Any:
        name = request.get("signature_name", "") or _DEFAULT
        if not isinstance(name, str):
            raise ValueProblem("'signature_name' key must be a string value.")
        if name not in self._signatures:
            raise ValueProblem(f'Serving signature name: "{name}" not found in signature def')
        return self._signatures[name]

    def _predicted(self, request: Mapping[str, Any], signature: Any) -> str:
        is_rows = "instances" in request
        if is_rows and "inputs" in request:
            raise ValueProblem("Not formatted correctly expecting only one of 'inputs' or"
                               " 'instances' keys to exist")
        if not is_rows and "inputs" not in request:
            raise ValueProblem("Missing 'inputs' or 'instances' key")
        dtypes = {name: tf.dtypes.as_dtype(info.dtype) for name, info in signature.inputs.items()}
        inputs = (_of_instances(request["instances"], dtypes) if is_rows else
                  _of_columns(request["inputs"], dtypes))
        outputs = self._run(signature, inputs)
        if is_rows:
            return rest_values.of_names({"predictions": _rows(outputs)})
        columns = {name: rest_values.text(value, rest_values.is_bytes(name))
                   for name, value in outputs.items()}
        [first, *more] = columns.values()
        return rest_values.of_names({"outputs": rest_values.of_names(columns) if more else first})

    def _of_examples(self, request: Mapping[str, Any], signature: Any, what: str) -> str:
        """Returns the answer to `classify` or `regress`."""
        if signature.method_name != _METHOD + what:
            kind = {"classify": "classification", "regress": "regression"}[what]
            raise ValueProblem(f"Expected {kind} signature method_name to be {_METHOD}{what}."
                               f" Was: {signature.method_name}")
        examples = request.get("examples")
        if not isinstance(examples, list) or not examples:
            raise ValueProblem("Expecting 'examples' value to be an list/array with values")
        serialized = [rest_values.example(each, request.get("context")) for each in examples]
        outputs = self._run(signature, {"inputs": np.array(serialized, object)})
        if what == "regress":
            return rest_values.of_names(
                {"results": rest_values.text(outputs["outputs"].reshape(-1))})
        [shape, *_] = [value.shape for value in outputs.values()]
        labels = outputs.get("classes", np.full(shape, b"", object))
        scores = outputs.get("scores", np.zeros(shape, np.float32))
        rows = (", ".join(f"[{rest_values.text(label)}, {rest_values.text(score)}]"
                          for label, score in zip(*each)) for each in zip(labels, scores))
        return rest_values.of_names({"results": f"[{', '.join(f'[{row}]' for row in rows)}]"})

    def _run(self, signature: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        sparse = [name for name, info in signature.inputs.items() if not info.name]
        if sparse:
            example = errors.Setting("serving_input", "example")
            raise ValueProblem(f"input {sparse[0]!r} is no dense tensor, which JSON cannot hold;"
                               f" use a signature of {example}")
        try:
            found: dict[str, np.ndarray] = self._session.run(
                {name: info.name for name, info in sorted(signature.outputs.items())},
                {signature.inputs[name].name: value for name, value in inputs.items()})
            return found
        except ValueError as error:
            # The shape of a value is not the placeholder's.
            raise ValueProblem(str(error)) from error


def _parsed(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise ValueProblem("JSON Parse error: The document is empty")
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueProblem(f"JSON Parse error: {error}") from error
    if not isinstance(request, dict):
        raise ValueProblem("JSON Value: Is not object")
    return request


def _of_instances(instances: Any, dtypes: Mapping[str, tf.DType]) -> dict[str, np.ndarray]:
    """Returns the batch of each input from `instances`, one value or object a row."""
    if not isinstance(instances, list) or not instances:
        raise ValueProblem("Excepting 'instances' to be an list/array with values")
    is_objects = _is_object(instances[0])
    if not is_objects and len(dtypes) > 1:
        raise ValueProblem("instances is a plain list, but expecting list of objects as multiple"
                           " input tensors required as per tensorinfo_map")
    for number, each in enumerate(instances):
        if _is_object(each) != is_objects:
            raise ValueProblem(f"Expecting {'object' if is_objects else 'value/list'} but got"
                               f" {'list' if is_objects else 'object'} at item {number} of input"
                               " list")
        if is_objects and set(each) != set(dtypes):
            raise ValueProblem(f"Failed to process element: {number} of 'instances' list. keys must"
                               f" be equal to: {','.join(sorted(dtypes))}")
    rows = instances if is_objects else [{name: each for name in dtypes} for each in instances]
    return {name: _placed(f"key: {name} of 'instances' list", lambda name=name, dtype=dtype:
                          rest_values.stacked([row[name] for row in rows], dtype))
            for name, dtype in dtypes.items()}


def _of_columns(inputs: Any, dtypes: Mapping[str, tf.DType]) -> dict[str, np.ndarray]:
    """Returns the tensor of each input from `inputs`, one value or an object of them."""
    if not _is_object(inputs):
        if len(dtypes) > 1:
            raise ValueProblem("inputs is a plain value/list, but expecting an object as multiple"
                               " input tensors required as per tensorinfo_map")
        inputs = {name: inputs for name in dtypes}
    missing = sorted(set(dtypes) - set(inputs))
    if missing:
        raise ValueProblem(f"Missing named input: {missing[0]} in 'inputs' object.")
    return {name: _placed(f"key: {name} of 'inputs' object", lambda name=name, dtype=dtype:
                          rest_values.array(inputs[name], dtype))
            for name, dtype in dtypes.items()}


def _placed(place: str, make: Any) -> np.ndarray:
    try:
        found: np.ndarray = make()
        return found
    except ValueProblem as error:
        raise ValueProblem(f"Failed to process {place}. Error: {error}") from error


def _is_object(value: Any) -> bool:
    """Returns whether a value is an object, and not bytes in base64."""
    return isinstance(value, dict) and not (
        set(value) == {"b64"} and isinstance(value["b64"], str))


def _rows(outputs: Mapping[str, np.ndarray]) -> str:
    """Returns the answers row by row; one output stands without its name."""
    for name, value in outputs.items():
        if not np.ndim(value):
            raise ValueProblem(f"Tensor name: {name} has no shape information ")
        size = len(next(iter(outputs.values())))
        if len(value) != size:
            raise ValueProblem(f"Tensor name: {name} has inconsistent batch size: {len(value)}"
                               f" expecting: {size}")
    rows = []
    for i in range(size):
        row = {name: rest_values.text(value[i], rest_values.is_bytes(name))
               for name, value in outputs.items()}
        rows.append(rest_values.of_names(row) if len(row) > 1 else next(iter(row.values())))
    return f"[{', '.join(rows)}]"


def _described(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tensors of a signature as the metadata have them."""
    found = {}
    for name, info in sorted(tensors.items()):
        dims = [{"size": str(each.size), "name": each.name} for each in info.tensor_shape.dim]
        found[name] = {
            "dtype": types_pb2.DataType.Name(info.dtype), "name": info.name,
            "tensor_shape": {"dim": dims, "unknown_rank": info.tensor_shape.unknown_rank}}
    return found


def _error(code: int, message: str) -> Response:
    return Response(code, json.dumps({"error": message}, ensure_ascii=False))
