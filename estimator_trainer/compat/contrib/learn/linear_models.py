"""Functions of `tf.contrib.learn` that make predictions and a loss, before there were Estimators.

Follows the API of `tensorflow/contrib/learn/python/learn/models.py` and of `ops` of TensorFlow
1.15.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.contrib.rnn.wrappers import AttentionCellWrapper

_V1 = tf.compat.v1


def mean_squared_error_regressor(tensor_in: Any, labels: Any, weights: Any, biases: Any,
                                 name: Any = None) -> tuple[Any, Any]:
    """Returns tensor_in @ weights + biases, and the mean of its squared errors."""
    with _V1.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = _V1.nn.xw_plus_b(tensor_in, weights, biases)
        if len(labels.shape) == 1 and len(predictions.shape) == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, _V1.losses.mean_squared_error(labels, predictions)


def softmax_classifier(tensor_in: Any, labels: Any, weights: Any, biases: Any,
                       class_weight: Any = None, name: Any = None) -> tuple[Any, Any]:
    """Returns probabilities of classes, and their cross entropy with one-hot labels."""
    with _V1.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = _V1.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), _V1.losses.softmax_cross_entropy(labels, logits)


def embedding_lookup(params: Any, ids: Any, name: str = "embedding_lookup") -> Any:
    """Returns rows of `params` by `ids` of any shape."""
    with _V1.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        flat = tf.reshape(ids, tf.reduce_prod(shape, keepdims=True))
        found = tf.reshape(_V1.nn.embedding_lookup(params, flat, name),
                           tf.concat([shape, [-1]], 0))
        found.set_shape(ids.shape.concatenate(params.shape[1:]))
        return found


def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Any:
    """Returns an embedding of each class in `tensor_in`, of a variable `name/name_embeddings`."""
    with _V1.variable_scope(name):
        return embedding_lookup(
            _V1.get_variable(f"{name}_embeddings", [n_classes, embedding_size]), tensor_in)


def linear_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """Returns predictions and loss of a linear regression whose variables start with zeros."""
    return linear_regression(x, y, init_mean=0., init_stddev=0.)


def logistic_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """Returns probabilities and loss of a model whose variables start with zeros."""
    return logistic_regression(x, y, init_mean=0., init_stddev=0.)


def linear_regression(x: Any, y: Any, init_mean: Any = None,
                      init_stddev: float = 1.) -> tuple[Any, Any]:
    """Returns predictions and loss of a linear regression.

    Args:
      x: [batch, features] floats.
      y: [batch] or [batch, outputs] floats.
      init_mean: The mean of normal initial values; None takes the scope's initializer.
      init_stddev: Their standard deviation.
    """
    with _V1.variable_scope("linear_regression"):
        weights, bias = _variables(x, y, 1 if len(y.shape) == 1 else y.shape[1], init_mean,
                                   init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(x: Any, y: Any, class_weight: Any = None, init_mean: Any = None,
                        init_stddev: float = 1.) -> tuple[Any, Any]:
    """Returns probabilities and loss of a softmax of [batch, classes] one-hot labels.

    Args:
      x: [batch, features] floats.
      y: [batch, classes] labels.
      class_weight: [classes] weights; by default a tensor `class_weight:0` of the graph, if any.
      init_mean: The mean of normal initial values; None takes the scope's initializer.
      init_stddev: Their standard deviation.
    """
    with _V1.variable_scope("logistic_regression"):
        weights, bias = _variables(x, y, y.shape[-1], init_mean, init_stddev)
        if class_weight is None:
            try:
                class_weight = _V1.get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                pass
        return softmax_classifier(x, y, weights, bias, class_weight)


def _variables(x: Any, y: Any, outputs: Any, mean: Any, stddev: float) -> list[Any]:
    """Makes the weights and the bias, with summaries as 1.15 had them."""
    scope, dtype = _V1.get_variable_scope().name, x.dtype.base_dtype
    for name, value in (("x", x), ("y", y)):
        _V1.summary.histogram(f"{scope}.{name}", value)
    initializer = None if mean is None else _V1.random_normal_initializer(
        mean, stddev, dtype=dtype)
    made = [_V1.get_variable(name, shape, dtype, initializer)
            for name, shape in (("weights", [x.shape[1], outputs]), ("bias", [outputs]))]
    for name, value in zip(("weights", "bias"), made):
        _V1.summary.histogram(f"{scope}.{name}", value)
    return made


def bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                      initial_state_bw: Any = None, dtype: Any = None,
                      sequence_length: Any = None, scope: Any = None) -> tuple[Any, Any]:
    """Returns outputs for a list of inputs, and both last states, all of both cells beside.

    Raises:
      TypeError: A cell is none, or `inputs` is no list.
      ValueError: `inputs` is empty.
    """
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, _V1.nn.rnn_cell.RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with _V1.variable_scope(f"{name}_FW"):
        forward, state_fw = _V1.nn.static_rnn(cell_fw, inputs, initial_state_fw, dtype,
                                              sequence_length)
    with _V1.variable_scope(f"{name}_BW"):
        backward, state_bw = _V1.nn.static_rnn(cell_bw, _reversed(inputs, sequence_length),
                                               initial_state_bw, dtype, sequence_length)
    pairs = zip(forward, _reversed(backward, sequence_length))
    return [tf.concat(each, 1) for each in pairs], tf.concat([state_fw, state_bw], 1)


def _reversed(inputs: Any, lengths: Any) -> Any:
    if lengths is None:
        return list(reversed(inputs))
    return tf.unstack(_V1.reverse_sequence(tf.stack(inputs), lengths, 0, 1))


def get_rnn_model(rnn_size: int, cell_type: str, num_layers: int, input_op_fn: Callable[..., Any],
                  bidirectional: bool, target_predictor_fn: Callable[..., Any],
                  sequence_length: Any, initial_state: Any, attn_length: Any, attn_size: Any,
                  attn_vec_size: Any) -> Callable[[Any, Any], Any]:
    """Returns a function of x and y: what `target_predictor_fn` makes of a network's state.

    Raises:
      ValueError: at its call, for a `cell_type` other than rnn, gru and lstm.
    """
    cells = {"rnn": _V1.nn.rnn_cell.BasicRNNCell, "gru": _V1.nn.rnn_cell.GRUCell,
             "lstm": lambda size: _V1.nn.rnn_cell.BasicLSTMCell(size, state_is_tuple=False)}

    def layer() -> Any:
        cell = cells[cell_type](rnn_size)
        return cell if attn_length is None else AttentionCellWrapper(
            cell, attn_length=attn_length, attn_size=attn_size, attn_vec_size=attn_vec_size,
            state_is_tuple=False)

    def stack() -> Any:
        return _V1.nn.rnn_cell.MultiRNNCell([layer() for _ in range(num_layers)],
                                            state_is_tuple=False)

    def rnn_estimator(x: Any, y: Any) -> Any:
        x = input_op_fn(x)
        if cell_type not in cells:
            raise ValueError(f"cell_type {cell_type} is not supported. ")
        if bidirectional:
            _, encoding = bidirectional_rnn(
                stack(), stack(), x, dtype=tf.float32, sequence_length=sequence_length,
                initial_state_fw=initial_state, initial_state_bw=initial_state)
        else:
            _, encoding = _V1.nn.static_rnn(stack(), x, dtype=tf.float32,
                                            sequence_length=sequence_length,
                                            initial_state=initial_state)
        return target_predictor_fn(encoding, y)

    return rnn_estimator
