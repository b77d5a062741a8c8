"""Three short calls of an Estimator, with all that each one returns or leaves. argv: OUT."""

import os
import sys

try:
    import estimator_trainer.compat  # noqa: F401 (TensorFlow 2.16 and newer have no Estimator)
except ImportError:
    pass
import tensorflow as tf

v1 = tf.compat.v1
runs = []


def input_fn(times=None):
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[0.0]])).repeat(times)


def model_fn(features, labels, mode):
    w = v1.get_variable("w", [], initializer=tf.constant_initializer(1024.0))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"w": w * features["x"]})
    loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
    op = v1.train.GradientDescentOptimizer(0.25).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op, eval_metric_ops={
        "pair": v1.metrics.mean_tensor(tf.stack([w, 2 * w])), "a_mean": v1.metrics.mean(w)})


def receiver():
    x = v1.placeholder(tf.float32, [None, 1])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


class Counts(tf.estimator.SessionRunHook):
    def after_run(self, run_context, run_values):
        runs.append(1)


out = sys.argv[1]
metrics, exports = tf.estimator.train_and_evaluate(
    tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(
        f"{out}/both", save_checkpoints_steps=2, checkpoint_save_graph_def=False)),
    tf.estimator.TrainSpec(input_fn, max_steps=6),
    tf.estimator.EvalSpec(lambda: input_fn(1), steps=None, throttle_secs=0, exporters=[
        tf.estimator.LatestExporter("latest", receiver, exports_to_keep=1),
        tf.estimator.FinalExporter("final", receiver)]))
print("METRICS", [(name, type(value).__name__, value.tolist()) for name, value in metrics.items()])
print("EXPORTS", [(type(path).__name__, os.path.dirname(path.decode())[len(out):],
                   os.path.exists(path)) for path in exports])
print("GRAPHS", [name for name in os.listdir(f"{out}/both") if name.endswith((".meta", ".pbtxt"))])
estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(
    f"{out}/off", save_checkpoints_steps=None, save_checkpoints_secs=None,
    save_summary_steps=None, log_step_count_steps=None))
for _ in range(2):
    estimator.train(input_fn, max_steps=3, hooks=[Counts()])
    print("RUNS", len(runs), [name for name in os.listdir(f"{out}/off") if "ckpt" in name])
