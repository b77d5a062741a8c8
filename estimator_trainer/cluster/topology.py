"""Decides which strategies a cluster can train and evaluate with, before anything starts.

The verdict depends on facts that every task of a job has, so all of them start or none does: a ps
or an evaluator must not wait for trainers that refused.
"""

from estimator_trainer.cluster import task_config
from estimator_trainer.errors import Problem, Setting

STRATEGIES = ("none", "one_device", "mirrored", "central_storage", "multi_worker_mirrored",
              "parameter_server")
ONE_PROCESS = ("none", "one_device", "mirrored", "central_storage")
# Strategies by shape of the cluster; the first is the one to suggest.
_TRAINS = {
    "one trainer without ps": ONE_PROCESS + ("multi_worker_mirrored",),
    "several trainers without ps": ("multi_worker_mirrored",),
    "trainers with ps": ("none", "parameter_server"),
}

_NO_PS = "which keeps variables in ps tasks, and this cluster has none"
_WHY_NOT = {
    ("one trainer without ps", "parameter_server"): _NO_PS,
    ("several trainers without ps", "none"): "with which the {} trainers (chief and workers) of"
    " this cluster wait for variables that ps tasks hold, and there are none",
    ("several trainers without ps", "parameter_server"): _NO_PS,
    ("trainers with ps", "multi_worker_mirrored"): "with which trainers keep the variables"
    " themselves, and this cluster has ps tasks, which would fail",
}
_MEANINGS = {
    "trainers with ps": ", which train with ps tasks (the Estimator by itself, or by a strategy),"
    " or a cluster without ps tasks",
    "several trainers without ps": ", or a cluster with ps tasks",
    "one trainer without ps": ", or a cluster with ps tasks"}


def problems(task: task_config.TaskConfig, train_distribute: str, eval_distribute: str,
             sync_replicas: int = 0, is_script: bool = False) -> tuple[Problem, ...]:
    """Returns what the cluster cannot do, the same in every task of a job.

    Args:
      task: Any task of the job. In an evaluator whose TF_CONFIG leaves out the others, only the
        evaluation is checked.
      train_distribute: One of STRATEGIES.
      eval_distribute: One of STRATEGIES; evaluation runs in one process on every cluster.
      sync_replicas: Gradients that a step of ps training waits for, or 0.
      is_script: Whether a script's RunConfig has the strategies.
    """
    found = []
    shape = _shape(task)
    allowed = _TRAINS.get(shape, STRATEGIES)
    if train_distribute not in allowed:
        why = _WHY_NOT.get((shape, train_distribute),
                           "which spans one process, so that only the chief would train")
        found.append(Problem(
            "train_distribute", train_distribute, why.format(task.num_trainers),
            example=Setting("train_distribute", allowed[0]),
            source="RunConfig.train_distribute" if is_script else "",
            expected=" or ".join(sorted(allowed)) + _MEANINGS[shape]))
    if eval_distribute not in ONE_PROCESS:
        found.append(Problem(
            "eval_distribute", eval_distribute, example=Setting("eval_distribute", "none"),
            source="RunConfig.eval_distribute" if is_script else "",
            expected=f"one of {', '.join(sorted(ONE_PROCESS))}, because evaluation runs in one"
            " process"))
    if sync_replicas:
        found += _sync_problems(sync_replicas, shape, train_distribute, task.num_trainers)
    return tuple(found)


def events_problems(task: task_config.TaskConfig, worker_events: bool) -> tuple[Problem, ...]:
    """Returns why workers cannot write events of their own, one problem at most."""
    shape = _shape(task)
    if not worker_events or shape in ("", "trainers with ps"):
        return ()
    return (Problem("worker_events", True, f"and this is {shape}, whose events the chief writes",
                    "workers beside ps", Setting("worker_events", False)),)


def _sync_problems(count: int, shape: str, train_distribute: str,
                   num_trainers: int) -> list[Problem]:
    if shape and shape != "trainers with ps":
        return [Problem("sync_replicas", count, "which makes training with ps synchronous, and this"
                        f" is {shape}", example=Setting("sync_replicas", 0))]
    if train_distribute != "none":
        return [Problem("sync_replicas", count, "which makes plain ps training synchronous, and"
                        f" train_distribute is {train_distribute!r}",
                        example=Setting("train_distribute", "none"))]
    if shape and count > num_trainers:
        return [Problem("sync_replicas", count, "which is more than there are trainers",
                        f"at most {num_trainers}", Setting("sync_replicas", num_trainers))]
    return []


def _shape(task: task_config.TaskConfig) -> str:
    """Returns the cluster's key in _TRAINS; "" where this task does not know the others."""
    if "ps" in task.cluster:
        return "trainers with ps"
    if task.num_trainers > 1:
        return "several trainers without ps"
    return "one trainer without ps" if task.num_trainers else ""
