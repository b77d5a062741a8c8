"""Where TensorFlow is bent: a test fails when TensorFlow changes what is bent, or why it is."""

from __future__ import annotations

import contextlib
import copy
import inspect
import socket

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.patches import (estimator_patches, gradient_patches, graph_patches,
                                       saving_patches, session_patches)


def _model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("weight", [], use_resource=True)
    loss = tf.reduce_mean(tf.square(weight - tf.cast(features, tf.float32)))
    step = tf.compat.v1.train.get_or_create_global_step()
    return tf.estimator.EstimatorSpec(
        mode, loss=loss,
        train_op=tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step))


def _input_fn():
    return tf.data.Dataset.range(4).batch(2)


@pytest.fixture
def estimator(tmp_path):
    return tf.estimator.Estimator(_model_fn, str(tmp_path))


def test_polling_every_second_replaces_half_a_minute_and_ends_with_the_context():
    manager = tf.compat.v1.train.SessionManager
    with session_patches.polling_every_second(), session_patches.polling_every_second():
        assert manager()._recovery_wait_secs == session_patches.POLL_SECS
    assert manager()._recovery_wait_secs == 30


def test_no_public_setting_reaches_the_wait_of_a_session_manager():
    for public in (tf.estimator.RunConfig, tf.compat.v1.train.Scaffold,
                   tf.compat.v1.train.MonitoredTrainingSession):
        assert "recovery_wait_secs" not in inspect.signature(public).parameters, public


def test_polling_every_second_reaches_monitored_sessions(monkeypatch):
    seen, manager = [], tf.compat.v1.train.SessionManager
    prepare = manager.prepare_session
    monkeypatch.setattr(manager, "prepare_session", lambda self, *args, **kwargs: (
        seen.append(self._recovery_wait_secs), prepare(self, *args, **kwargs))[1])
    with tf.Graph().as_default(), session_patches.polling_every_second():
        tf.compat.v1.train.create_global_step()
        with tf.compat.v1.train.MonitoredTrainingSession():
            pass
    assert seen == [session_patches.POLL_SECS]


@pytest.mark.parametrize("method", ["train", "evaluate"])
def test_the_estimator_refuses_a_subclass_that_overrides_its_methods(method, tmp_path):
    own = type("Own", (tf.estimator.Estimator,), {method: lambda self: None})
    with pytest.raises(ValueError, match="override"):
        own(_model_fn, str(tmp_path))


@pytest.mark.parametrize("copied", [lambda each: each, copy.copy, copy.deepcopy],
                         ids=["itself", "copy", "deepcopy"])
def test_an_estimator_and_its_copies_train_as_told(copied, estimator):
    calls = []

    def train(self, own_train, input_fn, **kwargs):
        calls.append(self)
        return own_train(input_fn, **kwargs)

    estimator_patches.train_with(estimator, train)
    assert isinstance(estimator, tf.estimator.Estimator)
    trained = copied(estimator)
    assert trained.train(_input_fn, steps=1) is trained and calls == [trained]
    assert trained.get_variable_value("global_step") == 1


def test_train_and_evaluate_trains_and_evaluates_as_told(estimator):
    calls = []

    def train(self, own_train, *args, **kwargs):
        calls.append("train")
        return own_train(*args, **kwargs)

    def evaluate(*args, **kwargs):
        calls.append("evaluate")
        return {"global_step": 1, "loss": 0.0}

    estimator_patches.train_with(estimator, train)
    with estimator_patches.evaluating_with([estimator], evaluate):
        tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(_input_fn, max_steps=1),
                                        tf.estimator.EvalSpec(_input_fn))
    assert calls == ["train", "evaluate"]


def test_an_estimator_evaluates_by_itself_again_also_after_a_failure(estimator):
    estimator.train(_input_fn, steps=1)
    with contextlib.suppress(ArithmeticError), estimator_patches.evaluating_with(
            [estimator], lambda input_fn: {"loss": 7.0}):
        assert estimator.evaluate(_input_fn) == {"loss": 7.0}
        raise ArithmeticError
    assert estimator.evaluate(_input_fn)["global_step"] == 1


@pytest.mark.cluster
@pytest.mark.parametrize("optimizer", [
    lambda: tf.compat.v1.train.GradientDescentOptimizer(1.0),
    lambda: tf.compat.v1.train.AdamOptimizer(1.0),
    lambda: tf.keras.optimizers.legacy.SGD(1.0),
], ids=["v1 descent", "v1 Adam", "Keras"])
def test_optimizers_hand_their_gradients_to_batch_reduce_to(optimizer):
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


@pytest.mark.parametrize("optimizer", [
    tf.compat.v1.train.AdamOptimizer, tf.keras.optimizers.legacy.Adam])
def test_optimizers_and_subclasses_apply_gradients_as_told(optimizer):
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


def test_a_copy_of_a_strategy_converts_too():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    gradient_patches.convert_gradients(strategy, list, lambda sums, values: sums)
    assert type(copy.deepcopy(strategy).extended) is type(strategy.extended)
    assert isinstance(strategy.extended, tf.distribute.StrategyExtended)


def test_no_option_of_a_strategy_sets_the_dtype_that_gradients_travel_in():
    options = tf.distribute.experimental.CommunicationOptions
    assert set(inspect.signature(options.__init__).parameters) <= {
        "self", "bytes_per_pack", "timeout_seconds", "implementation"}


def test_rewriter_config_has_its_numbers_and_still_no_public_name():
    from tensorflow.core.protobuf import rewriter_config_pb2

    toggle = rewriter_config_pb2.RewriterConfig
    assert (toggle.ON, toggle.OFF) == (session_patches.REWRITER_ON, session_patches.REWRITER_OFF)
    assert not hasattr(tf.compat.v1, "RewriterConfig")
    options = tf.compat.v1.ConfigProto().graph_options.rewrite_options
    for name in ("auto_mixed_precision", "auto_mixed_precision_onednn_bfloat16", "remapping"):
        assert hasattr(options, name)


def test_init_from_checkpoint_initializes_in_a_loops_body_unless_told_otherwise(tmp_path):
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
    assert initial_value(graph_patches.initializing_outside()) == 7.0
    assert tf.compat.v1.train.init_from_checkpoint is original


def test_a_random_op_of_a_loop_has_the_seed_of_the_graph_around():
    def seeds(graph_of):
        with tf.Graph().as_default() as around:
            tf.compat.v1.set_random_seed(5)
            tf.random.uniform([])
            made = []

            def body(i):
                with graph_patches.seeding_as(lambda graph: graph_of(graph, around)):
                    made.append(tf.random.uniform([]).op.get_attr("seed2"))
                return i + 1

            tf.while_loop(lambda i: i < 3, body, [0])
            return [*made, tf.random.uniform([]).op.get_attr("seed2")]

    assert seeds(lambda graph, around: graph) == [0, 1]
    assert seeds(lambda graph, around: around) == [1, 2]


def test_iterators_and_queues_of_arrays_are_made_as_told():
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

    with tf.Graph().as_default(), graph_patches.iterating_with(iterate, enqueue):
        dataset = data.Dataset.range(3)
        data.make_one_shot_iterator(dataset), dataset.make_one_shot_iterator()
        data.make_initializable_iterator(dataset), dataset.make_initializable_iterator("shared")
        tf.compat.v1.estimator.inputs.numpy_input_fn(
            {"x": np.arange(3)}, batch_size=1, shuffle=False)()
    assert seen == [True, True, False, False, ["x"]]
    assert [getattr(*each) for each in owners] == before


def test_an_event_file_has_the_name_of_its_task_and_else_that_of_the_second_and_the_host(tmp_path):
    summary = tf.compat.v1.summary
    with tf.Graph().as_default():
        writers = [summary.FileWriter(str(tmp_path / "plain"))]
        with saving_patches.naming_event_files("worker:1"):
            writers += [summary.FileWriterCache.get(str(tmp_path / "named")),
                        summary.FileWriter(str(tmp_path / "own"), filename_suffix=".own")]
        for writer in writers:
            writer.add_summary(tf.compat.v1.Summary(), 1)
            writer.close()
    names = {path.parent.name: path.name for path in tmp_path.rglob("events*")}
    # Where TensorFlow puts the process into the name itself, this bend can go.
    assert names["plain"].removeprefix("events.out.tfevents.")[10:] == f".{socket.gethostname()}"
    assert names["named"].endswith(".worker_1") and names["own"].endswith(".own")


def test_a_synchronous_optimizer_gets_the_hook_that_is_asked_for():
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer(
        tf.compat.v1.train.GradientDescentOptimizer(0.1), 2)
    own = type(optimizer).make_session_run_hook
    assert list(inspect.signature(own).parameters) == ["self", "is_chief", "num_tokens"]
    with session_patches.synchronizing_with(lambda *args: args):
        assert optimizer.make_session_run_hook(True) == (optimizer, True, -1)
        assert optimizer.make_session_run_hook(False, num_tokens=3) == (optimizer, False, 3)
    assert type(optimizer).make_session_run_hook is own
