"""Optuna searches the params of a model in several processes, and prunes trials that fall behind.

    python -m examples.tuning.search --folder=/tmp/search --processes=2 --trials=16

Needs Optuna: pip install optuna
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
from typing import Any

import optuna
from optuna.storages import journal

import estimator_trainer

_STEPS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--trials", type=int, default=16)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    # The others find the study in the file.
    found = study(args.folder)
    others = [subprocess.Popen([
        sys.executable, "-m", "examples.tuning.search", f"--folder={args.folder}",
        f"--trials={args.trials}"]) for _ in range(args.processes - 1)]
    found.optimize(lambda trial: objective(trial, args.folder),
                   callbacks=[optuna.study.MaxTrialsCallback(args.trials, states=None)])
    if any([other.wait() for other in others]):
        sys.exit("a process of the search has failed")
    if others:
        print(summary(found))


def study(folder: pathlib.Path) -> optuna.Study:
    """Returns the study whose journal is in a folder, which all processes share."""
    storage = optuna.storages.JournalStorage(journal.JournalFileBackend(str(folder / "journal")))
    return optuna.create_study(
        storage=storage, study_name="digits", direction="maximize", load_if_exists=True,
        # A trial is pruned at an evaluation where it is behind the median of those before it.
        pruner=optuna.pruners.MedianPruner(n_startup_trials=4))


def objective(trial: optuna.Trial, folder: pathlib.Path) -> float:
    """Returns the accuracy of one trial, which trains in a directory of its own."""
    params = {"learning_rate": trial.suggest_float("learning_rate", 1e-4, 10, log=True),
              "hidden_units": trial.suggest_int("hidden_units", 16, 256, log=True)}

    def report(metrics: dict[str, Any]) -> None:
        trial.report(metrics["accuracy"], metrics["global_step"])
        if trial.should_prune():
            raise optuna.TrialPruned

    ended = estimator_trainer.train(
        "mlp", "digits", folder / f"trial-{trial.number:02}", params=params, train_steps=_STEPS,
        eval_every_steps=_STEPS // 6, exporters=["none"], intra_op_threads=1, on_evaluation=report)
    accuracy: float = ended.metrics["accuracy"]
    return accuracy


def summary(found: optuna.Study) -> str:
    """Returns a line for each trial, and one for the best."""
    lines = []
    for trial in found.trials:
        step, accuracy = max(trial.intermediate_values.items())
        lines.append(f"{trial.number:5}  {trial.state.name.lower():8}  step {step:3}"
                     f"  accuracy {accuracy:.3f}"
                     f"  learning_rate {trial.params['learning_rate']:.2g}"
                     f"  hidden_units {trial.params['hidden_units']}")
    return "\n".join([*lines, f"best: trial {found.best_trial.number}, accuracy"
                              f" {found.best_value:.3f}"])


if __name__ == "__main__":
    main()
