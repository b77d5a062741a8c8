"""tf.contrib.quantize."""

import numpy as np
import tensorflow as tf

quantize, layers = tf.contrib.quantize, tf.contrib.layers


def _ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod(shape))
    return tf.constant(np.sin(np.arange(count) * 1.7 + 0.3).reshape(shape), dtype)


def _inputs(*shape):
    return tf.constant(np.cos(np.arange(np.prod(shape)) * 0.9).reshape(shape) * 2, tf.float32)


def _answer(outputs, runs=2):
    """Returns the outputs of some runs, the variables after them, and the fake quantizations."""
    fakes = sorted(op.name for op in tf.get_default_graph().get_operations()
                   if op.type.startswith("FakeQuant"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(outputs) for _ in range(runs)]
        values = {each.op.name: session.run(each) for each in tf.global_variables()
                  if "quant" in each.op.name or "moving" in each.op.name}
    return {"found": found, "values": values, "fakes": fakes}


def _norm(is_training, **options):
    return {"normalizer_fn": layers.batch_norm, "normalizer_params": dict(
        is_training=is_training, fused=True, scale=True, decay=0.9, **options)}


def _network(is_training):
    norm = _norm(is_training)
    net = layers.conv2d(_inputs(2, 6, 6, 3), 4, 3, weights_initializer=_ramp, scope="conv",
                        activation_fn=tf.nn.relu6, **norm)
    net = layers.separable_conv2d(net, None, 3, 1, weights_initializer=_ramp, scope="depthwise",
                                  activation_fn=tf.nn.relu6, **norm)
    net = tf.reduce_mean(net, [1, 2])
    return layers.fully_connected(net, 3, None, weights_initializer=_ramp, scope="logits")


def training_graph():
    outputs = _network(True)
    quantize.create_training_graph()
    return _answer(outputs)


def training_graph_delayed():
    outputs = _network(True)
    quantize.create_training_graph(tf.get_default_graph(), quant_delay=2)
    return _answer(outputs, 4)


def eval_graph():
    outputs = _network(False)
    quantize.create_eval_graph()
    return _answer(outputs)


def training_graph_and_optimizer():
    outputs = _network(True)
    loss = tf.reduce_mean(tf.square(outputs - 1.0))
    quantize.create_training_graph(quant_delay=1)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    gradients = tf.gradients(loss, tf.trainable_variables())
    with tf.control_dependencies(gradients):
        loss = tf.identity(loss)
    return [_answer([loss] + gradients), [each.op.name for each in tf.trainable_variables()],
            train.name]


def experimental_training_graph():
    outputs = _network(True)
    quantize.experimental_create_training_graph(weight_bits=4, activation_bits=6, symmetric=True,
                                                quant_delay=None, freeze_bn_delay=2)
    return _answer(outputs, 4)


def experimental_eval_graph_scope():
    with tf.variable_scope("inside"):
        net = layers.conv2d(_inputs(1, 5, 5, 2), 3, 3, weights_initializer=_ramp, scope="a")
    net = layers.conv2d(net, 2, 3, weights_initializer=_ramp, scope="b")
    quantize.experimental_create_eval_graph(weight_bits=8, activation_bits=8, scope="inside")
    return _answer(net)


def bypass():
    inputs = _inputs(1, 5, 5, 4)
    net = layers.conv2d(inputs, 4, 3, activation_fn=None, weights_initializer=_ramp,
                        scope="block/a")
    net = tf.nn.relu(net + inputs)
    other = layers.conv2d(net, 4, 3, weights_initializer=_ramp, scope="block/b")
    net = net + other
    net = layers.conv2d(net, 4, 3, activation_fn=None, weights_initializer=_ramp,
                        scope="block/c") + net
    quantize.create_training_graph()
    return _answer(net * 2.0)


def bypass_with_batch_norm():
    inputs = _inputs(2, 5, 5, 4)
    net = layers.conv2d(inputs, 4, 3, activation_fn=None, weights_initializer=_ramp,
                        scope="block/a", **_norm(True))
    net = tf.nn.relu(net + inputs)
    quantize.create_training_graph()
    return _answer(net)


def matmul_layers():
    net = tf.layers.dense(_inputs(4, 3), 5, tf.nn.relu, kernel_initializer=_ramp)
    net = tf.layers.dense(net, 2, kernel_initializer=_ramp, name="last")
    quantize.create_training_graph()
    return _answer(tf.nn.softmax(net))


def matmul_layers_with_batch_norm():
    net = layers.fully_connected(_inputs(4, 3), 5, weights_initializer=_ramp, **_norm(True))
    net = layers.fully_connected(net, 2, None, weights_initializer=_ramp)
    quantize.create_training_graph()
    return _answer(net)


def _unfused(is_training, scale=True, **options):
    norm = dict(normalizer_fn=layers.batch_norm, normalizer_params=dict(
        is_training=is_training, fused=False, scale=scale, decay=0.9))
    net = layers.conv2d(_inputs(2, 6, 6, 3), 4, 3, weights_initializer=_ramp, scope="conv", **norm)
    net = layers.separable_conv2d(net, None, 3, 1, weights_initializer=_ramp, scope="depthwise",
                                  activation_fn=tf.nn.relu6, **norm)
    net = layers.fully_connected(tf.reduce_mean(net, [1, 2]), 3, weights_initializer=_ramp,
                                 scope="dense", **norm)
    if is_training:
        quantize.experimental_create_training_graph(**options)
    else:
        quantize.create_eval_graph()
    return _answer(net)


def unfused_batch_norm():
    return _unfused(True)


def unfused_batch_norm_without_scale():
    return _unfused(True, scale=False, freeze_bn_delay=1)


def unfused_batch_norm_to_evaluate():
    return _unfused(False)


def resource_variables():
    with tf.variable_scope("model", use_resource=True):
        net = tf.layers.conv2d(_inputs(1, 5, 5, 2), 3, 3, activation=tf.nn.relu,
                               kernel_initializer=_ramp)
        quantize.create_training_graph()
    return _answer(net)


def after_an_optimizer():
    variable = tf.get_variable("v", [2])
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(variable))
    quantize.create_training_graph()


def nothing_to_quantize():
    quantize.create_eval_graph()
    quantize.create_training_graph()
    return [op.name for op in tf.get_default_graph().get_operations()]


SOAK = ("bypass", "bypass_with_batch_norm", "experimental_eval_graph_scope",
        "experimental_training_graph", "matmul_layers_with_batch_norm", "training_graph",
        "training_graph_and_optimizer", "training_graph_delayed", "unfused_batch_norm",
        "unfused_batch_norm_to_evaluate", "unfused_batch_norm_without_scale")
