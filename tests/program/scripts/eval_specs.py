"""A script with two EvalSpecs; the second one has a name, data and exporters of its own."""

import argparse
import json

import tensorflow as tf


def data(shift):
    """Returns an input_fn, whose numbers are shifted."""
    def input_fn():
        x = tf.linspace(-1.0, 1.0, 32) + shift
        return tf.data.Dataset.from_tensor_slices(({"x": x}, x > 0)).batch(8)
    return input_fn


class Seen(tf.estimator.Exporter):
    """An exporter that prints which metrics it gets."""

    name = ""

    def __init__(self, name):
        self.name = name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        print(json.dumps([self.name, int(eval_result["global_step"]),
                          round(float(eval_result["label/mean"]), 3), bool(is_the_final_export),
                          sorted(eval_result)[0]]), flush=True)


parser = argparse.ArgumentParser()
parser.add_argument("--output_dir")
parser.add_argument("--name", default="shifted")
parser.add_argument("--exporter", default="of_second")
args = parser.parse_args()
classifier = tf.estimator.LinearClassifier(
    [tf.feature_column.numeric_column("x")], args.output_dir,
    config=tf.estimator.RunConfig(save_checkpoints_steps=10, tf_random_seed=1))
specs = [
    tf.estimator.EvalSpec(data(0.0), steps=None, throttle_secs=0, exporters=[Seen("of_first")]),
    tf.estimator.EvalSpec(data(0.75), steps=2, name=args.name, exporters=[Seen(args.exporter)])]
returned = tf.estimator.train_and_evaluate(
    classifier, tf.estimator.TrainSpec(lambda: data(0.0)().repeat(), max_steps=20), specs)
print("returned", returned and sorted(returned[0])[0])
