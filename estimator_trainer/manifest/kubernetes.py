"""Jobs for Kubernetes, plain (an Indexed Job for each role) or by an operator, and their image.

Kubernetes completes each pod's TF_CONFIG with the pod's index, and sets the pod's name:
https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
JobSet, which Kubeflow Trainer uses too, makes the headless Service, and ends the other roles' Jobs
when one has failed: https://jobset.sigs.k8s.io/docs/concepts/
The operator of a Kubeflow TFJob v1 sets TF_CONFIG in every pod:
https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
"""

import json
import re
import sys
from typing import Any, Sequence

from estimator_trainer import deadlines
from estimator_trainer.errors import Problem, Setting
from estimator_trainer.manifest import platform, role_resources, tuning
from estimator_trainer.settings.job_config import JobConfig, ROLES
from estimator_trainer.settings.trainer_config import TrainerConfig

_EXITS = """\
Exit codes 1 (failed) and 2 (configuration) end {0}; 142 (a task was lost), 143
(stopped after saving a checkpoint) and a kill are retried, by a role of N tasks N times
--max_restarts in all.
"""
_COMMENT = f"""\
Written by `estimator-trainer manifest`. One Job a role; every pod runs the same command line.
{_EXITS.format("their Job at once")}\
Needs Kubernetes 1.29 or newer, and a network that keeps to a NetworkPolicy."""
_JOBSET_COMMENT = f"""\
Written by `estimator-trainer manifest`, for JobSet 0.6 or newer on Kubernetes 1.29 or newer.
One ReplicatedJob a role; every pod runs the same command line.
{_EXITS.format("the JobSet at once")}\
Needs a network that keeps to a NetworkPolicy."""
_PREDICTION_COMMENT = """\
Written by `estimator-trainer manifest`. Each pod predicts its share of the files; applied again,
the job goes on where it stopped. Exit codes 1 (failed) and 2 (configuration) end the job at once;
a kill is retried, of N pods N times --max_restarts in all.
Needs Kubernetes 1.29 or newer."""
_TFJOB_COMMENT = """\
Written by `estimator-trainer manifest`, for Kubeflow's training operator v1, 1.6 to 1.9.
restartPolicy ExitCode: 1 to 127 fail the job (1 failed, 2 configuration), 128 to 255 restart the
pod (142 a task was lost, 143 stopped after saving a checkpoint, 137 killed).
The operators 1.7 to 1.9 fail the whole TFJob when one of its running pods is deleted or evicted,
whatever the restartPolicy. The annotations keep autoscalers from that, but not people: then delete
the TFJob and apply it again, and it goes on from its last checkpoint.
The platforms `jobset` and `kubernetes` start a deleted pod again.
cleanPodPolicy None: the ps, the workers and the evaluator end by themselves, within seconds of
the chief, and their logs and exit codes stay readable until the TFJob is deleted."""
_KATIB_COMMENT = """\
Katib, 0.18 or newer, runs such a TFJob for each trial, and reads the metric in one pod's log."""

# The operator of TFJobs requires this name of the container, and its port's.
_CONTAINER, _TFJOB_PORT = "tensorflow", "tfjob-port"
_PORT = 2222
# The number of the pods' user and group.
USER = 65532
_INDEX = "$(INDEX)"
_INDEX_FIELD = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
# The addresses of a pod: its name in the Job, and the Service `subdomain`. The 0 is the number of
# the Job in its ReplicatedJob.
_HOST, _JOBSET_HOST = "{name}-{role}-{index}.{name}", "{name}-{role}-0-{index}.{name}"
_WORKERS, _JOBSET_WORKERS = "{name}-worker", "{name}-worker-0"
# A Service's name starts with a letter (RFC 1035), and a pod's host name, of at most 63
# characters, is NAME-data-worker-0-INDEX.
_NAME = re.compile(r"[a-z]([-a-z0-9]{,38}[a-z0-9])?")
# A label, and a claim's name, which is a DNS subdomain (both by RFC 1123).
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{,61}[a-z0-9])?")
_CLAIM = re.compile(r"[a-z0-9]([-a-z0-9.]{,251}[a-z0-9])?")
_MOST_RESTARTS = (1 << 31) - 1
_TFJOB_TYPES = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}
# The annotations by which the cluster autoscaler and Karpenter keep a pod's node.
_KEPT = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
         "karpenter.sh/do-not-disrupt": "true"}
_ROLE_KEYS = ("cpus", "memory_gib", "gpus", "image", "node_selector", "tolerations",
              "priority_class")


def _problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    found = []
    if not _LABEL.fullmatch(job.namespace):
        found.append(Problem("namespace", job.namespace, example=Setting("namespace", "default"),
                             expected="at most 63 lower-case letters, digits and inner `-`"))
    if not all(each.image for each in role_resources.of_roles(job).values()):
        found.append(Problem("image", expected="the name to push the Dockerfile's image to",
                             example=Setting("image", "REGISTRY/digits:1")))
    claim, _, path = job.volume.partition(":")
    if job.volume and not (_CLAIM.fullmatch(claim) and path.startswith("/")):
        found.append(Problem(
            "volume", job.volume, example=Setting("volume", "training:/shared"),
            expected="CLAIM:PATH, the name of a PersistentVolumeClaim and an absolute path"))
    if job.max_restarts * len(job.all_tasks) > _MOST_RESTARTS:
        found.append(Problem(
            "max_restarts", job.max_restarts, f"for {len(job.all_tasks)} tasks",
            f"at most {_MOST_RESTARTS} for all tasks together", Setting("max_restarts", 100)))
    return found


def name_problems(name: str) -> list[Problem]:
    """Returns a problem if a job's name is not valid in host names."""
    if _NAME.fullmatch(name):
        return []
    return [Problem("name", name, example=Setting("name", "digits"),
                    expected="at most 40 lower-case letters, digits and inner `-`, a letter first,"
                    " because host names are made of it")]


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    if platform.does_predict(flags):
        return platform.job([_object(job, "batch/v1", "Job", _prediction_spec(job, flags),
                                     f"{job.name}-worker")], _PREDICTION_COMMENT)
    labels = _labels(job)
    # A task resolves its peers' names before they are ready, and some never serve.
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": labels,
               "ports": [{"name": "grpc", "port": _PORT}]}
    jobs = []
    for role in _roles(job):
        spec = _job_spec(job, role, flags, _HOST)
        spec["template"]["spec"]["subdomain"] = job.name
        jobs.append(_object(job, "batch/v1", "Job", spec, f"{job.name}-{_label(role)}"))
    return platform.job([_object(job, "v1", "Service", service),
                         _network_policy(job, config, labels), *_tensorboard(job, config), *jobs],
                        "\n".join([_COMMENT, *_scaling(job, _WORKERS)]))


def _jobset_files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    """Returns the files of a JobSet.

    Without a failurePolicy, the JobSet fails with its first failed Job, which has used up the
    restarts of its own tasks; a restart of all roles would reset their limits.
    """
    if platform.does_predict(flags):
        worker = {"name": "worker", "replicas": 1,
                  "template": {"spec": _prediction_spec(job, flags)}}
        return platform.job([_object(job, "jobset.x-k8s.io/v1alpha2", "JobSet", {
            "replicatedJobs": [worker]})], _PREDICTION_COMMENT)
    jobs = [{"name": _label(role), "replicas": 1,
             "template": {"spec": _job_spec(job, role, flags, _JOBSET_HOST)}}
            for role in _roles(job)]
    jobset = _object(job, "jobset.x-k8s.io/v1alpha2", "JobSet", {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True,
                    "subdomain": job.name},
        # Every task ends by itself, within seconds of the chief. With only the chief here, JobSet
        # would delete the other tasks then, with their logs and exit codes.
        "successPolicy": {"operator": "All"},
        "replicatedJobs": jobs})
    return platform.job([_network_policy(job, config, _labels(job)), *_tensorboard(job, config),
                         jobset], "\n".join([_JOBSET_COMMENT, *_scaling(job, _JOBSET_WORKERS)]))


def _tfjob_files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    replicas = {_TFJOB_TYPES[role]: {
        "replicas": getattr(job, role),
        # With OnFailure, 1 and 2 would be retried, and a deleted pod would still fail the job.
        "restartPolicy": "ExitCode",
        "template": {"metadata": {"annotations": _KEPT},
                     "spec": _pod_spec(job, role, flags, _TFJOB_PORT)}} for role in _roles(job)}
    spec = {
        # "" ends the job with its chief, or else worker 0, after the final evaluation.
        "successPolicy": "AllWorkers" if platform.does_predict(flags) else "",
        "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": job.max_restarts * len(job.tasks)},
        "tfReplicaSpecs": replicas}
    if job.tune:
        return _experiment_files(job, config, spec)
    tfjob = _object(job, "kubeflow.org/v1", "TFJob", spec)
    policy = _network_policy(job, config, {"training.kubeflow.org/job-name": job.name})
    return platform.job([policy, *_tensorboard(job, config), tfjob], _TFJOB_COMMENT)


def _experiment_files(job: JobConfig, config: TrainerConfig,
                      tfjob: dict[str, Any]) -> dict[str, bytes]:
    """Returns the files of an Experiment of Katib, each of whose trials is a TFJob."""
    for replica in tfjob["tfReplicaSpecs"].values():
        # Katib names the trials, so that a TFJob's name is no label of the policy.
        replica["template"]["metadata"]["labels"] = _labels(job)
        replica["template"]["spec"]["containers"][0]["args"] += tuning.katib_flags(job, config)
    experiment = _object(job, "kubeflow.org/v1beta1", "Experiment",
                         tuning.of_katib(job, config, tfjob))
    return platform.job([_network_policy(job, config, _labels(job)), *_tensorboard(job, config),
                         experiment], f"{_TFJOB_COMMENT}\n{_KATIB_COMMENT}")


def _roles(job: JobConfig) -> list[str]:
    return [role for role in ROLES if getattr(job, role)]


def _label(role: str) -> str:
    """Returns a role in the names of Kubernetes, which have no `_`."""
    return role.replace("_", "-")


def _labels(job: JobConfig) -> dict[str, str]:
    return {"app.kubernetes.io/name": "estimator-trainer", "app.kubernetes.io/instance": job.name}


def _object(job: JobConfig, version: str, kind: str, spec: dict[str, Any],
            name: str = "") -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind,
            "metadata": {"name": name or job.name, "namespace": job.namespace,
                         "labels": _labels(job)},
            "spec": spec}


def _scaling(job: JobConfig, workers: str) -> list[str]:
    """Returns the command that changes the number of workers of a Job, if it may change."""
    most = job.most_workers  # A StatefulSet would start a worker again that is done.
    numbers = json.dumps({"spec": {"completions": most, "parallelism": most}})
    return [f"kubectl patch -n {job.namespace} job/{workers.format(name=job.name)} -p '{numbers}'"
            f"   # {job.worker} to {most} workers, at any time"] * (most > job.worker)


def _network_policy(job: JobConfig, config: TrainerConfig,
                    labels: dict[str, str]) -> dict[str, Any]:
    """Returns a policy by which only the job's own pods reach its pods.

    TensorFlow's gRPC server has no authentication, and runs any graph that it receives
    (https://github.com/tensorflow/tensorflow/blob/master/SECURITY.md).
    """
    rule: dict[str, Any] = {"from": [{"podSelector": {"matchLabels": labels}}]}
    if not (any(each.gpus for each in role_resources.of_roles(job).values()) or job.data_worker
            or config.data_service):
        # NCCL and tf.data's dispatcher and data workers listen on random ports: for them every
        # port is open to the job.
        rule["ports"] = [{"protocol": "TCP", "port": _PORT}]
    return _object(job, "networking.k8s.io/v1", "NetworkPolicy", {
        "podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"], "ingress": [rule]})


def _pod_spec(job: JobConfig, role: str, flags: Sequence[str], port_name: str) -> dict[str, Any]:
    """Returns the spec of a role's pods: one container, which runs the program.

    The pod fulfils the Pod Security Standard `restricted`
    (https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted), and writes
    only into its volumes.
    """
    own = role_resources.of_role(job, role)
    memory = {"memory": f"{own.memory_gib}Gi"}
    resources: dict[str, Any] = {
        "requests": {"cpu": str(own.cpus), **memory},
        "limits": memory | ({"nvidia.com/gpu": str(own.gpus)} if own.gpus else {})}
    container: dict[str, Any] = {
        "name": _CONTAINER, "image": own.image, "command": ["estimator-trainer"],
        # Kubernetes expands $(NAME) in an argument, and $$ to one $.
        "args": [flag.replace("$", "$$") for flag in flags],
        "ports": [{"name": port_name, "containerPort": _PORT}], "resources": resources,
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
    places = {"nodeSelector": own.node_selector, "tolerations": list(own.tolerations),
              "priorityClassName": own.priority_class}
    return {"terminationGracePeriodSeconds": deadlines.POD_GRACE_SECS,
            **{key: value for key, value in places.items() if value},
            "securityContext": {
                "runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER,
                # A volume that has the group already is not searched at every start.
                "fsGroup": USER, "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container], "volumes": list(volumes.values())}


def _tensorboard(job: JobConfig, config: TrainerConfig) -> list[dict[str, Any]]:
    """Returns TensorBoard's Deployment, which outlives the job, if the user has requested one.

    TensorBoard has no authentication. It listens on localhost alone, to which `kubectl
    port-forward` connects. Its labels are not the job's, whose Service would name it as a task.
    """
    if not job.tensorboard:
        return []
    spec = _pod_spec(job, role_resources.TENSORBOARD, [f"--logdir={config.model_dir}"], "http")
    spec["containers"][0] |= {"name": "tensorboard", "command": ["tensorboard"]}
    del spec["containers"][0]["ports"]
    labels = _labels(job) | {"app.kubernetes.io/name": "tensorboard"}
    return [_object(job, "apps/v1", "Deployment", {
        "replicas": 1, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec}}, f"{job.name}-tensorboard")]


def _job_spec(job: JobConfig, role: str, flags: Sequence[str], host: str) -> dict[str, Any]:
    """Returns the spec of the Indexed Job of a role's tasks; `host` formats their host names."""
    count = getattr(job, role)
    most = job.most_workers if role == "worker" else count
    spec = _pod_spec(job, role, flags, "grpc") | {"restartPolicy": "Never"}
    spec["containers"][0]["env"] = [
        # INDEX has to precede TF_CONFIG, in which it is expanded.
        {"name": "INDEX", "valueFrom": {"fieldRef": {"fieldPath": _INDEX_FIELD}}},
        {"name": "TF_CONFIG", "value": _tf_config(job, role, host)}]
    return {
        "completionMode": "Indexed", "completions": count, "parallelism": count,
        # The limit applies to all tasks of a role: one lost ps ends every worker with 142.
        "backoffLimit": job.max_restarts * most,
        "podFailurePolicy": {"rules": [
            {"action": "FailJob", "onExitCodes": {
                "containerName": _CONTAINER, "operator": "In", "values": [1, 2]}},
            # Pods that were evicted, or lost their node, do not count as failed.
            {"action": "Ignore",
             "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]},
        "template": {
            "metadata": {"labels": _labels(job) | {"app.kubernetes.io/component": _label(role)}},
            "spec": spec}}


def _prediction_spec(job: JobConfig, flags: Sequence[str]) -> dict[str, Any]:
    """Returns the spec of the Indexed Job of tasks that predict, which know only their share."""
    spec = _job_spec(job, "worker", flags, _HOST)
    [container] = spec["template"]["spec"]["containers"]
    container["env"] = [each for each in container["env"] if each["name"] == "INDEX"]
    container["args"].append(f"--share={_INDEX}/{job.worker}")
    del container["ports"]
    return spec


def _tf_config(job: JobConfig, role: str, host: str) -> str:
    """Returns the text of TF_CONFIG, in which Kubernetes expands the index."""
    # A ps fetches tensors from workers that come later, too. The pods of the workers are all alike.
    tasks = job.all_tasks if role in ("ps", "worker") else job.tasks
    # The evaluator is listed so that the chief waits for it.
    cluster = {each: [f"{host.format(name=job.name, role=_label(each), index=i)}:{_PORT}"
                      for name, i in tasks if name == each] for each in _roles(job)}
    text = json.dumps({"cluster": cluster, "task": {"type": role, "index": _INDEX}})
    return text.replace(json.dumps(_INDEX), _INDEX)


_DOCKERFILE = """\
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


def dockerfile(package: str, tensorflow: str, job: JobConfig) -> str:
    """Returns the Dockerfile of the image of all tasks."""
    python = ".".join(map(str, sys.version_info[:2]))
    # TensorFlow's extra contains CUDA as Python packages (https://www.tensorflow.org/install/pip).
    has_gpus = any(each.gpus and each.image == job.image
                   for each in role_resources.of_roles(job).values())
    extra = f' "tensorflow[and-cuda]=={tensorflow}.*"' if has_gpus else ""
    # Google's services run each job on separate machines, and do not document whether users other
    # than root may write below /gcs.
    is_googles = job.platform in ("vertex", "ai-platform")
    user = "" if is_googles else _NOT_ROOT.format(user=USER)
    return _DOCKERFILE.format(python=python, package=package, extra=extra, user=user)


def _tfjob_problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    return _problems(job, config) + platform.no_data_workers(
        job, f"and a TFJob has the replica types {', '.join(_TFJOB_TYPES.values())} alone")


def _platform(files: platform.Files, followed: str, deleted: str, workers: str = "",
              problems: platform.Problems = _problems) -> platform.Platform:
    """Returns a platform; `followed`, `deleted` and `workers` format objects in its commands."""
    def commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
        names = {"name": job.name, "first": f"{job.name}-{'chief' if job.chief else 'worker'}",
                 "jobs": " ".join(f"job/{job.name}-{_label(role)}" for role in _roles(job))}
        forward = (f"kubectl port-forward -n {job.namespace} deployment/{job.name}-tensorboard 6006"
                   "   # TensorBoard at http://localhost:6006")
        if job.tune:
            kind = f"-n {job.namespace} experiment/{job.name}"
            return [f"kubectl apply -f {folder}/job.yaml", f"kubectl describe {kind}",
                    *[forward] * job.tensorboard,
                    f"kubectl delete {kind}   # before another search"]
        return [f"kubectl apply -f {folder}/job.yaml",
                f"kubectl logs -n {job.namespace} -f {followed.format(**names)}",
                *_scaling(job, workers), *[forward] * job.tensorboard,
                f"kubectl delete -n {job.namespace} {deleted.format(**names)}"
                "   # before another run"]

    return platform.Platform(
        problems, files, commands, _ROLE_KEYS, mount=lambda job: job.volume.partition(":")[2],
        mount_advice="--volume=CLAIM:PATH above it, or ", runs_tensorboard=True,
        scales_workers=bool(workers))


KUBERNETES = _platform(_files, "job/{first}", "{jobs}", _WORKERS)
JOBSET = _platform(_jobset_files, "job/{first}-0", "jobset/{name}", _JOBSET_WORKERS)
TFJOB = _platform(_tfjob_files, "pod/{first}-0", "tfjob/{name}", problems=_tfjob_problems)
