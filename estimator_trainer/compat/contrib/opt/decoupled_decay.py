"""Weight decay beside the gradients: AdamW, MomentumW, ShampooW, and any optimizer so extended.

Definition: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, and
tensorflow/contrib/opt/python/training/weight_decay_optimizers.py of TensorFlow 1.15. A variable
decays by its own rows: those without a gradient stay as they are.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.opt.shampoo import ShampooOptimizer

_V1: Any = tf.compat.v1
_GATE_OP = tf.compat.v1.train.Optimizer.GATE_OP


class DecoupledWeightDecayExtension:
    """Decays variables before an optimizer updates them; stands before it among the bases.

    Args:
      weight_decay: The part of a variable that each step takes off, a number, a Tensor or a
        function without arguments.
      **kwargs: The optimizer's arguments.
    """

    def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        self._decayed: Optional[set[int]] = None
        self._gradients: list[Any] = []
        super().__init__(*args, **kwargs)

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None,
                 gate_gradients: int = _GATE_OP, aggregation_method: Any = None,
                 colocate_gradients_with_ops: bool = False, name: Optional[str] = None,
                 grad_loss: Any = None, decay_var_list: Optional[Sequence[Any]] = None) -> Any:
        """Returns the op of a step.

        As in TensorFlow 1.15, all variables decay, whatever `decay_var_list` has: only
        `apply_gradients` heeds it.
        """
        del decay_var_list
        return super().minimize(  # type: ignore[misc]
            loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
            grad_loss=grad_loss)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None,
                        decay_var_list: Optional[Sequence[Any]] = None) -> Any:
        """Returns the op of a step, in which the variables of a list decay; None for all."""
        grads_and_vars = list(grads_and_vars)
        self._decayed = {id(each) for each in decay_var_list} if decay_var_list else None
        # Otherwise a gradient may be that of a variable which has decayed already, or not.
        self._gradients = [grad for grad, _ in grads_and_vars if grad is not None]
        return super().apply_gradients(  # type: ignore[misc]
            grads_and_vars, global_step=global_step, name=name)

    def _decay_op(self, var: Any, indices: Any = None) -> Any:
        """Returns the ops that take the decay off a variable, or off rows of it."""
        if self._decayed is not None and id(var) not in self._decayed:
            return []
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        locking: bool = getattr(self, "_use_locking")
        with tf.control_dependencies(self._gradients):
            if indices is None:
                return [var.assign_sub(decay * var.read_value(), locking)]
            rows = tf.gather(var, indices)
        return [_V1.scatter_add(var, indices, -decay * rows, locking)]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay_op(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay_op(var)):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay_op(var, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with tf.control_dependencies(self._decay_op(var, indices)):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """Returns a class of `base_optimizer` that takes the weight decay as its first argument."""
    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """The base optimizer, and the decay before its update."""

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, _V1.train.MomentumOptimizer):
    """Momentum with weight decay; the slots are called `VARIABLE/MomentumW`."""

    def __init__(self, weight_decay: Any, learning_rate: Any, momentum: Any,
                 use_locking: bool = False, name: str = "MomentumW",
                 use_nesterov: bool = False) -> None:
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum,
                         use_locking=use_locking, name=name, use_nesterov=use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, _V1.train.AdamOptimizer):
    """Adam with weight decay; the slots are called `VARIABLE/AdamW` and `VARIABLE/AdamW_1`."""

    def __init__(self, weight_decay: Any, learning_rate: Any = 0.001, beta1: Any = 0.9,
                 beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "AdamW") -> None:
        super().__init__(weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2,
                         epsilon=epsilon, use_locking=use_locking, name=name)


class ShampooWOptimizer(DecoupledWeightDecayExtension, ShampooOptimizer):
    """Shampoo with weight decay."""

    def __init__(self, weight_decay: Any, global_step: Any, max_matrix_size: int = 768,
                 gbar_decay: Any = 0.0, gbar_weight: Any = 1.0, mat_gbar_decay: Any = 1.0,
                 mat_gbar_weight: Any = 1.0, learning_rate: Any = 1.0, svd_interval: Any = 1,
                 precond_update_interval: Any = 1, epsilon: float = 1e-4, alpha: Any = 0.5,
                 use_iterative_root: bool = False, use_locking: bool = False,
                 name: str = "ShampooW") -> None:
        # TensorFlow 1.15 takes `mat_gbar_weight` as the decay, and 1 as the weight.
        super().__init__(
            weight_decay, global_step=global_step, max_matrix_size=max_matrix_size,
            gbar_decay=gbar_decay, gbar_weight=gbar_weight, mat_gbar_decay=mat_gbar_weight,
            learning_rate=learning_rate, svd_interval=svd_interval,
            precond_update_interval=precond_update_interval, epsilon=epsilon, alpha=alpha,
            use_iterative_root=use_iterative_root, use_locking=use_locking, name=name)
