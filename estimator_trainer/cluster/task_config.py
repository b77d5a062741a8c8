"""A TaskConfig tells which task of which cluster this process is, in one form for all platforms.

    TF_CONFIG or CLUSTER_SPEC text ──► declared_cluster ──► TaskConfig (normal form)

The normal form has a chief, holds no evaluator in the cluster, and is the same in every process
of a job, whatever its platform calls the roles. Standard library only; reads no environment.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import Any, Mapping

from estimator_trainer import errors
from estimator_trainer.cluster import correction
from estimator_trainer.cluster import declared_cluster

# RunConfig or the strategies would act on these keys; the normal form leaves them out.
_UNUSED = ("eval_session_master", "model_dir", "rpc_layer", "service", "session_master")


@dataclasses.dataclass(frozen=True)
class TaskConfig:
    """The role of this process, and the cluster it trains in.

    Attributes:
      cluster: host:port of every training task, by role among chief, worker and ps; {} when local,
        and in an evaluator that was not told of the others.
      role: local, chief, worker, ps or evaluator.
      index: Index of this task in its role.
      name: What the platform calls this task, such as "master:0"; "local" without a cluster.
      head_evaluates: Whether the cluster declared a `master`, whose job it is to evaluate, in its
        own process, at every checkpoint.
      has_evaluator: Whether the job is known to have an evaluator: one is declared, or this is one.
      trial: Number of the hyperparameter tuning trial, or "".
      notes: One line for each thing that was changed to reach the normal form.
      platform_names: What the platform calls the tasks of `cluster`, in the same order.
      source: Where the addresses come from, for messages.
      port_remedy: What changes the ports, for messages: "", or the words " by --FLAG".
    """

    cluster: Mapping[str, tuple[str, ...]]
    role: str
    index: int
    name: str
    head_evaluates: bool
    has_evaluator: bool
    trial: str
    notes: tuple[str, ...]
    platform_names: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    source: str = 'TF_CONFIG["cluster"]'
    port_remedy: str = ""

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
        """Number of chiefs and workers; 0 in an evaluator that was not told of the others."""
        if self.is_local:
            return 1
        return len(self.cluster.get("chief", ())) + len(self.cluster.get("worker", ()))

    @property
    def counts(self) -> dict[str, int]:
        """Number of tasks by role among chief, worker and ps; a task that is alone is a chief."""
        return {role: len(hosts) for role, hosts in self.cluster.items()} or {"chief": 1}

    @property
    def is_all_reduce(self) -> bool:
        """Whether several trainers make each step together, without a ps."""
        return self.num_trainers > 1 and "ps" not in self.cluster

    @property
    def num_input_pipelines(self) -> int:
        """Number of tasks that share the input of this one: the trainers, or itself alone."""
        return self.num_trainers if self.is_trainer else 1

    @property
    def input_pipeline_id(self) -> int:
        """This task's share of the input, from 0 (the chief) to num_input_pipelines - 1."""
        return self.index + 1 if self.role == "worker" else 0

    @property
    def address(self) -> str:
        """host:port of this task in the cluster; "" for a local task and an evaluator."""
        return self.cluster[self.role][self.index] if self.role in self.cluster else ""

    def name_of(self, role: str, index: int) -> str:
        """Returns what the platform calls the task that is `role` and `index` in the normal form.

        For example "worker:1" for ("worker", 0), where worker:0 acts as chief.
        """
        if (role, index) == (self.role, self.index):
            return self.name
        names = self.platform_names.get(role, ())
        return names[index] if index < len(names) else f"{role}:{index}"

    def tf_config(self, head: str = "chief") -> str:
        """Returns the normal form as JSON text, for `RunConfig` and the strategies to read.

        Args:
          head: What to call the chief: "chief" or "master". RunConfig evaluates in the process of
            a `master`, refuses one beside an evaluator, and strategies refuse one altogether.

        Returns:
          TF_CONFIG text; "{}" for a local task. An evaluator that was not told of the others gets
          a chief that does not exist, because RunConfig accepts no evaluator without a chief.

        Raises:
          ValueError: if head is "master" and the cluster declared none, or has an evaluator.
        """
        if head != "chief" and not (head == "master" and self.head_evaluates and
                                    not self.has_evaluator):
            raise ValueError(f"head is {head!r}; expected 'chief', or 'master' where the cluster"
                             " declared one and has no evaluator")
        if self.is_local:
            return "{}"
        cluster = {head if role == "chief" else role: list(hosts)
                   for role, hosts in self.cluster.items()}
        task: dict[str, Any] = {
            "type": head if self.role == "chief" else self.role,
            "index": self.index
        }
        if self.trial:
            task["trial"] = self.trial
        return json.dumps({"cluster": cluster or {"chief": ["localhost:2222"]}, "task": task})


def parse(tf_config: str | None, cluster_spec: str | None = None) -> TaskConfig:
    """Reads what a platform says about its cluster.

    A cluster of one task needs no "task"; with more tasks it is an error to leave it out.

    Args:
      tf_config: Text of TF_CONFIG. None, blank or "{}" means that this process trains alone.
      cluster_spec: Text of Vertex AI's CLUSTER_SPEC. Used in place of a TF_CONFIG that is None or
        blank; beside one, only to learn whether the job has an evaluator.

    Raises:
      TaskConfigError: if the text cannot work, with every mistake and a corrected example.
    """
    text, pools = (tf_config or "").strip(), (cluster_spec or "").strip()
    source = "CLUSTER_SPEC" if pools and not text else "TF_CONFIG"
    text = text or pools or "{}"
    spec = declared_cluster.read(text, source)
    if spec.problems:
        example = shlex.quote(correction.corrected(text))
        raise errors.TaskConfigError(
            [*spec.problems[:-1], f"{spec.problems[-1]}\nFor example: TF_CONFIG={example}"])
    return _normal_form(spec, source, "evaluator" in declared_cluster.read(pools or "{}").tasks)


def of_counts(counts: Mapping[str, int]) -> list[TaskConfig]:
    """Returns the tasks of a job whose addresses its platform has not given yet.

    Args:
      counts: Number of tasks by role among chief, worker, ps and evaluator, in the order of the
        result; roles without a task do not count.
    """
    tasks = {role: tuple(declared_cluster.Task(f"{role}:{i}", f"{role}-{i}:2222", "")
                         for i in range(count)) for role, count in counts.items() if count}
    return [_normal_form(declared_cluster.ClusterSpec(tasks, role, index, task.name), "TF_CONFIG",
                         False)
            for role, group in tasks.items() for index, task in enumerate(group)]


def _normal_form(spec: declared_cluster.ClusterSpec, source: str,
                 pools_evaluate: bool) -> TaskConfig:
    tasks = {role: list(spec.tasks[role]) for role in ("chief", "worker", "ps")
             if role in spec.tasks}
    head_evaluates = "chief" in tasks and tasks["chief"][0].name == "master:0"
    notes = _notes(spec, source)
    if tasks and "chief" not in tasks:
        # Every process does so, and all agree on who the chief is and on the shards.
        head, *workers = tasks.pop("worker")
        tasks = {"chief": [head]} | ({"worker": workers} if workers else {}) | tasks
    role, index = spec.role, spec.index
    for place, group in tasks.items():
        names = [task.name for task in group]
        if spec.name in names:
            role, index = place, names.index(spec.name)
    if role != "evaluator" and sum(map(len, tasks.values())) <= 1:
        role, index, tasks = "local", 0, {}
    return TaskConfig(
        cluster={place: tuple(task.address for task in group) for place, group in tasks.items()},
        role=role,
        index=index,
        name=spec.name or "local",
        head_evaluates=head_evaluates,
        has_evaluator="evaluator" in (role, *spec.tasks) or pools_evaluate,
        trial=str((spec.value.get("task") or {}).get("trial") or ""),
        notes=tuple(notes),
        platform_names={place: tuple(task.name for task in group)
                        for place, group in tasks.items()})


def _notes(spec: declared_cluster.ClusterSpec, source: str) -> list[str]:
    """Returns one line for each thing that the normal form changes."""
    notes = [f"TF_CONFIG is not set: the cluster is read from {source}"] * (source != "TF_CONFIG")
    trainers = [task.name for role in ("chief", "worker") for task in spec.tasks.get(role, ())]
    if len(trainers) == 1 and "ps" not in spec.tasks:
        if spec.role != "evaluator":
            notes.append(f"{trainers[0]} is the only task to train: it needs no cluster")
    elif trainers and "chief" not in spec.tasks:
        moved = f", {trainers[1]} becomes worker:0 and so on" if trainers[1:] else ""
        notes.append(f"no chief in {source}: {trainers[0]} acts as chief{moved}")
    elif trainers and not trainers[0].startswith("chief:"):
        notes.append(f"{trainers[0]} acts as chief")
    if spec.value.get("environment") == "google":
        notes.append('environment "google" is dropped: with it no task would start its server')
    notes += [f"{key} is dropped: it is not used here" for key in _UNUSED if spec.value.get(key)]
    return notes
