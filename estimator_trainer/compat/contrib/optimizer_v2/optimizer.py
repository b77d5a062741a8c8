"""The base class of optimizers that keep hyperparameters and variables in a state.

Definition: tensorflow/contrib/optimizer_v2/optimizer_v2.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

_V1: Any = tf.compat.v1
_Optimizer: Any = tf.compat.v1.train.Optimizer


class Minimizing(_Optimizer):
    """`minimize` and `compute_gradients` with the arguments of `tf.contrib.optimizer_v2`."""

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None,
                 gate_gradients: int = _Optimizer.GATE_OP, aggregation_method: Any = None,
                 name: Optional[str] = None, grad_loss: Any = None, stop_gradients: Any = None,
                 scale_loss_by_num_replicas: bool = False) -> Any:
        """Returns the op of a step."""
        grads_and_vars = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method, grad_loss=grad_loss,
            stop_gradients=stop_gradients, scale_loss_by_num_replicas=scale_loss_by_num_replicas)
        if all(grad is None for grad, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(var) for _, var in grads_and_vars]} "
                f"and loss {loss}.")
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(self, loss: Any, var_list: Any = None,
                          gate_gradients: int = _Optimizer.GATE_OP,
                          aggregation_method: Any = None, grad_loss: Any = None,
                          stop_gradients: Any = None,
                          scale_loss_by_num_replicas: bool = False) -> Any:
        """Returns (gradient, variable) pairs.

        Args:
          stop_gradients: Tensors through which no gradient flows.
          scale_loss_by_num_replicas: Whether the loss is divided by the strategy's replicas.
        """
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        scale = 1.0 / replicas if scale_loss_by_num_replicas else 1.0
        if callable(loss):
            make = loss

            def loss() -> Any:
                return make() * scale if scale != 1.0 else make()
        elif scale != 1.0:
            loss = loss * scale
        if stop_gradients is None:
            return super().compute_gradients(loss, var_list, gate_gradients, aggregation_method,
                                             grad_loss=grad_loss)
        variables = tf.nest.flatten(_V1.trainable_variables() if var_list is None else var_list)
        return list(zip(_V1.gradients(
            loss, variables, grad_loss, gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method, stop_gradients=stop_gradients), variables))


class OptimizerV2(Minimizing):
    """A base class whose methods get a state, of hyperparameters and variables.

    A subclass has `_create_vars(var_list, state)`, and of `_prepare(state)`,
    `_apply_dense(grad, var, state)`, `_resource_apply_dense(grad, var, state)`,
    `_apply_sparse(grad, var, state)`, `_resource_apply_sparse(grad, var, indices, state)` and
    `_finish(state)` those that it needs.
    """

    def __init__(self, use_locking: bool, name: str) -> None:
        if type(self)._create_slots is not OptimizerV2._create_slots:
            raise RuntimeError("Override _create_vars instead of _create_slots when descending "
                               f"from OptimizerV2 (class {type(self).__name__})")
        super().__init__(use_locking, name)
        self._hyper: dict[str, Any] = {}
        self._stepper = _Stepper(self, use_locking, name)

    def _set_hyper(self, name: str, value: Any) -> None:
        self._hyper[name] = value

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        return self._stepper.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._stepper.get_slot(var, name)

    def get_slot_names(self) -> Any:
        return self._stepper.get_slot_names()

    def variables(self) -> Any:
        return self._stepper.variables()

    def _get_per_graph_state(self) -> Any:
        return self._stepper.state

    def _create_vars(self, var_list: Any, state: Any) -> None:
        pass

    def _prepare(self, state: Any) -> None:
        pass

    def _finish(self, state: Any) -> Any:
        pass

    def _apply_dense(self, grad: Any, var: Any, state: Any) -> Any:
        raise NotImplementedError

    _resource_apply_dense = _apply_sparse = _apply_dense

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, state: Any) -> Any:
        raise NotImplementedError


class _State:
    """The state of an OptimizerV2: hyperparameters, slots and other variables."""

    def __init__(self, optimizer: OptimizerV2, stepper: _Stepper) -> None:
        self._optimizer, self._stepper = optimizer, stepper
        self._first: Any = None
        self._tensors: dict[Any, Any] = {}

    def begin(self, first: Any) -> None:
        """Forgets the last step's tensors; other variables are to stand beside `first`."""
        self._first = first
        self._tensors = {}

    def get_hyper(self, name: str, dtype: Any = None) -> Any:
        """Returns a hyperparameter as a Tensor, of its own dtype by default."""
        if name not in self._tensors:
            value = self._optimizer._hyper[name]
            self._tensors[name] = tf.convert_to_tensor(value() if callable(value) else value,
                                                       name=name)
        return self._tensors[name] if dtype is None else tf.cast(self._tensors[name], dtype)

    def create_slot(self, var: Any, val: Any, slot_name: str,
                    optional_op_name: Optional[str] = None) -> Any:
        """Returns a slot that begins as a Tensor."""
        return self._stepper._get_or_make_slot(
            var, val, slot_name, optional_op_name or self._stepper.get_name())

    def create_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any,
                                     slot_name: str,
                                     optional_op_name: Optional[str] = None) -> Any:
        """Returns a slot of its own shape and dtype."""
        return self._stepper._get_or_make_slot_with_initializer(
            var, initializer, shape, dtype, slot_name,
            optional_op_name or self._stepper.get_name())

    def zeros_slot(self, var: Any, slot_name: str, optional_op_name: Optional[str] = None) -> Any:
        """Returns a slot that begins as zeros."""
        return self._stepper._zeros_slot(
            var, slot_name, optional_op_name or self._stepper.get_name())

    def get_slot(self, var: Any, name: str) -> Any:
        """Returns a slot, or None."""
        return self._stepper.get_slot(var, name)

    def get_slot_names(self) -> Any:
        """Returns the names of all slots."""
        return self._stepper.get_slot_names()

    def create_non_slot(self, initial_value: Any, name: str, colocate_with: Any = None) -> Any:
        """Returns a variable that belongs to no other one."""
        return self._stepper._create_non_slot_variable(
            initial_value, name, self._first if colocate_with is None else colocate_with)

    def get_non_slot(self, name: str) -> Any:
        """Returns such a variable."""
        graph = None if tf.executing_eagerly() else _V1.get_default_graph()
        return self._stepper._get_non_slot_variable(name, graph)


class _Stepper(_Optimizer):
    """Calls an OptimizerV2's methods with its state, where `tf.train` calls its own."""

    def __init__(self, optimizer: OptimizerV2, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._optimizer, self.state = optimizer, _State(optimizer, self)

    def _create_slots(self, var_list: Any) -> None:
        self.state.begin(min(var_list, key=lambda each: each.name))
        self._optimizer._create_vars(var_list, self.state)

    def _prepare(self) -> None:
        self.state.begin(self.state._first)
        self._optimizer._prepare(self.state)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._optimizer._apply_dense(grad, var, self.state)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._optimizer._resource_apply_dense(grad, var, self.state)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._optimizer._apply_sparse(grad, var, self.state)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._optimizer._resource_apply_sparse(grad, var, indices, self.state)

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            finish = self._optimizer._finish(self.state)
        return tf.group(*update_ops, *([] if finish is None else [finish]), name=name_scope)
