"""A problem with constraints, and what minimizes it.

Follows the API of `tensorflow/contrib/constrained_optimization/python/` of TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from typing import Any, Callable

import tensorflow as tf

_V1 = tf.compat.v1


class ConstrainedMinimizationProblem(abc.ABC):
    """An objective, and constraints that have to be at most 0."""

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """The scalar that is minimized."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """The constraints, a tensor of any shape."""

    @property
    def proxy_constraints(self) -> Any:
        """Tensors in place of constraints that have no gradient; None is the constraints."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """Operations before each step, or None."""
        return None

    @property
    def num_constraints(self) -> int:
        """How many constraints there are.

        Raises:
          ValueError: Shapes are not known, or that of `proxy_constraints` is another.
        """
        shape = self.constraints.shape
        proxy = shape if self.proxy_constraints is None else self.proxy_constraints.shape
        if not (shape.is_fully_defined() and proxy.is_fully_defined()):
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shape.as_list() != proxy.as_list():
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return int(shape.num_elements())


class ConstrainedOptimizer(abc.ABC):
    """An optimizer of the objective of a problem under its constraints."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """The optimizer of the model's variables."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(self, minimization_problem: Any, global_step: Any = None,
                              var_list: Any = None, gate_gradients: int = 1,
                              aggregation_method: Any = None,
                              colocate_gradients_with_ops: bool = False, name: Any = None,
                              grad_loss: Any = None) -> Any:
        """Returns an operation of a step."""

    def minimize_constrained(self, minimization_problem: Any, global_step: Any = None,
                             var_list: Any = None, gate_gradients: int = 1,
                             aggregation_method: Any = None,
                             colocate_gradients_with_ops: bool = False, name: Any = None,
                             grad_loss: Any = None) -> Any:
        """Returns an operation of a step, of which the constraints are part."""
        options = _passed_on(locals())
        return _after(minimization_problem,
                      lambda: self._minimize_constrained(minimization_problem, **options))

    def minimize_unconstrained(self, minimization_problem: Any, global_step: Any = None,
                               var_list: Any = None, gate_gradients: int = 1,
                               aggregation_method: Any = None,
                               colocate_gradients_with_ops: bool = False, name: Any = None,
                               grad_loss: Any = None) -> Any:
        """Returns an operation of a step in which there are no constraints."""
        options = _passed_on(locals())
        return _after(minimization_problem, lambda: self.optimizer.minimize(
            minimization_problem.objective, **options))

    def minimize(self, minimization_problem: Any, unconstrained_steps: Any = None,
                 global_step: Any = None, var_list: Any = None, gate_gradients: int = 1,
                 aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                 name: Any = None, grad_loss: Any = None) -> Any:
        """Returns an operation of a step; in the first `unconstrained_steps` all is allowed.

        Raises:
          ValueError: `unconstrained_steps` is given, but no `global_step`.
        """
        options = _passed_on(locals())
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **options)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        steps = tf.convert_to_tensor(unconstrained_steps)
        return _V1.cond(
            tf.cast(global_step, steps.dtype) < steps,
            lambda: self.minimize_unconstrained(minimization_problem, **options),
            lambda: self.minimize_constrained(minimization_problem, **options))


def _passed_on(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a method that those of the optimizer below take too."""
    own = ("self", "minimization_problem", "unconstrained_steps")
    return {name: value for name, value in arguments.items() if name not in own}


def _after(problem: Any, step: Callable[[], Any]) -> Any:
    with tf.control_dependencies(problem.pre_train_ops or []):
        return step()
