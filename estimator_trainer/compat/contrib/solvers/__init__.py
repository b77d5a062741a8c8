"""`tf.contrib.solvers`: iterative solvers of linear equations."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.solvers"
NAMES = {
    **{name: f"{_HERE}.operators.{name}" for name in (
        "create_operator", "dot", "identity_operator", "l2norm", "l2norm_squared", "l2normalize")},
    **{name: f"{_HERE}.iterations.{name}" for name in ("cgls", "conjugate_gradient")},
    **{name: f"{_HERE}.lanczos.{name}" for name in ("bidiag_matmul", "lanczos_bidiag")},
}
