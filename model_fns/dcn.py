"""DCN v2: a network of crosses and hidden layers, on embeddings and numbers.

A cross layer multiplies the network's inputs x0 by a linear layer of its own inputs x, and adds
these: x0 * (W x + b) + x. With `cross_rank` W is a product of two matrices of this rank, which
have fewer numbers than the full matrix. The hidden layers follow on the crosses (`stacked`), or
stand beside them (`parallel`).

Which features are categories and which are numbers, see `model_fns/training/columns.py`. A table's
columns are prepared as the data say (`model_fns/training/table.py`), where a category of few values
is numbers, and a label that is a number is learned in units of its deviation.

Source: Wang et al., "DCN V2: Improved Deep & Cross Network and Practical Lessons for Web-scale
Learning to Rank Systems" (arXiv:2008.13535), without its mixture of experts.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import fields, head, label_scale, table, tower
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **fields.DEFAULT_PARAMS,
    **tower.DEFAULT_PARAMS,
    **head.DEFAULT_PARAMS,
    **table.DEFAULT_PARAMS,
    **label_scale.DEFAULT_PARAMS,
    "cross_layers": 2,  # number of cross layers
    "cross_rank": 0,  # rank of a cross layer's matrix; 0: a full matrix
    "structure": "stacked",  # hidden layers after the crosses (stacked), or beside them (parallel)
    "optimizer": "lazy_adam",
    "learning_rate": 0.001,  # for the mean loss of the global batch
    "weight_decay": -1.0,  # adds this times sum(v^2) / 2 over the kernels v of all layers, without
    # the embeddings, to the training loss; -1: 0.01 for a table, or 0
}
DATA = "tables"
LABELS = ("classes", "numbers")
FIRST_PARAMS = ("cross_layers", "hidden_units", "learning_rate", "weight_decay")
# A model_dir from before these params has features and labels as the input_fn yields them.
OLDER_PARAMS = {"prepare_columns": False, "label_scale": {"mean": 0, "deviation": 1}}
_STRUCTURES = ("parallel", "stacked")


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier, or the regressor if `num_classes` is -1.

    Args:
      features: A dict of tensors, see `model_fns.training.fields`.
      labels: int [batch], classes from 0; or numbers; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
    """
    if params["structure"] not in _STRUCTURES:
        raise ParamError(f"structure is {params['structure']!r}; expected one of"
                         f" {', '.join(_STRUCTURES)}. For example: --param structure=stacked")
    params = tower.with_decay(params, of_table=0.01)
    inputs = fields.read(features, params, params["embedding_size"])
    x0 = tf.concat([fields.flat(inputs.embeddings), inputs.numbers, inputs.missing], axis=1)
    crossed = _crossed(x0, params)
    if params["structure"] == "stacked":
        last = tower.hidden(crossed, mode, params)
    else:
        last = tf.concat([crossed, tower.hidden(x0, mode, params)], axis=1)
    logits = tower.dense(last, head.of_labels(params).logits_dimension, "logits")
    penalties = fields.penalty(inputs.embeddings, params) + tower.penalty(params)
    return head.spec(logits, features, labels, mode, params, penalties)


def _crossed(x0: tf.Tensor, params: dict[str, Any]) -> tf.Tensor:
    """Returns the last cross layer, of the shape of `x0`: float32 [batch, inputs].

    A table's crosses start at zero: random ones would hide its many numbers.
    """
    x = x0
    for i in range(params["cross_layers"]):
        inner = x
        if params["cross_rank"]:
            inner = tower.dense(x, params["cross_rank"], f"cross_{i}/low_rank", has_bias=False)
        x += x0 * tower.dense(inner, x0.shape[1], f"cross_{i}",
                              from_zero=table.is_prepared(params))
    return x
