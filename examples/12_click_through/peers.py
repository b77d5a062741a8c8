"""Trains scikit-learn's logistic regression and gradient boosting on the same files.

    python examples/12_click_through/peers.py /tmp/clicks [--rows=N]

The program needs scikit-learn and NumPy alone. One line of JSON is printed: the AUC of
each on test.tsv, and its seconds of training.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

_NUMBERS = 13
_MOST_CATEGORIES = 254  # of a column of the trees; rarer ones are one category
_SEED = 1


def read(paths: list[pathlib.Path], rows: int) -> tuple[Any, Any, Any]:
    """Returns labels, numbers [rows, 13], NaN where blank, and categories [rows, 26]."""
    found = [_of_file(path, rows // len(paths) if rows else None) for path in paths]
    labels, numbers, categories = (np.concatenate(each) for each in zip(*found))
    return labels, np.sign(numbers) * np.log1p(np.abs(numbers)), categories


def _of_file(path: pathlib.Path, rows: int | None) -> tuple[Any, Any, Any]:
    lines = path.read_text(encoding="ascii").splitlines()[:rows]
    columns = list(zip(*(line.split("\t") for line in lines), strict=True))
    numbers = [[float(value or "nan") for value in column] for column in columns[1:_NUMBERS + 1]]
    categories = [[int(value or "-1", 16) for value in column]
                  for column in columns[_NUMBERS + 1:]]
    return (np.array(columns[0], np.int64), np.array(numbers, np.float32).T,
            np.array(categories, np.int64).T)


def logistic_regression(train: tuple[Any, Any, Any], test: tuple[Any, Any, Any]) -> Any:
    """Returns the scores of the test lines: all categories, scaled numbers, flags of blanks."""
    _, numbers, categories = train
    encoder = OneHotEncoder(handle_unknown="ignore", dtype=np.float32).fit(categories)
    scaler = StandardScaler().fit(numbers)

    def inputs(numbers: Any, categories: Any) -> Any:
        dense = np.hstack([np.nan_to_num(scaler.transform(numbers)), np.isnan(numbers)])
        return scipy.sparse.hstack(
            [scipy.sparse.csr_matrix(dense, dtype=np.float32), encoder.transform(categories)],
            format="csr")

    model = LogisticRegression(max_iter=200).fit(inputs(numbers, categories), train[0])
    return model.decision_function(inputs(*test[1:]))


def gradient_boosting(train: tuple[Any, Any, Any], test: tuple[Any, Any, Any]) -> Any:
    """Returns the scores of the test lines, by trees that take categories and blanks as such."""
    _, numbers, categories = train
    encoder = OrdinalEncoder(max_categories=_MOST_CATEGORIES, handle_unknown="use_encoded_value",
                             unknown_value=np.nan, dtype=np.float32).fit(categories)
    is_category = [False] * _NUMBERS + [True] * categories.shape[1]
    model = HistGradientBoostingClassifier(
        max_iter=1000, early_stopping=True, categorical_features=is_category, random_state=_SEED)
    model.fit(np.hstack([numbers, encoder.transform(categories)]), train[0])
    return model.decision_function(np.hstack([test[1], encoder.transform(test[2])]))


def main() -> None:
    """Prints the AUC of each."""
    parser = argparse.ArgumentParser(prog="peers.py")
    parser.add_argument("folder", type=pathlib.Path, help="folder of train-*.tsv and test.tsv")
    parser.add_argument("--rows", type=int, default=0, help="training lines; 0: all")
    args = parser.parse_args()
    train = read(sorted(args.folder.glob("train-*.tsv")), args.rows)
    test = read([args.folder / "test.tsv"], 0)
    result: dict[str, Any] = {"version": sklearn.__version__}
    for model in (logistic_regression, gradient_boosting):
        start = time.monotonic()
        scores = model(train, test)
        result[model.__name__] = {"auc": roc_auc_score(test[0], scores),
                                  "secs": time.monotonic() - start}
        print(model.__name__, result[model.__name__], file=sys.stderr)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
