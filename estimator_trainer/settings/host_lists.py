"""HostLists describe a cluster by lists of hosts, as TensorFlow programs did before TF_CONFIG.

Programs of TensorFlow's first guide to clusters have these flags, or task_id for task_index:
https://github.com/tensorflow/tensorflow/blob/r1.2/tensorflow/docs_src/deploy/distributed.md
"""

import dataclasses
import json
import shlex
from typing import Iterator, Sequence

from estimator_trainer.cluster import correction, declared_cluster, task_config
from estimator_trainer.errors import ConfigError, Problem, refuse, Setting
from estimator_trainer.settings.setting import out_of_range, setting

# In the order of `describe`.
_ROLES = ("ps", "worker", "data_worker")
_GROUP = "Lists of hosts, in place of TF_CONFIG"
_EXAMPLE = (Setting("ps_hosts", ("a:2222",)), Setting("worker_hosts", ("b:2222", "c:2222")))
_WORKER_0 = (Setting("job_name", "worker"), Setting("task_index", 0))


@dataclasses.dataclass(frozen=True)
class HostLists:
    """A cluster, and the task in it that this process is.

    Raises:
      ConfigError: if there is no such cluster or no such task.
    """

    ps_hosts: tuple[str, ...] = setting(_GROUP, (), "host:port of every ps, with commas.")
    worker_hosts: tuple[str, ...] = setting(
        _GROUP, (), "host:port of every worker, with commas; the first is the chief.")
    data_worker_hosts: tuple[str, ...] = setting(
        _GROUP, (), "host:port of every data worker, with commas.")
    job_name: str = setting(_GROUP, "", "Role of this task; default: `tf-config` prints the"
                            " TF_CONFIG of every task.", choices=("", *_ROLES))
    task_index: int = setting(_GROUP, 0, "Index of this task.", minimum=0)
    task_id: int = setting(_GROUP, 0, "Another name of --task_index.", minimum=0)

    def __post_init__(self) -> None:
        problems = out_of_range(self)
        if not self.worker_hosts:
            problems.append(Problem("worker_hosts", expected="host:port of every worker",
                                    example=_EXAMPLE))
        problems += [problem for role in _ROLES
                     for problem in _faults(f"{role}_hosts", self.hosts(role))][:1]
        count = len(self.hosts(self.job_name)) if self.job_name in _ROLES else 0
        if self.job_name and not problems and self.index >= count:
            name = "task_id" if self.task_id else "task_index"
            problems.append(Problem(
                name, self.index, example=(*_EXAMPLE, *_WORKER_0),
                expected=f"less than the {count} of {Setting(f'{self.job_name}_hosts')}"))
        refuse(problems)
        task_config.parse(self.tf_config("worker", 0))

    @property
    def index(self) -> int:
        """The index of this task."""
        return self.task_index or self.task_id

    def of_this_task(self, tf_config: str) -> str:
        """Returns the TF_CONFIG of this task, or raises ConfigError if it has a cluster already."""
        if tf_config.strip() not in ("", "{}"):
            raise ConfigError(Problem(
                "worker_hosts", self.worker_hosts, "and TF_CONFIG has a cluster too",
                "one of them", "unset TF_CONFIG"))
        if not self.job_name:
            raise ConfigError(Problem(
                "job_name", why="and the lists of hosts do not say which task this is",
                expected=f"one of {', '.join(sorted(_ROLES))}", example=_WORKER_0))
        return self.tf_config(self.job_name, self.index)

    def hosts(self, role: str) -> tuple[str, ...]:
        """Returns host:port of every task of a role."""
        found: tuple[str, ...] = getattr(self, f"{role}_hosts")
        return found

    def tf_config(self, role: str, index: int) -> str:
        """Returns the TF_CONFIG of a task."""
        cluster = {name: list(self.hosts(name)) for name in ("worker", "ps", "data_worker")
                   if self.hosts(name)}
        return json.dumps({"cluster": cluster, "task": {"type": role, "index": index}})


def _faults(name: str, hosts: Sequence[str]) -> Iterator[Problem]:
    """Yields a problem for each host of a flag that is no host:port."""
    for host in hosts:
        if expected := declared_cluster.address_fault(host):
            taken: set[str] = set()
            works = tuple(correction.repaired_address(each, taken) for each in hosts)
            yield Problem(name, host, expected=expected, example=Setting(name, works))


def describe(lists: HostLists) -> str:
    """Returns one task's TF_CONFIG, or a line to set it for every task."""
    if lists.job_name:
        return lists.tf_config(lists.job_name, lists.index)
    return "\n".join(
        f"export TF_CONFIG={shlex.quote(lists.tf_config(role, i))}  # {role}:{i}"
        for role in _ROLES for i in range(len(lists.hosts(role))))
