"""Linear operators that scale the vectors of multivariate distributions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.distributions import checks

_V1 = tf.compat.v1


def diagonal(loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
             rows: Any = None, validate_args: bool = False,
             assert_positive: bool = False) -> Any:
    """Returns the operator of a diagonal, of a factor of the identity matrix, or of their sum.

    Args:
      loc: A vector that tells how large the matrix is, where no diagonal does.
      scale_diag: The diagonal, of shape [..., k].
      scale_identity_multiplier: The factor, of shape [...].
      rows: How large the matrix is, where neither says so.
      validate_args: Whether the numbers are checked.
      assert_positive: Whether they have to be positive, and not only unlike 0.

    Raises:
      ValueError: The size of the matrix is not known.
    """
    def checked(value: Any, name: str) -> Any:
        if value is None:
            return None
        value = tf.convert_to_tensor(value, name=name)
        if not validate_args:
            return value
        if assert_positive:
            return checks.after([_V1.assert_positive(
                value, message="diagonal part must be positive")], value)
        return checks.after([_V1.assert_none_equal(
            value, tf.zeros([], value.dtype), message="diagonal part must be non-zero")], value)

    diag = None if scale_diag is None else tf.convert_to_tensor(scale_diag, name="scale_diag")
    multiplier = None if scale_identity_multiplier is None else tf.convert_to_tensor(
        scale_identity_multiplier, name="scale_identity_multiplier")
    if diag is not None:
        if multiplier is not None:
            diag = diag + multiplier[..., tf.newaxis]
        return tf.linalg.LinearOperatorDiag(
            checked(diag, "scale_diag"), is_non_singular=True, is_self_adjoint=True,
            is_positive_definite=assert_positive)
    if loc is None and rows is None:
        raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
    loc = None if loc is None else tf.convert_to_tensor(loc)
    if rows is None:
        rows = checks.size(loc.shape, -1)
        rows = tf.shape(loc)[-1] if rows is None else rows
    if multiplier is None:
        return tf.linalg.LinearOperatorIdentity(
            rows, dtype=tf.float32 if loc is None else loc.dtype.base_dtype,
            is_self_adjoint=True, is_positive_definite=True, assert_proper_shapes=validate_args)
    return tf.linalg.LinearOperatorScaledIdentity(
        rows, checked(multiplier, "scale_identity_multiplier"), is_non_singular=True,
        is_self_adjoint=True, is_positive_definite=assert_positive,
        assert_proper_shapes=validate_args)


def triangular(loc: Any = None, scale_tril: Any = None, scale_diag: Any = None,
               scale_identity_multiplier: Any = None, rows: Any = None,
               validate_args: bool = False, assert_positive: bool = False) -> Any:
    """Returns the operator of a lower triangular matrix, to whose diagonal the rest is added.

    Without `scale_tril`, it is that of `diagonal`.
    """
    if scale_tril is None:
        return diagonal(loc, scale_diag, scale_identity_multiplier, rows, validate_args,
                        assert_positive)
    tril = tf.linalg.band_part(tf.convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
    diag = tf.linalg.diag_part(tril)
    if scale_diag is not None:
        diag = diag + tf.convert_to_tensor(scale_diag)
    if scale_identity_multiplier is not None:
        diag = diag + tf.convert_to_tensor(scale_identity_multiplier)[..., tf.newaxis]
    tril = tf.linalg.set_diag(tril, diag)
    if validate_args:
        check = _V1.assert_positive(
            diag, message="diagonal part must be positive") if assert_positive else (
                _V1.assert_none_equal(diag, tf.zeros([], diag.dtype),
                                      message="diagonal part must be non-zero"))
        tril = checks.after([check], tril)
    return tf.linalg.LinearOperatorLowerTriangular(
        tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=assert_positive)


def low_rank(loc: Any, scale_identity_multiplier: Any, scale_diag: Any, scale_tril: Any,
             scale_perturb_factor: Any, scale_perturb_diag: Any, validate_args: bool) -> Any:
    """Returns the operator of S + V D V^T, of which S is that of `triangular`."""
    factor = None if scale_perturb_factor is None else tf.convert_to_tensor(
        scale_perturb_factor, name="perturb_factor")
    rows = None
    if factor is not None:
        rows = checks.size(factor.shape, -2)
        rows = tf.shape(factor)[-2] if rows is None else rows
    scale = triangular(loc, scale_tril, scale_diag, scale_identity_multiplier, rows,
                       validate_args)
    if factor is None:
        return scale
    return tf.linalg.LinearOperatorLowRankUpdate(
        scale, u=factor, diag_update=None if scale_perturb_diag is None else tf.convert_to_tensor(
            scale_perturb_diag, name="perturb_diag"),
        is_diag_update_positive=scale_perturb_diag is None, is_non_singular=True,
        is_self_adjoint=True, is_positive_definite=True, is_square=True)


def is_diagonal(scale: Any) -> bool:
    """Returns whether an operator has numbers in its diagonal alone."""
    return isinstance(scale, (tf.linalg.LinearOperatorIdentity, tf.linalg.LinearOperatorDiag,
                              tf.linalg.LinearOperatorScaledIdentity))


def shapes(loc: Any, scale: Any) -> tuple[Any, Any]:
    """Returns the shapes of the batch and of an event of a distribution of vectors.

    Raises:
      ValueError: `loc` is of another size than the operator.
    """
    event = scale.range_dimension_tensor()
    static_event = tf.TensorShape([scale.range_dimension])
    if loc is not None and checks.size(
            loc.shape, -1) not in (1, None):
        static_event.assert_is_compatible_with(loc.shape[-1:])
    batch = scale.batch_shape
    if loc is not None:
        batch = tf.broadcast_static_shape(batch, loc.shape[:-1]) if (
            loc.shape.rank is not None and batch.rank is not None) else tf.TensorShape(None)
    if batch.is_fully_defined():
        batch = batch.as_list()
    else:
        batch = scale.batch_shape_tensor()
        if loc is not None:
            batch = tf.broadcast_dynamic_shape(batch, tf.shape(loc)[:-1])
    return batch, (static_event.as_list() if static_event.is_fully_defined()
                   else event[tf.newaxis])
