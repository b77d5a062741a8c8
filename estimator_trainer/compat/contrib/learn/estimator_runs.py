"""The three runs of an Estimator of `tf.contrib.learn`: a graph each, in a session of its own.

Source: tensorflow/contrib/learn/python/learn/estimators/estimator.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging

from estimator_trainer.compat.contrib.learn import summaries

_ModelFn = Callable[..., Any]


def saved_step(model_dir: str) -> int:
    """Returns the step of the latest checkpoint; -1 without one."""
    path = tf.train.latest_checkpoint(model_dir)
    return -1 if path is None else int(tf.train.load_variable(path, "global_step"))


def _device_fn(config: Any) -> Any:
    if config.num_ps_replicas == 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return tf.compat.v1.train.replica_device_setter(
        ps_tasks=config.num_ps_replicas, worker_device=worker, merge_devices=True,
        cluster=config.cluster_spec)


def train(graph: Any, config: Any, session_config: Any, input_fn: Callable[[], Any],
          model_fn: _ModelFn, hooks: list[Any]) -> Any:
    """Trains until a hook or the input ends it, and returns the last loss."""
    v1 = tf.compat.v1
    with graph.as_default(), graph.device(_device_fn(config)):
        v1.set_random_seed(config.tf_random_seed)
        step = v1.train.create_global_step(graph)
        features, labels = input_fn()
        _read_step()
        model = model_fn(features, labels)
        v1.add_to_collection(v1.GraphKeys.LOSSES, model.loss)
        hooks = [*hooks, v1.train.NanTensorHook(model.loss), v1.train.LoggingTensorHook(
            {"loss": model.loss, "step": step}, every_n_iter=100), *model.training_hooks]
        scaffold = model.scaffold or v1.train.Scaffold()
        if not (scaffold.saver or v1.get_collection(v1.GraphKeys.SAVERS)):
            v1.add_to_collection(v1.GraphKeys.SAVERS, v1.train.Saver(
                sharded=True, max_to_keep=config.keep_checkpoint_max, defer_build=True,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                save_relative_paths=True))
        with v1.train.MonitoredTrainingSession(
                master=config.master, is_chief=config.is_chief, checkpoint_dir=config.model_dir,
                scaffold=scaffold, hooks=hooks,
                chief_only_hooks=_saver_hooks(config, scaffold, hooks, model),
                save_checkpoint_secs=0, save_summaries_steps=config.save_summary_steps,
                max_wait_secs=config.session_creation_timeout_secs,
                config=session_config) as session:
            loss = None
            while not session.should_stop():
                _, loss = session.run([model.train_op, model.loss])
            return loss


def _read_step() -> None:
    from tensorflow.python.training import training_util
    getattr(training_util, "_get_or_create_global_step_read")()


def _saver_hooks(config: Any, scaffold: Any, hooks: Any, model: Any) -> list[Any]:
    saver = tf.estimator.CheckpointSaverHook
    chief_hooks = list(model.training_chief_hooks)
    wanted = config.save_checkpoints_secs or config.save_checkpoints_steps
    if wanted and not any(isinstance(hook, saver) for hook in (*hooks, *chief_hooks)):
        chief_hooks.insert(0, saver(config.model_dir, config.save_checkpoints_secs,
                                    config.save_checkpoints_steps, scaffold=scaffold))
    return chief_hooks


def evaluate(config: Any, session_config: Any, input_fn: Callable[[], Any], model_fn: _ModelFn,
             checkpoint: str, folder: str, steps: Any, hooks: list[Any]) -> dict[str, Any]:
    """Returns metrics by name, with the checkpoint's `global_step`, and writes them as events."""
    from tensorflow.python.training import evaluation
    with tf.Graph().as_default() as graph:
        tf.compat.v1.set_random_seed(config.tf_random_seed)
        step = tf.compat.v1.train.create_global_step(graph)
        features, labels = input_fn()
        model = model_fn(features, labels)
        values = {name: _value(metric) for name, metric in model.eval_metric_ops.items()}
        updates = [metric[1] for metric in model.eval_metric_ops.values()
                   if isinstance(metric, tuple)]
        if steps == 0:
            logging.warning("evaluation steps are 0. If `input_fn` does not raise "
                            "OutOfRangeError, the evaluation will never stop.")
        if steps:
            hooks = [*hooks, getattr(evaluation, "_StopAfterNEvalsHook")(steps)]
        key = "global_step"
        while key in values:
            key = f"_{key}"
        found: dict[str, Any] = getattr(evaluation, "_evaluate_once")(
            checkpoint, config.evaluation_master, model.scaffold, tf.group(*updates),
            final_ops={**values, key: step}, hooks=hooks, config=session_config)
        summaries.write(folder, found, found[key])
        return {**found, "global_step": found[key]}


def _value(metric: Any) -> Any:
    return metric[0] if isinstance(metric, tuple) else metric


def predictions(config: Any, session_config: Any, input_fn: Callable[[], Any],
                model_fn: _ModelFn, checkpoint: str, outputs: Any,
                feed_fn: Any) -> Iterator[Any]:
    """Returns an iterator of the predictions of batches."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(config.tf_random_seed)
        v1.train.create_global_step(graph)
        features = input_fn()
        if isinstance(features, (list, tuple)):
            features = features[0]
        model = model_fn(features)
        chosen = _chosen(model.predictions, outputs)
        session = v1.train.MonitoredSession(v1.train.ChiefSessionCreator(
            model.scaffold, config=session_config, checkpoint_filename_with_path=checkpoint))
    return _batches(session, chosen, feed_fn)


def _batches(session: Any, chosen: Any, feed_fn: Any) -> Iterator[Any]:
    queues = session.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
    with session:
        while not session.should_stop():
            try:
                fed = feed_fn() if feed_fn else None
            except StopIteration:
                return
            yield session.run(chosen, fed)
            if not feed_fn and not queues:
                return  # The features are constants.


def _chosen(found: Any, outputs: Any) -> Any:
    if not outputs:
        return found
    if not isinstance(found, dict):
        raise ValueError("outputs argument is not valid in case of non-dict predictions.")
    chosen = {key: value for key, value in found.items() if key in outputs}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {list(found)}, provided "
                         f"{outputs}.")
    return chosen
