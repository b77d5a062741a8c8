"""The part of a judgement on the columns: which matter, and how the model responds to each."""

import time
from typing import Any, Callable, NamedTuple, Sequence, TypedDict

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.evaluation import column_importance, column_response
from estimator_trainer.evaluation.column_importance import ImportanceContent, OutOfTime, Rows
from estimator_trainer.evaluation.column_response import ResponseContent
from estimator_trainer.evaluation.kept_rows import KeptRows
from estimator_trainer.evaluation.row_predictor import Columns, RowPredictor

_MOST_SECS = 10.0
# Less than the whole time, so that the responses have some.
_IMPORTANCE_SECS = 7.0
_MOST_ROWS, _RESPONSE_ROWS = 2000, 500
# Permutations of fewer rows show chance.
_LEAST_ROWS = 20
_SEED = 20010401
# Predictions of the same rows, made twice, differ by rounding alone.
_TOLERANCE = 1e-3


class ColumnsContent(TypedDict, total=False):
    """The entry `columns` of `evaluation.json`; `reason` is a clause on why the others are missing.
    """

    reason: str
    secs: float
    importance: ImportanceContent
    responses: list[ResponseContent]


class Judged(NamedTuple):
    """The answers to the rows that were kept.

    Attributes:
      labels: Classes, int64 [rows], or numbers, float64 [rows].
      outputs: Probabilities, float64 [rows, classes], or numbers, float64 [rows].
      names: Names of the classes; () for numbers, or if there are none.
    """

    labels: np.ndarray
    outputs: np.ndarray
    names: Sequence[str] = ()


def of_model(single: tf.estimator.Estimator, checkpoint_path: str, kept: KeptRows, judged: Judged,
             stop: Stop, on_batch: Callable[[], None]) -> dict[str, Any]:
    """Returns the entry `columns`; a model whose columns cannot be shuffled is not a failure.

    Args:
      single: An Estimator of the model that computes in this process alone.
      checkpoint_path: The checkpoint.
      kept: The rows.
      judged: The answers to them, in the same order.
      stop: Ends the predictions early.
      on_batch: Called for each batch.
    """
    if kept.reason:
        return {"reason": kept.reason}
    num_classes = judged.outputs.shape[1] if judged.outputs.ndim == 2 else 0
    start = time.monotonic()
    try:
        with RowPredictor(single, checkpoint_path, kept.specs, num_classes) as predictor:
            def predict(columns: Columns) -> np.ndarray:
                if not stop.is_done:
                    raise OutOfTime("the job was requested to end")
                on_batch()
                return predictor.predict(columns)

            found = measured(predict, kept.columns(len(judged.labels)), judged, start + _MOST_SECS)
    except Exception as error:  # pylint: disable=broad-except
        reason = errors.first_line(error) or type(error).__name__
        logging.info("the report does not show which columns matter: %s", reason)
        return {"reason": reason}
    return {**found, "secs": round(time.monotonic() - start, 2)}


def measured(predict: column_importance.Predict, columns: Columns, judged: Judged,
             until: float) -> dict[str, Any]:
    """Returns importance and responses of columns; raises ValueError if there are none.

    `until` is the time, of `time.monotonic`, at which to end.
    """
    size = min(map(len, columns.values()), default=0)
    judged = judged._replace(labels=judged.labels[:size], outputs=judged.outputs[:size])
    is_finite = np.isfinite(judged.outputs.reshape([len(judged.outputs), -1])).all(axis=1)
    places = np.flatnonzero(is_finite & np.isfinite(judged.labels))
    if len(places) < _LEAST_ROWS:
        raise ValueError(f"{len(places)} rows are too few; expected at least {_LEAST_ROWS}")
    generator = np.random.default_rng(_SEED)
    chosen = np.sort(generator.choice(places, min(_MOST_ROWS, len(places)), replace=False))
    rows = Rows(columns, judged.labels).taken(chosen)
    again = predict(rows.columns)
    if not np.allclose(again, judged.outputs[chosen], _TOLERANCE, _TOLERANCE * _spread(judged)):
        raise ValueError("the model predicts the same rows differently each time")
    importance = column_importance.measured(
        predict, rows, _SEED, until - _MOST_SECS + _IMPORTANCE_SECS)
    few = rows.taken(np.arange(min(_RESPONSE_ROWS, len(rows.labels)))).columns
    classes = column_response.shown_classes(judged.labels, judged.outputs)
    names = [""] if judged.outputs.ndim == 1 else [
        judged.names[i] if i < len(judged.names) else str(i) for i in classes]
    responses: list[dict[str, Any]] = []
    for each in importance["found"]:
        if len(responses) == column_response.MOST_COLUMNS or time.monotonic() > until:
            break
        response = column_response.of_column(
            predict, few, each["name"], columns[each["name"]], until) if each["drop"] > 0 else None
        if response:
            responses.append(column_response.with_names(response, classes, names))
    return {"importance": importance, "responses": responses}


def _spread(judged: Judged) -> float:
    """Returns the size of the outputs, beside which rounding is small."""
    return 1.0 if judged.outputs.ndim == 2 else max(1e-12, float(np.nanstd(judged.outputs)))
