"""Scores predictions of a table, beside scikit-learn's models of the same rows.

    python -m examples.13_tables.score --train=/tmp/tables/churn.csv
        --test=/tmp/tables/churn-test.csv --label=churn --predictions=/tmp/churn.csv

Prints the AUC of classes "no" and "yes", or R² of numbers. Needs pandas and scikit-learn.
"""

from __future__ import annotations

import argparse
import json

import pandas as pd

from benchmarks.tables import baselines
from benchmarks.tables.tables import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train", "test", "label", "predictions"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    print(json.dumps(scores(args.train, args.test, args.label, args.predictions)))


def scores(train: str, test: str, label: str, predictions: str) -> dict[str, float]:
    """Returns the score of the predictions, and those of scikit-learn's defaults, by name."""
    rows, found = pd.read_csv(test), pd.read_csv(predictions)
    table = Table(label, rows[label].dtype.kind in "if", lambda: rows)
    answers = found["predictions"].to_numpy() if table.is_regression else (
        found[["probability_no", "probability_yes"]].to_numpy())
    return {"here": baselines.score(table, rows[label], answers),
            **baselines.scores(table, pd.read_csv(train), rows, seed=0)}


if __name__ == "__main__":
    main()
