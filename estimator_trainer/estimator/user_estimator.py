"""An Estimator that the user's code made, taken apart to be trained here.

Its model_fn runs in an Estimator of this program (`builder.py`), with this program's roles, hooks
and loop over steps. The user's object itself never trains, so nothing has to be replaced in it.
"""

import copy
import dataclasses
from typing import Any, Collection
import weakref

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster.task_config import Place, TaskConfig
from estimator_trainer.compat import estimator_training
from estimator_trainer.patches import private_api
from estimator_trainer.settings.trainer_config import TrainerConfig

_TPUEstimator = tf.compat.v1.estimator.tpu.TPUEstimator
_KerasOptimizer = tf.keras.optimizers.legacy.Optimizer


class UserEstimator:
    """The parts of an Estimator, a canned one included.

    Attributes:
      params: What the Estimator's functions get as `params`, such as a dict or HParams.
      config: The Estimator's RunConfig.
      warm_start: What a fresh run starts from, or None.
    """

    def __init__(self, estimator: tf.estimator.Estimator):
        self._estimator = estimator
        self.params, self.config = estimator.params, estimator.config
        self.warm_start = private_api.part(estimator, "_warm_start_settings")
        # A canned Estimator's model_fn holds the user's optimizer. One of Keras works in one graph
        # alone, and there are several: a loop is tried first.
        cells = getattr(private_api.part(estimator, "_model_fn"), "__closure__", None) or ()
        self._optimizers = [(cell, copy.deepcopy(cell.cell_contents)) for cell in cells
                            if isinstance(cell.cell_contents, _KerasOptimizer)]

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any,
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        """Calls the Estimator's model_fn with any params, for `model_fn_adapter.adapt`."""
        for cell, unused in self._optimizers:
            cell.cell_contents = copy.deepcopy(unused)
        # The Estimator's own way to call the user's function; a copy has other params.
        bound = copy.copy(self._estimator)
        private_api.set_part(bound, "_params", params)
        config = of_its_class(config, self._estimator.config)
        return bound.model_fn(features, labels, mode, config)

    def input_params(self, mode: str, params: Any = None) -> Any:
        """Returns a copy of the Estimator's params, or of others, for an input_fn in a mode.

        A TPUEstimator adds a `batch_size`. Call it in the graph that the input_fn fills: by that a
        TPUEstimator's model_fn tells prediction from export, where it gets no `batch_size`.
        """
        return self._estimator.params if params is None else copy.deepcopy(params)


class _UserTPUEstimator(UserEstimator):
    """The parts of a TPUEstimator that runs without TPU."""

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


def take_apart(estimator: tf.estimator.Estimator) -> UserEstimator:
    """Returns the parts of `estimator`; raises ConfigError if it requires a TPU."""
    return (_UserTPUEstimator if isinstance(estimator, _TPUEstimator) else UserEstimator)(estimator)


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
           "keep_checkpoint_every_n_hours": "keep_checkpoint_every_n_hours", "device_fn": "",
           "protocol": "", "session_creation_timeout_secs": "", "checkpoint_save_graph_def": ""}
# The settings, and fields of a RunConfig, of which one decides when checkpoints are saved.
CLOCKS = frozenset({"save_checkpoints_steps", "save_checkpoints_secs"})


def fields_of(config: TrainerConfig) -> dict[str, Any]:
    """Returns the arguments of RunConfig that the settings decide for every Estimator."""
    clock = config.checkpoints
    return {"model_dir": config.model_dir, "tf_random_seed": config.seed or None,
            "save_summary_steps": config.summary_steps,
            "save_checkpoints_steps": clock.every_steps,
            "save_checkpoints_secs": None if clock.every_steps else clock.every_secs,
            "keep_checkpoint_max": config.keep_checkpoint_max,
            "keep_checkpoint_every_n_hours": config.keep_checkpoint_every_n_hours}


def settings(config: TrainerConfig, own: tf.estimator.RunConfig) -> TrainerConfig:
    """Returns the settings, with those of the user's RunConfig that no flag overrides.

    The model_dir, the checkpoints and the cluster are those of the flags.
    """
    defaults, kept = TrainerConfig(), {
        "seed": own.tf_random_seed, "save_summary_steps": own.save_summary_steps,
        "keep_checkpoint_max": own.keep_checkpoint_max,
        "keep_checkpoint_every_n_hours": own.keep_checkpoint_every_n_hours}
    return dataclasses.replace(config, **{
        name: value for name, value in kept.items()
        if value and getattr(config, name) == getattr(defaults, name)})


def kept(own: tf.estimator.RunConfig, taken: Collection[str]) -> dict[str, Any]:
    """Returns the arguments of RunConfig that the user's own decides, as they are.

    None and 0 switch something off, which not every flag can. `taken` are the names of the settings
    that flags decide.
    """
    fields = {field for field, name in _FIELDS.items() if name not in taken}
    if own.experimental_max_worker_delay_secs is not None:
        fields.add("experimental_max_worker_delay_secs")
    if not CLOCKS & set(taken):
        fields |= CLOCKS
    return {field: getattr(own, field) for field in fields}


def taken_by_flags(config: TrainerConfig) -> frozenset[str]:
    """Returns the settings that flags decide for an Estimator that a plug-in made."""
    default = TrainerConfig()
    return CLOCKS | {name for name in filter(None, _FIELDS.values())
                     if getattr(config, name) != getattr(default, name)}


def session_config(own: tf.estimator.RunConfig) -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto of the user's RunConfig, to be merged into the role's."""
    kept = tf.compat.v1.ConfigProto()
    kept.CopyFrom(own.session_config or kept)
    # The role's filters are there already, and merging would list them twice.
    del kept.device_filters[:]
    return kept


def of_platform(run_config: tf.estimator.RunConfig, task: TaskConfig) -> tf.estimator.RunConfig:
    """Returns a RunConfig for the user's code: its task and its cluster as the platform names them.

    `run_config` may be without a cluster, for an evaluation. Where workers join and leave, the
    numbers by which an input_fn may divide the data are those of the job's start.
    """
    run_config = at_place(run_config, task, task.platform_place)
    return estimator_training.config_with_share(
        run_config, task.num_trainers, task.input_pipeline_id) if task.num_sharing else run_config


def at_place(run_config: tf.estimator.RunConfig, task: TaskConfig,
             place: Place) -> tf.estimator.RunConfig:
    """Returns a RunConfig in which a task has the names of a place."""
    return estimator_training.config_of_task(
        run_config, place.cluster, place.job, place.number, task.is_chief)


def of_its_class(run_config: tf.estimator.RunConfig,
                 own: tf.estimator.RunConfig) -> tf.estimator.RunConfig:
    """Returns a copy of `run_config` in the class of the user's own, with what only that has.

    A model_fn of a TPUEstimator reads `config.tpu_config`.
    """
    run_config = copy.copy(run_config)
    vars(run_config).update({name: value for name, value in vars(own).items()
                             if name not in vars(run_config)})
    run_config.__class__ = type(own)
    return run_config
