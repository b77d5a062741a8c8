"""The run of the text: its Keras model on two workers and an evaluator, beside Keras' own fit."""

import json
import os
import subprocess
import sys

from examples.page import Row
from examples.runs import EXAMPLES

SOURCE = ("The text: `keras_model_to_estimator.py` of tensorflow/ecosystem, whose data are random;"
          " its loss is not recorded, so Keras' own `fit` of the same model on the same rows stands"
          " for it.")
_PLUGIN = '''
import numpy as np
import tensorflow as tf

def build():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu", input_shape=(10,)),
                                 tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile(tf.keras.optimizers.legacy.SGD(0.2), "binary_crossentropy")
    return model

def rows(repeats):
    random = np.random.default_rng(1)
    x, y = random.random((1024, 10), "f"), random.integers(2, size=(1024, 1))
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeats).batch(32)

def input_fn(mode):
    return rows(100 if mode == "train" else 1)
'''
_FIT = ('import estimator_trainer.compat, json, text_model; model = text_model.build();'
        ' model.fit(text_model.rows(100), verbose=0);'
        ' print(json.dumps([model.count_params(), int(model.optimizer.iterations),'
        ' model.evaluate(text_model.rows(1), verbose=0)]))')


def run(runs):
    """Trains in one process, on two workers with an evaluator, and by `fit`."""
    runs.folder.mkdir(parents=True, exist_ok=True)
    path = runs.folder / "text_model.py"
    path.write_text(_PLUGIN)
    flags = ("--model_fn=keras_model", f"--param=keras_model={path}:build", f"--input_fn={path}",
             "--train_steps=0", "--exporters=none")
    ran = subprocess.run(
        [sys.executable, "-c", _FIT], text=True, check=True, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{runs.folder}:{EXAMPLES.parent}"})
    return (json.loads(ran.stdout.splitlines()[-1]), runs.train("one", *flags),
            runs.launch("cluster", "--worker=1 --evaluator=1",
                        "--train_distribute=multi_worker_mirrored", *flags))


ROWS = (
    Row("trained numbers of the network (10-16-1)", "193", lambda done: done[1].parameters),
    Row("steps: 100 epochs of 1,024 rows in batches of 32", "3,200",
        lambda done: f"{done[1].step:,}"),
    Row("loss on the rows after them: `fit`, and this program in one process",
        lambda done: f"{done[0][2]:.5f}", lambda done: f"{done[1].metrics['loss']:.5f}"),
    Row("the same: `fit`, and two workers of 16 rows a batch, all-reduce",
        lambda done: f"{done[0][2]:.5f}", lambda done: f"{done[2].metrics['loss']:.5f}"),
    Row("evaluators", "1, on its own", lambda done: done[2].tasks["evaluator"]),
)
