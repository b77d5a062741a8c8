"""What an Estimator that a user made does not tell in public.

The private attributes are listed in `private_api.ATTRIBUTES`.
"""

from __future__ import annotations

import copy
from typing import Any


def without_cluster(estimator: Any, config: Any) -> Any:
    """Returns a copy of an Estimator with another RunConfig, which places variables here."""
    alone = copy.copy(estimator)
    alone._config, alone._session_config = config, config.session_config
    alone._device_fn = None
    return alone


def warm_start_of(estimator: Any) -> Any:
    """Returns the WarmStartSettings of an Estimator, or None."""
    return estimator._warm_start_settings


def tpu_batch_size(estimator: Any, mode: str) -> int | None:
    """Returns the batch size that a TPUEstimator gives to an input_fn; None for any other."""
    if not hasattr(estimator, "_ctx"):
        return None
    estimator._is_input_fn_invoked = True
    with estimator._ctx.with_mode(mode) as context:
        size: int | None = context.batch_size_for_input_fn
        return size
