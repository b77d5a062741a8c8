"""A function that a search passes to `train` ends a trial, whose directory stays of use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import estimator_trainer
from tests.support import jobs, line_model


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
