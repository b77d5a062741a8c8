"""Columns of a Python program in, columns of the same kind out: DataFrame, Arrow table, arrays."""

import dataclasses
import sys
from typing import Any, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import ConfigError, first_line, Problem, Setting, Words
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.params import FILES
from estimator_trainer.prediction import predict, typed_rows
from estimator_trainer.prediction.prediction_writer import PredictionWriter

_OF_ARRAYS = "arrays"
_EXAMPLE = {"age": [31, 52], "old": ["no", "yes"]}


def is_columns(data: Any) -> bool:
    """Returns whether data are a DataFrame, an Arrow table or a mapping from name to column."""
    return isinstance(data, Mapping) or _is_pandas(data) or hasattr(data, "__arrow_c_stream__")


class Rows:
    """Rows that are columns of a Python program.

    Attributes:
      plan: The plan by which their answers are computed; its input_fn may read the columns.
    """

    def __init__(self, plan: Plan, data: Any):
        """Raises ConfigError if the data are no columns of one length."""
        assert plan.data is not None
        self._data, self._columns = data, _columns(data)
        in_memory = getattr(loader.load(plan.data)[1], "in_memory", None)
        self._table, self.plan = None, plan
        if in_memory and FILES in (plan.data.default_params or {}):
            # The table is read as long as it is kept.
            self._table = _arrow(data, self._columns)
            self.plan = reading(plan, in_memory(self._table))

    def predicted(self) -> Any:
        """Returns the answers to the rows as columns of the kind in which the rows came.

        Beside the answers are the identifiers, or with --with_inputs all inputs, unchanged.

        Raises:
          ConfigError: The columns are not those of the model.
        """
        if self._table is not None:
            found = predict.answered(self.plan)
            read: Sequence[str] = found.inputs.names if found.inputs else ()
            # A table's input_fn has several columns for one of arrays.
            arrays = [name for name, column in self._columns.items()
                      if self.plan.config.with_inputs and has_arrays(column)]
            names = [name for name in dict.fromkeys((*read, *arrays)) if name in self._columns]
        else:
            found = predict.answered(self.plan, _rows(self._columns))
            names = list(self._columns) if self.plan.config.with_inputs else []
        writer = PredictionWriter(found.class_names, has_key=False, is_typed=True,
                                  is_all=self.plan.config.all)
        return _with_answers(self._data, {name: self._columns[name] for name in names},
                             found, writer)


def stacked(plan: Plan, data: Any) -> dict[str, list[Any]]:
    """Returns dicts that are rows as columns, if they have arrays and the input_fn reads columns.

    An input_fn knows of which kind an array is; a feature as JSON is numbers alone. Else {}.
    """
    if plan.data is None or plan.data.data != _OF_ARRAYS or not _are_rows(data) or any(
            row.keys() != data[0].keys() for row in data) or not any(
                isinstance(value, np.ndarray) and value.ndim for value in data[0].values()):
        return {}
    return _of_rows(data)


def arrow_table(name: str, data: Any) -> pa.Table:
    """Returns columns, or dicts that are rows, as an Arrow table.

    Args:
      name: The argument that has the data, for errors.
      data: A DataFrame, an Arrow table, a mapping from name to column, or a list of dicts.

    Raises:
      ConfigError: The data are none of these, or their columns cannot be read.
    """
    if _are_rows(data):
        data = _of_rows(data)
    if not is_columns(data):
        raise ConfigError(Problem(
            name, Words(f"a {type(data).__name__}"), expected="a DataFrame, an Arrow table, a dict"
            " from name to column, a list of dicts that are rows, or the path of a file or a"
            " folder", example=f"{name}={_EXAMPLE}, label='old'", source=Setting(name)))
    return _arrow(data, _columns(data))


def _are_rows(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and bool(data) and all(
        isinstance(row, Mapping) for row in data)


def _of_rows(data: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Returns rows as columns; None where a row has no such entry."""
    names = dict.fromkeys(key for row in data for key in row)
    return {name: [row.get(name) for row in data] for name in names}


def _with_answers(data: Any, beside: Mapping[str, Any], found: predict.Found,
                  writer: PredictionWriter) -> Any:
    """Returns the answers, with inputs beside them, as columns of the kind of `data`."""
    answers = pa.concat_tables(typed_rows.tables(
        writer.next_row(answer._replace(inputs={})) for answer in found.answers))
    if not writer.count:
        answers = answers.select([])
    return _like(data, {name if name not in answers.column_names else f"input_{name}": column
                        for name, column in beside.items()}, answers)


def _is_pandas(data: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _columns(data: Any) -> dict[str, Any]:
    """Returns the columns by name, each as the program has it."""
    if _is_pandas(data):
        return {str(name): data.iloc[:, i] for i, name in enumerate(data.columns)}
    if isinstance(data, Mapping):
        columns = {str(name): column for name, column in data.items()}
        for name, column in columns.items():
            if not hasattr(column, "__len__") or isinstance(column, (str, bytes)) or (
                    getattr(column, "ndim", 1) == 0):
                raise ConfigError(
                    f"column {name!r} of the data is {str(column)[:40]!r}; expected a value for"
                    f" each row. For example: data={_EXAMPLE}")
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ConfigError(f"the columns of the data have different lengths: {lengths}; expected"
                              " a value of each column for each row. For example:"
                              f" data={_EXAMPLE}")
        return columns
    table = _table(data)
    return dict(zip(table.column_names, table.columns))


def _table(data: Any) -> pa.Table:
    return data if isinstance(data, pa.Table) else pa.table(data)


def _arrow(data: Any, columns: Mapping[str, Any]) -> pa.Table:
    """Returns the columns as an Arrow table, whose texts and numbers are those of the program."""
    arrays = {}
    for name, column in columns.items():
        try:
            arrays[name] = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else (
                _with_arrays(column) if has_arrays(column) else
                pa.array(column, from_pandas=_is_pandas(data)))
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise ConfigError(f"column {name!r} of the data cannot be read: {first_line(error)};"
                              " expected numbers, texts, times or arrays of one shape, one for"
                              " each row.") from error
    return pa.table(arrays)


def has_arrays(column: Any) -> bool:
    """Returns whether a column has an array in each row: pictures, vectors."""
    if hasattr(column, "ndim"):
        return bool(column.ndim > 1)
    return isinstance(column, (list, tuple)) and bool(column) and getattr(column[0], "ndim", 0) > 0


def _with_arrays(column: Any) -> pa.Array:
    array = np.asanyarray(column)
    if array.dtype.kind not in "biuf" or np.ma.is_masked(array):
        what = "masked values" if np.ma.is_masked(array) else f"values of {array.dtype}"
        raise ValueError(f"its arrays have {what}")
    # Arrow has no arrays of booleans, and none in another order of bytes.
    array = array.astype(np.float32 if array.dtype == bool else array.dtype.newbyteorder("="))
    return pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(array))


def reading(plan: Plan, path: str) -> Plan:
    """Returns the plan with a path as the data that the input_fn reads."""
    assert plan.params is not None
    params = dataclasses.replace(plan.params, values={**plan.params.values, FILES: path},
                                 user_set=plan.params.user_set | {FILES})
    return dataclasses.replace(plan, params=params,
                               config=dataclasses.replace(plan.config, data=path))


def _rows(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields each row by name, for an input_fn that reads no tables."""
    arrays = {name: column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
              for name, column in columns.items()}
    for i in range(min(map(len, arrays.values()), default=0)):
        yield {name: array[i] for name, array in arrays.items()}


def _like(data: Any, beside: Mapping[str, Any], answers: pa.Table) -> Any:
    """Returns inputs and answers as columns of the kind of `data`."""
    if _is_pandas(data):
        made = answers.to_pandas()
        made.index = data.index
        for place, (name, column) in enumerate(beside.items()):
            made.insert(place, name, column)
        return made
    if isinstance(data, Mapping):
        return {**beside, **{name: column.to_numpy() for name, column in zip(
            answers.column_names, answers.columns)}}
    for place, (name, column) in enumerate(beside.items()):
        answers = answers.add_column(place, name, column)
    return answers
