"""Masks the smallest weights, more of them as training goes on (Zhu and Gupta, 2017).

Follows the API of `tensorflow/contrib/model_pruning/python/pruning.py` of TensorFlow 1.15. The part
that is masked goes from `initial_sparsity` to `target_sparsity` by (1 - p) ** exponent, where p is
how far training is between two steps.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.model_pruning import masks
from estimator_trainer.compat.contrib.training.hparams import HParams

_V1 = tf.compat.v1


def get_pruning_hparams() -> Any:
    """Returns the options of `Pruning`, with their defaults.

    name: A name for the operations.
    begin_pruning_step, end_pruning_step: Between which masks change; -1 is the end of training.
    weight_sparsity_map: "expression:sparsity" of weights with a sparsity of their own.
    block_dims_map: "expression:HxW" of weights with blocks of their own.
    threshold_decay: Of the moving average of thresholds.
    pruning_frequency: Steps between two changes.
    nbins: Not used.
    block_height, block_width: Of blocks that are masked together; -1 is the whole dimension.
    block_pooling_function: AVG or MAX, of a block.
    initial_sparsity, target_sparsity, sparsity_function_begin_step, sparsity_function_end_step,
    sparsity_function_exponent: How the sparsity grows.
    use_tpu: Whether the variable is a resource variable.
    """
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""],
        block_dims_map=[""], threshold_decay=0., pruning_frequency=10, nbins=256, block_height=1,
        block_width=1, block_pooling_function="AVG", initial_sparsity=0., target_sparsity=.5,
        sparsity_function_begin_step=0, sparsity_function_end_step=100,
        sparsity_function_exponent=3., use_tpu=False)


class Pruning:
    """Makes the operation that changes the masks of a graph."""

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None) -> None:
        """Takes the options, and a scalar sparsity in place of theirs.

        Raises:
          ValueError: An option is out of its range.
        """
        self._spec = spec if spec else get_pruning_hparams()
        _check(self._spec)
        self._global_step = tf.cast(
            _V1.train.get_global_step() if global_step is None else global_step, tf.int32)
        self._sparsity = self._grown_sparsity() if sparsity is None else sparsity
        self._assignments: list[Any] = []
        self._last_update_step = self._last_step()
        self._blocks = {re.compile(name): [int(each) for each in size]
                        for name, size in _block_sizes(self._spec.block_dims_map)}
        self._sparsities = {}
        for name, text in _pairs(self._spec.weight_sparsity_map):
            if float(text) >= 1.:
                raise ValueError("Weight sparsity can not exceed 1.0")
            self._sparsities[re.compile(name)] = float(text)

    def _grown_sparsity(self) -> Any:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with _V1.name_scope(spec.name):
            done = _V1.div(tf.cast(self._global_step - begin, tf.float32), end - begin)
            left = 1 - tf.minimum(1., tf.maximum(0., done))
            return tf.add((spec.initial_sparsity - spec.target_sparsity)
                          * tf.pow(left, spec.sparsity_function_exponent),
                          spec.target_sparsity, name="sparsity")

    def _last_step(self) -> Any:
        name = "last_mask_update_step"
        with _V1.variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as scope:
            try:
                return _V1.get_variable(name, [], tf.int32, _V1.zeros_initializer(),
                                        trainable=False)
            except ValueError:
                scope.reuse_variables()
                return _V1.get_variable(name, dtype=tf.int32)

    def mask_update_op(self) -> Any:
        """Returns an operation that changes all masks."""
        with _V1.name_scope(self._spec.name):
            if not self._assignments:
                self._assign()
            step = _V1.assign(self._last_update_step, self._global_step,
                              name="last_mask_update_step_assign")
            with tf.control_dependencies([step]), tf.control_dependencies(self._assignments):
                return _V1.no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """Returns an operation that changes all masks when it is time to."""
        spec = self._spec
        with _V1.name_scope(spec.name):
            in_range = tf.logical_and(
                self._global_step >= spec.begin_pruning_step,
                tf.logical_or(self._global_step <= spec.end_pruning_step,
                              tf.less(spec.end_pruning_step, 0)))
            is_due = self._last_update_step + spec.pruning_frequency <= self._global_step
            is_time = tf.logical_and(in_range, is_due)
        return _V1.cond(is_time, self.mask_update_op, _V1.no_op)

    def add_pruning_summaries(self) -> None:
        """Adds summaries of the sparsity, and of each mask and threshold."""
        with _V1.name_scope(f"{self._spec.name}_summaries"):
            _V1.summary.scalar("sparsity", self._sparsity)
            _V1.summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(masks.get_masks(), masks.get_thresholds()):
                _V1.summary.scalar(f"{mask.op.name}/sparsity", tf.math.zero_fraction(mask))
                _V1.summary.scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the options."""
        _V1.logging.info(self._spec.to_json())

    def _assign(self) -> None:
        found = [masks.get_masks(), masks.get_thresholds(), masks.get_weights()]
        if len(found[0]) != len(found[1]):
            raise ValueError(f"Number of masks {len(found[0])} and number of thresholds "
                             f"{len(found[1])} mismatch")
        for mask, threshold, weights in zip(*found):
            partitions = list(mask) if hasattr(weights, "as_tensor") else None
            weights = weights.as_tensor() if partitions else weights
            new_threshold, new_mask = self._new_mask(weights, threshold)
            self._assignments.append(_assigned(threshold, new_threshold))
            self._assignments.append(
                _assigned(mask, new_mask) if partitions is None
                else _assigned_parts(partitions, new_mask))

    def _new_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """Returns the new threshold, and the mask of the weights, by blocks if they have some."""
        name = weights.op.name
        flat = tf.squeeze(weights)
        block = _only(self._blocks, name, "block_dims_map") or [
            self._spec.block_height, self._spec.block_width]
        if flat.shape.rank != 2 or block == [1, 1]:
            return self._smallest_masked(weights, threshold, name)
        pooling = self._spec.block_pooling_function
        if pooling not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {pooling}")
        size = flat.shape.as_list()
        block = [whole if each == -1 else each for each, whole in zip(block, size)]
        with _V1.name_scope(f"{name}_pruning_ops"):
            pooled = tf.squeeze(_V1.nn.pool(
                tf.reshape(tf.abs(flat), [1, *size, 1]), block, pooling, "SAME", strides=block,
                name=f"{name}_pooled"), [0, 3])
            new_threshold, small = self._smallest_masked(pooled, threshold, pooled.op.name, name)
            mask = tf.repeat(tf.repeat(small, block[0], 0), block[1], 1)[:size[0], :size[1]]
        return new_threshold, tf.reshape(mask, tf.shape(weights))

    def _smallest_masked(self, weights: Any, threshold: Any, scope: str,
                         name: str = "") -> tuple[Any, Any]:
        spec, sparsity = self._spec, self._sparsity
        own = _only(self._sparsities, name or scope, "weight_sparsity_map")
        if own is not None:
            sparsity = sparsity * (own / spec.target_sparsity)
        with _V1.name_scope(f"{scope}_pruning_ops"):
            sizes = tf.abs(weights)
            kept = tf.cast(tf.round(tf.cast(tf.size(sizes), tf.float32) * (1 - sparsity)),
                           tf.int32)
            ordered, _ = tf.nn.top_k(tf.reshape(sizes, [-1]), tf.size(sizes))
            smoothed = (tf.gather(ordered, kept - 1) * (1 - spec.threshold_decay)
                        + threshold * spec.threshold_decay)
            return smoothed, tf.cast(sizes >= smoothed, tf.float32)


def _check(spec: Any) -> None:
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step != -1:
        raise ValueError(
            f"Pruning must begin before it can end. begin_step={spec.begin_pruning_step}, "
            f"end_step={spec.end_pruning_step}. Set end_pruning_step to -1 if pruning is required "
            "till training stops")
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0. <= getattr(spec, name) < 1.:
            raise ValueError(f"{name} must be in range [0,1)")


def _pairs(texts: Any) -> list[list[str]]:
    return [text.split(":") for text in texts if text]


def _block_sizes(texts: Any) -> Any:
    for name, text in _pairs(texts):
        size = text.split("x")
        if len(size) != 2:
            raise ValueError(f"Expected 2 values for block dim for {name}, got {size}")
        yield name, size


def _only(values: dict[Any, Any], name: str, option: str) -> Any:
    """Returns the value whose expression is in a name, None if there is none."""
    found = [value for expression, value in values.items() if expression.search(name)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {option} for weight {name}")
    return found[0] if found else None


def _assigned(variable: Any, value: Any) -> Any:
    return _V1.assign(variable, value, name=f"{variable.op.name}_assign")


def _assigned_parts(parts: list[Any], value: Any) -> Any:
    """Assigns a value to the parts of a variable, which is split along one axis."""
    axis = next((int(axis) for axis in np.flatnonzero(np.not_equal(
        parts[0].shape.as_list(), value.shape.as_list()))), 0)
    split = tf.split(value, [each.shape.as_list()[axis] for each in parts], axis)
    return tf.group(*map(_assigned, parts, split))
