"""Checkpoints of objects in eager code."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.FATAL)
tf.enable_eager_execution()
checkpoint, found, folder = tf.contrib.checkpoint, {}, tempfile.mkdtemp()
Variable = tf.contrib.eager.Variable


def ended(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


class Split(checkpoint.Checkpointable):
    def __init__(self):
        self.both = Variable([1., 2., 3., 4.])
        parts = checkpoint.split_dependency(
            ("first", "second"), (tf.float32, tf.float32),
            lambda saved: saved.update(first=self.both[:2], second=self.both[2:]),
            lambda read: self.both.assign(tf.concat([read["first"], read["second"]], 0)),
            self.both.device)
        for name, part in parts.items():
            self._track_trackable(part, name)


arrays, tracker, split = checkpoint.NumpyState(), checkpoint.UniqueNameTracker(), Split()
variables = [tracker.track(Variable(float(number)), name) for number, name in enumerate("xyx")]
arrays.x = np.zeros([2, 2])
root = tf.train.Checkpoint(arrays=arrays, tracker=tracker, split=split)
path = root.save(os.path.join(folder, "c"))
found["names"] = sorted(name for name, _ in tf.train.list_variables(path))
arrays.x[1, 1] = 4.
for variable in variables + [split.both]:
    variable.assign(variable * 0. - 1.)
root.restore(path)
other = tf.train.Checkpoint(arrays=checkpoint.NumpyState())
other.restore(path)
found["restored"] = [arrays.x.tolist(), other.arrays.x.tolist(), split.both.numpy().tolist(),
                     [float(each.numpy()) for each in variables]]
found["errors"] = [ended(lambda: setattr(arrays, "y", 3)), ended(lambda: tracker.track(3, "x"))]
model = tf.keras.Sequential([tf.keras.layers.Dense(
    2, input_shape=(3,), kernel_initializer=tf.constant_initializer(.1))])
optimizer = tf.train.AdamOptimizer(.1)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.ones([1, 3])))
gradients = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(gradients, model.trainable_variables))
path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(os.path.join(folder, "m"))
dot = checkpoint.dot_graph_from_checkpoint(path)
found["dot"] = [dot.count("Slot variable"), dot.count("Optimizer"), dot.splitlines()[0]]
found["meta"] = isinstance(checkpoint.object_metadata(path), checkpoint.CheckpointableObjectGraph)
model.compile(tf.train.AdamOptimizer(.1), "mse")
history = model.fit(np.ones([4, 3], "float32"), np.ones([4, 2], "float32"), verbose=0)
found["fit"] = [round(float(each), 5) for each in history.history["loss"]]
print(json.dumps(found))
