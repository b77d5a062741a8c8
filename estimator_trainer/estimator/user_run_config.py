"""The RunConfig of a given Estimator: what of it is kept in a run of this program."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Collection, Mapping

import tensorflow as tf

from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.compat import estimator_training
from estimator_trainer.settings.trainer_config import TrainerConfig

# Fields of a RunConfig, with the setting that stands above each; "" where there is none.
_FIELDS = {"tf_random_seed": "seed", "save_summary_steps": "save_summary_steps",
           "keep_checkpoint_max": "keep_checkpoint_max", "log_step_count_steps": "log_every_steps",
           "keep_checkpoint_every_n_hours": "", "device_fn": "", "protocol": "",
           "session_creation_timeout_secs": "", "checkpoint_save_graph_def": ""}
# The settings, and fields of a RunConfig, of which one decides when checkpoints are saved.
CLOCKS = frozenset({"save_checkpoints_steps", "save_checkpoints_secs"})


def settings(config: TrainerConfig, given: tf.estimator.RunConfig) -> TrainerConfig:
    """Returns the settings, with those of `given` that no flag says otherwise.

    The model_dir, the checkpoints and the cluster are those of the flags.
    """
    defaults, kept = TrainerConfig(), {
        "seed": given.tf_random_seed, "save_summary_steps": given.save_summary_steps,
        "keep_checkpoint_max": given.keep_checkpoint_max}
    return dataclasses.replace(config, **{
        name: value for name, value in kept.items()
        if value and getattr(config, name) == getattr(defaults, name)})


def kept(given: tf.estimator.RunConfig, taken: Collection[str]) -> dict[str, Any]:
    """Returns the arguments of RunConfig that `given` decides, as they are.

    None and 0 switch something off, which a setting of a flag may not say.

    Args:
      given: The RunConfig of the user's Estimator.
      taken: The names of the settings that flags decide.
    """
    found = {field: getattr(given, field) for field, name in _FIELDS.items() if name not in taken}
    if given.experimental_max_worker_delay_secs is not None:
        found["experimental_max_worker_delay_secs"] = given.experimental_max_worker_delay_secs
    if not CLOCKS & set(taken):
        found |= {name: getattr(given, name) for name in CLOCKS}
    return found


def never_saves(fields: Mapping[str, Any]) -> bool:
    """Returns whether what `kept` returned switches checkpoints off."""
    return CLOCKS <= fields.keys() and not any(fields[name] for name in CLOCKS)


def taken_by_flags(config: TrainerConfig) -> frozenset[str]:
    """Returns the settings that flags decide for an Estimator that a plug-in made."""
    default = TrainerConfig()
    return CLOCKS | {name for name in filter(None, _FIELDS.values())
                     if getattr(config, name) != getattr(default, name)}


def session_config(given: tf.estimator.RunConfig) -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto of `given`, to be merged into that of the role."""
    kept = tf.compat.v1.ConfigProto()
    kept.CopyFrom(given.session_config or kept)
    # Those of the role are there already, and merging would list them twice.
    del kept.device_filters[:]
    return kept


def of_platform(run_config: tf.estimator.RunConfig, task: TaskConfig) -> tf.estimator.RunConfig:
    """Returns a RunConfig for the user's code: its task and its cluster as the platform names them.

    Args:
      run_config: Any RunConfig of this process; also one without a cluster, for an evaluation.
      task: This task.
    """
    place = task.platform_place
    return estimator_training.config_of_task(
        run_config, place.cluster, place.job, place.number, task.is_chief)


def of_servers(run_config: tf.estimator.RunConfig, task: TaskConfig) -> tf.estimator.RunConfig:
    """Returns a RunConfig for a task of a ps job without strategy, as its servers name the tasks.

    Args:
      run_config: A RunConfig that was made with the normal form of the cluster.
      task: This task.
    """
    place = task.server_place(has_strategy=False)
    return estimator_training.config_of_task(
        run_config, place.cluster, place.job, place.number, task.is_chief)


def of_its_class(run_config: tf.estimator.RunConfig,
                 given: tf.estimator.RunConfig) -> tf.estimator.RunConfig:
    """Returns a copy of `run_config` in the class of `given`, with what only that has.

    A model_fn of a TPUEstimator reads `config.tpu_config`.
    """
    run_config = copy.copy(run_config)
    own: dict[str, Any] = {name: value for name, value in vars(given).items()
                           if name not in vars(run_config)}
    run_config.__class__ = type(given)
    vars(run_config).update(own)
    return run_config
