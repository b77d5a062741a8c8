"""Sends every job that `manifest` writes to a real Kubernetes API server, and prints its answers.

    python -m benchmarks.api_server --apiserver=PATH --etcd=PATH [--crd=FILE ...]

Both programs run on loopback, and end with this one. Each object goes as it stands in job.yaml,
with strict validation: to a dry run first, then to be stored, and what was stored is compared with
what was sent. Then come objects that are wrong, which the server must refuse. It exits with 1 if it
took one of those, refused one of the others, or stored another value than was sent.
"""

from __future__ import annotations

import argparse
import copy
import os
import pathlib
import sys
import tempfile
import time
from typing import Any, Sequence

import yaml

from benchmarks import control_plane
from estimator_trainer.manifest import platform as platform_lib
from tests.support import manifests

_PLATFORMS = ("kubernetes", "jobset", "tfjob")
_LONG = "n" * 40
_CRD_SECS = 30.0
# Beside every shape: flags of the job, and of its tasks.
_VARIANTS: list[tuple[list[str], Sequence[str]]] = [
    (["--worker=2", "--ps=1", "--evaluator=1"], manifests.ODD),
    (["--worker=2", "--ps=1", "--gpus=8", "--cpus=96", "--memory_gib=1000",
      "--volume=training:/shared"], []),
    (["--worker=1", "--ps=1", "--evaluator=1", "--max_restarts=0"], []),
    (["--worker=1", "--ps=1", "--evaluator=1", "--max_restarts=100000"], []),
    (["--worker=1000", "--ps=20", "--evaluator=1", f"--name={_LONG}"], []),
    (["--worker=2:8", "--ps=1", "--evaluator=1"], ["--data_service"]),
    (["--worker=1", "--ps=1", "--name=a"], [])]
# A kind, the path of a value in it, what is put there, and what the server must say.
_WRONGS: list[tuple[str, str, Any, str]] = [
    ("Service", "spec.publishNotReady", True, "unknown field"),
    ("Service", "metadata.name", "-a", "must consist of"),
    ("NetworkPolicy", "spec.ingress.0.ports.0.port", 70000, "between 1 and 65535"),
    ("NetworkPolicy", "spec.podSelector.matchLabel", {}, "unknown field"),
    ("Job", "spec.backoffLimit", "3", "cannot unmarshal string"),
    ("Job", "metadata.name", "n" * 62, "invalid DNS label"),
    ("Job", "spec.template.spec.restartPolicy", "OnFailure", "restartPolicy"),
    ("Job", "spec.podFailurePolicy.rules.0.onExitCodes.containerName", "other", "containerName"),
    ("Job", "spec.podFailurePolicy.rules.0.onExitCodes.values", [2, 1], "must be ordered"),
    ("Job", "spec.template.spec.containers.0.resources.limits.memory", "1Gi", "must be less than"),
    ("Job", "spec.template.spec.containers.0.volumeMounts", [{"name": "x", "mountPath": "/x"}],
     "Not found"),
    ("TFJob", "spec.tfReplicaSpecs.PS.replicas", "1", "must be of type integer"),
    ("TFJob", "spec.tfReplicaSpecs.PS.template.spec.container", [], "unknown field"),
    # Only the Job that the operator would make of these is wrong.
    ("TFJob", "spec.tfReplicaSpecs.PS.template.spec.containers.0.resources.limits.memory", "1Gi",
     "must be less than"),
    ("JobSet", "spec.replicatedJobs.0.replicas", "1", "must be of type integer"),
    ("JobSet", "spec.replicatedJobs.0.template.spec.backoffLimits", 1, "unknown field"),
    ("JobSet", "spec.successPolicy.operator", "Some", "Unsupported value"),
    ("JobSet", "spec.replicatedJobs.0.template.spec.podFailurePolicy.rules.0.onExitCodes.values",
     [2, 1], "must be ordered")]


def main() -> int:
    """Runs the server and sends all; returns 0 if it answered all as it should."""
    parser = argparse.ArgumentParser("python -m benchmarks.api_server",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--apiserver", default="kube-apiserver",
                        help="the program, of 1.26 or newer; default: the one on PATH")
    parser.add_argument("--etcd", default="etcd",
                        help="the program; default: the one on PATH")
    parser.add_argument("--crd", type=pathlib.Path, action="append", default=[],
                        help="a file of a CustomResourceDefinition: TFJob's, for one")
    options = parser.parse_args()
    crds = [path.read_text() for path in options.crd]
    try:
        with tempfile.TemporaryDirectory() as folder, control_plane.running(
                options.apiserver, options.etcd, "", pathlib.Path(folder)) as server:
            print(f"kube-apiserver {server.version()}", flush=True)
            os.chdir(folder)  # `manifest` writes to a folder below the current one.
            return _run(server, crds)
    except control_plane.DidNotStart as error:
        parser.error(str(error))


def _run(server: control_plane.ApiServer, crds: Sequence[str]) -> int:
    failures = 0
    for text in crds:
        _define(server, text)
    for platform in _PLATFORMS:
        failures += _send_platform(server, platform)
    print(f"{failures} wrong answers" if failures else "every answer is right")
    return 1 if failures else 0


def _define(server: control_plane.ApiServer, text: str) -> None:
    """Creates a CustomResourceDefinition, and waits until its kind is served."""
    (value,) = [each for each in yaml.safe_load_all(text) if each]
    server.create(text, server.folder(value))
    spec, end = value["spec"], time.monotonic() + _CRD_SECS
    for version in spec["versions"]:
        one = {"apiVersion": f"{spec['group']}/{version['name']}", "kind": spec["names"]["kind"],
               "metadata": {"namespace": "default"}}
        while True:
            try:
                server.get(server.folder(one))
                break
            except (LookupError, control_plane.Refused):
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)


def _send_platform(server: control_plane.ApiServer, platform: str) -> int:
    """Sends every variant of a platform, and wrong objects; returns how many answers are wrong."""
    failures = 0
    variants = [(manifests.counts(shape), [f"--train_distribute={strategy}"])
                for shape, strategy in manifests.SHAPES]
    for i, (job_flags, flags) in enumerate([*variants, *_VARIANTS]):
        # A job has a namespace of its own, so names do not clash.
        namespace = f"{platform}-{i}-".ljust(63, "n")
        manifests.write(f"--platform={platform}", f"--namespace={namespace}", *job_flags,
                        flags=flags)
        written = texts()
        values = [yaml.safe_load(text) for text in written]
        try:
            for value in values:
                server.folder(value)
        except LookupError as error:
            print(f"{platform}: not sent, because the server has no {error}; see --crd")
            return 0
        server.create_namespace(namespace)
        found = [line for pair in zip(written, values) for line in _send(server, *pair)]
        kinds = ", ".join(value["kind"] for value in values)
        print(f"{platform} {ascii(' '.join([*job_flags, *flags]))}: {kinds}: "
              + ("; ".join(found) if found else "taken, and stored as sent"), flush=True)
        failures += len(found)
    return failures + _send_wrongs(server, platform)


def texts() -> list[str]:
    """Returns the YAML of each object that `manifest` wrote."""
    return pathlib.Path("manifest/job.yaml").read_text(encoding="utf-8").split("\n---\n")


def _send(server: control_plane.ApiServer, text: str, value: dict[str, Any]) -> list[str]:
    """Sends an object; returns a sentence for each thing that is wrong with the answer."""
    name = f"{value['kind']} {value['metadata']['name']}"
    try:
        folder = server.folder(value)
        _try(server, text, value)
        server.create(text, folder)
        stored = server.get(f"{folder}/{value['metadata']['name']}")
    except control_plane.Refused as error:
        return [f"{name} was REFUSED with {error}"]
    return [f"{name} was STORED with {change}" for change in _changes(value, stored, "")]


def _try(server: control_plane.ApiServer, text: str, value: dict[str, Any]) -> None:
    """Sends an object to a dry run, and the Jobs that an operator would make of it.

    The server knows an operator's kind by its schema alone. It knows what a Job must be.
    """
    server.create(text, server.folder(value), dry_run=True)
    for name, spec in _job_specs(value).items():
        job = {"apiVersion": "batch/v1", "kind": "Job", "spec": spec,
               "metadata": {**value["metadata"], "name": f"{value['metadata']['name']}-{name}"}}
        server.create(platform_lib.text([job], ""), server.folder(job), dry_run=True)


def _job_specs(value: dict[str, Any]) -> dict[str, Any]:
    """Returns the specs of the Jobs in a JobSet, and of Jobs with the same pods as a TFJob."""
    spec = value["spec"]
    if value["kind"] == "JobSet":
        return {f"{each['name']}-0": each["template"]["spec"] for each in spec["replicatedJobs"]}
    # The operator, too, gives a pod whose restarts depend on the exit code Never.
    return {role.lower(): {"template": {"spec": {**each["template"]["spec"],
                                                 "restartPolicy": "Never"}}}
            for role, each in spec.get("tfReplicaSpecs", {}).items()}


def _changes(sent: Any, stored: Any, path: str) -> list[str]:
    """Returns where a value was stored otherwise than sent; what the server added is no change."""
    if isinstance(sent, dict) and isinstance(stored, dict):
        return [change for key, inner in sent.items()
                for change in _changes(inner, stored.get(key), f"{path}.{key}")]
    if isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        return [change for i, pair in enumerate(zip(sent, stored))
                for change in _changes(*pair, f"{path}[{i}]")]
    return [] if sent == stored else [f"{path} as {stored!r}, not {sent!r}"]


def _send_wrongs(server: control_plane.ApiServer, platform: str) -> int:
    """Sends wrong objects of the platform's kinds; returns how many of them were taken."""
    manifests.write(f"--platform={platform}", "--worker=1", "--ps=1")
    failures = 0
    values = {value["kind"]: value for value in manifests.documents()}  # The last of a kind.
    for kind, path, wrong, message in _WRONGS:
        if kind not in values:
            continue
        value = changed(values[kind], path, wrong)
        try:
            _try(server, platform_lib.text([value], ""), value)
            print(f"{platform} wrong {kind} {path}: TAKEN")
            failures += 1
        except control_plane.Refused as error:
            is_right = error.code in (400, 422) and message in str(error)
            print(f"{platform} wrong {kind} {path}: refused with {error}"
                  + ("" if is_right else f", NOT with {message!r}"))
            failures += not is_right
    return failures


def changed(value: Any, path: str, new: Any) -> Any:
    """Returns a copy with one value set."""
    result = copy.deepcopy(value)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = result
    for step in steps:
        inner = inner[step]
    inner[last] = new
    return result


if __name__ == "__main__":
    sys.exit(main())
