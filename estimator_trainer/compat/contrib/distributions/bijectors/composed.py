"""`tf.contrib.distributions.bijectors` that are made of others or of functions.

Follows the API of `tensorflow/contrib/distributions/python/ops/bijectors/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional, Sequence

import tensorflow as tf
from tensorflow.python.ops.distributions import bijector

_Function = Optional[Callable[..., Any]]


class ConditionalBijector(bijector.Bijector):
    """A bijector whose methods take conditions as keyword arguments."""

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        """Returns Y of X."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """Returns X of Y."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any,
                                 name: str = "inverse_log_det_jacobian",
                                 **condition_kwargs: Any) -> Any:
        """Returns log |dX / dY|."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any,
                                 name: str = "forward_log_det_jacobian",
                                 **condition_kwargs: Any) -> Any:
        """Returns log |dY / dX|."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


class Invert(ConditionalBijector):
    """The inverse of another bijector."""

    def __init__(self, bijector: Any, validate_args: bool = False,
                 name: Optional[str] = None) -> None:
        if not bijector._is_injective:
            raise NotImplementedError(f"{bijector.name} has no inverse; expected a bijector that "
                                      "is injective")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args,
            dtype=bijector.dtype, name=name or f"invert_{bijector.name}")

    @property
    def bijector(self) -> Any:
        """The bijector that is inverted."""
        return self._bijector

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


class Chain(ConditionalBijector):
    """Bijectors after one another; the last of the list comes first."""

    def __init__(self, bijectors: Optional[Sequence[Any]] = None, validate_args: bool = False,
                 name: Optional[str] = None) -> None:
        self._bijectors = bijectors = () if bijectors is None else bijectors
        for each in bijectors:
            if not each._is_injective:
                raise NotImplementedError(
                    f"Invert is not implemented for non-injective bijector ({each.name})")
        dtypes = {each.dtype for each in bijectors}
        # As in TensorFlow 1.15, two dtypes are no mistake yet; the values show which one is wrong.
        if len(dtypes) > 2:
            raise ValueError(f"incompatible dtypes: {sorted(map(str, dtypes))}")
        super().__init__(
            graph_parents=[parent for each in bijectors for parent in each.graph_parents],
            forward_min_event_ndims=_ndims_needed(
                (each.forward_min_event_ndims, each.inverse_min_event_ndims)
                for each in reversed(bijectors)),
            inverse_min_event_ndims=_ndims_needed(
                (each.inverse_min_event_ndims, each.forward_min_event_ndims)
                for each in bijectors),
            is_constant_jacobian=all(each.is_constant_jacobian for each in bijectors),
            validate_args=validate_args, dtype=next(iter(dtypes - {None}), None),
            name=name or ("identity" if not bijectors else "_of_".join(
                ["chain", *(each.name for each in bijectors)])))

    @property
    def bijectors(self) -> Sequence[Any]:
        """The bijectors."""
        return self._bijectors

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._through(reversed(self.bijectors), "forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._through(reversed(self.bijectors), "forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._through(self.bijectors, "inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._through(self.bijectors, "inverse_event_shape_tensor", output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._through(reversed(self.bijectors), "forward", x, kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._through(self.bijectors, "inverse", y, kwargs)

    @staticmethod
    def _through(bijectors: Iterable[Any], method: str, value: Any, kwargs: Any = {}) -> Any:
        for each in bijectors:
            value = getattr(each, method)(value, **kwargs.get(each.name, {}))
        return value

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._sum_of_jacobians(reversed(self.bijectors), "forward", x, kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._sum_of_jacobians(self.bijectors, "inverse", y, kwargs)

    def _sum_of_jacobians(self, bijectors: Iterable[Any], way: str, x: Any, kwargs: Any) -> Any:
        x = tf.convert_to_tensor(x)
        total, ndims = tf.cast(0., x.dtype), getattr(self, f"{way}_min_event_ndims")
        for each in bijectors:
            conditions = kwargs.get(each.name, {})
            total += getattr(each, f"{way}_log_det_jacobian")(x, event_ndims=ndims, **conditions)
            shape = x.shape[x.shape.rank - ndims:] if x.shape.rank is not None else None
            if shape is not None and shape.is_fully_defined():
                ndims = getattr(each, f"{way}_event_shape")(shape).rank
            else:
                change = each.inverse_min_event_ndims - each.forward_min_event_ndims
                ndims += change if way == "forward" else -change
            x = getattr(each, way)(x, **conditions)
        return total


def _ndims_needed(changes: Iterable[tuple[int, int]]) -> int:
    """Returns how many dimensions an event has that several (before, after) are applied to."""
    needed = present = 0
    for before, after in changes:
        if present < before:
            needed += before - present
            present = before
        present += after - before
    return needed


class Inline(bijector.Bijector):
    """A bijector of functions."""

    def __init__(self, forward_fn: _Function = None, inverse_fn: _Function = None,
                 inverse_log_det_jacobian_fn: _Function = None,
                 forward_log_det_jacobian_fn: _Function = None,
                 forward_event_shape_fn: _Function = None,
                 forward_event_shape_tensor_fn: _Function = None,
                 inverse_event_shape_fn: _Function = None,
                 inverse_event_shape_tensor_fn: _Function = None,
                 is_constant_jacobian: bool = False, validate_args: bool = False,
                 forward_min_event_ndims: Optional[int] = None,
                 inverse_min_event_ndims: Optional[int] = None, name: str = "inline") -> None:
        """Takes the functions; those that are left out must not be needed."""
        super().__init__(forward_min_event_ndims=forward_min_event_ndims,
                         inverse_min_event_ndims=inverse_min_event_ndims,
                         is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         name=name)
        self._functions = {
            "forward": forward_fn, "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn}
        self._shapes = {
            "forward": forward_event_shape_fn, "forward_tensor": forward_event_shape_tensor_fn,
            "inverse": inverse_event_shape_fn, "inverse_tensor": inverse_event_shape_tensor_fn}

    def _call(self, name: str, value: Any, **kwargs: Any) -> Any:
        function = self._functions[name]
        if not callable(function):
            raise NotImplementedError(f"{name}_fn is not a callable function.")
        return function(value, **kwargs)

    def _shape(self, name: str, shape: Any) -> Any:
        function = self._shapes[name]
        return shape if function is None else function(shape)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape("forward", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape("forward_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape("inverse", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape("inverse_tensor", output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._call("forward", x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._call("inverse", y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._call("inverse_log_det_jacobian", y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._call("forward_log_det_jacobian", x, **kwargs)
