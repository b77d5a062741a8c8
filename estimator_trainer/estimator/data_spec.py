"""The specs of what an input_fn yields, found without reading a record."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from estimator_trainer.estimator.input_fn_adapter import InputFn
from estimator_trainer.input import batches


@dataclasses.dataclass(frozen=True)
class DataSpec:
    """The elements that an input_fn yields.

    Attributes:
      features: A TensorSpec, or a dict of them, with the batch dimension first; None in the place
        of each None that the dataset yields.
      batches: Number of batches, or INFINITE_CARDINALITY or UNKNOWN_CARDINALITY of tf.data.
      labels: A structure like `features`; None if the dataset yields no labels.
    """

    features: Any
    batches: int
    labels: Any = None

    @property
    def is_infinite(self) -> bool:
        """Whether the dataset never ends."""
        return bool(self.batches == tf.data.INFINITE_CARDINALITY)


def describe(input_fn: InputFn, params: dict[str, Any],
             mode: str = tf.estimator.ModeKeys.EVAL) -> DataSpec:
    """Describes what the adapted `input_fn` yields in a mode, reading no record."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        # A marked dataset has no known length.
        made = input_fn(mode, params, is_marked=False)
        if isinstance(made, tf.data.Dataset):
            element = made.element_spec
            cardinality = session.run(tf.data.experimental.cardinality(made))
        else:
            element = tf.nest.map_structure(tf.type_spec_from_value, made)
            cardinality = tf.data.UNKNOWN_CARDINALITY
        element = tf.nest.map_structure(_without_none, element)
        features, labels = element if isinstance(element, tuple) else (element, None)
    return DataSpec(features, int(cardinality), labels)


def _without_none(spec: Any) -> Any:
    return None if isinstance(spec, batches.NoneTensorSpec) else spec
