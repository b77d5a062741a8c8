"""HostLists tell a cluster by lists of hosts, as programs of TensorFlow's did before TF_CONFIG.

Every program of TensorFlow's first guide to clusters has these four flags:
https://github.com/tensorflow/tensorflow/blob/r1.2/tensorflow/docs_src/deploy/distributed.md
"""

from __future__ import annotations

import dataclasses
import json
import shlex

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from estimator_trainer.settings.setting import out_of_range
from estimator_trainer.settings.setting import setting

_GROUP = "Lists of hosts, for `tf-config`"
_EXAMPLE = "estimator-trainer tf-config --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222"


@dataclasses.dataclass(frozen=True)
class HostLists:
    """A cluster, and which of its tasks is meant.

    Raises:
      ConfigError: if there is no such cluster or no such task.
    """

    ps_hosts: tuple[str, ...] = setting(_GROUP, (), "host:port of every ps, with commas.")
    worker_hosts: tuple[str, ...] = setting(
        _GROUP, (), "host:port of every worker, with commas; the first is the chief.")
    job_name: str = setting(_GROUP, "", "Which task's TF_CONFIG to print; default: every task's.",
                            choices=("", "ps", "worker"))
    task_index: int = setting(_GROUP, 0, "The index of that task.", minimum=0)

    def __post_init__(self) -> None:
        problems = out_of_range(self)
        if not self.worker_hosts:
            problems.append("worker_hosts is missing (no --worker_hosts); expected host:port of"
                            f" every worker. For example: {_EXAMPLE}")
        count = len({"ps": self.ps_hosts, "worker": self.worker_hosts}.get(self.job_name, ()))
        if self.job_name and not problems and self.task_index >= count:
            problems.append(
                f"task_index is {self.task_index} (from --task_index); expected less than the"
                f" {count} of --{self.job_name}_hosts. For example: {_EXAMPLE} --job_name=worker"
                " --task_index=0")
        if problems:
            raise errors.ConfigError("\n".join(problems))
        task_config.parse(self.tf_config("worker", 0))

    def tf_config(self, role: str, index: int) -> str:
        """Returns the TF_CONFIG of a task."""
        hosts = {"worker": list(self.worker_hosts), "ps": list(self.ps_hosts)}
        cluster = {name: addresses for name, addresses in hosts.items() if addresses}
        return json.dumps({"cluster": cluster, "task": {"type": role, "index": index}})


def describe(lists: HostLists) -> str:
    """Returns one task's TF_CONFIG, or a line to set it for every task."""
    if lists.job_name:
        return lists.tf_config(lists.job_name, lists.task_index)
    tasks = [(role, i) for role, hosts in (("ps", lists.ps_hosts), ("worker", lists.worker_hosts))
             for i in range(len(hosts))]
    return "\n".join(
        f"export TF_CONFIG={shlex.quote(lists.tf_config(role, i))}  # {role}:{i}"
        for role, i in tasks)
