"""A given Estimator: one that the user's code made, taken apart to be trained here.

Its model_fn runs in an Estimator of this program (`builder.py`), which has this program's roles,
hooks and loop over steps. The user's object itself never trains, so nothing has to be replaced
in it.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Callable, Collection, Mapping
import weakref

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.compat import estimator_training
from estimator_trainer.patches import private_api
from estimator_trainer.settings.trainer_config import TrainerConfig

_TPUEstimator = tf.compat.v1.estimator.tpu.TPUEstimator
_KerasOptimizer = tf.keras.optimizers.legacy.Optimizer


@dataclasses.dataclass(frozen=True)
class UserEstimator:
    """The parts of an Estimator.

    Attributes:
      model_fn: Takes features, labels, mode, params and config, by name, and returns an
        EstimatorSpec. It is for `model_fn_adapter.adapt`.
      params: What the Estimator's functions get as `params`, such as a dict or HParams.
      config: The Estimator's RunConfig.
      warm_start: What a fresh run starts from, or None.
      input_params: Takes a mode, and optionally other params than the Estimator's. It returns a
        copy for an input_fn in that mode, which a TPUEstimator gives a `batch_size`. It is called
        in the graph that the input_fn fills: by that a TPUEstimator's model_fn tells prediction
        from export, where it gets no `batch_size`.
    """

    model_fn: Callable[..., tf.estimator.EstimatorSpec]
    params: Any
    config: tf.estimator.RunConfig
    warm_start: tf.estimator.WarmStartSettings | None
    input_params: Callable[..., Any]


def take_apart(estimator: tf.estimator.Estimator) -> UserEstimator:
    """Returns the parts of `estimator`, a canned one and a TPUEstimator included.

    Raises:
      ConfigError: if it wants a TPU.
    """
    if isinstance(estimator, _TPUEstimator):
        parts: _Parts = _TPUParts(estimator)
    else:
        parts = _Parts(estimator)
    return UserEstimator(parts.model_fn, estimator.params, estimator.config,
                         private_api.part(estimator, "_warm_start_settings"), parts.input_params)


class _Parts:
    """The functions of an Estimator."""

    def __init__(self, estimator: tf.estimator.Estimator):
        self._estimator = estimator
        # A canned Estimator keeps an optimizer that it was given in its model_fn. One of Keras can
        # be used in one graph alone, and there are several, be it that a loop was tried first.
        cells = getattr(private_api.part(estimator, "_model_fn"), "__closure__", None) or ()
        self._optimizers = [(cell, copy.deepcopy(cell.cell_contents)) for cell in cells
                            if isinstance(cell.cell_contents, _KerasOptimizer)]

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        for cell, unused in self._optimizers:
            cell.cell_contents = copy.deepcopy(unused)
        # The Estimator's own way to call the user's function; a copy has other params.
        bound = copy.copy(self._estimator)
        private_api.set_part(bound, "_params", params)
        return bound.model_fn(features, labels, mode, of_its_class(
            config, self._estimator.config))

    def input_params(self, mode: str, params: Any = None) -> Any:
        return self._estimator.params if params is None else copy.deepcopy(params)


class _TPUParts(_Parts):
    """The functions of a TPUEstimator that runs without TPU."""

    def __init__(self, estimator: tf.estimator.Estimator):
        super().__init__(estimator)
        self._context = private_api.part(estimator, "_ctx")
        self._graphs_with_input: weakref.WeakSet[tf.Graph] = weakref.WeakSet()
        if private_api.part(self._context, "_use_tpu"):
            raise errors.ConfigError(
                "TPUEstimator has use_tpu=True (from its constructor, where it is the default), and"
                " this program trains on CPUs and GPUs. For example: use_tpu=False")

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        # Without this mark, which its own way to call input_fns leaves, it exports.
        private_api.set_part(
            self._estimator, "_is_input_fn_invoked", mode != tf.estimator.ModeKeys.PREDICT or
            tf.compat.v1.get_default_graph() in self._graphs_with_input)
        spec = super().model_fn(features, labels, mode, params, config)
        # TPUEstimator adds a hook of its own as the last one. The speed is logged here without it,
        # and a hook keeps a model out of the loop over steps.
        hooks = spec.training_hooks
        if hooks and type(hooks[-1]) is private_api.examples_hook():
            spec = spec._replace(training_hooks=hooks[:-1])
        return spec

    def input_params(self, mode: str, params: Any = None) -> Any:
        params = super().input_params(mode, params)
        self._graphs_with_input.add(tf.compat.v1.get_default_graph())
        with self._context.with_mode(mode) as context:
            batch_size = context.batch_size_for_input_fn
        if batch_size is not None:
            add_param(params, "batch_size", batch_size)
        return params


def add_param(params: Any, key: str, value: Any) -> None:
    """Adds an item to params, or replaces it, as TPUEstimator does: in a dict or in HParams."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)


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
    """Returns the ConfigProto of `given`, to be merged into the role's."""
    kept = tf.compat.v1.ConfigProto()
    kept.CopyFrom(given.session_config or kept)
    # The role's filters are there already, and merging would list them twice.
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
