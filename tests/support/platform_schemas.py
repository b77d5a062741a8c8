"""Checks what `manifest` writes by the platforms' own schemas, which their packages ship."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any

import googleapiclient
from kubeflow.training import models as kubeflow
from kubernetes.client import models as kubernetes

_KINDS = {"v1/Service": kubernetes.V1Service, "batch/v1/Job": kubernetes.V1Job,
          "networking.k8s.io/v1/NetworkPolicy": kubernetes.V1NetworkPolicy,
          "kubeflow.org/v1/TFJob": kubeflow.KubeflowOrgV1TFJob}


@functools.cache
def google(api: str) -> dict[str, Any]:
    """Returns the schemas of a Google API, such as "ml.v1", by name."""
    folder = pathlib.Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    return json.loads((folder / f"{api}.json").read_text())["schemas"]


def check_google(api: str, name: str, value: Any) -> None:
    """Fails if the value has what the schema does not know, or of another type."""
    _check_google(google(api), google(api)[name], value, name)


def _check_google(schemas: dict[str, Any], schema: dict[str, Any], value: Any, path: str) -> None:
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    kind = schema["type"]
    if kind == "object":
        assert isinstance(value, dict), f"{path} is {value!r}, not an object"
        known = schema.get("properties", {})
        for key, inner in value.items():
            assert key in known, f"{path}.{key} is unknown"
            _check_google(schemas, known[key], inner, f"{path}.{key}")
    elif kind == "array":
        assert isinstance(value, list), f"{path} is {value!r}, not a list"
        for i, inner in enumerate(value):
            _check_google(schemas, schema["items"], inner, f"{path}[{i}]")
    elif schema.get("format") == "int64":
        # In JSON a 64-bit integer may be a number or a string of digits.
        assert re.fullmatch(r"\d+", str(value)), f"{path} is {value!r}, not an integer"
    else:
        types = {"string": str, "integer": int, "boolean": bool}
        assert type(value) is types[kind], f"{path} is {value!r}, not {kind}"
        assert value in schema.get("enum", [value]), f"{path} is {value!r}"


def check_kubernetes(value: dict[str, Any]) -> None:
    """Fails if an object has a key that its kind does not know, lacks one or has another type."""
    kind = f"{value['apiVersion']}/{value['kind']}"
    _model(_KINDS[kind], value, kind)


def _model(model: type, value: Any, path: str) -> None:
    assert isinstance(value, dict), f"{path} is {value!r}, not an object"
    attributes = {key: name for name, key in model.attribute_map.items()}  # type: ignore
    for key, inner in value.items():
        assert key in attributes, f"{path}.{key} is unknown"
        _typed(model.openapi_types[attributes[key]], inner, f"{path}.{key}")  # type: ignore
    try:
        # The constructors refuse None for what is required, and values out of an enum.
        model(**{attributes[key]: inner for key, inner in value.items()})
    except ValueError as error:
        raise AssertionError(f"{path}: {error}") from error


def _typed(kind: str, value: Any, path: str) -> None:
    inner = re.fullmatch(r"(list\[|dict\(str, )(.*)[\])]", kind)
    if inner and inner[1] == "list[":
        assert isinstance(value, list), f"{path} is {value!r}, not a list"
        for i, item in enumerate(value):
            _typed(inner[2], item, f"{path}[{i}]")
    elif inner:
        assert isinstance(value, dict), f"{path} is {value!r}, not a map"
        for key, item in value.items():
            _typed(inner[2], item, f"{path}.{key}")
    elif kind in ("str", "int", "bool"):
        assert type(value).__name__ == kind, f"{path} is {value!r}, not {kind}"
    elif kind in ("object", "Quantity"):
        assert isinstance(value, (str, int)), f"{path} is {value!r}"
    else:
        model = getattr(kubeflow, kind, None) if kind.startswith("Kubeflow") else None
        _model(model or getattr(kubernetes, kind), value, path)
