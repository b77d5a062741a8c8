"""Names that whole published programs use, and no other area has: methods that classes had."""

import tensorflow as tf


def _resource_variable():
    return tf.get_variable("v", [2], initializer=tf.constant_initializer([1., 2.]),
                           use_resource=True)


def initialized_value_of_a_resource_variable():
    variable = _resource_variable()
    sums = tf.Variable(tf.zeros_like(variable.initialized_value()), trainable=False, name="sums")
    copy = tf.Variable(variable.initialized_value() * 3, name="copy", use_resource=True)
    return {"sums": sums, "copy": copy, "value": variable.initialized_value()}


def initialized_value_of_a_keras_variable():
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    out = layer(tf.ones([1, 3]))
    sums = [tf.Variable(tf.zeros_like(each.initialized_value()), trainable=False)
            for each in tf.trainable_variables()]
    return {"out": out, "sums": sums}


def accumulated_gradients():
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)
    loss = tf.reduce_sum(layer(tf.ones([2, 3])) ** 2)
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(each.initialized_value()), trainable=False)
            for each in variables]
    step = tf.group([each.assign_add(gradient) for each, gradient in
                     zip(sums, tf.gradients(loss, variables))])
    with tf.control_dependencies([step]):
        return [tf.identity(each) for each in sums]


def strategy_runs_by_its_old_name():
    strategy = tf.distribute.get_strategy()
    return strategy.experimental_run_v2(lambda a, b: a + b, args=(tf.constant(2),),
                                        kwargs={"b": tf.constant(3)})


def flattened_in_a_model_called_with_training():
    model = tf.keras.Sequential([
        tf.keras.layers.Reshape([4, 1], input_shape=(4,)), tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(2, kernel_initializer="ones"), tf.keras.layers.Dropout(0.4)])
    return [model(tf.ones([2, 4]), training=False), model(tf.ones([2, 4]))]


def test_runs_in_graph_and_eager_modes():
    from tensorflow.python.framework import test_util  # pylint: disable=import-outside-toplevel
    return callable(test_util.run_in_graph_and_eager_modes(reset_test=False))


def contrib_of_the_package_of_estimators():
    # pylint: disable=import-outside-toplevel
    from tensorflow_estimator.contrib.estimator.python.estimator import extenders, head
    return [extenders.clip_gradients_by_norm.__name__,
            head.multi_class_head(3).logits_dimension]
