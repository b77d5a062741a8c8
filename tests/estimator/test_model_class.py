"""Classes that run their own iterations, in a model_fn's place."""

from __future__ import annotations

import json
import re
import textwrap

import pytest
import tensorflow as tf

from estimator_trainer import cli
from tests.support import jobs

pytestmark = pytest.mark.cluster

# Fits y = 2 x from batches of its own.
LINE = """
    import os, pathlib, signal, time
    import numpy as np, tensorflow as tf
    HERE = pathlib.Path(__file__).parent

    class Line:
        def build_model(self, global_step, is_chief, sync, num_replicas):
            self.x = tf.compat.v1.placeholder(tf.float32, [None])
            self.slope = tf.compat.v1.get_variable("slope", [])
            self.start = self.slope.assign(9.0)
            self.loss = tf.reduce_mean(tf.square(self.slope * self.x - 2 * self.x))
            self.optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.02)
            if sync:
                self.optimizer = tf.compat.v1.train.SyncReplicasOptimizer(
                    self.optimizer, num_replicas, num_replicas)
            self.train_op = self.optimizer.minimize(self.loss, global_step=global_step)
            self.random = np.random.default_rng(0)

        def get_init_fn(self):
            return lambda session: session.run(self.start)

        def train(self, session, num_global_step):
            _, loss = session.run([self.train_op, self.loss], {self.x: self.random.random(50)})
            return loss < 1e-3

        def after_train(self, session):
            (HERE / "after_train").write_text(str(session.run(self.slope)))

    class OldInit(Line):
        def get_init_fn(self):
            return lambda scaffold, session: session.run(self.start)

    class Stopped(Line):
        def train(self, session, num_global_step):
            if num_global_step == 5:
                os.kill(os.getpid(), signal.SIGTERM)
            session.run(self.train_op, {self.x: [1.0]})

    class KilledOnce(Line):
        def train(self, session, num_global_step):
            is_worker = '"type": "worker"' in os.environ.get("TF_CONFIG", "")
            killed, back = HERE / "killed", HERE / "back"
            if is_worker and killed.exists():
                back.touch()
            elif is_worker and num_global_step > 20:
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            session.run(self.train_op, {self.x: self.random.random(50)})
            time.sleep(0.01)
            return back.exists() and num_global_step > 400

    class Evaluating(Line):
        def train(self, session, num_global_step):
            done = super().train(session, num_global_step)
            session.run(self.loss, {self.x: self.random.random(50000)})
            time.sleep(0.01)
            return done

    class Unfinished:
        def build_model(self):
            pass

    class Curious(Line):
        def train(self, session, weather):
            pass
"""
# Reads the input_fn's batches, and can be exported.
DIGITS = """
    import tensorflow as tf

    class Digits:
        def build_model(self, features, labels, mode, global_step):
            weights = tf.compat.v1.get_variable("weights", [64, 10])
            logits = tf.matmul(tf.reshape(features["image"], [-1, 64]), weights)
            if mode == tf.estimator.ModeKeys.PREDICT:
                predictions = {"classes": tf.argmax(logits, axis=1)}
                return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={
                    "serving_default": tf.estimator.export.PredictOutput(predictions)})
            self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=logits))
            self.train_op = tf.compat.v1.train.AdamOptimizer(0.01).minimize(
                self.loss, global_step=global_step)

        def train(self, session):
            session.run([self.train_op, self.loss])
"""


@pytest.fixture
def run(tmp_path, data_dir, capfd):
    """Runs a class, given as code and name, in this process; returns result.json and the log."""

    def run_command(code, name, *args, expected_code=0):
        (tmp_path / "my_class.py").write_text(textwrap.dedent(code))
        ended = cli.main([f"--model_fn={tmp_path}/my_class.py:{name}", *args,
                          f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model"])
        _, err = capfd.readouterr()
        assert ended == expected_code, err
        path = tmp_path / "model" / "result.json"
        return json.loads(path.read_text()) if path.exists() else {}, err

    return run_command


def _slope(tmp_path):
    return float(tf.train.load_variable(str(tmp_path / "model"), "slope"))


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("name", ["Line", "OldInit"])
def test_adapt_ends_training_when_train_returns_true(run, tmp_path, name):
    result, log = run(LINE, name, "--exporters=none", "--train_steps=100000",
                      "--log_every_steps=50")
    assert result["reason"] == "train_returned_true" and 0 < result["step"] < 100000
    assert "training from step 0" in log and "examples/s" in log
    assert " epoch " not in log  # The class feeds itself; its number of examples is unknown.
    assert _slope(tmp_path) == pytest.approx(2, abs=0.2)
    assert float((tmp_path / "after_train").read_text()) == pytest.approx(_slope(tmp_path))


@pytest.mark.any_tensorflow
def test_adapt_counts_no_evaluated_batch_as_trained_on(run):
    """A step takes over 0.01 s, so 50 examples each are less than 5,000 a second."""
    _, log = run(LINE, "Evaluating", "--exporters=none", "--train_steps=40",
                 "--log_every_steps=10")
    speeds = [int(each.replace(",", "")) for each in re.findall(r"([\d,]+) examples/s", log)]
    assert speeds and all(0 < each <= 5000 for each in speeds)


def test_adapt_runs_init_fn_only_without_a_checkpoint(run, tmp_path):
    run(LINE, "Line", "--exporters=none", "--train_steps=1")
    assert 8.5 < _slope(tmp_path) < 9
    run(LINE, "Line", "--exporters=none", "--train_steps=40")
    _, log = run(LINE, "Line", "--exporters=none", "--train_steps=41")
    assert "training from step 40 to 41" in log
    assert 2 < _slope(tmp_path) < 8
    assert (tmp_path / "after_train").exists()


def test_adapt_leaves_after_train_for_the_end_of_a_stopped_job(run, tmp_path):
    result, _ = run(LINE, "Stopped", "--exporters=none", expected_code=143)
    assert result["status"] == "stopped" and result["step"] >= 5
    assert not (tmp_path / "after_train").exists()


def test_adapt_lets_a_class_read_every_batch_and_be_exported(run):
    """The 1,442 examples are 22 batches of 64, the rest is dropped."""
    result, _ = run(DIGITS, "Digits", "--train_steps=0", "--param=epochs=1")
    assert (result["reason"], result["step"]) == ("input_exhausted", 22)
    assert 0 < result["metrics"]["loss"] < 3 and len(result["exports"]) == 1


@pytest.mark.parametrize("name, args, expected", [
    ("Unfinished", [], "is a class without train"),
    ("Curious", [], "takes weather, which"),
    ("Line", [], "there is nothing to export or predict"),
])
def test_adapt_refuses_a_class_in_one_sentence(run, name, args, expected):
    _, log = run(LINE, name, *args, expected_code=2)
    assert expected in log and "Traceback" not in log


@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_adapt_makes_synchronous_replicas_step_together(tmp_path, data_dir):
    (tmp_path / "my_class.py").write_text(textwrap.dedent(LINE))
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), [
            f"--model_fn={tmp_path}/my_class.py:Line", "--exporters=none", "--sync_replicas=2",
            f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model",
            "--train_steps=30"]) as tasks:
        jobs.wait(list(tasks.values()), 120)
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert (result["step"], result["reason"]) == (30, "train_steps")
    # A step of gradient descent on batches of about the same mean: 2 + 7 (1 - 0.04 / 3)^30.
    assert _slope(tmp_path) == pytest.approx(6.7, abs=0.5)


@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_adapt_lets_a_killed_worker_come_back(tmp_path, data_dir):
    (tmp_path / "my_class.py").write_text(textwrap.dedent(LINE))
    ran = jobs.trainer("launch", "--worker=1", "--ps=1", "--",
                       f"--model_fn={tmp_path}/my_class.py:KilledOnce", "--exporters=none",
                       f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model",
                       "--train_steps=1000000")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "back").exists() and (tmp_path / "after_train").exists()
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["reason"] == "train_returned_true"
    assert _slope(tmp_path) == pytest.approx(2, abs=0.2)


@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_adapt_runs_a_program_of_the_service_that_exports(tmp_path):
    program = jobs.REPO / "examples" / "08_service_base_class" / "digits_service.py"
    flags = [f"--model_fn={program}:DigitsModel", "--train_steps=5000", "--exporters=none"]
    first = jobs.trainer(*flags, f"--param=export_dir={tmp_path}/export",
                         f"--model_dir={tmp_path}/model")
    assert first.returncode == 0 and "after training: accuracy 0.9" in first.stdout, first.stderr
    signature = tf.saved_model.load(str(tmp_path / "export")).signatures["serving_default"]
    assert signature(image=tf.zeros([3, 64]))["logits"].shape == (3, 10)
    steps = jobs.result(tmp_path / "model")["step"]
    # A run that begins with those variables ends sooner.
    path = tf.train.latest_checkpoint(str(tmp_path / "model"))
    again = jobs.trainer(*flags, f"--param=checkpoint_path={path}", f"--model_dir={tmp_path}/new")
    assert again.returncode == 0, again.stderr
    assert jobs.result(tmp_path / "new")["step"] < steps / 2
