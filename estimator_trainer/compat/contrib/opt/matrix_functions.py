"""Roots of positive semidefinite matrices by products alone.

Definition: Higham, "Functions of Matrices", SIAM 2008, equation 6.35 (the square root by coupled
Newton-Schulz iterations); Iannazzo, "On the Newton Method for the Matrix p-th Root", 2006; and
tensorflow/contrib/opt/python/training/matrix_functions.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def matrix_square_root(mat_a: Any, mat_a_size: int, iter_count: int = 100,
                       ridge_epsilon: float = 1e-4) -> Any:
    """Returns the square root of a matrix [n, n], to which a multiple of 1 is added first.

    The iterations end when the error grows.
    """
    identity = tf.eye(tf.cast(mat_a_size, tf.int32))
    mat_a = mat_a + ridge_epsilon * identity
    norm = tf.sqrt(tf.reduce_sum(mat_a * mat_a))

    def go_on(step: Any, y: Any, old: Any, z: Any, error: Any, old_error: Any) -> Any:
        del y, old, z
        return tf.logical_and(step < iter_count, error < old_error)

    def iterate(step: Any, y: Any, old: Any, z: Any, error: Any, old_error: Any) -> Any:
        del old, old_error
        factor = 0.5 * (3.0 * identity - tf.matmul(z, y))
        new = tf.matmul(y, factor)
        root = new * tf.sqrt(norm)
        residual = mat_a - tf.matmul(root, root)
        new_error = tf.sqrt(tf.reduce_sum(residual * residual)) / norm
        return step + 1, new, y, tf.matmul(factor, z), new_error, error

    start = mat_a / norm
    found = tf.while_loop(go_on, iterate, [0, start, start, identity, norm, norm + 1.0])
    return found[2] * tf.sqrt(norm)


def matrix_inverse_pth_root(mat_g: Any, mat_g_size: int, alpha: float, iter_count: int = 100,
                            epsilon: float = 1e-6, ridge_epsilon: float = 1e-6) -> Any:
    """Returns `mat_g ** alpha` of a matrix [n, n], where `-1 / alpha` is a whole number."""
    if mat_g_size == 1:
        return tf.pow(mat_g + ridge_epsilon, alpha)
    identity = tf.eye(tf.cast(mat_g_size, tf.int32))
    damped = mat_g + ridge_epsilon * identity
    scale = (1 - 1 / alpha) / (2 * tf.norm(damped))

    def go_on(step: Any, m: Any, x: Any) -> Any:
        del x
        return tf.logical_and(step < iter_count, tf.reduce_max(tf.abs(m - identity)) > epsilon)

    def iterate(step: Any, m: Any, x: Any) -> Any:
        factor = (1 - alpha) * identity + alpha * m
        return step + 1, tf.matmul(_power(factor, -1.0 / alpha), m), tf.matmul(x, factor)

    return tf.while_loop(go_on, iterate, [0, damped * scale,
                                          identity * tf.pow(scale, -alpha)])[2]


def _power(matrix: Any, exponent: float) -> Any:
    """Returns a whole power of a matrix by squaring."""
    assert exponent == int(exponent) and exponent > 0
    left, found = int(exponent), None
    while left > 0:
        if left % 2:
            found = matrix if found is None else tf.matmul(matrix, found)
        left //= 2
        matrix = tf.matmul(matrix, matrix)
    return found
