"""Makes kubernetes_schemas.json: what every supported version of Kubernetes' kinds takes.

The Python clients, whose licence is the Apache License 2.0, have a model of each kind. Fields that
only some of the versions know are left out, so what fits the file fits each version:

    pip download --no-deps -d WHEELS PACKAGE==VERSION       # each of those that the file names
    python -m tests.support.kubernetes_schemas WHEELS
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
import sys
from typing import Iterator
import zipfile

PATH = pathlib.Path(__file__).with_suffix(".json")
# The kinds that `manifest` writes, and what they are made of, by the package that has them and
# what it writes before their names.
_KINDS = {
    "kubernetes": ("V1", """
Service ServiceSpec ServicePort NetworkPolicy NetworkPolicySpec NetworkPolicyIngressRule
NetworkPolicyPeer NetworkPolicyPort LabelSelector LabelSelectorRequirement ObjectMeta Job JobSpec
JobTemplateSpec PodFailurePolicy PodFailurePolicyRule PodFailurePolicyOnExitCodesRequirement
PodFailurePolicyOnPodConditionsPattern PodTemplateSpec PodSpec Container ContainerPort EnvVar
EnvVarSource ObjectFieldSelector ResourceRequirements VolumeMount Volume
PersistentVolumeClaimVolumeSource EmptyDirVolumeSource SecretVolumeSource ConfigMapVolumeSource
SecurityContext PodSecurityContext SeccompProfile Capabilities Toleration Deployment
DeploymentSpec"""),
    "kubeflow_katib": ("V1beta1", """
Experiment ExperimentSpec ObjectiveSpec MetricStrategy AlgorithmSpec AlgorithmSetting
MetricsCollectorSpec CollectorSpec SourceSpec FilterSpec ParameterSpec FeasibleSpace TrialTemplate
TrialParameterSpec"""),
    "kubeflow_training": ("(?:KubeflowOrg)?V1", "TFJob TFJobSpec ReplicaSpec RunPolicy"),
    "kubeflow_trainer_api": ("JobsetV1alpha2", """
JobSet JobSetSpec ReplicatedJob Network SuccessPolicy FailurePolicy FailurePolicyRule""")}
# The packages say the same in different words.
_PREFIX = re.compile(r"KubeflowOrgV1|V1beta1|JobsetV1alpha2|IoK8sApi(?:Batch|Core|Networking)?V1"
                     r"|IoK8sApimachineryPkgApisMetaV1|(?:Core)?V1")
_TYPES = {r"StrictInt \| StrictStr": "object", "StrictStr": "str", "StrictInt": "int",
          "StrictBool": "bool"}
# Each field's type, and whether it is required.
Fields = dict[str, tuple[str, bool]]


def main(folder: str) -> None:
    """Writes the file from the wheels of a folder."""
    sources = []
    versions: dict[str, list[Fields]] = {}
    for wheel in sorted(pathlib.Path(folder).glob("*.whl")):
        package, version = wheel.name.split("-")[:2]
        sources.append(f"{package} {version}")
        for kind, fields in _models(wheel, *_KINDS[package]):
            versions.setdefault(kind, []).append(fields)
    kinds = {kind: _common(each) for kind, each in sorted(versions.items())}
    lines = [f" {json.dumps(kind)}: {json.dumps(fields)}" for kind, fields in kinds.items()]
    PATH.write_text('{"sources": %s, "kinds": {\n%s\n}}\n' % (
        json.dumps(sources), ",\n".join(lines)))


def _models(wheel: pathlib.Path, prefix: str, kinds: str) -> Iterator[tuple[str, Fields]]:
    """Yields the name and the fields of each of the kinds, from the models of a package."""
    header = re.compile(rf"^class {prefix}({'|'.join(kinds.split())})\(", re.M)
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if re.search(r"/models/\w+\.py$", name) and "/aio/" not in name:
                source = files.read(name).decode()
                found = header.search(source)
                if found:
                    yield found[1], _fields(source)


def _fields(source: str) -> Fields:
    node = [each for each in ast.parse(source).body if isinstance(each, ast.ClassDef)][-1]
    literals = {target.id: statement.value for statement in node.body
                if isinstance(statement, ast.Assign) for target in statement.targets
                if isinstance(target, ast.Name)}
    if "openapi_types" in literals:
        types = ast.literal_eval(literals["openapi_types"])
        keys = ast.literal_eval(literals["attribute_map"])
        required = set(re.findall(r"Invalid value for `(\w+)`, must not be `None`", source))
        return {keys[name]: (_type(kind), name in required) for name, kind in types.items()}
    fields = {}
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or "ClassVar" in ast.dump(statement):
            continue
        words = {word.arg: word.value for word in getattr(statement.value, "keywords", [])}
        alias = words.get("serialization_alias") or words.get("alias")
        key = ast.literal_eval(alias) if alias else statement.target.id
        kind = ast.unparse(statement.annotation)
        fields[key] = (_type(kind), not kind.startswith("Optional["))
    return fields


def _type(text: str) -> str:
    """Returns a type in one spelling: "str", "list[PodSpec]", "dict(str, str)"."""
    text = re.sub(r"^Optional\[(.*)\]$", r"\1", text).replace("List[", "list[")
    text = re.sub(r"^Dict\[(\w+), (\w+)\]$", r"dict(\1, \2)", text)
    text = re.sub(r"dict\[(\w+), (\w+)\]", r"dict(\1, \2)", text)
    for words, short in _TYPES.items():
        text = re.sub(words, short, text)
    return _PREFIX.sub("", text)


def _common(versions: list[Fields]) -> dict[str, str]:
    """Returns the type of each field that every version has; "!" says that one requires it."""
    names = [name for name in versions[0] if all(name in fields for fields in versions)]
    found = {}
    for name in names:
        types = {fields[name][0] for fields in versions}
        if len(types) > 1:
            print(f"left out, because its type differs: {name} {types}", file=sys.stderr)
            continue
        required = any(fields[name][1] for fields in versions)
        found[name] = types.pop() + ("!" if required else "")
    return found


if __name__ == "__main__":
    main(sys.argv[1])
