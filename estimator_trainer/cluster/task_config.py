"""A TaskConfig is this process's task and cluster, in one form for all platforms.

    TF_CONFIG or CLUSTER_SPEC text ──► declared_cluster ──► TaskConfig (normal form)

The normal form has a chief, has no evaluator in the cluster, and is the same in every process of a
job, whatever the platform calls the roles. Standard library only; reads no environment.
"""

import dataclasses
import json
import shlex
from typing import Mapping, NamedTuple
import zlib

from estimator_trainer import errors
from estimator_trainer.cluster import correction, declared_cluster

# The normal form leaves out these keys, on which RunConfig or the strategies would act.
_UNUSED = ("eval_session_master", "model_dir", "rpc_layer", "service", "session_master")
# TensorFlow's strategies accept these jobs in a cluster.
_JOBS_OF_STRATEGIES = frozenset(("chief", "worker", "ps"))
# These tasks are no part of the cluster whose servers compute together.
_NOT_SERVERS = ("evaluator", "data_worker")


class Place(NamedTuple):
    """A task in a cluster, under one set of names of the jobs."""

    cluster: Mapping[str, tuple[str, ...]]  # host:port of every task, by job; {} without a cluster.
    job: str  # The job of this task, such as "master".
    number: int  # The index of this task in its job.

    def tf_config(self, trial: str = "") -> str:
        """Returns TF_CONFIG text with this cluster and this task."""
        task = {"type": self.job, "index": self.number, **({"trial": trial} if trial else {})}
        return json.dumps({"cluster": self.cluster, "task": task})


@dataclasses.dataclass(frozen=True)
class TaskConfig:
    """The role of this process, and the cluster it trains in."""

    # host:port of every training task, by role among chief, worker and ps; {} when local, and in an
    # evaluator whose TF_CONFIG leaves out the others.
    cluster: Mapping[str, tuple[str, ...]]
    role: str  # local, chief, worker, ps, evaluator or data_worker.
    index: int  # The index of this task in its role.
    name: str  # The platform's name of this task, such as "master:0"; "local" without a cluster.
    head_evaluates: bool  # A `master` evaluates at every checkpoint in its own process.
    has_evaluator: bool  # The job is known to have an evaluator: one is declared, or this is one.
    # The number of evaluators, where TF_CONFIG or CLUSTER_SPEC lists them; 0 is unknown.
    num_evaluators: int
    trial: str  # The number of the hyperparameter tuning trial, or "".
    notes: tuple[str, ...]  # One line for each change that led to the normal form.
    # The platform's names of the tasks of `cluster`, in the same order.
    platform_names: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    # host:port of every task that prepares the trainers' input, which takes no part in the cluster:
    # TensorFlow's servers, RunConfig and the shares of the data do not know these tasks.
    data_workers: tuple[str, ...] = ()
    source: str = 'TF_CONFIG["cluster"]'  # The place of the addresses, for messages.
    ports_setting: str = ""  # The setting that changes the ports; "" if none does.
    # This task and its cluster under the platform's names, with an evaluator that TF_CONFIG lists.
    # Without a TF_CONFIG, under the names of the normal form.
    platform_place: Place = Place({}, "worker", 0)
    # TF_CONFIG as the user's code reads it: the platform's text, byte for byte; the normal form
    # where the platform has no TF_CONFIG; "" for none. The text may hold secrets.
    platform_tf_config: str = dataclasses.field(default="", repr=False)
    # The number of chiefs and workers that share the data, if it is not that of `cluster`: in a job
    # with ps the number at the start, because workers may join.
    num_sharing: int = 0

    @property
    def is_local(self) -> bool:
        """Whether this process trains by itself, in no cluster."""
        return self.role == "local"

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the checkpoints."""
        return self.role in ("local", "chief")

    @property
    def is_trainer(self) -> bool:
        """Whether this process computes gradients."""
        return self.role in ("local", "chief", "worker")

    @property
    def num_trainers(self) -> int:
        """Number of chiefs and workers; 0 in an evaluator whose TF_CONFIG leaves them out.

        In a job with ps the number at the start; workers may join and leave.
        """
        if self.is_local:
            return 1
        if self.num_sharing:
            return self.num_sharing
        return len(self.cluster.get("chief", ())) + len(self.cluster.get("worker", ()))

    @property
    def counts(self) -> dict[str, int]:
        """Number of tasks by role among chief, worker and ps; a single task is a chief."""
        return {role: len(hosts) for role, hosts in self.cluster.items()} or {"chief": 1}

    @property
    def fingerprint(self) -> str:
        """Six digits for each of the first 16 addresses, which tell clusters apart; or ""."""
        addresses = [address for hosts in self.cluster.values() for address in hosts]
        return " ".join(f"{zlib.crc32(address.encode()) & 0xffffff:06x}"
                        for address in addresses[:16])

    @property
    def is_all_reduce(self) -> bool:
        """Whether several trainers make each step together, without a ps."""
        return self.num_trainers > 1 and "ps" not in self.cluster

    @property
    def num_input_pipelines(self) -> int:
        """Number of tasks that share this task's input: the trainers, or this one alone."""
        return self.num_trainers if self.is_trainer else 1

    @property
    def input_pipeline_id(self) -> int:
        """This task's share of the input, from 0 (the chief) to num_input_pipelines - 1.

        A worker that joined has the same share as another trainer.
        """
        return (self.index + 1) % self.num_trainers if self.role == "worker" else 0

    @property
    def has_joined(self) -> bool:
        """Whether this is a worker that the job did not have at its start."""
        return self.role == "worker" and self.index + 1 >= self.num_trainers

    @property
    def address(self) -> str:
        """host:port of this task's server; "" for a local task and an evaluator."""
        if self.role == "data_worker":
            return self.data_workers[self.index]
        return self.cluster[self.role][self.index] if self.role in self.cluster else ""

    @property
    def servers(self) -> dict[str, tuple[str, ...]]:
        """host:port of every task that has a server, by role: the cluster and the data workers."""
        others = {"data_worker": self.data_workers} if self.data_workers else {}
        return {**self.cluster, **others}

    @property
    def declared_address(self) -> str:
        """host:port of this task in TF_CONFIG, even if it trains alone; "" if TF_CONFIG has none.

        A chief beside data workers alone is a local task, which they have to reach.
        """
        hosts = self.platform_place.cluster.get(self.platform_place.job, ())
        return hosts[self.platform_place.number] if hosts else self.address

    @property
    def workers(self) -> dict[str, str]:
        """The address of each worker, by name."""
        return {self.name_of("worker", i): address
                for i, address in enumerate(self.cluster.get("worker", ()))}

    @property
    def peers(self) -> dict[str, str]:
        """The address, by name, of each other task that this one needs to make a step."""
        if self.is_local or not self.is_trainer:
            return {}
        return {self.name_of(role, i): address
                for role in (("chief", "worker") if self.is_all_reduce else ("ps",))
                for i, address in enumerate(self.cluster.get(role, ()))
                if (role, i) != (self.role, self.index)}

    def among(self, counts: Mapping[str, int]) -> "TaskConfig":
        """Returns this trainer in a job whose chief has these numbers of tasks, by role."""
        num_trainers = counts.get("chief", 0) + counts.get("worker", 0)
        is_other = "ps" in self.cluster and num_trainers not in (0, self.num_trainers)
        return dataclasses.replace(self, num_sharing=num_trainers) if is_other else self

    def name_of(self, role: str, index: int) -> str:
        """Returns the platform's name of a task: "worker:1" of worker 0 where worker:0 is chief."""
        if (role, index) == (self.role, self.index):
            return self.name
        names = self.platform_names.get(role, ())
        return names[index] if index < len(names) else f"{role}:{index}"

    def tf_config(self) -> str:
        """Returns the normal form as JSON text, which every `RunConfig` accepts; "{}" if local.

        An evaluator whose TF_CONFIG leaves out the others gets a chief that does not exist, because
        RunConfig requires one. RunConfig knows no data worker, which is described as an evaluator:
        a task that neither trains nor has a place in the cluster.
        """
        if self.is_local:
            return "{}"
        cluster = self.cluster or {"chief": ("localhost:2222",)}
        role = "evaluator" if self.role == "data_worker" else self.role
        return Place(cluster, role, self.index).tf_config(self.trial)

    def server_place(self, has_strategy: bool) -> Place:
        """Returns this task under the names of the job's servers, sessions and devices.

        A model_fn may place operations by the RunConfig that it gets, so the names are the
        platform's wherever TensorFlow accepts them. No strategy accepts a `master`.
        """
        cluster = {job: hosts for job, hosts in self.platform_place.cluster.items()
                   if job not in _NOT_SERVERS}
        if self.role in _NOT_SERVERS or has_strategy and not cluster.keys() <= _JOBS_OF_STRATEGIES:
            return Place(self.cluster, self.role, self.index)
        return self.platform_place._replace(cluster=cluster)

    def strategy_tf_config(self) -> str:
        """Returns the TF_CONFIG of a strategy that trains; "" where it spans one process."""
        is_alone = self.is_local or self.role in _NOT_SERVERS
        return "" if is_alone else self.server_place(has_strategy=True).tf_config()


def parse(tf_config: str | None, cluster_spec: str | None = None) -> TaskConfig:
    """Reads the cluster that a platform declares.

    A cluster of one task needs no "task"; with more tasks, leaving it out is an error.

    Args:
      tf_config: Text of TF_CONFIG. None, blank or "{}" means that this process trains alone.
      cluster_spec: Text of Vertex AI's CLUSTER_SPEC. Used where TF_CONFIG is None or blank; else
        only to learn whether the job has an evaluator.

    Raises:
      TaskConfigError: if the text cannot work, with every mistake and a corrected example.
    """
    text, pools = (tf_config or "").strip(), (cluster_spec or "").strip()
    source = "CLUSTER_SPEC" if pools and not text else "TF_CONFIG"
    text = text or pools or "{}"
    spec = declared_cluster.read(text, source)
    if spec.problems:
        works = correction.corrected(text)
        example = errors.worded(f"TF_CONFIG={shlex.quote(works)}",
                                f"tf_config={json.loads(works)!r}")
        raise errors.TaskConfigError(
            *spec.problems[:-1], dataclasses.replace(spec.problems[-1], example=example))
    in_pools = declared_cluster.read(pools or "{}").tasks.get("evaluator", ())
    task = _normal_form(spec, source, len(in_pools))
    if source == "TF_CONFIG":
        return dataclasses.replace(task, platform_tf_config=tf_config or "")
    # User code does not read CLUSTER_SPEC; it gets a TF_CONFIG.
    place = Place(task.cluster, "worker" if task.is_local else task.role, task.index)
    return dataclasses.replace(task, platform_place=place,
                               platform_tf_config="" if task.is_local else task.tf_config())


def of_counts(counts: Mapping[str, int]) -> list[TaskConfig]:
    """Returns the tasks of a job without addresses, from the number of tasks of each role."""
    tasks = {role: tuple(declared_cluster.Task(f"{role}:{i}", f"{role}-{i}:2222", "")
                         for i in range(count)) for role, count in counts.items() if count}
    return [_normal_form(declared_cluster.ClusterSpec(tasks, role, index, task.name))
            for role, group in tasks.items() for index, task in enumerate(group)]


def _declared_place(spec: declared_cluster.ClusterSpec) -> Place:
    cluster = {group[0].name.rpartition(":")[0]: tuple(task.address for task in group)
               for group in spec.tasks.values()}
    job, _, index = (spec.name or "worker:0").rpartition(":")
    return Place(cluster, job, int(index))


def _normal_form(spec: declared_cluster.ClusterSpec, source: str = "TF_CONFIG",
                 num_in_pools: int = 0) -> TaskConfig:
    tasks = {role: list(spec.tasks[role]) for role in ("chief", "worker", "ps")
             if role in spec.tasks}
    head_evaluates = "chief" in tasks and tasks["chief"][0].name == "master:0"
    if tasks and "chief" not in tasks:
        # Every process does the same, so all agree on the chief and on the shards.
        head, *workers = tasks.pop("worker")
        tasks = {"chief": [head]} | ({"worker": workers} if workers else {}) | tasks
    role, index = spec.role, spec.index
    for place, group in tasks.items():
        names = [task.name for task in group]
        if spec.name in names:
            role, index = place, names.index(spec.name)
    if role not in _NOT_SERVERS and sum(map(len, tasks.values())) <= 1:
        role, index, tasks = "local", 0, {}
    return TaskConfig(
        cluster={place: tuple(task.address for task in group) for place, group in tasks.items()},
        role=role, index=index, name=spec.name or "local", head_evaluates=head_evaluates,
        has_evaluator="evaluator" in (role, *spec.tasks) or bool(num_in_pools),
        num_evaluators=len(spec.tasks.get("evaluator", ())) or num_in_pools,
        trial=str((spec.value.get("task") or {}).get("trial") or ""),
        notes=tuple(_notes(spec, source)),
        platform_names={place: tuple(task.name for task in group)
                        for place, group in tasks.items()},
        data_workers=tuple(task.address for task in spec.tasks.get("data_worker", ())),
        platform_place=_declared_place(spec))


def _notes(spec: declared_cluster.ClusterSpec, source: str) -> list[str]:
    """Returns one line for each change of the normal form."""
    notes = [f"TF_CONFIG is not set: the cluster is read from {source}"] * (source != "TF_CONFIG")
    trainers = [task.name for role in ("chief", "worker") for task in spec.tasks.get(role, ())]
    if len(trainers) == 1 and "ps" not in spec.tasks:
        if spec.role not in _NOT_SERVERS:
            notes.append(f"{trainers[0]} is the only task to train: it needs no cluster")
    elif trainers and "chief" not in spec.tasks:
        notes.append(f"no chief in {source}: {trainers[0]} acts as chief")
    elif trainers and not trainers[0].startswith("chief:"):
        notes.append(f"{trainers[0]} acts as chief")
    if spec.value.get("environment") == "google":
        notes.append('environment "google" is dropped: with it no task would start its server')
    notes += [f"{key} is dropped: only a RunConfig that a script makes reads it"
              for key in _UNUSED if spec.value.get(key)]
    return notes
