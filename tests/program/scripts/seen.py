"""Prints which task it is, wherever a program may ask: TF_CONFIG, RunConfig, a strategy.

    seen.py MODEL_DIR [none|multi_worker_mirrored|parameter_server] [train|train_and_evaluate]
"""

import importlib.util
import json
import os
import sys

if importlib.util.find_spec("tensorflow.python.distribute.estimator_training") is None:
    import estimator_trainer.compat  # noqa: F401  On TensorFlow 2.16 and newer, before it.
import numpy as np
import tensorflow as tf

MODEL_DIR, STRATEGY, CALL = [*sys.argv[1:], *["none", "train_and_evaluate"][len(sys.argv) - 2:]][:3]
STRATEGIES = {
    "none": lambda: None,
    "multi_worker_mirrored": tf.distribute.MultiWorkerMirroredStrategy,
    "parameter_server": tf.compat.v1.distribute.experimental.ParameterServerStrategy}


def show(where, config):
    """Prints what a RunConfig says, after what TF_CONFIG says."""
    text = os.environ.get("TF_CONFIG")
    task = json.loads(text).get("task") if text else None
    seen = {name: getattr(config, name) for name in (
        "task_type", "task_id", "is_chief", "num_worker_replicas", "num_ps_replicas",
        "global_id_in_cluster", "master")}
    print("SEEN", json.dumps({"where": where, "tf_config": text, "task": task, **seen,
                              "cluster": config.cluster_spec.as_dict()}), flush=True)


def input_fn(mode, config):
    show(f"input_fn {mode}", config)
    x = np.linspace(-1, 1, 40, dtype=np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x + 1)).repeat()
    return dataset.batch(10) if mode == "train" else dataset.batch(10).take(2)


def model_fn(features, labels, mode, config):
    show(f"model_fn {mode}", config)
    if tf.distribute.has_strategy() and STRATEGY == "multi_worker_mirrored":
        resolver = tf.distribute.get_strategy().cluster_resolver
        print("RESOLVER", resolver.task_type, resolver.task_id, flush=True)
    w = tf.compat.v1.get_variable("w", [])
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=features["x"] * w)
    loss = tf.reduce_mean((features["x"] * w - labels) ** 2)
    step = tf.compat.v1.train.get_or_create_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class Hook(tf.estimator.SessionRunHook):
    def begin(self):
        show("hook", CONFIG)


def main():
    estimator = tf.estimator.Estimator(model_fn, config=CONFIG)
    if CALL == "train":
        estimator.train(input_fn, hooks=[Hook()], max_steps=10)
    else:
        tf.estimator.train_and_evaluate(
            estimator, tf.estimator.TrainSpec(input_fn, max_steps=10, hooks=[Hook()]),
            tf.estimator.EvalSpec(input_fn, steps=2, start_delay_secs=0, throttle_secs=0))
    if CONFIG.is_chief or CONFIG.task_type == "worker" and not CONFIG.cluster_spec:
        estimator.evaluate(input_fn, steps=2, name="again")


CONFIG = tf.estimator.RunConfig(
    MODEL_DIR, train_distribute=STRATEGIES[STRATEGY](), save_summary_steps=5,
    experimental_max_worker_delay_secs=0)
show("script", CONFIG)
if __name__ == "__main__":
    main()
