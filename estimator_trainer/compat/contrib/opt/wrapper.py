"""The base of optimizers that are put around another optimizer."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

_Optimizer: Any = tf.compat.v1.train.Optimizer


class Wrapper(_Optimizer):
    """An optimizer with the gradients and the slots of another one, `_opt`."""

    def __init__(self, opt: Any, use_locking: bool = False, name: Optional[str] = None) -> None:
        super().__init__(use_locking, name or type(self).__name__)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)
