"""A linear classifier of what mappers make of features.

Source: tensorflow/contrib/kernel_methods/python/kernel_estimators.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.kernel_methods.mapper import RandomFourierFeatureMapper
from estimator_trainer.compat.contrib.layers import numeric_columns
from estimator_trainer.compat.contrib.learn import canned
from estimator_trainer.compat.contrib.learn.estimator import Estimator


class KernelLinearClassifier(canned.LinearClassifier):
    """A linear model that finds a class, of columns and of what mappers make of some.

    Args:
      feature_columns: Columns that go unchanged into the model.
      kernel_mappers: Lists of mappers by real-valued column.
      **others: As in `tf.contrib.learn.LinearClassifier`.

    Raises:
      ValueError: there are neither columns nor mappers, or a mapper is none.
    """

    def __init__(self, feature_columns: Any = None, model_dir: Any = None, n_classes: int = 2,
                 weight_column_name: Any = None, optimizer: Any = None, kernel_mappers: Any = None,
                 config: Any = None) -> None:
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        mapped = _real_valued(kernel_mappers)

        def with_mapped(features: Any, labels: Any) -> Any:
            found = {f"{column.name}_MAPPED": tf.concat(
                [mapper.map(features[column.name]) for mapper in mappers], 1)
                     for column, mappers in mapped.items()}
            return {**features, **found}, labels

        columns = [numeric_columns.real_valued_column(
            f"{column.name}_MAPPED", sum(mapper.output_dim for mapper in mappers))
                   for column, mappers in mapped.items()]
        super().__init__([*(feature_columns or ()), *columns], model_dir, n_classes,
                         weight_column_name, optimizer, config=config,
                         feature_engineering_fn=with_mapped)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Returns all predictions, as `tf.contrib.learn.Estimator.predict` does."""
        return Estimator.predict(self, *args, **kwargs)


def _real_valued(kernel_mappers: Any) -> dict[Any, Any]:
    """Returns the mappers of real-valued columns; others are left out."""
    for mappers in (kernel_mappers or {}).values():
        if not all(isinstance(mapper, RandomFourierFeatureMapper) for mapper in mappers):
            raise ValueError("Invalid kernel mappers.")
    kind = getattr(numeric_columns, "_RealValuedColumn")
    return {column: mappers for column, mappers in (kernel_mappers or {}).items()
            if isinstance(column, kind)}
