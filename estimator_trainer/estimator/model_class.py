"""A class that builds a graph and runs its iterations itself, adapted to a model_fn.

The runner base class of a managed training service of 2017 had its users write

    class MyModel:
        def build_model(self, global_step, is_chief, sync, num_replicas): ...
        def get_init_fn(self, checkpoint_path): ...  # optional: init_fn(session), or None
        def train(self, session, global_step, is_chief): ...
        def after_train(self, session, is_chief): ...  # optional

and saw to cluster, checkpoints and restarts. `--model_fn=./my_model.py:MyModel` does that here.

`build_model` makes placeholders, or takes `features` and `labels`, and minimizes its loss with
`global_step`. `train` runs one iteration, and ends training by returning True. `init_fn` is run
where there is no checkpoint, when the graph is final; `after_train` in the chief, when training
has ended well. Each takes any of its arguments, by name; `build_model` also those of a model_fn,
and `train` the number of the step, `num_global_step`. `checkpoint_path` is the param of that name;
without a value, an init_fn that takes it is not called. `sync` is whether --sync_replicas is set,
and `num_replicas` the number of gradients of a step, or without it the number of trainers; the
SyncReplicasOptimizer is kept in `self`, or returned.

The logged loss is `self.loss`, whenever `train` fetches it; the examples are those it feeds first.
For evaluation and export, `build_model` returns an EstimatorSpec in the modes "eval" and "infer".
Without one, evaluation reports `self.loss` if that takes no placeholder; there is no export.
"""

import inspect
from typing import Any, Callable

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import stop
from estimator_trainer.graph import graph_state, operations
from estimator_trainer.plugins import loader

# Why training ended, as in Result.
REASON = "train_returned_true"


def adapt(model: type) -> Callable[..., tf.estimator.EstimatorSpec]:
    """Returns the model_fn of such a class."""

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any],
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        replicas = graph_state.SYNC_REPLICAS.first()
        known = {"features": features, "labels": labels, "mode": mode, "params": params,
                 "config": config, "is_chief": config.is_chief, "sync": replicas is not None,
                 "num_replicas": (max(config.num_worker_replicas, 1) if replicas is None
                                  else replicas),
                 "global_step": tf.compat.v1.train.get_or_create_global_step()}
        instance = loader.call(model, known)
        if mode == tf.estimator.ModeKeys.TRAIN:
            handle = loader.call(instance.build_model, known)
            return _training(instance, handle, config.is_chief, params.get("checkpoint_path"))
        sees_data = {"features", "labels", "mode"} & set(loader.arguments(instance.build_model))
        spec = loader.call(instance.build_model, known) if sees_data else None
        return spec if isinstance(spec, tf.estimator.EstimatorSpec) else _unknown(instance, mode)

    return model_fn


def is_without_input(thing: type) -> bool:
    """Returns whether this is such a class, and one that never sees the input_fn's data."""
    return (hasattr(thing, "build_model")
            and not {"features", "labels"} & set(loader.arguments(thing.build_model)))


class _Iterations(tf.estimator.SessionRunHook):
    """Runs `train` before each step of the Estimator, which only reads the results."""

    def __init__(self, instance: Any, loss: tf.Tensor, batch: tf.Tensor, is_chief: bool):
        """Makes the hook, which feeds the last loss and, for its size, a batch float32 [batch]."""
        self._instance, self._is_chief = instance, is_chief
        self._loss, self._batch, self._last_loss = loss, batch, 0.0

    def begin(self) -> None:
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._step = int(session.run(self._global_step))

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        seen = _Seen(run_context.session, getattr(self._instance, "loss", None), self._last_loss)
        if loader.call(self._instance.train, {
                "session": seen, "num_global_step": self._step, "global_step": self._global_step,
                "is_chief": self._is_chief}):
            stop.of(run_context.session.graph).request_end(
                "done", REASON, type(self._instance).__name__)
        self._last_loss = seen.loss
        return tf.estimator.SessionRunArgs(self._global_step, {
            self._loss: seen.loss, self._batch: np.zeros(seen.examples, np.float32)})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._step = int(run_values.results)

    def end(self, session: tf.compat.v1.Session) -> None:
        is_done = stop.of(session.graph).is_done
        if self._is_chief and is_done and hasattr(self._instance, "after_train"):
            loader.call(self._instance.after_train, {"session": session, "is_chief": True})


class _Seen:
    """A session that keeps the loss that is fetched, and how much is fed.

    Attributes:
      loss: The value of the loss when it was last fetched.
      examples: Number of examples in the first batch that was fed: an evaluation comes after it.
    """

    def __init__(self, session: tf.compat.v1.Session, tensor: Any, loss: float):
        self._session, self._tensor = session, tensor
        self.loss, self.examples = loss, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, fetches: Any, feed_dict: Any = None, *args: Any, **kwargs: Any) -> Any:
        lengths = [len(value) for value in (feed_dict or {}).values() if np.ndim(value)]
        self.examples = self.examples or max(lengths, default=0)
        if not any(each is self._tensor for each in tf.nest.flatten(fetches)):
            return self._session.run(fetches, feed_dict, *args, **kwargs)
        fetched, loss = self._session.run([fetches, self._tensor], feed_dict, *args, **kwargs)
        self.loss = float(np.mean(loss))
        return fetched


def _training(instance: Any, handle: Any, is_chief: bool,
              checkpoint_path: str | None) -> tf.estimator.EstimatorSpec:
    loss = tf.compat.v1.placeholder_with_default(tf.constant(0.0), [], "seen_loss")
    batch = tf.compat.v1.placeholder_with_default(tf.zeros([0]), [None], "fed_batch")
    graph_state.FED_BATCH.add(batch)
    kept = [handle, *getattr(handle, "__dict__", {}).values(), *vars(instance).values()]
    optimizers = [each for each in kept
                  if isinstance(each, tf.compat.v1.train.SyncReplicasOptimizer)]
    if optimizers:
        graph_state.SYNC_OPTIMIZER.add(optimizers[0])
    init_fn = None
    get_init_fn = getattr(instance, "get_init_fn", None)
    if get_init_fn and (checkpoint_path or "checkpoint_path" not in loader.arguments(get_init_fn)):
        made = loader.call(get_init_fn, {"checkpoint_path": checkpoint_path})
        # With (scaffold, session), as in the service's first version, or (session).
        is_whole = made is None or len(inspect.signature(made).parameters) == 2
        init_fn = made if is_whole else lambda scaffold, session: made(session)
    return tf.estimator.EstimatorSpec(
        tf.estimator.ModeKeys.TRAIN, loss=loss, train_op=tf.no_op(),
        training_hooks=[_Iterations(instance, loss, batch, is_chief)],
        scaffold=tf.compat.v1.train.Scaffold(init_fn=init_fn))


def _unknown(instance: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Returns the EstimatorSpec where build_model returned none."""
    name = type(instance).__name__
    if mode == tf.estimator.ModeKeys.PREDICT:
        raise errors.ConfigError(
            f"{name}.build_model returns no EstimatorSpec in mode {mode!r}, so there is nothing to"
            " export or predict; expected one with predictions and export_outputs, or no export."
            f" For example: {errors.Setting('exporters', ['none'])}")
    loss = getattr(instance, "loss", None)
    if loss is None or operations.is_fed(loss.op):
        logging.log_first_n(
            logging.WARNING, "%s.build_model returns no EstimatorSpec in mode 'eval', nor is there"
            " a loss that needs no feeding: evaluation reports a loss of 0", 1, name)
        loss = tf.constant(0.0)
    return tf.estimator.EstimatorSpec(mode, loss=loss)
