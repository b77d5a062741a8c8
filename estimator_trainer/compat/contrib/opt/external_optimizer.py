"""Optimizers outside of TensorFlow that minimize a loss of a graph, SciPy's among them.

Definition: tensorflow/contrib/opt/python/training/external_optimizer.py of TensorFlow 1.15.
"""

from __future__ import annotations

import importlib
import itertools
from typing import Any, Callable, Mapping, Optional, Sequence

from absl import logging
import numpy as np
import tensorflow as tf

_V1: Any = tf.compat.v1


class ExternalOptimizerInterface:
    """Gives an algorithm the variables as one vector, and the loss and its gradient as functions.

    A subclass has `_minimize`.

    Args:
      loss: A scalar Tensor.
      var_list: The variables to change; None for all trainable ones.
      equalities: Scalar Tensors that are to be 0.
      inequalities: Scalar Tensors that are to be at least 0.
      var_to_bounds: For a variable: a pair of the least and the greatest value, numbers or arrays.
      **optimizer_kwargs: What `_minimize` gets.
    """

    def __init__(self, loss: Any, var_list: Optional[Sequence[Any]] = None,
                 equalities: Optional[Sequence[Any]] = None,
                 inequalities: Optional[Sequence[Any]] = None,
                 var_to_bounds: Optional[Mapping[Any, Any]] = None,
                 **optimizer_kwargs: Any) -> None:
        self._loss, self.optimizer_kwargs = loss, optimizer_kwargs
        self._equalities, self._inequalities = list(equalities or ()), list(inequalities or ())
        self._vars = list(_V1.trainable_variables() if var_list is None else var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._placeholders = [_V1.placeholder(var.dtype.base_dtype) for var in self._vars]
        self._updates = [var.assign(tf.reshape(value, var.shape))
                         for var, value in zip(self._vars, self._placeholders)]
        self._packed_var = self._pack(self._vars)
        self._loss_grad = self._gradient(loss)
        self._equality_grads = [self._gradient(each) for each in self._equalities]
        self._inequality_grads = [self._gradient(each) for each in self._inequalities]
        ends = list(itertools.accumulate(var.shape.num_elements() for var in self._vars))
        self._slices = [slice(*pair) for pair in zip([0, *ends], ends)]

    def minimize(self, session: Any = None, feed_dict: Optional[Mapping[Any, Any]] = None,
                 fetches: Optional[Sequence[Any]] = None,
                 step_callback: Optional[Callable[..., None]] = None,
                 loss_callback: Optional[Callable[..., None]] = None, **run_kwargs: Any) -> None:
        """Runs the algorithm, and gives the variables the values that it found.

        Args:
          session: The session; None for the default one.
          feed_dict: What each evaluation feeds.
          fetches: What `loss_callback` gets after each evaluation of the loss.
          step_callback: Called with the vector of variables after each step.
          **run_kwargs: Arguments of the `session.run` that updates the variables.
        """
        session = session or _V1.get_default_session()

        def function(*tensors: Any, callback: Optional[Callable[..., None]] = None) -> Any:
            return self._function(list(tensors), session, dict(feed_dict or {}),
                                  list(fetches or ()), callback)

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function(self._loss, self._loss_grad, callback=loss_callback),
            equality_funcs=[function(each) for each in self._equalities],
            equality_grad_funcs=[function(each) for each in self._equality_grads],
            inequality_funcs=[function(each) for each in self._inequalities],
            inequality_grad_funcs=[function(each) for each in self._inequality_grads],
            packed_bounds=self._packed_bounds, step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs)
        session.run(self._updates, feed_dict={
            key: found[part] for key, part in zip(self._placeholders, self._slices)}, **run_kwargs)

    def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any,
                  equality_grad_funcs: Any, inequality_funcs: Any, inequality_grad_funcs: Any,
                  packed_bounds: Any, step_callback: Any, optimizer_kwargs: Any) -> Any:
        """Returns the vector at which the loss is least."""
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and "
                                  "implement the _minimize() method.")

    def _bounds(self, by_variable: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = []
        for var in self._vars:
            low, high = by_variable[var] if var in by_variable else (-np.inf, np.inf)
            shape = var.shape.as_list()
            found += zip(np.broadcast_to(low, shape).flat, np.broadcast_to(high, shape).flat)
        return found

    def _gradient(self, tensor: Any) -> Any:
        """Returns the gradient as one vector."""
        return self._pack([tf.zeros_like(var) if grad is None else grad for var, grad in zip(
            self._vars, _V1.gradients(tensor, self._vars))])

    @staticmethod
    def _pack(tensors: Sequence[Any]) -> Any:
        flat = [tf.reshape(each, [-1]) for each in tensors]
        return flat[0] if len(flat) == 1 else tf.concat(flat, 0)

    def _function(self, tensors: list[Any], session: Any, fed: dict[Any, Any],
                  fetches: list[Any], callback: Optional[Callable[..., None]]) -> Any:
        """Returns a function of the vector that computes the tensors, as a list."""
        def evaluate(x: Any) -> Any:
            values = {var: x[part].reshape(var.shape.as_list())
                      for var, part in zip(self._vars, self._slices)}
            found = session.run(tensors + fetches, feed_dict={**values, **fed})
            if callback:
                callback(*found[len(tensors):])
            return found[:len(tensors)]

        return evaluate


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes by `scipy.optimize.minimize`, whose arguments are `method`, `options`, `tol` ..."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any,
                  equality_grad_funcs: Any, inequality_funcs: Any, inequality_grad_funcs: Any,
                  packed_bounds: Any, step_callback: Any, optimizer_kwargs: Any) -> Any:
        scipy: Any = importlib.import_module("scipy.optimize")

        def loss_and_gradient(x: Any) -> tuple[Any, Any]:
            loss, grad = loss_grad_func(x)
            return float(loss), grad.astype("float64")

        options = dict(optimizer_kwargs)
        own = {"jac": True, "callback": step_callback,
               "method": options.pop("method", self._DEFAULT_METHOD), "bounds": packed_bounds,
               "constraints": [
                   *_constraints("eq", equality_funcs, equality_grad_funcs),
                   *_constraints("ineq", inequality_funcs, inequality_grad_funcs)]}
        if "bounds" in options:
            raise ValueError("Bounds must be set using the var_to_bounds argument")
        for key in own:
            if key in options:
                raise ValueError(f"Optimizer keyword arg '{key}' is set automatically and cannot "
                                 "be injected manually")
        result = scipy.minimize(
            loss_and_gradient, np.asarray(initial_val, "float64"), **own, **options)
        logging.info("Optimization terminated with: %s; objective function value: %s; %s",
                     result.message, result.fun,
                     {key: result[key] for key in ("nit", "nfev") if key in result})
        return result["x"]


def _constraints(kind: str, functions: Any, gradients: Any) -> list[dict[str, Any]]:
    """Returns SciPy's constraints; a function of one tensor returns it in a list."""
    def first(function: Any) -> Any:
        return lambda x: np.asarray(function(x)[0], "float64")

    return [{"type": kind, "fun": first(function), "jac": first(gradient)}
            for function, gradient in zip(functions, gradients)]
