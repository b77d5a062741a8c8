"""Writes files in Criteo's format whose clicks are drawn from known probabilities.

    python -m examples.12_click_through.clicks --output=/tmp/clicks

The folder gets train-0.tsv to train-7.tsv, validation.tsv, test.tsv, and test_probability.npy with
the probability of a click of each line of test.tsv. The log-odds of a click are the sum of

  - a weight of each of the 26 categories,
  - a product of two vectors of two numbers for C1 and C2, for C3 and C4, C5 and C6, C7 and C8,
  - a wave over the logarithm of each of the 13 numbers.

A blank adds 0. Some categories are much more frequent than others, as in real logs. The AUC of the
probabilities themselves is the best one: a model exceeds it by chance alone.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any, NamedTuple

import numpy as np

# Number of categories of each column.
_SIZES = (30, 40, 20, 50, 25, 25, 40, 30, 3, 5, 10, 20, 50, 100, 200, 300, 500, 4, 8, 15, 40, 150,
          3, 6, 12, 25)
_PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7))
_RANK = 2  # numbers in a vector
_NUMBERS = 13
_BIAS = -1.4
_WEIGHTS, _PRODUCTS, _WAVES = 1.0, 1.2, 0.5  # size of each part of the log-odds
_BLANK_SHARE = 0.1  # of every third column; the others have no blanks
_TRAIN_FILES = 8
_EVAL_ROWS = 200_000  # lines of validation.tsv, and of test.tsv


class Rows(NamedTuple):
    """Lines of a file.

    Attributes:
      ids: For each column, the number of the category, -1 for a blank: int64 [rows].
      numbers: For each column, integers, NaN for a blank: float64 [rows].
      probability: Probability of a click, float64 [rows].
      label: Whether it was clicked, bool [rows].
    """

    ids: list[Any]
    numbers: list[Any]
    probability: Any
    label: Any


class Truth:
    """Names, weights and vectors of categories, and the waves over the numbers."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self._names = [[*(f"{code:08x}" for code in rng.choice(2**32, size, replace=False)), ""]
                       for size in _SIZES]
        self._weights = [rng.normal(0, _WEIGHTS / len(_SIZES)**0.5, size) for size in _SIZES]
        deviation = (_PRODUCTS / (len(_PAIRS) * _RANK)**0.5)**0.5
        self._vectors = [rng.normal(0, deviation, (size, _RANK)) for size in _SIZES]
        self._phases = rng.uniform(0, 2 * np.pi, _NUMBERS)

    def draw(self, rows: int, rng: np.random.Generator) -> Rows:
        """Draws lines."""
        ids = [np.where(_blanks(column, rows, rng), -1, _ids(size, rows, rng))
               for column, size in enumerate(_SIZES)]
        numbers = [np.where(_blanks(column, rows, rng), np.nan, _counts(column, rows, rng))
                   for column in range(_NUMBERS)]
        probability = 1 / (1 + np.exp(-self._log_odds(ids, numbers)))
        return Rows(ids, numbers, probability, rng.random(rows) < probability)

    def write(self, path: pathlib.Path, rows: Rows) -> None:
        """Writes lines in Criteo's format."""
        numbers = [["" if value != value else str(int(value)) for value in column.tolist()]
                   for column in rows.numbers]
        # The last name, that of -1, is the blank.
        categories = [np.array(names)[ids].tolist() for names, ids in zip(self._names, rows.ids)]
        labels = np.where(rows.label, "1", "0").tolist()
        with path.open("w", encoding="ascii") as file:
            file.writelines("\t".join(line) + "\n" for line in zip(labels, *numbers, *categories))

    def _log_odds(self, ids: list[Any], numbers: list[Any]) -> Any:
        total = np.full(len(ids[0]), _BIAS)
        for weights, column in zip(self._weights, ids):
            total += np.where(column >= 0, weights[column], 0)
        for one, two in _PAIRS:
            products = (self._vectors[one][ids[one]] * self._vectors[two][ids[two]]).sum(axis=1)
            total += np.where((ids[one] >= 0) & (ids[two] >= 0), products, 0)
        for phase, column in zip(self._phases, numbers):
            waves = _WAVES * (2 / _NUMBERS)**0.5 * np.sin(np.log1p(np.abs(column)) + phase)
            total += np.nan_to_num(waves)
        return total


def auc(scores: Any, labels: Any) -> float:
    """Returns the share of pairs of a clicked and another line that the scores put in order.

    Args:
      scores: [lines]; a pair of equal scores counts half.
      labels: bool [lines].
    """
    _, positions, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[positions]
    clicked = int(labels.sum())
    return float((ranks[labels].sum() - clicked * (clicked + 1) / 2) /
                 (clicked * (len(labels) - clicked)))


def write(folder: pathlib.Path, rows: int, eval_rows: int = _EVAL_ROWS, seed: int = 1) -> float:
    """Writes all files, `rows` lines for training; returns the best AUC on test.tsv."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = Truth(seed)
    files = {f"train-{i}": rows // _TRAIN_FILES for i in range(_TRAIN_FILES)}
    for number, (name, count) in enumerate([*files.items(), ("validation", eval_rows),
                                            ("test", eval_rows)]):
        drawn = truth.draw(count, np.random.default_rng([seed, number]))
        truth.write(folder / f"{name}.tsv", drawn)
    np.save(folder / "test_probability.npy", drawn.probability)
    return auc(drawn.probability, drawn.label)


def _blanks(column: int, rows: int, rng: np.random.Generator) -> Any:
    return rng.random(rows) < (_BLANK_SHARE if column % 3 == 2 else 0.0)


def _ids(size: int, rows: int, rng: np.random.Generator) -> Any:
    frequency = np.arange(1, size + 1)**-1.2
    return rng.choice(size, rows, p=frequency / frequency.sum())


def _counts(column: int, rows: int, rng: np.random.Generator) -> Any:
    """Returns counts of which few are large; every second column starts at -1, as Criteo's I2."""
    return np.floor(np.exp(rng.normal(1 + column % 4, 1.2, rows))) - column % 2


def main() -> None:
    """Writes the files of the command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.12_click_through.clicks")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder of the files")
    parser.add_argument("--rows", type=int, default=2_000_000, help="lines for training")
    parser.add_argument("--seed", type=int, default=1, help="decides all that is drawn")
    args = parser.parse_args()
    best = write(args.output, args.rows, seed=args.seed)
    print(f"{args.output}: {args.rows:,} lines for training; best AUC on test.tsv {best:.4f}")


if __name__ == "__main__":
    main()
