"""GGT: a preconditioner of the last gradients' full matrix.

Definition: Agarwal et al., "Efficient Full-Matrix Adaptive Regularization", 2018, and
tensorflow/contrib/opt/python/training/ggt.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.optimizer_v2.optimizer import OptimizerV2

_V1: Any = tf.compat.v1


class GGTOptimizer(OptimizerV2):
    """Divides the momentum by the root of the matrix of the last `window` momenta.

    Args:
      window: The number of momenta that are kept.
      eps: The least singular value for which the step has a part outside of their span.
      svd_eps: What is added to the diagonal before the decomposition.
      sigma_eps: What is added to the singular values.
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, use_locking: bool = False,
                 name: str = "GGT", window: int = 10, eps: float = 1e-4, svd_eps: float = 1e-6,
                 sigma_eps: float = 1e-2) -> None:
        super().__init__(use_locking, name)
        for key, value in (("lr", learning_rate), ("beta1", beta1), ("window", window),
                           ("eps", eps), ("svd_eps", svd_eps), ("sigma_eps", sigma_eps)):
            self._set_hyper(key, value)
        self.index_dict: dict[str, int] = {}
        self.shape_dict: dict[str, int] = {}
        self._variables: list[Any] = []

    def _create_vars(self, var_list: Any, state: Any) -> None:
        self.shape_dict = {name: size for name, size in sorted(
            (each.name, each.shape.num_elements()) for each in var_list)}
        total = 0
        for name, size in self.shape_dict.items():
            self.index_dict[name] = total
            total += size
        dtype = var_list[0].dtype.base_dtype
        state.create_non_slot(tf.cast(0.0, dtype), "global_step")
        state.create_non_slot(tf.zeros([state.get_hyper("window"), total], dtype), "grad_buffer")
        state.create_non_slot(tf.zeros([total], dtype), "moment1")
        state.create_non_slot(tf.zeros([total], dtype), "flat_grad")

    def _kept(self, name: str) -> Any:
        return self._get_per_graph_state().get_non_slot(name)

    def _get_moment1(self) -> Any:
        return self._kept("moment1")

    def _get_grad_buffer(self) -> Any:
        return self._kept("grad_buffer")

    def _get_flat_grad(self) -> Any:
        return self._kept("flat_grad")

    def _prepare(self, state: Any) -> None:
        self._variables = []

    def _apply_dense(self, grad: Any, var: Any, state: Any) -> Any:
        self._variables.append(var)
        start = self.index_dict[var.name]
        return _V1.scatter_update(
            state.get_non_slot("flat_grad"),
            tf.range(start, start + self.shape_dict[var.name]), tf.reshape(grad, [-1]))

    _resource_apply_dense = _apply_dense

    def _finish(self, state: Any) -> Any:
        dtype, window = self._variables[0].dtype.base_dtype, state.get_hyper("window")
        beta = state.get_hyper("beta1", dtype)
        count = _V1.assign_add(state.get_non_slot("global_step"), 1.0)
        moment = state.get_non_slot("moment1")
        moment = moment.assign(beta * moment + (1.0 - beta) * state.get_non_slot("flat_grad"))
        row = tf.math.floormod(tf.cast(count - 1.0, tf.int32), window)
        kept = _V1.scatter_update(state.get_non_slot("grad_buffer"), row, moment)
        columns = tf.transpose(kept / tf.sqrt(tf.minimum(tf.convert_to_tensor(count),
                                                         tf.cast(window, dtype))))
        step = self._step(columns, tf.expand_dims(moment, -1), state, dtype)
        rate, updates = state.get_hyper("lr", dtype), []
        for var in self._variables:
            start = self.index_dict[var.name]
            part = step[start:start + self.shape_dict[var.name]]
            updates.append(_V1.assign_sub(var, rate * tf.reshape(part, var.shape)))
        return tf.group(*updates)

    def _step(self, columns: Any, moment: Any, state: Any, dtype: Any) -> Any:
        """Returns the step [n, 1] of the momentum [n, 1] by the kept ones [n, window]."""
        eye = tf.eye(state.get_hyper("window"), dtype=dtype)
        gram = tf.matmul(columns, columns, transpose_a=True)
        values, vectors, _ = tf.linalg.svd(gram + eye * state.get_hyper("svd_eps", dtype))
        roots = tf.sqrt(values)
        least = tf.reduce_min(roots)

        def scaled(factors: Any) -> Any:
            inside = tf.matmul(vectors, tf.matmul(columns, moment, transpose_a=True),
                               transpose_a=True)
            return tf.matmul(columns, tf.matmul(vectors, tf.expand_dims(factors, -1) * inside))

        head = scaled(1 / tf.pow(roots + state.get_hyper("sigma_eps", dtype), 3))
        tail = (moment - scaled(1 / values)) / least
        return tf.cond(least > state.get_hyper("eps", dtype), lambda: head + tail, lambda: head)
