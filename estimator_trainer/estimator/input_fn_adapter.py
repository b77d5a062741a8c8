"""The user's input_fn, adapted: always offered an input_context, and what it yields described."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterator

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.plan import plugins
from estimator_trainer.plan.run_plan import Plan
from estimator_trainer.steps import batches
from estimator_trainer.steps import loop

InputFn = Callable[..., tf.data.Dataset]
FEATURES, IS_LAST = "features", "is_last"


@dataclasses.dataclass(frozen=True)
class DataSpec:
    """What an input_fn yields.

    Attributes:
      features: A TensorSpec, or a dict of them, with the batch dimension first.
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


def adapt(function: InputFn, plan: Plan) -> InputFn:
    """Makes `function` callable with every argument that the Estimator passes.

    The Estimator passes `input_context` under a strategy only, so plain ps training would read
    the whole input in every worker; here every call has one.

    Args:
      function: The plug-in's function, with any subset of the Estimator's arguments.
      plan: Gives this process its place among the trainers, and the settings.

    Returns:
      An input_fn; it raises ConfigError when `function` returns no Dataset. In mode "train" its
      features are a dict of FEATURES, those of `function`, and IS_LAST, a bool scalar: whether
      this batch is the last. The model_fn that `model_fn_adapter.adapt` makes takes them apart;
      with `is_marked=False` the features are those of `function`; with `is_held=True` the dataset
      is held for a loop (`loop.hold`).
    """
    takes = plugins.arguments(function)
    name, task = plan.config.input_fn, plan.task

    def input_fn(mode: str, params: dict[str, Any], config: Any = None,
                 input_context: tf.distribute.InputContext | None = None,
                 is_marked: bool = True, is_held: bool = False) -> tf.data.Dataset:
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        if is_training and task.num_input_pipelines > 1 and "input_context" not in takes:
            logging.warning(
                "input_fn %s takes no input_context, so it cannot know its shard: unless it"
                " shards by itself, each of the %d trainers reads the whole input.", name,
                task.num_input_pipelines)
        num_replicas = input_context.num_replicas_in_sync if input_context else 1
        if not is_training:
            input_context = tf.distribute.InputContext()  # The whole set, in whole batches.
        passed = {"mode": mode, "params": params, "config": config,
                  "input_context": input_context or _shard(plan)}
        dataset = plugins.call(function, passed)
        if not isinstance(dataset, tf.data.Dataset):
            raise errors.ConfigError(
                f"input_fn {name!r} returned a {type(dataset).__name__} in mode {mode!r};"
                " expected a tf.data.Dataset of (features, labels), not yet iterated. For"
                " example: return tf.data.Dataset.from_tensor_slices((features, labels)).batch(64)")
        dataset = batches.untuned(dataset)
        if is_training:
            dataset = _as_set(dataset, plan, passed["input_context"])
            if is_marked:
                dataset = batches.mark_last(dataset).map(_with_mark)
            return loop.hold(dataset) if is_held else dataset
        is_split = mode == tf.estimator.ModeKeys.EVAL and num_replicas > 1
        return batches.split(dataset, num_replicas) if is_split else dataset

    return input_fn


def describe(input_fn: InputFn, params: dict[str, Any],
             mode: str = tf.estimator.ModeKeys.EVAL) -> DataSpec:
    """Describes what the adapted `input_fn` yields in a mode, reading no record."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        # Marked, a dataset does not tell its length any more.
        dataset = input_fn(mode, params, is_marked=False)
        element = dataset.element_spec
        features, labels = element if isinstance(element, tuple) else (element, None)
        cardinality = session.run(tf.data.experimental.cardinality(dataset))
    return DataSpec(features, int(cardinality), labels)


def feature_batches(input_fn: InputFn, params: dict[str, Any]) -> Iterator[Any]:
    """Yields the features of each batch to predict, as numpy arrays, in order."""
    graph = tf.Graph()
    with graph.as_default():
        dataset = input_fn(tf.estimator.ModeKeys.PREDICT, params)
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        features = element[0] if isinstance(element, tuple) else element
        start = [iterator.initializer, tf.compat.v1.tables_initializer()]
    # The graph is no default here: between two batches the caller runs code of its own.
    with contextlib.closing(tf.compat.v1.Session(graph=graph)) as session:
        session.run(start)
        while True:
            try:
                yield session.run(features)
            except tf.errors.OutOfRangeError:
                return


@batches.as_it_is
def _with_mark(batch: Any, is_last: tf.Tensor) -> Any:
    if isinstance(batch, tuple):
        features, labels = batch
        return {FEATURES: features, IS_LAST: is_last}, labels
    return {FEATURES: batch, IS_LAST: is_last}


def _as_set(dataset: tf.data.Dataset, plan: Plan,
            input_context: tf.distribute.InputContext) -> tf.data.Dataset:
    """Repeats and batches as the flags say, where the input_fn has no params that do."""
    config = plan.config
    known = (plan.data.default_params if plan.data else None) or {}
    if config.train_epochs and "epochs" not in known:
        dataset = dataset.repeat(config.train_epochs)
    if config.global_batch_size and "batch_size" not in known:
        try:
            dataset = dataset.rebatch(
                input_context.get_per_replica_batch_size(config.global_batch_size))
        except ValueError as error:
            replicas = input_context.num_replicas_in_sync
            raise errors.ConfigError(
                f"global_batch_size is {config.global_batch_size} (from --global_batch_size);"
                f" expected a multiple of the {replicas} replicas. For example:"
                f" --global_batch_size={replicas * 64}") from error
    return dataset


def _shard(plan: Plan) -> tf.distribute.InputContext:
    """Returns the context of one trainer without a strategy."""
    return tf.distribute.InputContext(
        num_input_pipelines=plan.task.num_input_pipelines,
        input_pipeline_id=plan.task.input_pipeline_id,
        num_replicas_in_sync=plan.config.sync_replicas or 1)
