"""Estimators of recurrent networks over sequences of features.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/rnn.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned import head as head_lib, optimizers
from tensorflow_estimator.python.estimator.head import sequential_head

from estimator_trainer.compat.contrib.estimator.extenders import clip_gradients_by_norm
from estimator_trainer.compat.contrib.feature_column import sequences
from estimator_trainer.patches import op_seeds

_V1: Any = tf.compat.v1
_Estimator: Any = tf.compat.v1.estimator.Estimator
_MEAN = "weighted_sum_over_batch_size"
_LEARNING_RATE, _CLIP_NORM = 0.05, 5.0
# Stands for no value.
USE_DEFAULT = object()
CellFn = Callable[[str], Any]


def _cell_fn(rnn_cell_fn: Optional[CellFn], num_units: Any, cell_type: Any) -> CellFn:
    """Returns the function that makes the cell of a mode."""
    if rnn_cell_fn:
        if num_units or cell_type is not USE_DEFAULT:
            raise ValueError("num_units and cell_type must not be specified when using "
                             "rnn_cell_fn")
        return rnn_cell_fn
    cells = _V1.nn.rnn_cell
    types = {"basic_rnn": cells.BasicRNNCell, "lstm": cells.BasicLSTMCell, "gru": cells.GRUCell}
    name = "basic_rnn" if cell_type is USE_DEFAULT else cell_type

    def make(mode: str) -> Any:
        del mode
        kind = types.get(name, name)
        if not kind or not issubclass(kind, cells.RNNCell):
            raise ValueError(f"Supported cell types are {list(types)}; got {kind}")
        layers = [kind(num_units=units) for units in num_units]
        return layers[0] if len(layers) == 1 else cells.MultiRNNCell(layers)

    return make


def _last(outputs: Any, lengths: Any) -> Any:
    """Returns of outputs [batch, time, units] the last one of each sequence, [batch, units]."""
    shape = tf.shape(outputs)
    lengths = shape[1] if lengths is None else lengths
    rows = tf.cast(tf.range(shape[0]) * shape[1], tf.int64) + tf.cast(lengths, tf.int64) - 1
    found = tf.gather(tf.reshape(outputs, [shape[0] * shape[1], shape[2]]), rows)
    found.set_shape([outputs.shape[0], outputs.shape[2]])
    return found


class _Network:
    """A recurrent network: the columns, the cell, and the layer of logits."""

    def __init__(self, head: Any, cell_fn: CellFn, columns: Any, context: Any, optimizer: Any,
                 partitioner: Any, return_sequences: bool = False) -> None:
        self._head, self._cell_fn = head, cell_fn
        self._columns, self._context = tuple(columns or ()), tuple(context or ())
        self._optimizer, self._partitioner = optimizer, partitioner
        self._return_sequences = return_sequences

    def model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        """Returns the EstimatorSpec."""
        if not isinstance(features, dict):
            raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: "
                             f"{type(features)}")
        optimizer = self._optimizer
        if not isinstance(optimizer, _V1.train.Optimizer):
            optimizer = clip_gradients_by_norm(optimizers.get_optimizer_instance(
                optimizer, learning_rate=_LEARNING_RATE), _CLIP_NORM)
        partitions = config.num_ps_replicas if config else 0
        with _V1.variable_scope("rnn", values=tuple(features.values()),
                                partitioner=_V1.min_max_variable_partitioner(partitions)):
            logits, lengths = self._logits(features, mode, partitions)
            if self._return_sequences and self._head.input_sequence_mask_key not in features:
                features[self._head.input_sequence_mask_key] = tf.sequence_mask(lengths)
            return self._head.create_estimator_spec(
                features=features, mode=mode, labels=labels, logits=logits,
                train_op_fn=lambda loss: optimizer.minimize(
                    loss, global_step=_V1.train.get_global_step()))

    def _logits(self, features: Mapping[str, Any], mode: str, partitions: int) -> Any:
        """Returns logits [batch, units], or [batch, time, units], and the lengths."""
        partitioner = self._partitioner or _V1.min_max_variable_partitioner(
            partitions, min_slice_size=64 << 20)
        with _V1.variable_scope("sequence_input_layer", values=tuple(features.values()),
                                partitioner=partitioner):
            inputs, lengths = sequences.sequence_input_layer(features, self._columns)
            _V1.summary.histogram("sequence_length", lengths)
            if self._context:
                op_seeds.count(2)
                inputs = sequences.concatenate_context_input(
                    _V1.feature_column.input_layer(features, self._context), inputs)
        outputs, _ = _V1.nn.dynamic_rnn(self._cell_fn(mode), inputs, lengths, dtype=tf.float32)
        if not self._return_sequences:
            # 1.15 took fewer slices of the shape.
            op_seeds.count(-7 if len(self._columns) == 1 else -8)
            outputs = _last(outputs, lengths)
        with _V1.variable_scope("logits", values=(outputs,)):
            return _V1.layers.dense(
                outputs, self._head.logits_dimension,
                kernel_initializer=_V1.glorot_uniform_initializer()), lengths


class RNNClassifier(_Estimator):
    """Classifies sequences by the last output of a recurrent network.

    Args:
      sequence_feature_columns: Columns of sequences.
      context_feature_columns: Dense columns, given to the network at each step.
      num_units: The numbers of units of the layers.
      cell_type: "basic_rnn", "lstm", "gru", or a class of RNNCell.
      rnn_cell_fn: A function of the mode that returns the cell, instead of the last two.

    Raises:
      ValueError: The cell is given in two ways.
    """

    def __init__(self, sequence_feature_columns: Sequence[Any],
                 context_feature_columns: Optional[Sequence[Any]] = None,
                 num_units: Optional[Sequence[int]] = None, cell_type: Any = USE_DEFAULT,
                 rnn_cell_fn: Optional[CellFn] = None, model_dir: Optional[str] = None,
                 n_classes: int = 2, weight_column: Any = None, label_vocabulary: Any = None,
                 optimizer: Any = "Adagrad", loss_reduction: str = _MEAN,
                 input_layer_partitioner: Any = None, config: Any = None) -> None:
        head = head_lib._binary_logistic_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction)
        network = _Network(head, _cell_fn(rnn_cell_fn, num_units, cell_type),
                           sequence_feature_columns, context_feature_columns, optimizer,
                           input_layer_partitioner)
        super().__init__(_bare(network.model_fn), model_dir, config)


class RNNEstimator(_Estimator):
    """Gives a head the last output of a recurrent network, or all of its outputs.

    The arguments are RNNClassifier's, and:

    Args:
      head: A head.
      return_sequences: Whether the head gets logits [batch, time, units]; needs a sequential head.
    """

    def __init__(self, head: Any, sequence_feature_columns: Sequence[Any],
                 context_feature_columns: Optional[Sequence[Any]] = None,
                 num_units: Optional[Sequence[int]] = None, cell_type: Any = USE_DEFAULT,
                 rnn_cell_fn: Optional[CellFn] = None, return_sequences: bool = False,
                 model_dir: Optional[str] = None, optimizer: Any = "Adagrad",
                 input_layer_partitioner: Any = None, config: Any = None) -> None:
        cell_fn = _cell_fn(rnn_cell_fn, num_units, cell_type)
        if return_sequences and not isinstance(head, sequential_head._SequentialHead):
            raise ValueError("Provided head must be a `_SequentialHead` object when "
                             "`return_sequences` is set to True.")
        network = _Network(head, cell_fn, sequence_feature_columns, context_feature_columns,
                           optimizer, input_layer_partitioner, return_sequences)
        super().__init__(_bare(network.model_fn), model_dir, config)


def _bare(method: Any) -> Any:
    """Returns a function of a method, whose arguments Estimator counts."""
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        return method(features, labels, mode, config)

    return model_fn
