"""A function that a search passes to `train` ends a trial, whose directory stays of use."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import estimator_trainer
from tests.support import jobs, line_model

_SCRIPT = """

import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--learning_rate", type=float)
args = parser.parse_args()
params = {**DEFAULT_PARAMS, "learning_rate": args.learning_rate}
estimator = tf.estimator.Estimator(model_fn, args.job_dir, params=params)
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(lambda: input_fn("train", params), max_steps=4),
    tf.estimator.EvalSpec(lambda: input_fn("eval", params)))
"""


class _Pruned(Exception):
    """Ends a trial, as optuna.TrialPruned does."""


@pytest.mark.cluster
def test_what_on_evaluation_raises_stops_training_and_reaches_the_caller(tmp_path, caplog):
    line, folder, pruned = str(line_model.write(tmp_path)), tmp_path / "trial", _Pruned("behind")
    evaluated = []

    def prune(metrics):
        evaluated.append(metrics["global_step"])
        if metrics["global_step"] == 4:
            raise pruned

    settings = {"train_steps": 6, "eval_every_steps": 2, "exporters": ["none"],
                "on_evaluation": prune, "column_importance": False}
    with pytest.raises(_Pruned) as raised:
        estimator_trainer.train(line, line, folder, **settings)
    assert raised.value is pruned and raised.value.__cause__ is None
    assert "Traceback" not in caplog.text
    ended = json.loads((folder / "result.json").read_text())
    assert (ended["status"], ended["step"], ended["reason"]) == ("stopped", 4, "_Pruned: behind")
    # The page of the trial has the evaluation that ended it.
    kinds = [json.loads(text) for text in (folder / "history.jsonl").read_text().splitlines()]
    assert [each["step"] for each in kinds if each["kind"] == "evaluation"] == [2, 4]
    assert estimator_trainer.train(line, line, folder, **settings).status == "done"
    assert evaluated == [2, 4, 6]


@pytest.mark.soak
def test_the_evaluator_reports_a_trial_and_the_chief_its_end(tmp_path):
    line, path = line_model.write(tmp_path), tmp_path / "output.metrics"
    ran = jobs.trainer(
        "launch", "--worker=1", "--ps=1", "--evaluator=1", "--", f"--model_dir={tmp_path}/job",
        f"--model_fn={line}", f"--input_fn={line}", "--train_steps=40", "--exporters=none",
        "--trial_metric=loss", "--learning_rate=0.05", CLOUD_ML_TRIAL_ID="3",
        CLOUD_ML_HP_METRIC_FILE=str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ended = json.loads((tmp_path / "job" / "3" / "result.json").read_text())
    loss = str(ended["metrics"]["loss"])
    for task in ("evaluator:0", "chief:0"):
        reported = re.findall(rf"^{task} +\| loss=(.*)$", ran.stdout + ran.stderr, re.M)
        assert reported[-1] == loss, ran.stdout + ran.stderr
    last = json.loads(path.read_text().splitlines()[-1])
    assert (last["loss"], last["global_step"]) == (loss, str(ended["step"]))


@pytest.mark.parametrize("name", ["loss", "accuracy"])
@pytest.mark.soak
def test_a_scripts_trial_reports_what_it_evaluates(name, tmp_path):
    (tmp_path / "mine.py").write_text(line_model.SOURCE + _SCRIPT)
    ran = jobs.trainer("run", f"--trial_metric={name}", str(tmp_path / "mine.py"), "--",
                       f"--job-dir={tmp_path}/model", "--learning_rate=0.05", CLOUD_ML_TRIAL_ID="3",
                       CLOUD_ML_HP_METRIC_FILE=str(tmp_path / "output.metrics"))
    assert ran.returncode == 0, ran.stderr
    if name == "loss":
        assert re.search(r"^loss=\d", ran.stdout, re.M)
        assert '"global_step": "4"' in (tmp_path / "output.metrics").read_text()
    else:
        assert "trial_metric is 'accuracy', and the evaluation of step 4 has only" in ran.stderr


@pytest.mark.soak
@pytest.mark.any_tensorflow
def test_optuna_prunes_trials_of_several_processes(tmp_path):
    optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
    ran = subprocess.run(
        [sys.executable, "-m", "examples.tuning.search", f"--folder={tmp_path}", "--processes=2",
         "--trials=6"], cwd=jobs.REPO, capture_output=True, text=True, check=False, timeout=300,
        env=jobs.environment())
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    from examples.tuning import search
    study = search.study(tmp_path)
    assert sum(trial.state.is_finished() for trial in study.trials) == 6
    for number, learning_rate in enumerate((1, 1, 1, 1, 1e-4), len(study.trials)):
        study.enqueue_trial({"learning_rate": learning_rate, "hidden_units": 32})
        study.optimize(lambda trial: search.objective(trial, tmp_path), n_trials=1)
        ended = json.loads((tmp_path / f"trial-{number:02}" / "result.json").read_text())
    assert study.trials[-1].state == optuna.trial.TrialState.PRUNED
    assert (ended["status"], ended["reason"]) == ("stopped", "TrialPruned")
