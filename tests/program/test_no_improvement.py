"""Training until evaluations get no better: the best checkpoint is the model from then on."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

from estimator_trainer import cli
from tests.support import jobs

pytestmark = pytest.mark.cluster

# The loss of an evaluation is least at step 48, and `w` is the step. Each pass takes 8 steps.
_MODULE = """
    import os
    import signal
    import tensorflow as tf
    DEFAULT_PARAMS = {"batch_size": 8, "best_step": 48, "stop_at": 0}
    GLOBAL_BATCH_PARAM = "batch_size"
    FREE_PARAMS = ("stop_at",)
    TRAINS_UNTIL = "no_improvement"

    class Stops(tf.estimator.SessionRunHook):
        def __init__(self, step):
            self.step = step
        def after_run(self, context, values):
            if context.session.run(tf.compat.v1.train.get_global_step()) == self.step:
                os.kill(os.getpid(), signal.SIGTERM)

    def model_fn(features, labels, mode, params):
        w = tf.compat.v1.get_variable("w", [], initializer=tf.zeros_initializer())
        y = features["x"] * w
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        step = tf.compat.v1.train.get_or_create_global_step()
        loss = tf.abs(tf.cast(step, tf.float32) - params["best_step"]) + 0 * tf.reduce_mean(y)
        with tf.control_dependencies([tf.compat.v1.assign_add(w, 1.0), y]):
            train_op = tf.compat.v1.assign_add(step, 1).op
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op,
                                          training_hooks=[Stops(params["stop_at"])])

    def data_params(params):
        return {"train_examples": 64}

    def input_fn(mode, params):
        x = tf.data.Dataset.range(1, 65).map(lambda i: tf.cast(i, tf.float32))
        x = x.map(lambda i: ({"x": i}, i)).batch(params["batch_size"])
        return x.repeat() if mode == "train" else x.take(2)
"""


class _Job:
    """Runs the program on one model_dir."""

    def __init__(self, folder: pathlib.Path, capfd):
        self._capfd = capfd
        self.module, self.model_dir = folder / "own.py", folder / "model"
        self.module.write_text(textwrap.dedent(_MODULE))

    def run(self, *words: str) -> str:
        """Runs a command in this process; returns what it writes to standard error."""
        sys.modules.pop("own", None)
        self.code = cli.main(self._line(words))
        self.out, log = self._capfd.readouterr()
        return log

    def run_apart(self, *words: str) -> str:
        """Runs a command as a process, which may get a signal."""
        # `jobs` would add `--num_evaluations=0`, which is a length that the user decides.
        ran = subprocess.run([*jobs.PROGRAM, *self._line(words)], text=True, capture_output=True,
                             timeout=120, env=jobs.environment(), check=False)
        self.code = ran.returncode
        return ran.stderr

    def _line(self, words):
        return [*words, f"--model_fn={self.module}", f"--input_fn={self.module}",
                f"--model_dir={self.model_dir}", "--noreport"]

    @property
    def result(self):
        return json.loads((self.model_dir / "result.json").read_text())

    @property
    def steps(self):
        return sorted(int(path.stem.rpartition("-")[2])
                      for path in self.model_dir.glob("model.ckpt-*.index"))


@pytest.fixture(name="job")
def _job(tmp_path, capfd):
    return _Job(tmp_path, capfd)


def _is_best_everywhere(job):
    assert job.result["step"] == job.result["metrics"]["global_step"] == 48
    assert job.result["metrics"]["loss"] == 0 and job.steps[-1] == 48
    [export] = (job.model_dir / "export" / "final").iterdir()
    assert json.loads((export / "assets.extra" / "record.json").read_text())["step"] == 48
    assert '"loss": 0.0' in job.run("evaluate") + job.out
    job.run("predict")
    assert json.loads(job.out.splitlines()[0])["y"] == 48
    return True


def test_training_ends_by_itself_with_the_best_checkpoint_as_the_model(job):
    log = job.run()
    assert job.code == 0 and log.splitlines()[-1] == (
        "role=local status=done step=48 reason=no_improvement")
    assert "training from step 0 until evaluations find no better loss, at most to 3216" in log
    sentence = ("Training ended after 57 epochs (456 steps): 17 evaluations without improvement;"
                " the best was at step 48, loss 0, and is the model.")
    assert sentence in log and job.result["note"] == sentence
    assert _is_best_everywhere(job)
    log = job.run()
    assert job.code == 0 and job.result["was_finished"] and job.result["step"] == 48
    assert "Nothing was trained: an earlier run had ended" in job.result["note"]
    assert log.splitlines()[-1].endswith("step=48 reason=no_improvement")
    log = job.run("--train_steps=60")
    assert "training from step 48 to 60" in log and job.result["reason"] == "train_steps"
    assert job.result["step"] == 60 and not (job.model_dir / "best.json").exists()


@pytest.mark.soak
def test_a_stopped_training_counts_on_from_the_evaluations_of_before(job):
    # The best checkpoint is not among the last ones.
    log = job.run_apart("--param=stop_at=240", "--keep_checkpoint_max=1")
    assert job.code == 143 and "status=stopped" in log and job.result["status"] == "stopped"
    log = job.run("--param=stop_at=0")
    begun, = re.findall(r"training from step (\d+)", log)
    ended, best = re.findall(r"Training ended after .* epochs \((\d+) steps\): .* the best was at "
                             r"step (\d+)", log)[0]
    # Training that counted from its new start would end at least 400 steps after it.
    assert int(best) < 240 <= int(begun) and int(best) + 400 <= int(ended) < int(begun) + 400
    assert _is_best_everywhere(job)


@pytest.mark.soak  # The final export is that of the default run.
def test_the_best_and_the_latest_exports_are_of_the_best_checkpoint(job):
    job.run("--exporters=best,latest,final", "--eval_every_steps=48")
    exports = [json.loads((path / "assets.extra" / "record.json").read_text())["step"]
               for name in ("best", "latest", "final")
               for path in [max((job.model_dir / "export" / name).iterdir())]]
    assert exports == [48, 48, 48]
    job.run("predict", "--checkpoint=best")
    assert json.loads(job.out.splitlines()[0])["y"] == 48


def test_training_ends_at_its_bound_if_evaluations_get_ever_better(job):
    log = job.run("--train_until=no_improvement", "--train_steps=100", "--param=best_step=1000")
    assert log.splitlines()[-1] == "role=local status=done step=100 reason=most_steps"
    assert "its bound" in job.result["note"] and job.steps[-1] == 100
    log = job.run()
    assert job.code == 0 and job.result["was_finished"]


def test_the_users_own_cadence_is_kept_and_an_input_that_ends_has_its_best(job):
    text = job.module.read_text()
    job.module.write_text(text.replace("x.repeat()", "x.repeat(10)"))
    log = job.run("--eval_every_steps=16")
    assert log.count("evaluated step") == 5
    assert log.splitlines()[-1] == "role=local status=done step=48 reason=input_exhausted"
    assert job.steps[-1] == 48


@pytest.mark.soak
def test_a_model_dir_of_before_keeps_its_rule(job):
    text = job.module.read_text()
    job.module.write_text(text.replace('TRAINS_UNTIL = "no_improvement"\n', ""))
    log = job.run_apart("--param=stop_at=240")
    assert job.code == 143 and "training from step 0 to 1000" in log
    # The next version of the program declares the rule; the record has none.
    job.module.write_text(text)
    log = job.run("--param=stop_at=0")
    assert "training from step 24" in log and "reason=train_steps" in log
    assert job.result["step"] == 1000


def test_a_table_trains_until_no_improvement_by_default(tmp_path):
    path = tmp_path / "income.csv"
    path.write_text("age,kind,income\n" + "".join(
        f"{i % 41},{'ab'[i % 2]},{'low' if i % 41 < 15 + i % 7 else 'high'}\n"
        for i in range(120)))
    assert cli.main([
        "--model_fn=canned", "--param=estimator=LinearClassifier", "--input_fn=csv",
        f"--param=train_files={path}", "--param=label=income", f"--model_dir={tmp_path / 'm'}",
        "--seed=1"]) == 0
    result = json.loads((tmp_path / "m" / "result.json").read_text())
    assert result["reason"] in ("no_improvement", "most_steps")
    lines = (tmp_path / "m" / "history.jsonl").read_text().splitlines()
    evaluated = [json.loads(line) for line in lines]
    losses = {line["step"]: line["metrics"]["loss"] for line in evaluated
              if line["kind"] == "evaluation"}
    assert min(losses.values()) == losses[result["step"]] == pytest.approx(
        result["metrics"]["loss"], abs=1e-6)
    assert result["note"] in (tmp_path / "m" / "report.html").read_text()
    assert os.path.isfile(tmp_path / "m" / f"model.ckpt-{result['step']}.index")
