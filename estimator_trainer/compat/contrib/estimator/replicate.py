"""A model_fn whose batch is split among devices, and the optimizer that sums their gradients.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/replicate_model_fn.py of
TensorFlow 1.15. A device's copy of the model is a tower; all towers share the first one's
variables.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import Any, Callable, Iterator, Optional, Sequence

import tensorflow as tf
from tensorflow.python.client import device_lib

from estimator_trainer.compat.contrib.estimator import tower_specs

_V1: Any = tf.compat.v1
_Optimizer: Any = tf.compat.v1.train.Optimizer
_Reduction: Any = tf.compat.v1.losses.Reduction
_COLLECTION = "replicate_model_fn_graph_states"
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


class _Towers:
    """The state that the towers of a graph share while they are made."""

    def __init__(self) -> None:
        self.count, self.index = 1, 0
        self.reduction: Optional[str] = None
        self.has_optimizer = False
        self.scopes: Any = None
        # For each tower, the gradients of each call of an optimizer.
        self.gradients: list[list[Any]] = [[]]

    @staticmethod
    def of_graph() -> _Towers:
        """Returns the object of the default graph."""
        found = _V1.get_collection_ref(_COLLECTION)
        if not found:
            found.append(_Towers())
        towers: _Towers = found[-1]
        return towers

    def scaled(self, loss: Any) -> Any:
        """Returns a tower's part of the loss."""
        if loss is None or self.count == 1 or self.reduction == _Reduction.SUM:
            return loss
        return tf.divide(loss, float(self.count), name="averaged_loss")


def replicate_model_fn(model_fn: Callable[..., Any],
                       loss_reduction: str = _Reduction.SUM_BY_NONZERO_WEIGHTS,
                       devices: Optional[Sequence[str]] = None) -> Callable[..., Any]:
    """Returns a model_fn that splits each batch among devices.

    Args:
      model_fn: The function of one device; its optimizer is a TowerOptimizer.
      loss_reduction: How the model reduces its loss; unless it is SUM, the towers' losses are
        averaged.
      devices: The devices; None for all GPUs, or the CPU.

    Raises:
      ValueError: The loss is not reduced. The function returned raises it for a batch that cannot
        be split, and for a bare optimizer on several devices.
    """
    if loss_reduction == _Reduction.NONE:
        raise ValueError("Tower losses need to be reduced in some way, yet "
                         f"{loss_reduction} reduction is specified.")
    devices = list(devices or _local("GPU") or _local("CPU"))
    is_one_gpu = len(devices) == 1 and "GPU" in devices[0].upper()
    center = devices[0] if is_one_gpu else "/CPU:0"

    def replicated(features: Any, labels: Any, mode: str, params: Any = None,
                   config: Any = None) -> Any:
        shards = ([(features, labels)] if len(devices) == 1
                  else _split(features, labels, len(devices), center))
        options = {key: copy.deepcopy(value)
                   for key, value in (("params", params), ("config", config))
                   if key in inspect.signature(model_fn).parameters}
        specs = _specs(lambda shard: model_fn(
            features=shard[0], labels=shard[1], mode=mode, **options),
            shards, devices, center, loss_reduction)
        return specs[0] if len(specs) == 1 else tower_specs.merged(specs, mode, center)

    return replicated


def _local(kind: str) -> list[str]:
    return [each.name for each in device_lib.list_local_devices() if each.device_type == kind]


def _split(features: Any, labels: Any, count: int, device: str) -> list[tuple[Any, Any]]:
    def parts(value: Any) -> list[Any]:
        if value is None:
            return [None] * count
        if isinstance(value, dict):
            by_key = {key: parts(each) for key, each in value.items()}
            return [{key: each[index] for key, each in by_key.items()} for index in range(count)]
        if isinstance(value, tf.sparse.SparseTensor):
            split: list[Any] = tf.sparse.split(value, num_split=count, axis=0)
            return split
        size = tf.convert_to_tensor(value).shape.as_list()[0]
        if size is None or size % count:
            raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, "
                             f"which is {count}.")
        return list(tf.split(value, count))

    with _V1.name_scope("split_inputs"), _V1.device(device):
        return list(zip(parts(features), parts(labels)))


def _specs(make: Callable[[Any], Any], shards: Sequence[Any], devices: Sequence[str], center: str,
           loss_reduction: str) -> list[Any]:
    """Returns the EstimatorSpec of each tower."""
    towers, found = _Towers.of_graph(), []
    towers.count, towers.reduction = len(devices), loss_reduction
    towers.gradients = [[] for _ in devices]
    for index, (device, shard) in enumerate(zip(devices, shards)):
        with _V1.variable_scope("", reuse=index > 0) as variables, _V1.name_scope(
                f"tower_{index}" if index else "") as names:
            if index == 0:
                towers.scopes = variables, names
            towers.index = index
            with _V1.device(_placer(device, center)):
                spec = make(shard)
                if spec.train_op is not None and len(devices) > 1 and not towers.has_optimizer:
                    raise ValueError("Please wrap optimizers with TowerOptimizer in order to use "
                                     "replicate_model_fn with multiple `devices`.")
                found.append(spec._replace(loss=towers.scaled(spec.loss)))
    if len({len(each) for each in towers.gradients}) > 1:
        raise ValueError("Each invocation of model_fn was supposed to make the same optimizer "
                         "calls.")
    _V1.get_default_graph().clear_collection(_COLLECTION)
    return found


def _placer(device: str, center: str) -> Callable[[Any], str]:
    """Returns where an operation goes: variables to the center, others to the device."""
    def place(op: Any) -> str:
        wanted = tf.DeviceSpec.from_string(center if op.type in _VARIABLES else device)
        placed: str = wanted.make_merged_spec(
            tf.DeviceSpec.from_string(op.device or "")).to_string()
        return placed

    return place


class TowerOptimizer(_Optimizer):
    """Sums the gradients of all towers, and applies them in the last one.

    Args:
      optimizer_or_optimizer_fn: The optimizer, or a function that returns it.
    """

    COLLECTION_FOR_GRAPH_STATES = _COLLECTION

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        super().__init__(False, type(self).__name__)
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Returns whether the graph has one."""
        return _Towers.of_graph().has_optimizer

    def _get_optimizer(self) -> Any:
        if callable(self._optimizer_or_optimizer_fn):
            self._optimizer_or_optimizer_fn = self._optimizer_or_optimizer_fn()
        _Towers.of_graph().has_optimizer = True
        return self._optimizer_or_optimizer_fn

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        loss = _Towers.of_graph().scaled(loss)
        return self._get_optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any) -> Any:
        towers, grads_and_vars = _Towers.of_graph(), list(grads_and_vars)
        if towers.count == 1:
            return self._get_optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)
        mine = towers.gradients[towers.index]
        mine.append(grads_and_vars)
        if towers.index < towers.count - 1:
            with tf.control_dependencies([getattr(grad, "values", grad)
                                          for grad, _ in grads_and_vars if grad is not None]):
                return tf.no_op(name="train_op_placeholder")
        with _first_tower(towers):
            summed = _summed([each[len(mine) - 1] for each in towers.gradients])
            return self._get_optimizer().apply_gradients(summed, global_step=global_step, **kwargs)


@contextlib.contextmanager
def _first_tower(towers: _Towers) -> Iterator[None]:
    """Gives the optimizer's variables the names that they have on one device."""
    variables, names = towers.scopes
    with _V1.variable_scope(variables), _V1.name_scope(names):
        yield


def _summed(by_tower: Sequence[Sequence[tuple[Any, Any]]]) -> list[tuple[Any, Any]]:
    """Returns the sum of each variable's gradients in the towers."""
    found: dict[int, tuple[Any, list[Any]]] = {}
    for pairs in by_tower:
        for grad, var in pairs:
            if grad is not None:
                found.setdefault(id(var), (var, []))[1].append(grad)
    with _V1.name_scope("gradient_aggregating"):
        return [(tower_specs.summed(grads, var.device), var) for var, grads in found.values()]
