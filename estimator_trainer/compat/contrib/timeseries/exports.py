"""`tf.contrib.timeseries.saved_model_utils`, which is tensorflow-estimator's.

Definition: tensorflow/contrib/timeseries/python/timeseries/saved_model_utils.py of TensorFlow 1.15.
"""

from __future__ import annotations

import numpy as np
from tensorflow_estimator.python.estimator.canned.timeseries import saved_model_utils

__all__ = ["cold_start_filter", "filter_continuation", "predict_continuation",
           "saved_model_utils"]

# tensorflow-estimator 2.15 uses the name without an import.
vars(saved_model_utils).setdefault("numpy", np)
cold_start_filter = saved_model_utils.cold_start_filter
filter_continuation = saved_model_utils.filter_continuation
predict_continuation = saved_model_utils.predict_continuation
