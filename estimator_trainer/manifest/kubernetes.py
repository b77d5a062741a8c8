"""Jobs for plain Kubernetes: an Indexed Job for each role, a headless Service, a NetworkPolicy.

Kubernetes completes each pod's TF_CONFIG with the pod's index, and sets the pod's name:
https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Sequence

from estimator_trainer import deadlines
from estimator_trainer.errors import Problem, Setting
from estimator_trainer.manifest import platform
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.settings.job_config import JobConfig, ROLES
from estimator_trainer.settings.trainer_config import TrainerConfig

_COMMENT = """\
Written by `estimator-trainer manifest`. One Job a role; every pod runs the same command line.
Exit codes 1 (failed) and 2 (configuration) end their Job at once; 142 (a task was lost), 143
(stopped after saving a checkpoint) and a kill are retried, by a role of N tasks N times
--max_restarts in all.
Needs Kubernetes 1.29 or newer, and a network that keeps to a NetworkPolicy."""

MOUNT_ADVICE = "--volume=CLAIM:PATH above it, or "
CONTAINER = "tensorflow"
PORT = 2222
_INDEX = "$(INDEX)"
# The address of a pod: its name in the Job, and the Service `subdomain`.
_HOST = "{name}-{role}-{index}.{name}"
# A Service's name starts with a letter (RFC 1035), and a pod's host name, of at most 63
# characters, is NAME-evaluator-INDEX.
_NAME = re.compile(r"[a-z]([-a-z0-9]{,38}[a-z0-9])?")
# A label is defined by RFC 1123.
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{,61}[a-z0-9])?")
# A claim's name is a DNS subdomain (RFC 1123).
_CLAIM = re.compile(r"[a-z0-9]([-a-z0-9.]{,251}[a-z0-9])?")
_MOST_RESTARTS = (1 << 31) - 1
_INDEX_FIELD = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    """Returns a problem for each setting that Kubernetes does not accept."""
    found = []
    if not _LABEL.fullmatch(job.namespace):
        found.append(Problem("namespace", job.namespace, example=Setting("namespace", "default"),
                             expected="at most 63 lower-case letters, digits and inner `-`"))
    if not job.image:
        found.append(Problem("image", expected="the name to push the Dockerfile's image to",
                             example=Setting("image", "REGISTRY/digits:1")))
    claim, _, path = job.volume.partition(":")
    if job.volume and not (_CLAIM.fullmatch(claim) and path.startswith("/")):
        found.append(Problem(
            "volume", job.volume, example=Setting("volume", "training:/shared"),
            expected="CLAIM:PATH, the name of a PersistentVolumeClaim and an absolute path"))
    if job.max_restarts * len(job.tasks) > _MOST_RESTARTS:
        found.append(Problem(
            "max_restarts", job.max_restarts, f"for {len(job.tasks)} tasks",
            f"at most {_MOST_RESTARTS} for all tasks together", Setting("max_restarts", 100)))
    return found


def name_problems(name: str) -> list[Problem]:
    """Returns a problem if a job's name is not valid in host names."""
    if _NAME.fullmatch(name):
        return []
    return [Problem("name", name, example=Setting("name", "digits"),
                    expected="at most 40 lower-case letters, digits and inner `-`, a letter first,"
                    " because host names are made of it")]


def mount(job: JobConfig) -> str:
    """Returns the directory of the volume, or ""."""
    return job.volume.partition(":")[2]


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    return platform.job(
        [_service(job), network_policy(job, labels_of(job)),
         *(_job(job, role, flags) for role in ROLES if getattr(job, role))], _COMMENT)


def _commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    names = " ".join(f"job/{job.name}-{role}" for role in ROLES if getattr(job, role))
    follow = f"{job.name}-{'chief' if job.chief else 'worker'}"
    return [f"kubectl apply -f {folder}/job.yaml",
            f"kubectl logs -n {job.namespace} -f job/{follow}",
            f"kubectl delete -n {job.namespace} {names}   # before another run"]


def metadata(job: JobConfig, name: str) -> dict[str, Any]:
    """Returns an object's metadata."""
    return {"name": name, "namespace": job.namespace, "labels": labels_of(job)}


def network_policy(job: JobConfig, labels: dict[str, str]) -> dict[str, Any]:
    """Returns a policy by which only the job's own pods reach its pods.

    TensorFlow's gRPC server has no authentication, and runs any graph that it receives
    (https://github.com/tensorflow/tensorflow/blob/master/SECURITY.md).
    """
    rule: dict[str, Any] = {"from": [{"podSelector": {"matchLabels": labels}}]}
    if not job.gpus:
        # NCCL listens on random ports, so that with GPUs every port is open to the job.
        rule["ports"] = [{"protocol": "TCP", "port": PORT}]
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": metadata(job, job.name),
            "spec": {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"],
                     "ingress": [rule]}}


def pod_spec(job: JobConfig, role: str, flags: Sequence[str], port_name: str) -> dict[str, Any]:
    """Returns the spec of a role's pods: one container, which runs the program.

    The pod fulfils the Pod Security Standard `restricted`
    (https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted), and writes
    only into its volumes.
    """
    resources: dict[str, Any] = {
        "requests": {"cpu": str(job.cpus), "memory": f"{job.memory_gib}Gi"},
        "limits": {"memory": f"{job.memory_gib}Gi"}}
    if job.gpus and role in ("chief", "worker"):
        resources["limits"]["nvidia.com/gpu"] = str(job.gpus)
    container: dict[str, Any] = {
        "name": CONTAINER, "image": job.image, "command": ["estimator-trainer"],
        # Kubernetes expands $(NAME) in an argument, and $$ to one $.
        "args": [flag.replace("$", "$$") for flag in flags],
        "ports": [{"name": port_name, "containerPort": PORT}], "resources": resources,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                            "readOnlyRootFilesystem": True}}
    # TensorFlow needs a directory for temporary files, to be imported and for uploads.
    volumes: dict[str, dict[str, Any]] = {"/tmp": {"name": "tmp", "emptyDir": {}}}
    if job.volume:
        claim, _, path = job.volume.partition(":")
        volumes[path.rstrip("/") or path] = {
            "name": "shared", "persistentVolumeClaim": {"claimName": claim}}
    container["volumeMounts"] = [{"name": volume["name"], "mountPath": path}
                                 for path, volume in volumes.items()]
    return {"terminationGracePeriodSeconds": deadlines.POD_GRACE_SECS,
            "securityContext": {
                "runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER,
                # A volume that has the group already is not searched at every start.
                "fsGroup": USER, "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container], "volumes": list(volumes.values())}


def labels_of(job: JobConfig) -> dict[str, str]:
    """Returns the labels of all objects of a job."""
    return {"app.kubernetes.io/name": "estimator-trainer", "app.kubernetes.io/instance": job.name}


def _service(job: JobConfig) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(job, job.name),
            # A task resolves its peers' names before they are ready, and some never serve.
            "spec": {"clusterIP": "None", "publishNotReadyAddresses": True,
                     "selector": labels_of(job), "ports": [{"name": "grpc", "port": PORT}]}}


def _job(job: JobConfig, role: str, flags: Sequence[str]) -> dict[str, Any]:
    spec = job_spec(job, role, flags, _HOST)
    spec["template"]["spec"]["subdomain"] = job.name
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": metadata(job, f"{job.name}-{role}"), "spec": spec}


def job_spec(job: JobConfig, role: str, flags: Sequence[str], host: str) -> dict[str, Any]:
    """Returns the spec of the Indexed Job of a role's tasks; `host` formats their host names."""
    count = getattr(job, role)
    spec = pod_spec(job, role, flags, "grpc") | {"restartPolicy": "Never"}
    spec["containers"][0]["env"] = [
        # INDEX has to precede TF_CONFIG, in which it is expanded.
        {"name": "INDEX", "valueFrom": {"fieldRef": {"fieldPath": _INDEX_FIELD}}},
        {"name": "TF_CONFIG", "value": _tf_config(job, role, host)}]
    return {
        "completionMode": "Indexed", "completions": count, "parallelism": count,
        # The limit applies to all tasks of a role: one lost ps ends every worker with 142.
        "backoffLimit": job.max_restarts * count,
        "podFailurePolicy": {"rules": [
            {"action": "FailJob", "onExitCodes": {
                "containerName": CONTAINER, "operator": "In", "values": [1, 2]}},
            # Pods that were evicted, or lost their node, do not count as failed.
            {"action": "Ignore",
             "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]},
        "template": {
            "metadata": {"labels": labels_of(job) | {"app.kubernetes.io/component": role}},
            "spec": spec}}


def _tf_config(job: JobConfig, role: str, host: str) -> str:
    """Returns the text of TF_CONFIG, in which Kubernetes expands the index."""
    # The evaluator is listed so that the chief waits for it.
    cluster = {each: [f"{host.format(name=job.name, role=each, index=i)}:{PORT}"
                      for i in range(getattr(job, each))]
               for each in ROLES if getattr(job, each)}
    text = json.dumps({"cluster": cluster, "task": {"type": role, "index": _INDEX}})
    return text.replace(json.dumps(_INDEX), _INDEX)


PLATFORM = Platform(problems=problems, files=_files, commands=_commands, mount=mount,
                    mount_advice=MOUNT_ADVICE)
# The number of the pods' user and group.
USER = 65532
_TEXT = """\
# The image of every task: docker build -t IMAGE FOLDER, FOLDER being where this file lies.
FROM python:{python}-slim
COPY {package} /tmp/
# Add what your plug-ins import beside TensorFlow to this line. The lines below it leave out of the
# image the headers with which operations are compiled (up to 450 MB), not run, and tests.
RUN pip install --no-cache-dir /tmp/{package}{extra} \\
    && cd "$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" \\
    && rm -rf tensorflow/include pyarrow/include pyarrow/tests numpy/tests numpy/*/tests
# A task's log must not wait in a buffer that a kill would lose.
ENV PYTHONUNBUFFERED=1
{user}ENTRYPOINT ["estimator-trainer"]
"""
# Kubernetes needs a number, because it cannot tell whether a name is root's.
_NOT_ROOT = """\
# This user owns no file of the image, and writes only into model_dir and /tmp.
ENV HOME=/tmp
WORKDIR /tmp
USER {user}:{user}
"""


def text(package: str, tensorflow: str, job: JobConfig) -> str:
    """Returns the Dockerfile.

    Args:
      job: The job. With GPUs the image needs CUDA, which TensorFlow's extra contains as Python
        packages (https://www.tensorflow.org/install/pip).
    """
    python = ".".join(map(str, sys.version_info[:2]))
    extra = f' "tensorflow[and-cuda]=={tensorflow}.*"' if job.gpus else ""
    # Google's services run each job on separate machines, and do not document whether users other
    # than root may write below /gcs.
    is_googles = job.platform in ("vertex", "ai-platform")
    user = "" if is_googles else _NOT_ROOT.format(user=USER)
    return _TEXT.format(python=python, package=package, extra=extra, user=user)
