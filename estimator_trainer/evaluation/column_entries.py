"""The entries of `evaluation.json` on the columns of its rows: importance, slices, drift."""

from typing import Any, Callable, TypedDict

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import column_drift, column_residuals, columns, slices
from estimator_trainer.evaluation.column_drift import DataContent
from estimator_trainer.evaluation.column_residuals import ColumnResidualsContent
from estimator_trainer.evaluation.columns import ColumnsContent, Judged
from estimator_trainer.evaluation.kept_rows import KeptRows
from estimator_trainer.evaluation.slices import SlicesContent


class ColumnEntries(TypedDict, total=False):
    """The entries on columns, which a model or data without columns lack."""

    columns: ColumnsContent
    slices: SlicesContent
    column_residuals: list[ColumnResidualsContent]
    data: DataContent


class Model:
    """A trained model to predict with.

    Attributes:
      single: An Estimator of the model that computes in this process alone.
      checkpoint_path: The checkpoint.
      plugins: The user's functions, adapted.
    """

    def __init__(self, single: tf.estimator.Estimator, checkpoint_path: str,
                 plugins: LoadedPlugins):
        self.single, self.checkpoint_path, self.plugins = single, checkpoint_path, plugins


def of_evaluation(model: Model, kept: KeptRows, judged: Judged, stop: Stop,
                  on_batch: Callable[[], None]) -> dict[str, Any]:
    """Returns the entries; one that cannot be made is left out, and the reason logged.

    Args:
      model: The model.
      kept: The first rows of the evaluation.
      judged: The answers to them, in the same order.
      stop: Ends the predictions early.
      on_batch: Called for each batch.
    """
    if not kept.specs and not kept.reason:
        return {}
    found: dict[str, Any] = {"columns": columns.of_model(
        model.single, model.checkpoint_path, kept, judged, stop, on_batch)}
    if not stop.is_done:
        return found
    found["data"] = column_drift.of_data(model.plugins)
    try:
        if kept.specs:
            found |= _of_rows(kept.columns(len(judged.labels)), judged, found["columns"])
    except Exception as error:  # pylint: disable=broad-except
        logging.info("the report shows no slices of the evaluation: %s",
                     errors.first_line(error) or type(error).__name__)
    return found


def _of_rows(rows: dict[str, np.ndarray], judged: Judged,
             of_columns: dict[str, Any]) -> dict[str, Any]:
    size = min(len(values) for values in rows.values())
    labels, outputs = judged.labels[:size], judged.outputs[:size]
    of_slices = slices.of_rows(rows, labels, outputs)
    found: dict[str, Any] = {"slices": of_slices} if of_slices else {}
    if outputs.ndim == 1:
        important = [each["name"] for each in of_columns.get("importance", {}).get("found", ())]
        found["column_residuals"] = column_residuals.of_columns(
            rows, important or list(rows), labels, outputs)
    return found
