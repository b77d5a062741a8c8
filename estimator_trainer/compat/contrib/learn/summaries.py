"""Metrics of an evaluation are written as events.

Source: tensorflow/contrib/learn/python/learn/estimators/estimator.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging


def write(folder: str, found: Mapping[Any, Any], step: int) -> None:
    """Writes numbers, arrays and serialized summaries by name into a folder's event file."""
    logging.info("Saving dict for global step %d: %s", step, ", ".join(
        f"{name} = {value}" for name, value in sorted(found.items(), key=lambda item: str(item[0]))
        if np.ndim(value) == 0 and not isinstance(value, bytes)))
    v1 = tf.compat.v1
    summary = v1.Summary()
    for name, value in found.items():
        if value is not None and name != "global_step":
            _add(summary, str(name), value)
    writer = v1.summary.FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()


def _add(summary: Any, name: str, value: Any) -> None:
    if isinstance(value, bytes):
        for each in tf.compat.v1.Summary.FromString(value).value:
            each.tag = name
            summary.value.append(each)
    elif np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu":
        summary.value.add(tag=name, simple_value=float(value))
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=name, node_name=name, tensor=tf.make_tensor_proto(value))
    else:
        logging.warning("Skipping summary for %s, which is %r.", name, value)
