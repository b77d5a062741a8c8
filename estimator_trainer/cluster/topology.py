"""Decides which strategies a cluster can train and evaluate with, before anything starts.

The verdict depends on what every task of a job knows, so that all of them start or none does: a
ps or an evaluator must not wait for trainers that refused.
"""

from __future__ import annotations

from estimator_trainer.cluster import task_config

STRATEGIES = ("none", "one_device", "mirrored", "central_storage", "multi_worker_mirrored",
              "parameter_server")

ONE_PROCESS = ("none", "one_device", "mirrored", "central_storage")

# These are the strategies by shape of the cluster; the first is the one to suggest.
_TRAINS = {
    "one trainer without ps": ONE_PROCESS + ("multi_worker_mirrored",),
    "several trainers without ps": ("multi_worker_mirrored",),
    "trainers with ps": ("none", "parameter_server"),
}

_SPANS_ONE = "it spans one process, so only the chief would train"
_WHY_NOT = {
    ("one trainer without ps", "parameter_server"): "no ps would hold the variables",
    ("several trainers without ps", "none"): "the workers would wait for variables no ps holds",
    ("several trainers without ps", "parameter_server"): "no ps would hold the variables",
    ("trainers with ps", "multi_worker_mirrored"): "it has no use for ps, and fails in them",
}


def problems(task: task_config.TaskConfig, train_distribute: str, eval_distribute: str,
             sync_replicas: int = 0, is_script: bool = False) -> tuple[str, ...]:
    """Returns what the cluster cannot do, one sentence each, the same in every task of a job.

    Args:
      task: Any task of the job. An evaluator that was not told of the others finds fault with the
        evaluation only.
      train_distribute: One of STRATEGIES, for training.
      eval_distribute: One of STRATEGIES, for evaluation, which runs in one process on every
        cluster.
      sync_replicas: Gradients that a step of ps training waits for, or 0.
      is_script: Whether the strategies are those of a script's RunConfig, not of flags.
    """
    found = []
    source = "RunConfig." if is_script else "--"
    shape = _shape(task)
    allowed = _TRAINS.get(shape, STRATEGIES)
    if train_distribute not in allowed:
        why = _WHY_NOT.get((shape, train_distribute), _SPANS_ONE)
        found.append(
            f"train_distribute is {train_distribute!r} (from {source}train_distribute); expected"
            f" one of {', '.join(sorted(allowed))} for {shape}, because {why}."
            f" For example: --train_distribute={allowed[0]}")
    if eval_distribute not in ONE_PROCESS:
        found.append(
            f"eval_distribute is {eval_distribute!r} (from {source}eval_distribute); expected one"
            f" of {', '.join(sorted(ONE_PROCESS))}, because evaluation runs in one process."
            " For example: --eval_distribute=none")
    if sync_replicas:
        found += _sync_problems(sync_replicas, shape, train_distribute, task.num_trainers)
    return tuple(found)


def events_problems(task: task_config.TaskConfig, worker_events: bool) -> tuple[str, ...]:
    """Returns what speaks against events of each worker, one sentence at most.

    Args:
      task: Any task of the job.
      worker_events: Whether each worker beside ps is to write events of its own.
    """
    shape = _shape(task)
    if not worker_events or shape in ("", "trainers with ps"):
        return ()
    return (f"worker_events is True (from --worker_events), and this is {shape}, whose events the"
            " chief writes; expected workers beside ps. For example: --noworker_events",)


def _sync_problems(count: int, shape: str, train_distribute: str, num_trainers: int) -> list[str]:
    got = f"sync_replicas is {count} (from --sync_replicas)"
    if shape and shape != "trainers with ps":
        return [f"{got}, and this is {shape}; it makes training with ps synchronous. For example:"
                " --sync_replicas=0"]
    if train_distribute != "none":
        return [f"{got}, which makes plain ps training synchronous; train_distribute is"
                f" {train_distribute!r}. For example: --train_distribute=none"]
    if shape and count > num_trainers:
        return [f"{got}; expected a number up to that of the trainers, {num_trainers}. For example:"
                f" --sync_replicas={num_trainers}"]
    return []


def _shape(task: task_config.TaskConfig) -> str:
    """Returns the key of the cluster in _TRAINS; "" when this task does not know it."""
    if "ps" in task.cluster:
        return "trainers with ps"
    if task.num_trainers > 1:
        return "several trainers without ps"
    return "one trainer without ps" if task.num_trainers else ""
