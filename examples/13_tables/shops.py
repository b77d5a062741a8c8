"""Writes two tables as a shop and a broker have them, drawn from known rules.

    python -m examples.13_tables.shops --output=/tmp/tables

churn.csv has customers, some of whom leave with a probability that is a logistic function;
prices.csv has houses, whose price is a product of what they have and where they are. Both have a
number of each row, and missing fields or a date. Every fifth row is in churn-test.csv and
prices-test.csv instead.
"""

from __future__ import annotations

import argparse
import csv
import pathlib

import numpy as np

_TEST_EVERY = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    write(parser.parse_args().output)


def write(folder: pathlib.Path) -> None:
    """Writes the four files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in (("churn", churn()), ("prices", houses())):
        rows = list(zip(*(_texts(values) for values in table.values())))
        for suffix, is_test in (("", False), ("-test", True)):
            chosen = [row for i, row in enumerate(rows, 1) if (i % _TEST_EVERY == 0) == is_test]
            path = folder / f"{name}{suffix}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([list(table), *chosen])
            print(f"{path}: {len(chosen):,} rows")


def _texts(values: np.ndarray) -> list[str]:
    return ["" if text == "nan" else text for text in map(str, values.tolist())]


def churn(rows: int = 40_000) -> dict[str, np.ndarray]:
    """Returns customers who leave with a probability that is a logistic function."""
    r = np.random.default_rng(11)
    contract = r.choice(["month", "one year", "two years"], rows, p=[0.55, 0.25, 0.2])
    internet = r.choice(["fibre", "dsl", "none"], rows, p=[0.45, 0.35, 0.2])
    payment = r.choice(["card", "transfer", "cheque", "debit"], rows)
    tenure, age = r.integers(0, 73, rows), r.integers(18, 90, rows).astype(float)
    monthly = np.round(r.normal(65, 25, rows).clip(18, 130), 2)
    total = np.round(monthly * tenure * r.normal(1, 0.05, rows), 2)
    support = r.poisson(1.4, rows)
    logit = (-1.2 - 0.022 * tenure + 0.012 * (monthly - 65) + 0.25 * support - 0.004 * (age - 50)
             + np.select([contract == "month", contract == "one year"], [0.7, 0.1], -0.6)
             + np.select([internet == "fibre", internet == "dsl"], [0.4, 0.0], -0.3)
             + np.select([payment == "cheque", payment == "card"], [0.3, -0.1], 0.0))
    left = r.random(rows) < 1 / (1 + np.exp(-logit))
    age[r.random(rows) < 0.05], total[r.random(rows) < 0.03] = np.nan, np.nan
    return {
        "customer_id": np.array([f"C{100_000 + i}" for i in r.permutation(rows)]), "tenure": tenure,
        "contract": contract, "monthly": monthly, "total": total, "support_calls": support,
        "age": age, "region": r.choice(["north", "south", "east", "west", "centre"], rows),
        "payment": payment, "internet": internet, "churn": np.where(left, "yes", "no")}


def houses(rows: int = 21_000) -> dict[str, np.ndarray]:
    """Returns sales of houses, whose price is a product of what they have and where they are."""
    r = np.random.default_rng(12)
    days = r.integers(0, 400, rows)
    area, lot = np.exp(r.normal(7.5, 0.42, rows)).round(), np.exp(r.normal(9, 0.9, rows)).round()
    grade = np.clip((7 + (np.log(area) - 7.5) * 2 + r.normal(0, 0.8, rows)).round(), 3, 13)
    built = r.integers(1900, 2015, rows)
    renovated = np.where(r.random(rows) < 0.05, r.integers(1980, 2015, rows), 0)
    lat, lon = r.uniform(47.15, 47.78, rows), r.uniform(-122.5, -121.3, rows)
    condition = r.choice([1, 2, 3, 4, 5], rows, p=[0.01, 0.02, 0.65, 0.25, 0.07])
    view = r.choice([0, 1, 2, 3, 4], rows, p=[0.9, 0.02, 0.04, 0.025, 0.015])
    center = np.exp(-((lat - 47.6) ** 2 / 0.02 + (lon + 122.2) ** 2 / 0.05))
    log_price = (6.2 + 0.72 * np.log(area) + 0.03 * np.log(lot) + 0.14 * (grade - 7) + 0.07 * view
                 + 0.04 * (condition - 3) + 0.9 * center + 0.15 * np.sin((lat - 47) * 9)
                 - 0.0012 * (built - 1950) + 0.1 * (renovated > 0) + 0.0002 * days
                 + r.normal(0, 0.16, rows))
    dates = np.datetime64("2014-05-01") + days
    return {
        "id": r.choice(10**10, rows, replace=False), "date": dates.astype(str),
        "bedrooms": np.clip((area / 620 + r.normal(0, 0.8, rows)).round(), 1, 9).astype(int),
        "bathrooms": np.clip((area / 900 + r.normal(0, 0.5, rows)) * 4 // 1 / 4, 0.5, 7),
        "sqft_living": area.astype(int), "sqft_lot": lot.astype(int), "condition": condition,
        "grade": grade.astype(int), "view": view, "yr_built": built, "yr_renovated": renovated,
        "zipcode": 98_001 + ((lat - 47.15) * 15.87).astype(int) * 10 + (
            (lon + 122.5) * 5.83).astype(int),
        "lat": lat.round(4), "long": lon.round(3),
        "price": np.exp(log_price).round(-2).astype(int)}


if __name__ == "__main__":
    main()
