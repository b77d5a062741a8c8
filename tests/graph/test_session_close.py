"""A session of a training or an evaluation closes without waiting for tf.data's autotuner."""

import threading
import weakref

import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import deadlines
from estimator_trainer.graph import session_close

v1 = tf.compat.v1


@pytest.fixture(name="released")
def released_fixture(monkeypatch):
    """An event until which each session that may close late waits, as for a thread of tf.data."""
    released, close = threading.Event(), v1.Session.close

    def close_late(session):
        if threading.current_thread().name == session_close.THREAD:
            assert released.wait(120)
        close(session)

    monkeypatch.setattr(v1.Session, "close", close_late)
    monkeypatch.setattr(deadlines, "CLOSE_SECS", 0.1)
    yield released
    released.set()
    for thread in _closing():
        thread.join(60)
    assert not _closing()


def _closing():
    return [each for each in threading.enumerate() if each.name == session_close.THREAD]


def _session_of(dataset):
    with tf.Graph().as_default() as graph:
        iterator = v1.data.make_initializable_iterator(dataset())
        value = iterator.get_next()
        session = v1.Session(graph=graph)
        session.run(iterator.initializer)
        session_close.bound(session)
    return session, value


def test_close_leaves_a_session_that_takes_long_in_the_background(released):
    session, value = _session_of(lambda: tf.data.Dataset.range(3))
    assert session.run(value) == 0
    session.close()
    assert _closing() and not released.is_set()
    with tf.Graph().as_default(), v1.Session() as another:
        assert another.run(tf.constant(7)) == 7
        released.set()


def test_close_waits_for_an_input_that_calls_python(released):
    ended = []

    def numbers():
        try:
            yield from range(100)
        finally:
            ended.append(released.is_set())

    session, value = _session_of(lambda: tf.data.Dataset.from_generator(
        numbers, output_signature=tf.TensorSpec([], tf.int32)))
    assert session.run(value) == 0
    threading.Timer(0.5, released.set).start()
    session.close()
    assert ended == [True]


def test_a_closed_session_is_freed_at_once():
    session, _ = _session_of(lambda: tf.data.Dataset.range(3))
    session.close()
    alive = weakref.ref(session)
    del session
    assert alive() is None


def test_close_raises_the_error_of_a_session(monkeypatch):
    def fail(_):
        raise tf.errors.UnavailableError(None, None, "the server is gone")

    session, _ = _session_of(lambda: tf.data.Dataset.range(3))
    session.close()
    monkeypatch.setattr(v1.Session, "close", fail)
    session, _ = _session_of(lambda: tf.data.Dataset.range(3))
    with pytest.raises(tf.errors.UnavailableError, match="the server is gone"):
        session.close()


@pytest.mark.cluster
def test_a_run_evaluates_while_the_session_of_its_training_still_closes(released, tmp_path):
    result = estimator_trainer.train("mlp", "digits", tmp_path, train_steps=5, eval_steps=2)
    assert not released.is_set() and _closing()
    assert result.step == 5 and result.metrics["loss"] > 0
