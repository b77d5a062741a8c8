"""A script as people publish them: absl flags, a RunConfig, train_and_evaluate, then an export."""

import json
import time

from absl import app, flags
import points
import tensorflow as tf

FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "Where checkpoints go.", required=True)
flags.DEFINE_integer("steps", 120, "Steps to train.")
flags.DEFINE_float("learning_rate", 0.1, "Learning rate.")
flags.DEFINE_float("secs_per_step", 0, "Seconds that a hook waits after each step.")
flags.DEFINE_integer("stop_at", 0, "Step at which a hook requests the end of training.")
flags.DEFINE_bool("all_reduce", False, "Whether to train with an all-reduce.")
flags.DEFINE_bool("again", False, "Whether to train a second time.")
flags.DEFINE_bool("fail", False, "Whether to fail when training is done.")


class Hook(tf.estimator.SessionRunHook):
    """A hook that makes steps slow, and ends training."""

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(tf.compat.v1.train.get_global_step())

    def after_run(self, run_context, run_values):
        time.sleep(FLAGS.secs_per_step)
        if FLAGS.stop_at and run_values.results >= FLAGS.stop_at:
            run_context.request_stop()


def main(_):
    strategy = tf.distribute.MultiWorkerMirroredStrategy() if FLAGS.all_reduce else None
    config = tf.estimator.RunConfig(model_dir=FLAGS.output_dir, save_checkpoints_steps=60,
                                    log_step_count_steps=10, train_distribute=strategy)
    config.num_points = 640  # Programs keep settings of their own there.

    def train_input_fn(params, config):
        return points.input_fn_of(config.num_points, 0, True)(params)

    estimator = tf.estimator.Estimator(points.model_fn, config=config, params={
        "batch_size": 16, "learning_rate": FLAGS.learning_rate})
    train_spec = tf.estimator.TrainSpec(
        train_input_fn, max_steps=FLAGS.steps,
        hooks=[Hook()] if FLAGS.secs_per_step or FLAGS.stop_at else None)
    eval_spec = tf.estimator.EvalSpec(
        points.input_fn_of(160, 1, False), steps=None, throttle_secs=600, exporters=[
            tf.estimator.FinalExporter("at_the_end", points.serving_input_receiver_fn),
            tf.estimator.LatestExporter("each_time", points.serving_input_receiver_fn)])
    returned = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    evaluated = estimator.evaluate(points.input_fn_of(160, 1, False))
    exported = estimator.export_saved_model(f"{FLAGS.output_dir}/own",
                                            points.serving_input_receiver_fn)
    print(json.dumps({"returned": repr(returned), "accuracy": float(evaluated["accuracy"]),
                      "exported": tf.compat.as_str(exported)}))
    if FLAGS.again:
        tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    if FLAGS.fail:
        raise ValueError("made up")


if __name__ == "__main__":
    app.run(main)
