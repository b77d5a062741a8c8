"""Conjugate gradients for linear equations and least squares.

Hestenes, Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", 1952. The API is
that of `tensorflow/contrib/solvers/python/ops/linear_equations.py` and `least_squares.py` of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.solvers import operators

v1 = tf.compat.v1


class CGState(NamedTuple):
    """Number of steps, solution, residual, direction and squared norm."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


class CGLSState(CGState):
    """The state of `cgls`."""


def conjugate_gradient(operator: Any, rhs: Any, preconditioner: Any = None, x: Any = None,
                       tol: float = 1e-4, max_iter: int = 20,
                       name: str = "conjugate_gradient") -> CGState:
    """Solves A x = rhs for a positive definite A.

    Args:
      operator: A, a LinearOperator.
      rhs: [n].
      preconditioner: A LinearOperator that is near the inverse of A.
      x: The first guess, [n]; zeros by default.
      tol: The residual's norm at which to stop, relative to the first one's.
      max_iter: The largest number of steps.
      name: A name for the ops.

    Returns:
      A CGState.
    """
    def precondition(r: Any) -> Any:
        return r if preconditioner is None else preconditioner.apply(r)

    def step(i: Any, state: CGState) -> Any:
        applied = operator.apply(state.p)
        alpha = state.gamma / operators.dot(state.p, applied)
        r = state.r - alpha * applied
        q = precondition(r)
        gamma = operators.dot(r, q)
        return i + 1, CGState(i + 1, state.x + alpha * state.p, r,
                              q + gamma / state.gamma * state.p, gamma)

    with v1.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        if x is None:
            x, r = operators.column_of_zeros(operator, rhs.dtype), rhs
        else:
            x = tf.expand_dims(x, -1)
            r = rhs - operator.apply(x)
        p = precondition(r)
        limit = tol * tf.norm(r)
        first = CGState(tf.constant(0), x, r, p, operators.dot(r, p))
        _, state = v1.while_loop(
            lambda i, state: tf.logical_and(i < max_iter, tf.norm(state.r) > limit), step,
            [first.i, first])
        return CGState(state.i, tf.squeeze(state.x), tf.squeeze(state.r), tf.squeeze(state.p),
                       state.gamma)


def cgls(operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20,
         name: str = "cgls") -> CGLSState:
    """Minimizes the norm of A x - rhs.

    Args:
      operator: A, a LinearOperator.
      rhs: [m].
      tol: The norm of the gradient at which to stop, relative to the first one's.
      max_iter: The largest number of steps.
      name: A name for the ops.

    Returns:
      A CGLSState.
    """
    def step(i: Any, state: CGLSState) -> Any:
        applied = operator.apply(state.p)
        alpha = state.gamma / operators.l2norm_squared(applied)
        r = state.r - alpha * applied
        s = operator.apply_adjoint(r)
        gamma = operators.l2norm_squared(s)
        return i + 1, CGLSState(i + 1, state.x + alpha * state.p, r,
                                s + gamma / state.gamma * state.p, gamma)

    with v1.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        s = operator.apply_adjoint(rhs)
        gamma = operators.l2norm_squared(s)
        limit = tol * tol * gamma
        first = CGLSState(tf.constant(0), operators.column_of_zeros(operator, rhs.dtype), rhs, s,
                          gamma)
        _, state = v1.while_loop(
            lambda i, state: tf.logical_and(i < max_iter, state.gamma > limit), step,
            [first.i, first])
        return CGLSState(state.i, tf.squeeze(state.x), tf.squeeze(state.r), tf.squeeze(state.p),
                         state.gamma)
