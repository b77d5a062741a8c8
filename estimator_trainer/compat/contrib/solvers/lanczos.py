"""Lanczos bidiagonalization.

Golub, Kahan, "Calculating the Singular Values and Pseudo-Inverse of a Matrix", 1965. The API is
that of `tensorflow/contrib/solvers/python/ops/lanczos.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.compat.contrib.solvers import operators

v1 = tf.compat.v1


class LanczosBidiagState(NamedTuple):
    """A is near u B v^T, with B of the diagonal alpha and beta below it."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def lanczos_bidiag(operator: Any, k: int, orthogonalize: bool = True, starting_vector: Any = None,
                   name: str = "lanczos_bidiag") -> LanczosBidiagState:
    """Returns k steps of the bidiagonalization of A.

    Args:
      operator: A, a LinearOperator, [m, n].
      k: Number of steps, an integer.
      orthogonalize: Whether each vector is made orthogonal to those before.
      starting_vector: The first u, [m]; a random one by default.
      name: A name for the ops.

    Returns:
      u [m, k + 1], v [n, k], alpha [k] and beta [k].
    """
    def normalized(vector: Any, basis: Any, count: Any) -> Any:
        if not orthogonalize:
            return operators.l2normalize(vector)
        return _orthogonal(vector, basis, count)

    def step(i: Any, old: LanczosBidiagState) -> Any:
        u = tf.expand_dims(old.u.read(i), -1)
        r = operator.apply_adjoint(u)
        shape = r.shape
        r = v1.cond(i > 0, lambda: (
            r - old.beta.read(i - 1) * tf.expand_dims(old.v.read(i - 1), -1)), lambda: r)
        r.set_shape(shape)
        v, alpha = normalized(r, old.v, i - 1)
        u, beta = normalized(operator.apply(v) - alpha * u, old.u, i)
        return i + 1, LanczosBidiagState(
            old.u.write(i + 1, tf.squeeze(u)), old.v.write(i, tf.squeeze(v)),
            old.alpha.write(i, alpha), old.beta.write(i, beta))

    with v1.name_scope(name):
        if starting_vector is None:
            starting_vector = v1.random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        u, _ = operators.l2normalize(starting_vector)
        u_array, v_array, alpha, beta = (
            tf.TensorArray(operator.dtype, size, clear_after_read=False)
            for size in (k + 1, k, k, k))
        first = LanczosBidiagState(u_array.write(0, u), v_array, alpha, beta)
        _, last = v1.while_loop(lambda i, _: i < k, step, [tf.constant(0), first])
        return LanczosBidiagState(tf.transpose(last.u.stack()), tf.transpose(last.v.stack()),
                                  last.alpha.stack(), last.beta.stack())


def _orthogonal(vector: Any, basis: Any, count: Any) -> Any:
    """Returns a vector's normalized part that is orthogonal to `count` of a basis, and its norm.

    A part that is much shorter than the vector is made orthogonal once more, from the start.
    """
    def once() -> Any:
        def remove(j: Any, rest: Any) -> Any:
            other = tf.expand_dims(basis.read(j), -1)
            shape = rest.shape
            rest -= tf.matmul(other, rest, adjoint_a=True) * other
            rest.set_shape(shape)
            return j + 1, rest

        _, rest = v1.while_loop(lambda j, _: j < count, remove, [tf.constant(0), vector])
        return operators.l2normalize(rest)

    before = operators.l2norm(vector)
    found, norm = once()
    return v1.cond(norm < 0.7071 * before, once, lambda: (found, norm))


def bidiag_matmul(matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False,
                  name: str = "bidiag_matmul") -> Any:
    """Returns the product of a matrix and a bidiagonal one.

    Args:
      matrix: [m, k + 1], or [m, k] with `adjoint_b`.
      alpha: The diagonal, [k].
      beta: What is below the diagonal, [k].
      adjoint_b: Whether the bidiagonal matrix is transposed.
      name: A name for the ops.
    """
    with v1.name_scope(name):
        diagonal = tf.expand_dims(alpha, 0)
        if not adjoint_b:
            return matrix[:, :-1] * diagonal + matrix[:, 1:] * tf.expand_dims(beta, 0)
        below = matrix[:, :-1] * tf.expand_dims(beta[:-1], 0)
        zeros = tf.zeros([tf.shape(matrix)[0], 1], matrix.dtype)
        return matrix * diagonal + tf.concat([zeros, below], 1)
