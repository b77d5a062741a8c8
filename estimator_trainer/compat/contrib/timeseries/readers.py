"""Readers of one time series: of arrays, and of CSV and TFRecord files.

Definition: tensorflow/contrib/timeseries/python/timeseries/input_pipeline.py of TensorFlow 1.15.
Features are a dict; `times` is an int64 Tensor [records], other features are [records, ...].
"""

from __future__ import annotations

import abc
from typing import Any, Mapping, Optional, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.timeseries.exports import saved_model_utils

_V1: Any = tf.compat.v1
_ALL = np.iinfo(np.int64).max
_TIMES, _VALUES = "times", "values"


class TimeSeriesReader(abc.ABC):
    """Reads records in order, over and over."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError if there are too few records, as far as the reader knows."""

    @abc.abstractmethod
    def read(self) -> Any:
        """Returns Tensors whose values are the next records each time that they are computed."""

    @abc.abstractmethod
    def read_full(self) -> Any:
        """Returns Tensors of all records."""


def _next(dataset: Any) -> Any:
    return _V1.data.make_one_shot_iterator(dataset).get_next()


class NumpyReader(TimeSeriesReader):
    """Reads arrays.

    Args:
      data: Arrays by feature, with "times" [records] and "values" [records] or [records, numbers].
      read_num_records_hint: The number of records that are read at once.

    Raises:
      ValueError: A feature is missing, or the shapes do not fit.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096) -> None:
        features = saved_model_utils._canonicalize_numpy_data(data, require_single_batch=True)
        self._features = {key: np.squeeze(value, 0) for key, value in features.items()}
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        size = len(self._features[_TIMES])
        if size < minimum_dataset_size:
            raise ValueError(
                "A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {size} records were available in the dataset. "
                "Either decrease the window size or provide more records.")

    def read(self) -> Any:
        records = tf.data.Dataset.from_tensor_slices(self._features).repeat()
        return _next(records.batch(self._read_num_records_hint))

    def read_full(self) -> Any:
        return _next(tf.data.Dataset.from_tensors(self._features).repeat())


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """Reads files. A subclass has `_records`, a Dataset of strings, and `_process_records`."""

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096) -> None:
        self._filenames, self._read_num_records_hint = filenames, read_num_records_hint

    @abc.abstractmethod
    def _records(self) -> Any:
        """Returns the Dataset of all records."""

    @abc.abstractmethod
    def _process_records(self, records: Any) -> Any:
        """Returns the features of records [n]."""

    def _files(self) -> Any:
        names = tf.reshape(tf.convert_to_tensor(self._filenames), [-1])
        return tf.data.Dataset.from_tensor_slices(names)

    def read(self) -> Any:
        records = self._records().repeat().batch(self._read_num_records_hint)
        return self._process_records(_next(records))

    def read_full(self) -> Any:
        return self._process_records(_next(self._records().batch(_ALL).repeat()))


class CSVReader(ReaderBaseTimeSeriesParser):
    """Reads files of comma-separated values; columns of one name become one feature.

    Args:
      filenames: The files' names.
      column_names: The columns' features, "times" once and "values" at least once.
      column_dtypes: The columns' dtypes; None for int64 times and float32 otherwise.
      skip_header_lines: The number of lines that each file begins with.

    Raises:
      ValueError: A column is missing, or the numbers of columns differ.
    """

    def __init__(self, filenames: Any, column_names: Sequence[str] = (_TIMES, _VALUES),
                 column_dtypes: Optional[Sequence[Any]] = None,
                 skip_header_lines: Optional[int] = None,
                 read_num_records_hint: int = 4096) -> None:
        _require(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError("If specified, the length of column_dtypes must match the length of "
                             f"column_names (got column_dtypes={column_dtypes} and "
                             f"column_names={column_names}).")
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{_TIMES}'), but exactly one is "
                             "required.")
        self._column_names = column_names
        self._column_dtypes = column_dtypes or [
            tf.int64 if name == _TIMES else tf.float32 for name in column_names]
        self._are_optional = column_dtypes is not None
        self._skip_header_lines = skip_header_lines or 0
        super().__init__(filenames, read_num_records_hint)

    def _records(self) -> Any:
        return self._files().flat_map(
            lambda name: tf.data.TextLineDataset(name).skip(self._skip_header_lines))

    def _process_records(self, records: Any) -> Any:
        # A column of values without a default has to be there in each line.
        defaults = [tf.zeros([1], dtype) if self._are_optional or name == _TIMES
                    else tf.zeros([0], dtype)
                    for name, dtype in zip(self._column_names, self._column_dtypes)]
        found: dict[str, list[Any]] = {}
        for name, value in zip(self._column_names, tf.io.decode_csv(records, defaults)):
            found.setdefault(name, []).append(value)
        return {name: values[0] if name == _TIMES else tf.stack(values, 1)
                for name, values in found.items()}


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """Reads files of TFRecords with tf.train.Examples, by the features' specs."""

    def __init__(self, filenames: Any, features: Mapping[str, Any]) -> None:
        _require(features)
        self._features = features
        super().__init__(filenames)

    def _records(self) -> Any:
        return self._files().flat_map(tf.data.TFRecordDataset)

    def _process_records(self, records: Any) -> Any:
        return tf.io.parse_example(records, self._features)


def _require(names: Any) -> None:
    for each in (_TIMES, _VALUES):
        if each not in names:
            raise ValueError(f"'{each}' is a required column.")
