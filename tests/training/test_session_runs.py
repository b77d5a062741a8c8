"""Tests that prepared session runs return and raise what `Session.run` does, and cost less."""

from __future__ import annotations

import collections

import estimator_trainer.compat  # noqa: F401  Before TensorFlow.

# isort: split
import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.training import session_runs

pytestmark = pytest.mark.any_tensorflow
_Pair = collections.namedtuple("_Pair", "first second")
v1 = tf.compat.v1


class _Model:
    """A step that counts, an operation, a placeholder, and a tensor that fails."""

    def __init__(self):
        self.count = v1.get_variable("count", [], initializer=v1.zeros_initializer(),
                                     use_resource=True)
        self.step = self.count.assign_add(1.0)
        self.fed = v1.placeholder_with_default(5.0, [], "fed")
        self.failing = tf.debugging.check_numerics(tf.constant(np.nan), "bad", name="failing")
        self.words = tf.constant(["a", "b"])
        self.sparse = tf.sparse.from_dense([0, 3])


@pytest.fixture
def model():
    with tf.Graph().as_default():
        yield _Model()


FETCHES = {
    "a tensor": lambda model: model.words,
    "an operation": lambda model: model.step.op,
    "a variable": lambda model: model.count,
    "a name": lambda model: "fed:0",
    "a list": lambda model: [model.fed, [model.words, model.fed]],
    "a tuple": lambda model: (model.fed, (model.words,)),
    "a named tuple": lambda model: _Pair(model.fed, second=model.words),
    "a dict": lambda model: {"b": model.fed, "a": {"c": model.words}},
    "an ordered dict": lambda model: collections.OrderedDict(b=model.fed, a=model.words),
    "a sparse tensor": lambda model: {"a": model.sparse, "b": model.fed},
    "nothing": lambda model: {"a": [], "b": ()},
}


def _same(got, expected):
    assert type(got) is type(expected)
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        got, expected = list(got.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        for one, other in zip(got, expected, strict=True):
            _same(one, other)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("fetches", FETCHES.values(), ids=FETCHES)
def test_each_shape_of_fetches_has_the_same_results(model, fetches):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        expected = session.run(fetches(model))
        runs = session_runs.PreparedRuns(session)
        for _ in range(3):
            _same(session.run(fetches(model)), expected)
        runs.end()
        _same(session.run(fetches(model)), expected)


def test_fed_values_options_and_metadata_arrive(model):
    with v1.Session() as session:
        session_runs.PreparedRuns(session)
        assert session.run(model.fed) == 5
        assert session.run(model.fed, {model.fed: 7}) == 7
        assert session.run(model.fed, feed_dict={}) == 5
        metadata = v1.RunMetadata()
        session.run([model.words], options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE),
                    run_metadata=metadata)
        assert metadata.step_stats.dev_stats


def test_each_run_makes_a_step(model):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session_runs.PreparedRuns(session)
        assert [session.run({"step": model.step})["step"] for _ in range(3)] == [1, 2, 3]


def test_fetches_that_are_changed_in_place_are_fetched_as_they_are(model):
    with v1.Session() as session:
        session_runs.PreparedRuns(session)
        fetches = {"a": [model.fed]}
        assert session.run(fetches) == {"a": [5]}
        fetches["a"].append(model.fed)
        assert session.run(fetches) == {"a": [5, 5]}


def test_an_error_is_that_of_the_session(model):
    with v1.Session() as session:
        found = []
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                session.run([model.failing])
            found.append(raised.value)
            session_runs.PreparedRuns(session)
    assert found[1].op is found[0].op is model.failing.op
    assert found[1].message == found[0].message
    with pytest.raises(TypeError, match="invalid type"):
        session_runs.PreparedRuns(v1.Session()).run([3.5])


class _Recorder(tf.estimator.SessionRunHook):
    def __init__(self, name, fetches, calls):
        self._name, self._fetches, self._calls = name, fetches, calls

    def before_run(self, run_context):
        self._calls.append(f"{self._name} before")
        return None if self._fetches is None else tf.estimator.SessionRunArgs(self._fetches)

    def after_run(self, run_context, run_values):
        self._calls.append(f"{self._name} {run_values.results}")


class _AtEnds(tf.estimator.SessionRunHook):
    def __init__(self, calls):
        self._calls = calls

    def begin(self):
        self._calls.append("begin")

    def after_create_session(self, session, coord):
        self._calls.append("create")

    def end(self, session):
        self._calls.append("end")


def test_a_group_of_hooks_calls_each_in_order_with_its_own_results(model):
    calls = []
    group = session_runs.HookGroup([
        _Recorder("one", model.fed, calls), _AtEnds(calls), _Recorder("none", None, calls)])
    others = [_Recorder("user", [model.words], calls)]
    with v1.train.SingularMonitoredSession([group, *others]) as session:
        for _ in range(2):
            assert session.run(model.step) in (1, 2)
        assert "run" in vars(session.raw_session())
        raw = session.raw_session()
    assert "run" not in vars(raw)
    one_run = ["one before", "none before", "user before", "one 5.0", "none None",
               "user [array([b'a', b'b'], dtype=object)]"]
    assert calls == ["begin", "create", *one_run, *one_run, "end"]
