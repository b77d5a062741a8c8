"""The user's input_fn, adapted: with an input_context, and a dataset wherever that can be."""

import dataclasses
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.estimator import user_estimator
from estimator_trainer.graph import graph_names
from estimator_trainer.input import batches, iterated_input
from estimator_trainer.input.data_service import DataService, HandedOut
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.training import loop
from estimator_trainer.training.loop_unsupported import LoopUnsupported

# Returns a tf.data.Dataset, or tensors that each session run computes.
InputFn = Callable[..., Any]
# No feature of a user's has such a name.
_FEATURES, _MARK = "estimator_trainer/features", "estimator_trainer/mark"


def adapt(function: InputFn, plan: Plan, train_function: InputFn | None = None) -> InputFn:
    """Makes `function` callable with every argument that the Estimator passes.

    The Estimator passes `input_context` under a strategy only, so plain ps training would read
    the whole input in every worker; here every call has one. `train_function` is the function of
    training, where it is another one.

    Returns:
      An input_fn. It returns a Dataset, also where `function` iterates one itself, or tensors that
      each session run has to compute, such as those of queues. It raises ConfigError when
      `function` returns anything else. In mode "train" the batches of a dataset that may end have a
      mark, which `without_mark` takes off, if trainers have to know the last batch, unless
      `is_marked=False`. A `service` hands out this trainer's records. With `is_held=True` the
      dataset is held for a loop (`loop.hold`), and LoopUnsupported is raised if there is none.
    """
    other_modes = _Adapted(function, plan.data, plan)
    training = _Adapted(train_function, plan.train_data, plan) if train_function else other_modes

    def input_fn(mode: str, params: dict[str, Any], config: Any = None,
                 input_context: tf.distribute.InputContext | None = None,
                 is_marked: bool = True, is_held: bool = False,
                 service: DataService | None = None) -> Any:
        has_strategy = input_context is not None
        num_replicas = input_context.num_replicas_in_sync if input_context else 1
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        # The default is the whole set, in whole batches.
        input_context = (_of_training(plan, input_context) if is_training
                         else tf.distribute.InputContext())
        if config is None:  # No Estimator calls it.
            with environment.no_cluster():
                config = tf.estimator.RunConfig(plan.config.model_dir or None,
                                                plan.config.seed or None)
        config = user_estimator.of_platform(config, plan.task)
        adapted = training if is_training else other_modes
        passed = {"mode": mode, "params": params, "config": config, "input_context": input_context}
        made, reason = adapted.call(passed, has_strategy)
        with graph_names.own():
            if not isinstance(made, tf.data.Dataset):
                adapted.check_tensors(reason, has_strategy, is_held,
                                      service is not None and is_training)
                return made
            if is_training:
                made = adapted.as_set(made, input_context)
                if service:
                    made = service.hand_out(made, made is getattr(input_context, "same_python"))
                # One trainer alone finds the end where it comes, as in the plain Estimator.
                is_last_needed = has_strategy or plan.task.num_trainers > 1
                if is_marked and is_last_needed and not batches.is_endless(made):
                    made = batches.mark(made).map(_with_mark)
                return loop.hold(made) if is_held else made
            is_split = mode == tf.estimator.ModeKeys.EVAL and num_replicas > 1
            return batches.split(made, num_replicas) if is_split else made

    return input_fn


def _of_training(plan: Plan, passed: tf.distribute.InputContext | None
                 ) -> tf.distribute.InputContext:
    """Returns the input_context of a trainer; `passed` is that of a strategy."""
    num_replicas = passed.num_replicas_in_sync if passed else plan.config.sync_replicas or 1
    if plan.has_data_service:
        return HandedOut(num_replicas_in_sync=num_replicas)
    return passed or tf.distribute.InputContext(
        plan.task.num_input_pipelines, plan.task.input_pipeline_id, num_replicas)


class _Adapted:
    """A user's input_fn, with its plug-in and the plan that it is called for."""

    def __init__(self, function: InputFn, plugin: Plugin | None, plan: Plan):
        self._function, self._plugin, self._plan = function, plugin, plan
        self._name = plugin.name if plugin else "input_fn"
        self._params = (plugin.default_params if plugin else None) or {}

    def call(self, passed: dict[str, Any], has_strategy: bool) -> tuple[Any, str]:
        """Returns the function's Dataset; or its tensors, and why they cannot become one."""
        try:
            return self._call(passed)
        except Exception:
            if has_strategy:
                # A strategy's variables do not do what queues do with theirs.
                with tf.Graph().as_default():
                    made, reason = self._call(passed)
                if not isinstance(made, tf.data.Dataset):
                    self.check_tensors(reason, has_strategy=True, is_held=False)
            raise

    def _call(self, passed: dict[str, Any]) -> tuple[Any, str]:
        task, mode = self._plan.task, passed["mode"]
        if (mode == tf.estimator.ModeKeys.TRAIN and task.num_input_pipelines > 1 and
                not self._plan.has_data_service and
                "input_context" not in loader.arguments(self._function)):
            logging.log_first_n(
                logging.WARNING, "input_fn %s takes no input_context, so it cannot know its shard:"
                " unless it shards by itself, each of the %d trainers reads the whole input.", 1,
                self._name, task.num_input_pipelines)
        with iterated_input.recorded() as iterated:
            made = loader.call(self._function, passed)
            while callable(made):
                # The plug-in is a function that makes the input_fn.
                if self._plugin:
                    loader.check_function(self._plugin, made)
                made = loader.call(made, passed)
        if isinstance(made, tf.data.Dataset):
            return made, ""
        batch = _batch(made)
        if batch is None:
            raise errors.ConfigError(
                f"input_fn {self._name!r} returned"
                f" {'None' if made is None else f'a {type(made).__name__}'} in mode {mode!r};"
                " expected a tf.data.Dataset of (features, labels), or such tensors. For"
                " example: return tf.data.Dataset.from_tensor_slices((features, labels)).batch(64)")
        dataset = iterated.dataset(batch)
        return (batch, iterated.reason) if dataset is None else (dataset, "")

    def check_tensors(self, reason: str, has_strategy: bool, is_held: bool,
                      is_handed_out: bool = False) -> None:
        """Raises an error where a strategy, a flag or a loop (`is_held`) needs a Dataset."""
        what = f"input_fn {self._name!r} returns tensors that cannot become a dataset: {reason}"
        config = self._plan.config
        if has_strategy:
            raise errors.ConfigError(
                f"{what}; a strategy (from {errors.Setting('train_distribute')},"
                f" {errors.Setting('eval_distribute')}) needs a tf.data.Dataset. Return one, or"
                f" train without: {errors.Setting('train_distribute', 'none')}")
        if is_handed_out:
            raise errors.ConfigError(
                f"{what}, so {errors.Setting('data_service', True)} cannot hand it out. Return a"
                f" tf.data.Dataset, or leave out {errors.Setting('data_service', True)}.")
        for flag, param in (("train_epochs", "epochs"), ("global_batch_size", "batch_size")):
            if getattr(config, flag) and param not in self._params:
                raise errors.ConfigError(
                    f"{what}, so it cannot be changed by {flag}, which is"
                    f" {getattr(config, flag)} (from {errors.Setting(flag)}). Let the input_fn do"
                    f" it itself, and leave out {errors.Setting(flag)}.")
        if is_held:
            raise LoopUnsupported(what)

    def as_set(self, dataset: tf.data.Dataset,
               input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        """Repeats and batches by the flags, unless the input_fn has params for that."""
        config = self._plan.config
        if config.train_epochs and "epochs" not in self._params:
            dataset = dataset.repeat(self._plan.passes)
        size, replicas = config.global_batch_size, input_context.num_replicas_in_sync
        if not size or "batch_size" in self._params:
            return dataset
        if size % replicas:
            raise errors.ConfigError(errors.Problem(
                "global_batch_size", size, expected=f"a multiple of the {replicas} replicas",
                example=errors.Setting("global_batch_size", replicas * 64)))
        return dataset.rebatch(input_context.get_per_replica_batch_size(size))


def _batch(result: Any) -> Any:
    """Returns the tensors of an input_fn, `(features, labels)` or features; None if it has none."""
    if isinstance(result, (tuple, list)):
        if len(result) != 2 or not _is_of_tensors(result[0]):
            return None
        features, labels = result
        return features if labels is None else (features, labels)
    return result if _is_of_tensors(result) else None


def _is_of_tensors(value: Any) -> bool:
    leaves = tf.nest.flatten(value)
    return bool(leaves) and all(isinstance(each, batches.TENSORS) for each in leaves)


@batches.as_it_is
def _with_mark(batch: Any, mark: tf.Tensor) -> Any:
    if isinstance(batch, tuple):
        features, labels = batch
        return {_FEATURES: features, _MARK: mark}, labels
    return {_FEATURES: batch, _MARK: mark}


def without_mark(features: Any) -> tuple[Any, tf.Tensor]:
    """Returns features as the model takes them, and their batch's mark (batches.py)."""
    if isinstance(features, dict) and set(features) == {_FEATURES, _MARK}:
        return features[_FEATURES], features[_MARK]
    return features, tf.constant(batches.BATCH)


@dataclasses.dataclass(frozen=True)
class DataSpec:
    """The specs of what an input_fn yields.

    Attributes:
      features: A TensorSpec, or a dict of them, with the batch dimension first; None for a None.
      batches: Number of batches, or INFINITE_CARDINALITY or UNKNOWN_CARDINALITY of tf.data.
      labels: A structure like `features`; None if the dataset yields no labels.
    """

    features: Any
    batches: int
    labels: Any = None

    @property
    def is_infinite(self) -> bool:
        """Whether the dataset never ends."""
        return bool(self.batches == tf.data.INFINITE_CARDINALITY)


def describe(input_fn: InputFn, params: dict[str, Any],
             mode: str = tf.estimator.ModeKeys.EVAL) -> DataSpec:
    """Returns the specs of what the adapted `input_fn` yields in a mode, reading no record."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        # A marked dataset has no known length.
        made = input_fn(mode, params, is_marked=False)
        if isinstance(made, tf.data.Dataset):
            element = made.element_spec
            cardinality = session.run(tf.data.experimental.cardinality(made))
        else:
            element = tf.nest.map_structure(tf.type_spec_from_value, made)
            cardinality = tf.data.UNKNOWN_CARDINALITY
        element = tf.nest.map_structure(
            lambda spec: None if isinstance(spec, batches.NoneTensorSpec) else spec, element)
        features, labels = element if isinstance(element, tuple) else (element, None)
    return DataSpec(features, int(cardinality), labels)
