"""A session of a training or an evaluation closes without waiting for tf.data's autotuner."""

import subprocess
import sys
import threading
import weakref

import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import deadlines
from estimator_trainer.graph import session_close
from tests.support import jobs

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
    session_close.wait()


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
    assert session_close.is_closing() and not released.is_set()
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
    assert not released.is_set() and session_close.is_closing()
    assert result.step == 5 and result.metrics["loss"] > 0


# Each session that may close late waits in TensorFlow, for ever if the time is 0. Python takes
# some time to end the process, so that a thread could return to it meanwhile.
_LATE = """
import atexit, threading, time
import estimator_trainer.compat
import tensorflow as tf
from estimator_trainer import deadlines
v1, close = tf.compat.v1, tf.compat.v1.Session.close
deadlines.CLOSE_SECS = 0.1
def close_late(session):
    if threading.current_thread().name == "session-close":
        with tf.Graph().as_default():
            never = tf.queue.FIFOQueue(1, tf.int32).dequeue()
            other = v1.Session()
            other.close = lambda: None
            try:
                other.run(never, options=v1.RunOptions(timeout_in_ms={timeout_ms}))
            except tf.errors.DeadlineExceededError:
                pass
    close(session)
v1.Session.close = close_late
atexit.register(print, "the program's own end", flush=True)
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(2)
slow = Slow()
"""


_SCRIPT = """
column = tf.feature_column.numeric_column("x")
tf.estimator.LinearRegressor([column], model_dir="model").train(
    lambda: tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat(), max_steps=5)
"""
_API = """
import estimator_trainer
estimator_trainer.train("mlp", "digits", "model", train_steps=5, eval_steps=2)
"""


@pytest.mark.cluster
@pytest.mark.parametrize(("command", "program", "timeout_ms"), [
    (["-m", "estimator_trainer", "run", "program.py"], _SCRIPT, 0),
    pytest.param(["program.py"], _API, 1500, marks=pytest.mark.soak)], ids=["run", "a program"])
def test_a_process_ends_with_0_while_a_session_closes(command, program, timeout_ms, tmp_path):
    (tmp_path / "program.py").write_text(_LATE.format(timeout_ms=timeout_ms) + program)
    ended = subprocess.run([sys.executable, *command], cwd=tmp_path, env=jobs.environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout
    assert "the program's own end" in ended.stdout
    assert "closes in the background" in ended.stdout


_BUSY = """
import threading
import tensorflow as tf
from input_fns.digits import input_fn

def list_files():
    while True:
        tf.io.gfile.listdir("/usr/bin")

for _ in range(3):
    threading.Thread(target=list_files, daemon=True).start()
"""


@pytest.mark.cluster
def test_a_process_has_its_exit_code_while_another_thread_is_in_tensorflow(tmp_path):
    (tmp_path / "busy.py").write_text(_BUSY)
    ended = subprocess.run(
        [sys.executable, "-m", "estimator_trainer", "--input_fn=busy.py", "--model_dir=model"],
        cwd=tmp_path, env=jobs.environment(), capture_output=True, text=True, timeout=120)
    # The input_fn demands a parameter.
    assert ended.returncode == 2 and "terminate called" not in ended.stderr, ended.stderr
