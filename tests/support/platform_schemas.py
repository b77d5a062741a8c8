"""Checks what `manifest` writes by the platforms' own schemas, which their packages ship."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any

import googleapiclient

from tests.support import kubernetes_schemas

_APIS = {"Service": "v1", "Job": "batch/v1", "NetworkPolicy": "networking.k8s.io/v1",
         "Deployment": "apps/v1", "Experiment": "kubeflow.org/v1beta1",
         "TFJob": "kubeflow.org/v1", "JobSet": "jobset.x-k8s.io/v1alpha2"}
# The packages' models have no enumerations; these are those of the APIs' reference.
_ENUMS = {
    "JobSpec.completionMode": ("NonIndexed", "Indexed"),
    "PodFailurePolicyRule.action": ("FailJob", "FailIndex", "Ignore", "Count"),
    "PodFailurePolicyOnExitCodesRequirement.operator": ("In", "NotIn"),
    "PodSpec.restartPolicy": ("Always", "OnFailure", "Never"),
    "ServicePort.protocol": ("TCP", "UDP", "SCTP"),
    "NetworkPolicyPort.protocol": ("TCP", "UDP", "SCTP"),
    "ReplicaSpec.restartPolicy": ("Always", "OnFailure", "Never", "ExitCode"),
    "RunPolicy.cleanPodPolicy": ("Running", "All", "None"),
    "SuccessPolicy.operator": ("All", "Any"),
    "FailurePolicyRule.action": ("FailJobSet", "RestartJobSet",
                                 "RestartJobSetAndIgnoreMaxRestarts")}


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
        types = {"string": (str,), "integer": (int,), "boolean": (bool,), "number": (int, float)}
        assert type(value) in types[kind], f"{path} is {value!r}, not {kind}"
        assert value in schema.get("enum", [value]), f"{path} is {value!r}"


def check_kubernetes(value: dict[str, Any]) -> None:
    """Fails if an object has a key that a version of its kind does not know, or requires.

    The versions are those of kubernetes_schemas.json.
    """
    api, kind = value["apiVersion"], value["kind"]
    assert _APIS[kind] == api, f"{kind} of {api}"
    _check_kubernetes(kind, value, kind)


@functools.cache
def kubernetes() -> dict[str, Any]:
    """Returns the fields of every kind, and the packages that they were read from."""
    found: dict[str, Any] = json.loads(kubernetes_schemas.PATH.read_text())
    return found


def _check_kubernetes(kind: str, value: Any, path: str) -> None:
    assert isinstance(value, dict), f"{path} is {value!r}, not an object"
    assert kind in kubernetes()["kinds"], f"{path} is of a kind that kubernetes_schemas.py leaves"
    fields = kubernetes()["kinds"][kind]
    missing = {key for key, text in fields.items() if text.endswith("!")} - value.keys()
    assert not missing, f"{path} has no {missing}"
    for key, inner in value.items():
        assert key in fields, f"{path}.{key} is unknown"
        _typed(fields[key].rstrip("!"), inner, f"{path}.{key}")
        assert inner in _ENUMS.get(f"{kind}.{key}", (inner,)), f"{path}.{key} is {inner!r}"


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
    elif kind == "object":
        assert isinstance(value, (str, int)), f"{path} is {value!r}"
    else:
        _check_kubernetes(kind, value, path)
