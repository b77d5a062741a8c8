"""Has Kubernetes' own Job controller run a job that `manifest` wrote, and plays the job's nodes.

    python -m benchmarks.job_controller --apiserver=PATH --etcd=PATH --controller_manager=PATH

The programs run on loopback, and end with this one. The controller makes the pods. No container
starts: this program sets each pod's status, as a node would. It checks that the pods have the host
names that their TF_CONFIG tells, and what follows when a task ends with each exit code, or its pod
is evicted. It exits with 1 at the first check that fails.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time
from typing import Any, Callable

import yaml

from benchmarks import api_server, control_plane
from estimator_trainer.cluster import task_config
from tests.support import manifests

_SPACE, _NAME, _RESTARTS = "jobs", "digits", 1
_COUNTS = {"chief": 1, "worker": 2, "ps": 1, "evaluator": 1}
_PODS, _JOBS = f"/api/v1/namespaces/{_SPACE}/pods", f"/apis/batch/v1/namespaces/{_SPACE}/jobs"
_SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{_SPACE}/endpointslices"
_INDEX = "batch.kubernetes.io/job-completion-index"
_ROLE = "app.kubernetes.io/component"
# The controller waits 10 s before a first restart, and 20 s before a second.
_LIMIT_SECS = 60.0
# Long enough for the controller to do what it should not.
_QUIET_SECS = 15.0
_EVICTED = [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]


class _Wrong(Exception):
    """A check failed."""


def main() -> int:
    """Runs the programs and the checks; returns 0 if all is right."""
    parser = argparse.ArgumentParser("python -m benchmarks.job_controller",
                                     description=__doc__.splitlines()[0])
    for flag, program in (("apiserver", "kube-apiserver"), ("etcd", "etcd"),
                          ("controller_manager", "kube-controller-manager")):
        parser.add_argument(f"--{flag}", default=program,
                            help="the program; default: the one on PATH")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder, control_plane.running(
                options.apiserver, options.etcd, options.controller_manager,
                pathlib.Path(folder)) as server:
            print(f"Kubernetes {server.version()}", flush=True)
            os.chdir(folder)  # `manifest` writes to a folder below the current one.
            _check(server)
    except control_plane.DidNotStart as error:
        parser.error(str(error))
    except _Wrong as error:
        print(f"WRONG: {error}")
        return 1
    print("every check is right")
    return 0


def _check(server: control_plane.ApiServer) -> None:
    manifests.write("--platform=kubernetes", f"--name={_NAME}", f"--namespace={_SPACE}",
                    f"--max_restarts={_RESTARTS}", *manifests.counts(_COUNTS))
    server.create_namespace(_SPACE)
    pods = _apply(server, {"Service", "NetworkPolicy", "Job"})
    _check_hosts(server, pods)
    _check_restarts(server, pods)
    for role in ("chief", "worker", "ps"):
        for index in range(_COUNTS[role]):
            _end(server, _pods(server)[role, index], 0)
    # Before Kubernetes 1.31 there is no reason.
    complete = ("Complete", ""), ("Complete", "CompletionsReached")
    _wait("the other Jobs are complete", lambda: all(
        _ended(server, role) in complete for role in ("chief", "worker", "ps")))
    for code, role in ((1, "ps"), (2, "worker")):
        for name in _COUNTS:
            server.delete(f"{_JOBS}/{_NAME}-{name}")
        _wait("a deleted job's pods are gone", lambda: not server.get(_PODS)["items"])
        _end(server, _apply(server, {"Job"})[role, 0], code)
        _wait(f"{code} ends the Job of {role} at once", lambda: _ended(server, role) ==
              ("Failed", "PodFailurePolicy"))


def _apply(server: control_plane.ApiServer, kinds: set[str]) -> dict[tuple[str, int], Any]:
    """Creates the objects of these kinds; returns the pods, which run, when all are there."""
    for text in api_server.texts():
        value = yaml.safe_load(text)
        if value["kind"] in kinds:
            server.create(text, server.folder(value))
    tasks = {(role, index) for role, count in _COUNTS.items() for index in range(count)}
    _wait("every task has one pod", lambda: set(_pods(server)) == tasks)
    pods = _pods(server)
    for i, pod in enumerate(pods.values()):
        address = f"10.1.0.{i + 1}"
        server.patch_status(f"{_PODS}/{pod['metadata']['name']}", {
            "phase": "Running", "podIP": address, "podIPs": [{"ip": address}]})
    return pods


def _check_hosts(server: control_plane.ApiServer, pods: dict[tuple[str, int], Any]) -> None:
    """Checks that a name server would find what every pod's TF_CONFIG tells."""
    clusters = set()
    for (role, index), pod in pods.items():
        (container,) = pod["spec"]["containers"]
        variables = {each["name"]: each for each in container["env"]}
        field = variables["INDEX"]["valueFrom"]["fieldRef"]["fieldPath"]
        if field != f"metadata.annotations['{_INDEX}']":
            raise _Wrong(f"INDEX is from {field}")
        text = manifests.expanded(variables["TF_CONFIG"]["value"],
                                  {"INDEX": pod["metadata"]["annotations"][_INDEX]})
        host = f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}:2222"
        address = json.loads(text)["cluster"][role][index]
        if task_config.parse(text).name != f"{role}:{index}" or address != host:
            raise _Wrong(f"{role}:{index} is at {host}, and its TF_CONFIG is {text}")
        clusters.add(json.dumps(json.loads(text)["cluster"]))
    (cluster,) = clusters
    hosts = {host for each in json.loads(cluster).values() for host in each}
    # Names must resolve before a pod is ready, and none of these pods is.
    _wait("the name of every task is known, though none is ready",
          lambda: _known_hosts(server) == hosts)


def _known_hosts(server: control_plane.ApiServer) -> set[str]:
    return {f"{each.get('hostname')}.{_NAME}:{found['ports'][0]['port']}"
            for found in server.get(_SLICES)["items"] for each in found["endpoints"] or ()
            if each["conditions"]["ready"]}


def _check_restarts(server: control_plane.ApiServer, pods: dict[tuple[str, int], Any]) -> None:
    _end(server, pods["ps", 0], 142)
    _wait("142 restarts the ps, at its name", lambda: _is_another(server, pods, "ps"))
    _end(server, pods["evaluator", 0], 143, _EVICTED)
    _wait("an evicted evaluator is made again", lambda: _is_another(server, pods, "evaluator"))
    pods = _pods(server)
    _end(server, pods["evaluator", 0], 137)
    _wait("that was no restart: a kill is still retried",
          lambda: _is_another(server, pods, "evaluator"))
    _end(server, _pods(server)["evaluator", 0], 142)
    _wait("after --max_restarts=1 its Job fails", lambda: _ended(server, "evaluator") ==
          ("Failed", "BackoffLimitExceeded"))
    time.sleep(_QUIET_SECS)
    others = {task for task in _pods(server) if task[0] != "evaluator"}
    if others != {task for task in pods if task[0] != "evaluator"} or any(
            _ended(server, role) for role in ("chief", "worker", "ps")):
        raise _Wrong(f"the other tasks did not go on: {others}")


def _is_another(server: control_plane.ApiServer, before: dict[tuple[str, int], Any],
                role: str) -> bool:
    now = _pods(server).get((role, 0))
    return (now is not None and now["metadata"]["uid"] != before[role, 0]["metadata"]["uid"]
            and now["spec"]["hostname"] == before[role, 0]["spec"]["hostname"])


def _pods(server: control_plane.ApiServer) -> dict[tuple[str, int], Any]:
    """Returns the pods that have not ended, by role and index."""
    found: dict[tuple[str, int], Any] = {}
    for pod in server.get(_PODS)["items"]:
        labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        if pod["status"]["phase"] not in ("Failed", "Succeeded"):
            task = labels[_ROLE], int(annotations[_INDEX])
            if task in found:
                raise _Wrong(f"{task} has two pods at a time")
            found[task] = pod
    return found


def _end(server: control_plane.ApiServer, pod: Any, code: int,
         conditions: list[dict[str, str]] | None = None) -> None:
    """Tells that a pod's container ended."""
    server.patch_status(f"{_PODS}/{pod['metadata']['name']}", {
        "phase": "Failed" if code else "Succeeded", "conditions": conditions or [],
        "containerStatuses": [{
            "name": "tensorflow", "image": "digits", "imageID": "digits", "ready": False,
            "restartCount": 0, "state": {"terminated": {"exitCode": code}}}]})


def _ended(server: control_plane.ApiServer, role: str) -> tuple[str, str] | None:
    """Returns how the Job of a role ended, and the reason; None if it goes on."""
    status = server.get(f"{_JOBS}/{_NAME}-{role}")["status"]
    return next(((each["type"], each.get("reason", "")) for each in status.get("conditions", ())
                 if each["type"] in ("Complete", "Failed") and each["status"] == "True"), None)


def _wait(what: str, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _LIMIT_SECS
    while not is_so():
        if time.monotonic() > end:
            raise _Wrong(f"not within {_LIMIT_SECS:.0f} s: {what}")
        time.sleep(0.2)
    print(f"right: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
