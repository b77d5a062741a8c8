"""Builds the Estimator and its RunConfig."""

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
from estimator_trainer.patches import estimator_patches, private_api, training_patches
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import loop, loop_unsupported, stop_consensus

# More than any graph has.
_MOST_COLLECTIVES = 100_000


def for_training(plan: Plan, plugins: LoadedPlugins,
                 strategies: strategy.Strategies) -> tf.estimator.Estimator:
    """Returns the Estimator of this task."""
    with environment.tf_config(plan.task.tf_config()):
        estimator = _build(plan.config, plugins, strategies, plan.task)
    estimator_patches.train_with(estimator, functools.partial(_train, plan, plugins))
    return estimator


def _train(plan: Plan, plugins: LoadedPlugins, estimator: tf.estimator.Estimator,
           train: estimator_patches.Train, input_fn: InputFn, *args: Any,
           **kwargs: Any) -> tf.estimator.Estimator:
    """Trains, with the platform's TF_CONFIG for the user's functions and hooks."""
    config, is_of_script = plan.config, plugins.script is not None
    # A user's device_fn places the operations of a step by their names.
    is_placed = plugins.estimator is not None and plugins.estimator.config.device_fn is not None
    is_looped = config.steps_per_loop != 1 and not config.sync_replicas and not is_placed
    with environment.tf_config(plan.task.platform_tf_config):
        if is_of_script and config.is_collective and config.steps_per_loop < 2:
            # The graphs of an all-reduce must be alike, but a script may add hooks in one trainer.
            can_loop, is_looped = is_looped, stop_consensus.all_agree(is_looped, estimator.config)
            if can_loop and not is_looped:
                logging.info("one step in a session run: another trainer has hooks or saving"
                             " listeners")
        if not is_looped:
            return train(input_fn, *args, **kwargs)
        return _train_in_a_loop(
            config.steps_per_loop, estimator, train, input_fn, *args, **kwargs)


def _train_in_a_loop(steps_per_loop: int, estimator: tf.estimator.Estimator,
                     train: estimator_patches.Train, input_fn: InputFn, *args: Any,
                     **kwargs: Any) -> tf.estimator.Estimator:
    """Trains with several steps in a session run, if the graph that `train` builds can."""
    drawn = RandomState()
    # The public `config` is a copy, with a copy of the strategy.
    keys = private_api.CollectiveKeys(private_api.part(estimator, "_config").train_distribute)
    try:
        loop_unsupported.check_process()
        with (training_patches.initializing_outside(),
              training_patches.making_tables_with(loop.make_outside),
              training_patches.seeding_as(loop.graph_around)):
            return train(functools.partial(input_fn, is_held=True), *args, **kwargs)
    except loop_unsupported.LoopUnsupported as found:
        if steps_per_loop:
            raise errors.ConfigError(errors.Problem(
                "steps_per_loop", steps_per_loop, f"which this model_fn cannot do: {found}",
                example=errors.Setting("steps_per_loop", 1))) from found
        logging.info("one step in a session run: %s", found)
    # Each trainer of an all-reduce may have stopped at another place of the graph.
    keys.pass_over(_MOST_COLLECTIVES)
    # The user's functions are called again, and must draw the same random numbers.
    drawn.put_back()
    return train(input_fn, *args, **kwargs)


def for_one_process(config: TrainerConfig, plugins: LoadedPlugins) -> tf.estimator.Estimator:
    """Returns an Estimator that evaluates, predicts or exports in this process alone."""
    strategies = (strategy.Strategies(None, plugins.script.strategies.eval) if plugins.script else
                  strategy.for_one_process(config))
    with environment.no_cluster():
        return _build(config, plugins, strategies)


def _build(config: TrainerConfig, plugins: LoadedPlugins, strategies: strategy.Strategies,
           task: TaskConfig | None = None) -> tf.estimator.Estimator:
    own = plugins.estimator
    if own and not plugins.script:
        config = user_estimator.settings(config, own.config)
    kept = (plugins.script.run_config if plugins.script else user_estimator.kept(
        own.config, user_estimator.taken_by_flags(config)) if own else {})
    run_config = tf.estimator.RunConfig(**{
        **user_estimator.fields_of(config),
        "tf_random_seed": _graph_seed(config, plugins),
        "log_step_count_steps": config.log_steps,
        "train_distribute": strategies.train,
        "eval_distribute": strategies.eval,
        # By default worker i waits for 5 (i + 1) seconds.
        "experimental_max_worker_delay_secs": 0, **kept})
    if task and "ps" in task.cluster and not strategies.train:
        run_config = user_estimator.at_place(
            run_config, task, task.server_place(has_strategy=False))
    # The role's ConfigProto has device filters, without which a session waits for every task
    # (tensorflow/tensorflow#21629).
    merged = tf.compat.v1.ConfigProto()
    of_user = user_estimator.session_config(own.config) if own else None
    for part in (run_config.session_config, of_user, config_of(config), plugins.session_config):
        merged.MergeFrom(part or tf.compat.v1.ConfigProto())
    # Merging cannot unset a field.
    merged.allow_soft_placement = config.soft_placement
    run_config = run_config.replace(session_config=merged)
    if not strategies.train and not run_config.device_fn:
        run_config = run_config.replace(device_fn=by_size(run_config))
    return tf.estimator.Estimator(
        model_fn=plugins.model_fn, params=plugins.params, config=run_config,
        # `--warm_start_from` is the subject of `starting_checkpoint`.
        warm_start_from=None if config.warm_start_from else own and own.warm_start)


def _graph_seed(config: TrainerConfig, plugins: LoadedPlugins) -> int | None:
    """Returns the seed of all graphs; seeds Python, NumPy and Keras too, but not for a script."""
    if plugins.estimator and plugins.script:
        return plugins.estimator.config.tf_random_seed  # 0 is a seed there.
    if config.seed:
        # Keras initializers do not use the graph's seed.
        tf.keras.utils.set_random_seed(config.seed)
    return config.seed or None


def config_of(config: TrainerConfig) -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto of the settings, without the role's device filters.

    Raises:
      ConfigError: for a device or a precision that this machine does not have.
    """
    precision = config.mixed_precision
    gpus = [f"gpu:{i}" for i in range(len(tf.config.list_physical_devices("GPU")))]
    wanted, has = ("GPU", gpus) if precision == "float16" else ("CPU alone", not gpus)
    if precision != "none" and not has:
        raise errors.ConfigError(errors.Problem(
            "mixed_precision", precision, f"which TensorFlow has for a {wanted};"
            f" this machine has {', '.join(['cpu:0', *gpus])}",
            example=errors.Setting("mixed_precision", "bfloat16" if wanted == "GPU"
                                   else "float16")))
    session_config = tf.compat.v1.ConfigProto(
        allow_soft_placement=config.soft_placement,
        log_device_placement=config.log_device_placement)
    graph_options = session_config.graph_options
    rewrites = graph_options.rewrite_options
    if strategy.replicas_share_cpus(config.num_replicas):
        session_config.device_count["CPU"] = config.num_replicas
    if precision == "float16":
        rewrites.auto_mixed_precision = training_patches.REWRITER_ON
    if precision == "bfloat16":
        rewrites.auto_mixed_precision_onednn_bfloat16 = training_patches.REWRITER_ON
        # Remapping fuses convolutions into an op that has no bfloat16.
        rewrites.remapping = training_patches.REWRITER_OFF
    if config.xla:
        graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.ON_1
    return session_config


def by_size(config: tf.estimator.RunConfig) -> Callable[[tf.Operation], str] | None:
    """Returns the device function of a trainer of a RunConfig's cluster; None without two ps."""
    if config.num_ps_replicas < 2 or config.task_type == "ps":
        return None
    # A graph that is built again must get the same places.
    bytes_of_graphs: weakref.WeakKeyDictionary[tf.Graph, list[int]] = weakref.WeakKeyDictionary()

    def ps_with_fewest_bytes(op: tf.Operation) -> int:
        held_bytes = bytes_of_graphs.setdefault(op.graph, [0] * config.num_ps_replicas)
        chosen = int(np.argmin(held_bytes))
        held_bytes[chosen] += _size_bytes(op)
        return chosen

    device_of: Callable[[tf.Operation], str] = tf.compat.v1.train.replica_device_setter(
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        cluster=config.cluster_spec, ps_strategy=ps_with_fewest_bytes)
    return device_of


def _size_bytes(op: tf.Operation) -> int:
    """Returns the bytes of a variable; 1 for a table or an unknown shape."""
    shape = tf.TensorShape(op.get_attr("shape") if "shape" in op.node_def.attr else None)
    if not shape.is_fully_defined():
        return 1
    return max(1, int(shape.num_elements() * tf.dtypes.as_dtype(op.get_attr("dtype")).size))
