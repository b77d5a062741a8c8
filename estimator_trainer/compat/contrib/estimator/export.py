"""Exports of an Estimator's modes.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/export.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

import tensorflow as tf


def export_saved_model_for_mode(estimator: Any, export_dir_base: str,
                                input_receiver_fn: Callable[[], Any],
                                assets_extra: Optional[Mapping[str, str]] = None,
                                as_text: bool = False, checkpoint_path: Optional[str] = None,
                                mode: str = tf.estimator.ModeKeys.PREDICT) -> Any:
    """Returns the folder of a SavedModel of one mode, in bytes.

    The arguments are those of `Estimator.export_saved_model`, and the mode.
    """
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra=assets_extra, as_text=as_text,
        checkpoint_path=checkpoint_path, experimental_mode=mode)


def export_all_saved_models(estimator: Any, export_dir_base: str,
                            input_receiver_fn_map: Mapping[str, Callable[[], Any]],
                            assets_extra: Optional[Mapping[str, str]] = None,
                            as_text: bool = False, checkpoint_path: Optional[str] = None) -> Any:
    """Returns the folder of a SavedModel of some modes, in bytes.

    Args:
      input_receiver_fn_map: For each mode, the function that makes its inputs.
    """
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra=assets_extra, as_text=as_text,
        checkpoint_path=checkpoint_path)
