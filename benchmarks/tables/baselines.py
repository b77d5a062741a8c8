"""The scores of scikit-learn's defaults on a table: a linear model, and gradient boosting.

The linear model gets standardised numbers and a column for each category, as its users do it; the
trees get numbers for categories. Identifiers are left out, and dates are days, for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_IDS = ("customer_id", "id")


def score(table: Any, labels: Any, answers: np.ndarray) -> float:
    """Returns R² of the answers, or the area under the ROC curve, of all classes on average.

    Args:
      table: The Table.
      labels: The labels of the rows to evaluate.
      answers: Numbers [rows], or probabilities [rows, classes] of the sorted classes.
    """
    from sklearn import metrics  # pylint: disable=import-outside-toplevel

    if table.is_regression:
        return float(metrics.r2_score(labels, answers))
    if answers.shape[1] == 2:
        return float(metrics.roc_auc_score(labels.astype(str), answers[:, 1]))
    return float(metrics.roc_auc_score(labels.astype(str), answers, multi_class="ovr"))


def scores(table: Any, train: Any, evaluate: Any, seed: int) -> dict[str, float]:
    """Returns the scores of the linear model and of gradient boosting, by name."""
    found = {}
    labels = train[table.label] if table.is_regression else train[table.label].astype(str)
    for name, model in _models(table, train, seed).items():
        model.fit(_inputs(train, table.label), labels)
        inputs = _inputs(evaluate, table.label)
        answers = model.predict(inputs) if table.is_regression else model.predict_proba(inputs)
        found[name] = score(table, evaluate[table.label], answers)
    return found


def _models(table: Any, train: Any, seed: int) -> dict[str, Any]:
    # pylint: disable=import-outside-toplevel
    from sklearn import compose, ensemble, impute, linear_model, pipeline, preprocessing

    inputs = _inputs(train, table.label)
    texts = [name for name in inputs if inputs[name].dtype == object]
    numbers = [name for name in inputs if name not in texts]
    scaled = pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler())
    for_linear = compose.make_column_transformer(
        (scaled, numbers), (preprocessing.OneHotEncoder(handle_unknown="ignore"), texts))
    for_trees = compose.make_column_transformer(
        ("passthrough", numbers),
        (preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), texts))
    if table.is_regression:
        linear, histogram, boosting = (linear_model.Ridge(),
                                       ensemble.HistGradientBoostingRegressor(random_state=seed),
                                       ensemble.GradientBoostingRegressor(random_state=seed))
    else:
        linear, histogram, boosting = (linear_model.LogisticRegression(max_iter=1000),
                                       ensemble.HistGradientBoostingClassifier(random_state=seed),
                                       ensemble.GradientBoostingClassifier(random_state=seed))
    return {"linear": pipeline.make_pipeline(for_linear, linear),
            "boosting": pipeline.make_pipeline(for_trees, histogram),
            "older boosting": pipeline.make_pipeline(for_trees, impute.SimpleImputer(), boosting)}


def _inputs(frame: Any, label: str) -> Any:
    import pandas as pd  # pylint: disable=import-outside-toplevel

    inputs = frame.drop(columns=[label, *(name for name in _IDS if name in frame)])
    if "date" in inputs:
        inputs = inputs.assign(date=pd.to_datetime(inputs.date).astype("int64") / 8.64e13)
    texts = [name for name in inputs if inputs[name].dtype.kind not in "iuf"]
    return inputs.astype({name: object for name in texts})
