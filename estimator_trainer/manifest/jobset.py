"""Jobs for JobSet, which Kubeflow Trainer uses too: one JobSet with a ReplicatedJob for each role.

JobSet makes the headless Service, and ends the other roles' Jobs when one has failed:
https://jobset.sigs.k8s.io/docs/concepts/
"""

from __future__ import annotations

from typing import Any, Sequence

from estimator_trainer.manifest import kubernetes, platform
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.settings.job_config import JobConfig, ROLES
from estimator_trainer.settings.trainer_config import TrainerConfig

_COMMENT = """\
Written by `estimator-trainer manifest`, for JobSet 0.6 or newer on Kubernetes 1.29 or newer.
One ReplicatedJob a role; every pod runs the same command line.
Exit codes 1 (failed) and 2 (configuration) end the JobSet at once; 142 (a task was lost), 143
(stopped after saving a checkpoint) and a kill are retried, by a role of N tasks N times
--max_restarts in all.
Needs a network that keeps to a NetworkPolicy."""

# The 0 is the number of the Job in its ReplicatedJob.
_HOST = "{name}-{role}-0-{index}.{name}"


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    policy = kubernetes.network_policy(job, kubernetes.labels_of(job))
    return platform.job([policy, _jobset(job, flags)], _COMMENT)


def _jobset(job: JobConfig, flags: Sequence[str]) -> dict[str, Any]:
    """Returns the JobSet.

    Without a failurePolicy, the JobSet fails with its first failed Job, which has used up the
    restarts of its own tasks; a restart of all roles would reset their limits.
    """
    jobs = [{"name": role, "replicas": 1,
             "template": {"spec": kubernetes.job_spec(job, role, flags, _HOST)}}
            for role in ROLES if getattr(job, role)]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": kubernetes.metadata(job, job.name),
        "spec": {
            # A task resolves its peers' names before they are ready, and some never serve.
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True,
                        "subdomain": job.name},
            # Every task ends by itself, within seconds of the chief. With only the chief here,
            # JobSet would delete the other tasks then, with their logs and exit codes.
            "successPolicy": {"operator": "All"},
            "replicatedJobs": jobs}}


def _commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    follow = f"{job.name}-{'chief' if job.chief else 'worker'}-0"
    return [f"kubectl apply -f {folder}/job.yaml",
            f"kubectl logs -n {job.namespace} -f job/{follow}",
            f"kubectl delete -n {job.namespace} jobset/{job.name}   # before another run"]


PLATFORM = Platform(problems=kubernetes.problems, files=_files, commands=_commands,
                    mount=kubernetes.mount, mount_advice=kubernetes.MOUNT_ADVICE)
