"""The columns of the evaluation beside those of the training, as the input_fn's module finds them.
"""

from typing import Any, TypedDict

from absl import logging

from estimator_trainer import errors, schema
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins


class _ColumnNeeded(TypedDict):
    name: str
    missing: list[schema.Count]
    unseen: schema.Count
    examples: list[str]
    drift: schema.Number | None
    has_drifted: bool


class ColumnContent(_ColumnNeeded, total=False):
    """A column: see `compared` of `input_fns/reading/table_drift.py`."""

    medians: list[schema.Number]


class DataContent(TypedDict, total=False):
    """The entry `data` of `evaluation.json`; `reason` is a clause on why the others are missing."""

    reason: str
    training_rows: schema.Count
    evaluation_rows: schema.Count
    is_whole: bool
    label: str
    columns: list[ColumnContent]


def of_data(plugins: LoadedPlugins) -> dict[str, Any]:
    """Returns the entry `data`; data that cannot be compared are not a failure."""
    if plugins.compared_columns is None:
        return {"reason": "this input_fn does not say what its training rows hold"}
    try:
        found = plugins.compared_columns(plugins.params)
        schema.made(DataContent, found)
        return found or {"reason": "the rows to evaluate are those to train on, or too large to"
                                   " read again"}
    except Exception as error:  # pylint: disable=broad-except
        reason = errors.first_line(error) or type(error).__name__
        logging.info("the report does not compare the evaluation with the training: %s", reason)
        return {"reason": reason}
