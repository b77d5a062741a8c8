"""Runs Estimator's work as one task of a cluster, under a tf.distribute strategy.

tensorflow-estimator 2.15.0 imports this as `tensorflow.python.distribute.estimator_training`,
which TensorFlow 2.16 removed. It calls five functions, and only where a strategy is set:

    RunConfig.__init__     init_run_config(config, tf_config)
    tf.estimator.train_and_evaluate
                           should_run_distribute_coordinator(config), then
                           train_and_evaluate(estimator, train_spec, eval_spec, executor_class)
    Estimator.train        estimator_train(estimator, train_fn, hooks)
    Estimator.evaluate     estimator_evaluate(estimator, evaluate_fn, hooks)

The last two only where `config._distribute_coordinator_mode` is set. The distribute coordinator
of TensorFlow, which is still there, then finds this process's role in TF_CONFIG, starts its
server, and calls back with the strategy configured for the role. The callback trains or
evaluates a copy of the Estimator whose RunConfig describes that role and no longer names a mode.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Mapping, Optional, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer.patches import private_api

_MULTI_WORKER_MIRRORED = (tf.distribute.MultiWorkerMirroredStrategy,
                          tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy)


def init_run_config(config: Any, tf_config: Any) -> None:
    """Sets the strategies, the cluster and the role in a RunConfig under construction.

    A config that the coordinator will run has the whole cluster but describes a local worker:
    its role comes with the callback. Any other config describes the task in TF_CONFIG.

    Raises:
      ValueError: A strategy or the cluster is given twice.
    """
    requested = config._experimental_distribute
    if requested:
        for field in ("train_distribute", "eval_distribute"):
            _adopt(config, field, getattr(requested, field))
    mode, cluster = _coordination(config, tf_config)
    config._distribute_coordinator_mode = mode
    config._init_distributed_setting_from_environment_var({} if mode else tf_config)
    if mode:
        config._cluster_spec = tf.train.ClusterSpec(cluster)
    else:
        config._maybe_overwrite_session_config_for_distributed_training()


def should_run_distribute_coordinator(config: Any) -> bool:
    """Returns whether `train_and_evaluate` below runs this config; else the Estimator does."""
    modes = private_api.coordinator_mode()
    return getattr(config, "_distribute_coordinator_mode", None) in (modes.STANDALONE_CLIENT,
                                                                     modes.INDEPENDENT_WORKER)


def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any,
                       executor_class: Any) -> None:
    """Trains, evaluates continuously or serves variables, as the task's role says.

    Unlike TensorFlow 2.15 this hands `TrainSpec.saving_listeners` to the chief.
    """

    def train(strategy: Any) -> None:
        task = _as_task(estimator, train_distribute=strategy)
        chief = task._config.is_chief
        # A client runs all workers in this process: a hook belongs to one graph.
        hooks = train_spec.hooks if chief or not _is_client(estimator) else ()
        listeners = _supported_listeners(train_spec, strategy) if chief else ()
        task.train(train_spec.input_fn, hooks=hooks, max_steps=train_spec.max_steps,
                   saving_listeners=listeners)

    def evaluate(strategy: Any) -> None:
        task = _as_task(estimator, eval_distribute=strategy)
        executor_class(task, train_spec, eval_spec).run_evaluator()

    config = estimator._config
    _coordinate(estimator, train, config.train_distribute, eval_fn=evaluate,
                eval_strategy=config.eval_distribute)


def estimator_train(estimator: Any, train_fn: Callable[[Any, Any, Any], Any], hooks: Any) -> Any:
    """Calls `train_fn(estimator, strategy, hooks)` from a client of a remote cluster."""
    strategy = estimator._config.train_distribute
    _check_client(estimator, strategy, "train")

    def train(strategy: Any) -> Any:
        return train_fn(_as_task(estimator, train_distribute=strategy), strategy, hooks)

    return _coordinate(estimator, train, strategy)


def estimator_evaluate(estimator: Any, evaluate_fn: Callable[[Any, Any, Any], Any],
                       hooks: Any) -> Any:
    """Returns `evaluate_fn(estimator, strategy, hooks)`, from a client of a remote cluster."""
    strategy = estimator._config.eval_distribute
    _check_client(estimator, strategy, "evaluate")

    def evaluate(strategy: Any) -> Any:
        return evaluate_fn(_as_task(estimator, eval_distribute=strategy), strategy, hooks)

    return _coordinate(estimator, evaluate, strategy)


def config_of_task(config: Any, cluster: Mapping[str, Sequence[str]], job: str, index: int,
                   is_chief: bool) -> Any:
    """Returns a copy of a RunConfig with the fields that TF_CONFIG decides, for another one.

    A RunConfig that the coordinator is still to run gets the cluster alone; see `init_run_config`.

    Args:
      config: The RunConfig.
      cluster: host:port of every task, by job; {} without a cluster.
      job: The job of this task, such as "master".
      index: The index of this task in its job.
      is_chief: Whether this task saves checkpoints.
    """
    config = copy.copy(config)
    jobs = {} if job == "evaluator" else {name: list(hosts) for name, hosts in cluster.items()}
    config._cluster_spec = tf.train.ClusterSpec(jobs)
    if getattr(config, "_distribute_coordinator_mode", None):
        return config
    config._session_config = _with_own_device(
        config._session_config, (config._task_type, config._task_id), (job, index))
    config._task_type, config._task_id, config._is_chief = job, index, is_chief
    is_alone = sum(map(len, jobs.values())) <= 1
    config._master = "" if is_alone else f"grpc://{jobs[job][index]}"
    _count(config, jobs, is_alone=not jobs and job != "evaluator")
    config._global_id_in_cluster = (
        _global_id(jobs, job, index) if jobs else None if job == "evaluator" else 0)
    return config


def config_with_share(config: Any, num_trainers: int, share: int) -> Any:
    """Returns a copy of a RunConfig with other numbers of trainers, and of this one among them."""
    config = copy.copy(config)
    config._num_worker_replicas, config._global_id_in_cluster = num_trainers, share
    return config


def config_alone(config: Any, session_config: tf.compat.v1.ConfigProto) -> Any:
    """Returns a copy of a RunConfig whose sessions run in this process, in no cluster."""
    config = copy.copy(config)
    config._distribute_coordinator_mode = None
    config._master = config._evaluation_master = ""
    config._session_config = session_config
    return config


def _with_own_device(session_config: Any, old: tuple[str, int], new: tuple[str, int]) -> Any:
    """Returns the ConfigProto with device filters for a task of another name.

    RunConfig lets a trainer see the ps, and itself by its job or by its task.
    """
    filters = {f"/job:{old[0]}", f"/job:{old[0]}/task:{old[1]}"}
    if old == new or not session_config or not filters & set(session_config.device_filters):
        return session_config
    changed = tf.compat.v1.ConfigProto()
    changed.CopyFrom(session_config)
    own = f"/job:{new[0]}" if new[0] in ("chief", "master") else f"/job:{new[0]}/task:{new[1]}"
    changed.device_filters[:] = [
        own if each in filters else each for each in session_config.device_filters]
    return changed


def _count(config: Any, jobs: Mapping[str, Sequence[str]], is_alone: bool = False) -> None:
    """Sets the numbers of ps and of trainers; a task that is alone counts as a trainer."""
    config._num_ps_replicas = len(jobs.get("ps", ()))
    config._num_worker_replicas = int(is_alone) + sum(
        len(hosts) for job, hosts in jobs.items() if job not in ("ps", "evaluator"))


def _adopt(config: Any, field: str, strategy: Any) -> None:
    if strategy is None:
        return
    if getattr(config, f"_{field}") is not None:
        raise ValueError(f"{field} is set twice (from RunConfig.{field} and "
                         f"RunConfig.experimental_distribute.{field}); set one of them")
    setattr(config, f"_{field}", strategy)


def _coordination(config: Any, tf_config: Any) -> Any:
    """Returns the coordinator's mode and cluster, (None, None) where it has nothing to do."""
    mode = private_api.coordinator_mode()
    cluster = tf_config.get("cluster")
    remote = config._experimental_distribute and config._experimental_distribute.remote_cluster
    if not config._train_distribute:
        return None, None
    if remote and cluster:
        raise ValueError("The cluster is set twice (from TF_CONFIG[\"cluster\"] and RunConfig."
                         "experimental_distribute.remote_cluster); set one of them")
    if remote:
        return mode.STANDALONE_CLIENT, remote
    if cluster and "master" not in cluster:
        return mode.INDEPENDENT_WORKER, cluster
    return None, None


def _is_client(estimator: Any) -> bool:
    mode = estimator._config._distribute_coordinator_mode
    return bool(mode == private_api.coordinator_mode().STANDALONE_CLIENT)


def _check_client(estimator: Any, strategy: Any, method: str) -> None:
    problem = None
    if not _is_client(estimator):
        problem = "each task of TF_CONFIG runs this program"
    elif "evaluator" in estimator._config.cluster_spec.jobs:
        problem = "remote_cluster has an evaluator"
    elif strategy.extended.experimental_between_graph:
        problem = f"{type(strategy).__name__} builds one graph for each worker"
    if problem:
        raise ValueError(f"Estimator.{method} cannot run in this cluster: {problem}. Call "
                         "tf.estimator.train_and_evaluate instead")


def _coordinate(estimator: Any, work: Callable[[Any], Any], strategy: Any,
                eval_fn: Optional[Callable[[Any], Any]] = None, eval_strategy: Any = None) -> Any:
    config = estimator._config
    return private_api.run_coordinator(
        work,
        strategy,
        eval_fn=eval_fn,
        eval_strategy=eval_strategy,
        mode=config._distribute_coordinator_mode,
        # Without one the coordinator takes cluster and task from TF_CONFIG.
        cluster_spec=config.cluster_spec if _is_client(estimator) else None,
        session_config=copy.deepcopy(config.session_config))


def _as_task(estimator: Any, **strategies: Any) -> Any:
    """Returns a copy of the Estimator for the task that runs in this thread.

    Args:
      estimator: The Estimator that the user constructed.
      **strategies: `train_distribute` or `eval_distribute`, configured for the task.
    """
    context = private_api.worker_context()
    config = copy.copy(estimator._config)
    config._distribute_coordinator_mode = None
    config._task_type, config._task_id = context.task_type, context.task_id
    config._is_chief = context.is_chief
    config._master = config._evaluation_master = context.master_target
    config._session_config = context.session_config
    # The training cluster has no evaluator.
    config._cluster_spec = tf.train.ClusterSpec(
        context.cluster_spec if context.distributed_mode else {})
    jobs = config._cluster_spec.as_dict()
    _count(config, jobs)
    config._global_id_in_cluster = _global_id(jobs, context.task_type, context.task_id)

    task = copy.copy(estimator)
    task._config, task._session_config = config, config._session_config
    for field, strategy in strategies.items():
        setattr(config, f"_{field}", strategy)
    task._train_distribution = config._train_distribute
    task._eval_distribution = config._eval_distribute
    return task


def _global_id(jobs: Any, task_type: Optional[str], task_id: Optional[int]) -> Optional[int]:
    """Numbers the tasks of a cluster: the chief or master, the others by name, the ps last."""
    if not jobs:
        return None
    before = 0
    for job in sorted(jobs, key=lambda job: (
            job == "ps", job not in ("chief", "master"), job)):
        if job == task_type:
            return before + (task_id or 0)
        before += len(jobs[job])
    return 0


def _supported_listeners(train_spec: Any, strategy: Any) -> Any:
    # Estimator raises on them under this strategy, on 2.15 they were dropped before they got there.
    if train_spec.saving_listeners and isinstance(strategy, _MULTI_WORKER_MIRRORED):
        logging.warning("TrainSpec.saving_listeners are not called under %s; use a hook instead.",
                        type(strategy).__name__)
        return ()
    return train_spec.saving_listeners
