"""Jobs for Kubeflow: a TFJob v1, whose operator sets TF_CONFIG in every pod.

https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
"""

from __future__ import annotations

from typing import Any, Sequence

from estimator_trainer.manifest import kubernetes, platform
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_COMMENT = """\
Written by `estimator-trainer manifest`, for Kubeflow's training operator v1, 1.6 to 1.9.
restartPolicy ExitCode: 1 to 127 fail the job (1 failed, 2 configuration), 128 to 255 restart the
pod (142 a task was lost, 143 stopped after saving a checkpoint, 137 killed).
The operators 1.7 to 1.9 fail the whole TFJob when one of its running pods is deleted or evicted,
whatever the restartPolicy. The annotations keep autoscalers from that, but not people: then delete
the TFJob and apply it again, and it goes on from its last checkpoint.
The platforms `jobset` and `kubernetes` start a deleted pod again.
cleanPodPolicy None: the ps, the workers and the evaluator end by themselves, within seconds of
the chief, and their logs and exit codes stay readable until the TFJob is deleted."""

# The annotations by which the cluster autoscaler and Karpenter keep a pod's node.
_KEPT = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
         "karpenter.sh/do-not-disrupt": "true"}
_KEYS = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    replicas = {key: _replicas(job, role, flags) for role, key in _KEYS.items()
                if getattr(job, role)}
    policy = kubernetes.network_policy(job, {"training.kubeflow.org/job-name": job.name})
    return platform.job([policy, {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": kubernetes.metadata(job, job.name),
        "spec": {
            # "" ends the job with its chief, or else worker 0, after the final evaluation.
            "successPolicy": "",
            "runPolicy": {"cleanPodPolicy": "None",
                          "backoffLimit": job.max_restarts * len(job.tasks)},
            "tfReplicaSpecs": replicas}}], _COMMENT)


def _commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    head = f"{job.name}-{'chief' if job.chief else 'worker'}-0"
    return [f"kubectl apply -f {folder}/job.yaml",
            f"kubectl logs -n {job.namespace} -f pod/{head}",
            f"kubectl delete -n {job.namespace} tfjob/{job.name}   # before another run"]


def _replicas(job: JobConfig, role: str, flags: Sequence[str]) -> dict[str, Any]:
    # The operator requires these names of the container and its port.
    pod = kubernetes.pod_spec(job, role, flags, "tfjob-port")
    return {"replicas": getattr(job, role),
            # With OnFailure, 1 and 2 would be retried, and a deleted pod would still fail the job.
            "restartPolicy": "ExitCode",
            "template": {"metadata": {"annotations": _KEPT}, "spec": pod}}


PLATFORM = Platform(problems=kubernetes.problems, files=_files, commands=_commands,
                    mount=kubernetes.mount, mount_advice=kubernetes.MOUNT_ADVICE)
