"""Graphs, gradients and sessions, patched: each patch is still needed, works, and ends."""

from __future__ import annotations

import contextlib
import copy
import inspect

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.patches import training_patches


def test_iterating_with_replaces_iterators_and_queues_of_arrays():
    data = tf.compat.v1.data
    owners = [(data, "make_one_shot_iterator"), (data.Dataset, "make_one_shot_iterator"),
              (data, "make_initializable_iterator"),
              (data.Dataset, "make_initializable_iterator")]
    before = [getattr(*each) for each in owners]
    seen = []

    def iterate(dataset, make, is_one_shot, *args):
        seen.append(is_one_shot)
        return make(dataset, *args)

    def enqueue(make, arrays, *args, **kwargs):
        seen.append(list(arrays))
        return make(arrays, *args, **kwargs)

    with tf.Graph().as_default(), training_patches.iterating_with(iterate, enqueue):
        dataset = data.Dataset.range(3)
        data.make_one_shot_iterator(dataset), dataset.make_one_shot_iterator()
        data.make_initializable_iterator(dataset), dataset.make_initializable_iterator("shared")
        tf.compat.v1.estimator.inputs.numpy_input_fn(
            {"x": np.arange(3)}, batch_size=1, shuffle=False)()
    assert seen == [True, True, False, False, ["x"]]
    assert [getattr(*each) for each in owners] == before


def test_seeding_as_gives_a_loop_the_seeds_of_the_outer_graph():
    def seeds(graph_of):
        with tf.Graph().as_default() as around:
            tf.compat.v1.set_random_seed(5)
            tf.random.uniform([])
            made = []

            def body(i):
                with training_patches.seeding_as(lambda graph: graph_of(graph, around)):
                    made.append(tf.random.uniform([]).op.get_attr("seed2"))
                return i + 1

            tf.while_loop(lambda i: i < 3, body, [0])
            return [*made, tf.random.uniform([]).op.get_attr("seed2")]

    assert seeds(lambda graph, around: graph) == [0, 1]
    assert seeds(lambda graph, around: around) == [1, 2]


def test_initializing_outside_moves_initializers_out_of_a_loop(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saved = tf.compat.v1.get_variable("saved", initializer=7.0)
        session.run(saved.initializer)
        path = tf.compat.v1.train.Saver([saved]).save(session, str(tmp_path / "model"))

    def initial_value(context):
        def body(i):
            weight = tf.compat.v1.get_variable("weight", [], use_resource=True)
            tf.compat.v1.train.init_from_checkpoint(path, {"saved": weight})
            return i + 1

        with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
            with context:
                tf.while_loop(lambda i: i < 1, body, [0])
            [weight] = tf.compat.v1.global_variables()
            if weight.initializer.graph is not graph:
                return None
            session.run(weight.initializer)
            return session.run(weight)

    original = tf.compat.v1.train.init_from_checkpoint
    assert initial_value(contextlib.nullcontext()) is None
    assert initial_value(training_patches.initializing_outside()) == 7.0
    assert tf.compat.v1.train.init_from_checkpoint is original


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
        training_patches.convert_gradients(
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
    training_patches.convert_gradients(strategy, list, lambda sums, values: sums)
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

    with tf.Graph().as_default(), training_patches.applying_gradients_with(apply):
        variables = [tf.compat.v1.get_variable(name, [], use_resource=True) for name in "ab"]
        loss = tf.add_n([tf.square(variable) for variable in variables])
        made = Subclass(0.1)
        if isinstance(made, tf.compat.v1.train.Optimizer):
            made.minimize(loss)
        else:
            made.get_updates(loss, variables)
    assert calls == [(False, ["a:0", "b:0"]), (True, ["a:0"])]
    assert optimizer.apply_gradients is before


def test_polling_every_second_replaces_30_seconds_within_its_context():
    manager = tf.compat.v1.train.SessionManager
    with training_patches.polling_every_second(), training_patches.polling_every_second():
        assert manager()._recovery_wait_secs == training_patches.POLL_SECS
    assert manager()._recovery_wait_secs == 30


def test_polling_every_second_is_no_public_setting():
    for public in (tf.estimator.RunConfig, tf.compat.v1.train.Scaffold,
                   tf.compat.v1.train.MonitoredTrainingSession):
        assert "recovery_wait_secs" not in inspect.signature(public).parameters, public


def test_polling_every_second_reaches_monitored_sessions(monkeypatch):
    seen, manager = [], tf.compat.v1.train.SessionManager
    prepare = manager.prepare_session
    monkeypatch.setattr(manager, "prepare_session", lambda self, *args, **kwargs: (
        seen.append(self._recovery_wait_secs), prepare(self, *args, **kwargs))[1])
    with tf.Graph().as_default(), training_patches.polling_every_second():
        tf.compat.v1.train.create_global_step()
        with tf.compat.v1.train.MonitoredTrainingSession():
            pass
    assert seen == [training_patches.POLL_SECS]


def test_synchronizing_with_gives_an_optimizer_another_hook():
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer(
        tf.compat.v1.train.GradientDescentOptimizer(0.1), 2)
    own = type(optimizer).make_session_run_hook
    assert list(inspect.signature(own).parameters) == ["self", "is_chief", "num_tokens"]
    with training_patches.synchronizing_with(lambda *args: args):
        assert optimizer.make_session_run_hook(True) == (optimizer, True, -1)
        assert optimizer.make_session_run_hook(False, num_tokens=3) == (optimizer, False, 3)
    assert type(optimizer).make_session_run_hook is own


def test_rewriter_on_and_off_have_no_public_name():
    from tensorflow.core.protobuf import rewriter_config_pb2

    toggle = rewriter_config_pb2.RewriterConfig
    assert (toggle.ON, toggle.OFF) == (training_patches.REWRITER_ON, training_patches.REWRITER_OFF)
    assert not hasattr(tf.compat.v1, "RewriterConfig")
    options = tf.compat.v1.ConfigProto().graph_options.rewrite_options
    for name in ("auto_mixed_precision", "auto_mixed_precision_onednn_bfloat16", "remapping"):
        assert hasattr(options, name)


def test_a_default_graph_is_entered_at_once_and_any_other_as_ever():
    graph, other = tf.Graph(), tf.Graph()
    with training_patches.entering_at_once(graph), graph.as_default():
        with graph.as_default() as entered:
            assert entered is graph
        with other.as_default(), graph.as_default():
            assert tf.constant(1).graph is graph
        with tf.init_scope(), tf.control_dependencies(None):
            assert tf.constant(1).graph is graph
        assert tf.constant(1).graph is graph
    assert graph.as_default.__self__ is graph
