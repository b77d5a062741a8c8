"""The tutorial's script: an Estimator by hand around functions.py, without this program.

    python script.py RECORDS MODEL_DIR [evaluate]

`evaluate` evaluates on all workers of TF_CONFIG, as the text says one may.
"""

import functools
import sys

import functions
import tensorflow as tf

records, model_dir, *command = sys.argv[1:]
input_fn = functools.partial(functions.input_fn, params={"records": records})
tf.keras.utils.set_random_seed(7)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
distributed = {"eval_distribute" if command else "train_distribute": strategy}
config = tf.estimator.RunConfig(tf_random_seed=7, save_summary_steps=1, **distributed)
estimator = tf.estimator.Estimator(functions.model_fn, model_dir, config)
if command:
    print(estimator.evaluate(input_fn))
else:
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn),
        tf.estimator.EvalSpec(input_fn, steps=None))
