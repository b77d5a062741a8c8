"""Networks, savers and callbacks of eager code."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.FATAL)
tf.enable_eager_execution()
tfe, found, constant = tf.contrib.eager, {}, tf.constant_initializer


def ended(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


class TwoLayers(tfe.Network):
    def __init__(self, name=None):
        super(TwoLayers, self).__init__(name=name)
        self.first = self.track_layer(tf.layers.Dense(4, kernel_initializer=constant(.1)))
        self.last = self.track_layer(tf.layers.Dense(2, kernel_initializer=constant(.2)))

    def call(self, inputs):
        return self.last(self.first(inputs))


class Nested(tfe.Network):
    def __init__(self):
        super(Nested, self).__init__()
        self.one = self.track_layer(TwoLayers())
        self.other = self.track_layer(TwoLayers(name="other"))

    def call(self, inputs):
        return self.other(self.one(inputs))


x = tf.constant(np.arange(6.).reshape(2, 3), tf.float32)
network, again, nested = TwoLayers(), TwoLayers(), Nested()
sequential = tfe.Sequential([tf.layers.Dense(2, kernel_initializer=constant(.1)), tf.nn.relu])
found["early"] = ended(lambda: network.name)
found["outputs"] = [each(x).numpy().tolist() for each in (network, again, nested, sequential)]
found["names"] = [[variable.name for variable in each.variables]
                  for each in (network, again, nested, sequential)]
found["layers"] = [network.get_layer("dense").name, network.get_layer(index=1).name]
found["errors"] = [ended(call) for call in (
    lambda: TwoLayers(name="a/b"), lambda: network.track_layer(3), lambda: network.add_loss(1),
    lambda: network.get_layer("none"), lambda: network.get_layer(), lambda: sequential.add(3),
    lambda: TwoLayers(name="two_layers")(x), lambda: network.add_variable("v", []),
    lambda: setattr(network, "trainable", False), lambda: network.get_layer(index=7))]
folder = tempfile.mkdtemp()
path = tfe.save_network_checkpoint(network, folder, global_step=7)
found["saved"] = [os.path.basename(path), tf.train.list_variables(path)]
for variable in network.variables:
    variable.assign(variable + 1.)
tfe.restore_network_checkpoint(again, path)
found["restored"] = again(x).numpy().tolist()
path = tfe.save_network_checkpoint(network, os.path.join(folder, "changed"))
fresh = Nested()
tfe.restore_network_checkpoint(fresh.one, path)
found["deferred"] = [fresh.one(x).numpy().tolist(), network(x).numpy().tolist()]
found["collision"] = ended(lambda: tfe.save_network_checkpoint(
    network, folder, map_func=lambda name: "same"))
gradients = tfe.implicit_gradients(lambda inputs: tf.reduce_mean(network(inputs) ** 2))
optimizer = tf.train.AdamOptimizer(.01)
optimizer.apply_gradients(gradients(x))
found["slots"] = sorted(each.name for each in tfe.get_optimizer_variables(optimizer))[:4]
variable = tfe.Variable(3., name="v")
path = tfe.Saver([variable]).save(os.path.join(folder, "saver"), global_step=5)
variable.assign(9.)
tfe.Saver({"v": variable}).restore(path)
with tfe.restore_variables_on_create(path, map_func=lambda name: name.replace("w", "v")):
    created = tf.get_variable("w", [])
found["saver"] = [os.path.basename(path), float(variable.numpy()), float(created.numpy())]
iterator = tfe.Iterator(tf.data.Dataset.range(3).batch(2))
found["iterator"] = [iterator.next().numpy().tolist(), next(iterator).numpy().tolist(),
                     ended(iterator.next)]
found["before"] = str(tfe.seterr(inf_or_nan="raise"))
found["infinite"] = ended(lambda: tf.constant(1.) / tf.constant(0.))
found["after"] = str(tfe.seterr(inf_or_nan="ignore"))
seen = []
tfe.add_execution_callback(lambda kind, inputs, attrs, outputs, name: seen.append(
    [kind, len(inputs), outputs[0].numpy().tolist()]))
tf.multiply(tf.constant(2.), tf.constant(3.))
tfe.clear_execution_callbacks()
found["seen"] = seen
print(json.dumps(found))
