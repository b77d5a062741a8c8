"""Gradients, patched: each patch is still needed, and works."""

from __future__ import annotations

import copy
import inspect

import pytest
import tensorflow as tf

from estimator_trainer.patches import gradient_patches


@pytest.mark.cluster
@pytest.mark.parametrize("optimizer", [
    lambda: tf.compat.v1.train.GradientDescentOptimizer(1.0),
    lambda: tf.compat.v1.train.AdamOptimizer(1.0),
    lambda: tf.keras.optimizers.legacy.SGD(1.0),
], ids=["v1 descent", "v1 Adam", "Keras"])
def test_convert_gradients_reaches_every_optimizer(optimizer):
    seen = []

    def sent(values):
        seen.extend(values)
        return [2 * value for value in values]

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        gradient_patches.convert_gradients(
            strategy, sent, lambda sums, values: [10 * each for each in sums])
        made = optimizer()

        def step():
            weight = tf.compat.v1.get_variable("weight", [], use_resource=True)
            if isinstance(made, tf.compat.v1.train.Optimizer):
                return made.minimize(3 * weight)
            return made.apply_gradients([(tf.gradients(3 * weight, weight)[0], weight)])

        with strategy.scope():
            op = strategy.extended.call_for_each_replica(step)
        assert [each.dtype for each in seen] == [tf.float32]
        [weight] = tf.compat.v1.trainable_variables()
        session.run(tf.compat.v1.global_variables_initializer())
        before = session.run(weight)
        session.run(strategy.experimental_local_results(op))
        if "Adam" not in type(made).__name__:
            assert before - session.run(weight) == pytest.approx(3 * 2 * 10)


def test_convert_gradients_reaches_a_copy_of_the_strategy():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    gradient_patches.convert_gradients(strategy, list, lambda sums, values: sums)
    assert type(copy.deepcopy(strategy).extended) is type(strategy.extended)
    assert isinstance(strategy.extended, tf.distribute.StrategyExtended)


def test_convert_gradients_has_no_public_option_for_the_dtype():
    options = tf.distribute.experimental.CommunicationOptions
    assert set(inspect.signature(options.__init__).parameters) <= {
        "self", "bytes_per_pack", "timeout_seconds", "implementation"}


@pytest.mark.parametrize("optimizer", [
    tf.compat.v1.train.AdamOptimizer, tf.keras.optimizers.legacy.Adam])
def test_applying_gradients_with_reaches_subclasses(optimizer):
    class Subclass(optimizer):
        def apply_gradients(self, *args, **kwargs):
            return super().apply_gradients(*args, **kwargs)

    before, calls = optimizer.apply_gradients, []

    def apply(own_apply, is_base, grads_and_vars, *args, **kwargs):
        pairs = list(grads_and_vars)
        calls.append((is_base, [variable.name for _, variable in pairs]))
        return own_apply(pairs[:1], *args, **kwargs)

    with tf.Graph().as_default(), gradient_patches.applying_gradients_with(apply):
        variables = [tf.compat.v1.get_variable(name, [], use_resource=True) for name in "ab"]
        loss = tf.add_n([tf.square(variable) for variable in variables])
        made = Subclass(0.1)
        if isinstance(made, tf.compat.v1.train.Optimizer):
            made.minimize(loss)
        else:
            made.get_updates(loss, variables)
    assert calls == [(False, ["a:0", "b:0"]), (True, ["a:0"])]
    assert optimizer.apply_gradients is before
