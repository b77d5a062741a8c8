"""The Estimator and its RunConfig, built here and only here."""

from __future__ import annotations

import functools
from typing import Any, Callable
import weakref

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.estimator import strategy, user_estimator
from estimator_trainer.estimator.input_fn_adapter import InputFn
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.random_state import RandomState
from estimator_trainer.estimator.strategy import Strategies
from estimator_trainer.patches import estimator_patches, graph_patches, private_api, session_patches
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import loop, loop_unsupported, stop_consensus

# No graph has as many collective operations.
_MOST_COLLECTIVES = 100_000


def for_training(plan: Plan, parts: LoadedPlugins,
                 strategies: Strategies) -> tf.estimator.Estimator:
    """Builds the Estimator of this task.

    Args:
      plan: The plan of this task.
      parts: The user's functions, adapted. Their ConfigProto is merged into that of the role,
        whose device filters let a session begin without tasks it does not need
        (tensorflow/tensorflow#21629).
      strategies: The strategies of training and evaluation.
    """
    with environment.tf_config(plan.task.tf_config()):
        estimator = _build(plan.config, parts, strategies, plan.task)
    estimator_patches.train_with(estimator, functools.partial(_train, plan, parts))
    return estimator


def _train(plan: Plan, parts: LoadedPlugins, estimator: tf.estimator.Estimator,
           train: estimator_patches.Train, input_fn: InputFn, *args: Any,
           **kwargs: Any) -> tf.estimator.Estimator:
    """Trains; the user's functions and hooks, which are called meanwhile, see their TF_CONFIG."""
    config, is_of_script = plan.config, parts.script is not None
    # A user's device_fn knows the operations of a step by their names.
    is_placed = parts.given is not None and parts.given.config.device_fn is not None
    is_looped = config.steps_per_loop != 1 and not config.sync_replicas and not is_placed
    with environment.tf_config(plan.task.platform_tf_config):
        if is_of_script and config.is_collective and config.steps_per_loop < 2:
            # A script may have hooks in one trainer of an all-reduce alone: all graphs are alike.
            can_loop, is_looped = is_looped, stop_consensus.all_agree(is_looped, estimator.config)
            if can_loop and not is_looped:
                logging.info("one step in a session run: another trainer has hooks or saving"
                             " listeners")
        if is_looped:
            return _train_in_a_loop(config.steps_per_loop, is_of_script, estimator, train,
                                    input_fn, *args, **kwargs)
        return train(input_fn, *args, **kwargs)


def _train_in_a_loop(asked_steps: int, is_of_script: bool, estimator: tf.estimator.Estimator,
                     train: estimator_patches.Train, input_fn: InputFn, *args: Any,
                     **kwargs: Any) -> tf.estimator.Estimator:
    """Trains with several steps in a session run, if the model allows it.

    Only building the graph, which `train` does, tells whether it does.

    Args:
      asked_steps: Number of steps in a session run that the user asks for, or 0.
      is_of_script: Whether a script made the Estimator, and seeds what it wants to be seeded.
      estimator: The Estimator, or a copy of it.
      train: The Estimator's own `train`.
      input_fn: The user's input_fn, adapted.
      *args: Further arguments of `train`.
      **kwargs: Further arguments of `train`.
    """
    drawn = RandomState()
    # The public `config` is a copy, with a copy of the strategy.
    keys = private_api.CollectiveKeys(private_api.part(estimator, "_config").train_distribute)
    try:
        loop_unsupported.check_process()
        with graph_patches.initializing_outside(), graph_patches.seeding_as(loop.graph_around):
            return train(functools.partial(input_fn, is_held=True), *args, **kwargs)
    except loop_unsupported.LoopUnsupported as found:
        if asked_steps:
            raise errors.ConfigError(
                f"steps_per_loop is {asked_steps} (from --steps_per_loop), which this"
                f" model_fn cannot do: {found}. For example: --steps_per_loop=1") from found
        logging.info("one step in a session run: %s", found)
    # The graph may have been left at another place in each trainer of an all-reduce.
    keys.pass_over(_MOST_COLLECTIVES)
    # The user's functions are called a second time, and are to draw what they would have drawn.
    drawn.put_back()
    if not is_of_script:
        _seed(estimator.config.tf_random_seed)
    return train(input_fn, *args, **kwargs)


def for_one_process(config: TrainerConfig, parts: LoadedPlugins) -> tf.estimator.Estimator:
    """Builds an Estimator to evaluate, predict or export in this process alone.

    Args:
      config: The settings.
      parts: The user's functions, adapted.
    """
    strategies = (Strategies(None, parts.script.strategies.eval) if parts.script else
                  strategy.for_one_process(config))
    with environment.no_cluster():
        return _build(config, parts, strategies)


def _build(config: TrainerConfig, parts: LoadedPlugins, strategies: Strategies,
           task: TaskConfig | None = None) -> tf.estimator.Estimator:
    given = parts.given
    if given and not parts.script:
        config = user_estimator.settings(config, given.config)
    seed = _graph_seed(config, parts)
    clock = config.checkpoints
    kept = (parts.script.run_config if parts.script else user_estimator.kept(
        given.config, user_estimator.taken_by_flags(config)) if given else {})
    run_config = tf.estimator.RunConfig(**{
        "model_dir": config.model_dir,
        "tf_random_seed": seed,
        "save_summary_steps": config.save_summary_steps,
        "save_checkpoints_steps": clock.every_steps,
        "save_checkpoints_secs": None if clock.every_steps else clock.every_secs,
        "keep_checkpoint_max": config.keep_checkpoint_max,
        "log_step_count_steps": config.log_every_steps,
        "train_distribute": strategies.train,
        "eval_distribute": strategies.eval,
        # The Estimator holds worker i back for 5 (i + 1) seconds otherwise.
        "experimental_max_worker_delay_secs": 0, **kept})
    if task and "ps" in task.cluster and not strategies.train:
        run_config = user_estimator.of_servers(run_config, task)
    # The role's ConfigProto has device filters, without which a session waits for every task.
    merged = tf.compat.v1.ConfigProto()
    of_given = user_estimator.session_config(given.config) if given else None
    for part in (run_config.session_config, of_given, config_of(config),
                 parts.session_config):
        merged.MergeFrom(part or tf.compat.v1.ConfigProto())
    # Merging cannot unset a field.
    merged.allow_soft_placement = config.soft_placement
    run_config = run_config.replace(session_config=merged)
    if not strategies.train and not run_config.device_fn:
        run_config = run_config.replace(device_fn=by_size(run_config))
    return tf.estimator.Estimator(
        model_fn=parts.model_fn, params=parts.params, config=run_config,
        # A warm start that flags ask for is done by `warm_start`.
        warm_start_from=None if config.warm_start_from else given and given.warm_start)


def _graph_seed(config: TrainerConfig, parts: LoadedPlugins) -> int | None:
    """Returns the seed of all graphs; seeds Python and NumPy too, unless a script sees to that."""
    if parts.given and parts.script:
        return parts.given.config.tf_random_seed  # 0 is a seed there.
    _seed(config.seed or None)
    return config.seed or None


def _seed(seed: int | None) -> None:
    """Seeds anew what Keras initializers draw from, which is not the graph's seed."""
    if seed:
        tf.keras.utils.set_random_seed(seed)


def config_of(config: TrainerConfig) -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto that the settings ask for, to be merged into that of the role.

    Raises:
      ConfigError: for a device or a precision that this machine does not have.
    """
    _check_devices(config)
    session_config = tf.compat.v1.ConfigProto(
        allow_soft_placement=config.soft_placement,
        log_device_placement=config.log_device_placement)
    if strategy.replicas_share_cpus(config):
        session_config.device_count["CPU"] = config.num_replicas
    graph_options = session_config.graph_options
    if config.mixed_precision == "float16":
        graph_options.rewrite_options.auto_mixed_precision = session_patches.REWRITER_ON
    if config.mixed_precision == "bfloat16":
        graph_options.rewrite_options.auto_mixed_precision_onednn_bfloat16 = (
            session_patches.REWRITER_ON)
        # Remapping fuses convolutions with what follows them to an op that has no bfloat16.
        graph_options.rewrite_options.remapping = session_patches.REWRITER_OFF
    if config.xla:
        graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.ON_1
    return session_config


def _check_devices(config: TrainerConfig) -> None:
    gpus = [f"gpu:{i}" for i in range(len(tf.config.list_physical_devices("GPU")))]
    wanted, has = ("GPU", gpus) if config.mixed_precision == "float16" else ("CPU alone", not gpus)
    if config.mixed_precision != "none" and not has:
        other = "bfloat16" if wanted == "GPU" else "float16"
        raise errors.ConfigError(
            f"mixed_precision is {config.mixed_precision!r} (from --mixed_precision), which"
            f" TensorFlow has for a {wanted}; this machine has {', '.join(['cpu:0', *gpus])}."
            f" For example: --mixed_precision={other}")


def by_size(config: tf.estimator.RunConfig) -> Callable[[tf.Operation], str] | None:
    """Returns the device function of a trainer of a RunConfig's cluster; None without two ps."""
    if config.num_ps_replicas < 2 or config.task_type == "ps":
        return None
    device_of: Callable[[tf.Operation], str] = tf.compat.v1.train.replica_device_setter(
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        cluster=config.cluster_spec, ps_strategy=_FewestBytes(config.num_ps_replicas))
    return device_of


class _FewestBytes:
    """Chooses the ps of a variable."""

    def __init__(self, num_ps: int):
        self._num_ps = num_ps
        # It is kept by graph: one that is made again must come to the same places.
        self._held_bytes: weakref.WeakKeyDictionary[tf.Graph, list[int]] = (
            weakref.WeakKeyDictionary())

    def __call__(self, op: tf.Operation) -> int:
        held_bytes = self._held_bytes.setdefault(op.graph, [0] * self._num_ps)
        chosen = int(np.argmin(held_bytes))
        held_bytes[chosen] += _size_bytes(op)
        return chosen


def _size_bytes(op: tf.Operation) -> int:
    """Returns the bytes of a variable; 1 for a table or where its shape is not known."""
    if "shape" not in op.node_def.attr:
        return 1
    shape = tf.TensorShape(op.get_attr("shape"))
    if not shape.is_fully_defined():
        return 1
    return max(1, int(shape.num_elements() * tf.dtypes.as_dtype(op.get_attr("dtype")).size))
