"""`tf.contrib.model_pruning`: weights of which the smallest are masked while a model is trained."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.model_pruning"
_OWN = {
    "cells": "MaskedBasicLSTMCell MaskedLSTMCell",
    "layers": """
        MaskedConv2D MaskedFullyConnected masked_conv2d masked_convolution
        masked_fully_connected""",
    "masks": "apply_mask get_masked_weights get_masks get_thresholds get_weight_sparsity "
             "get_weights",
    "pruning": "Pruning get_pruning_hparams",
    "stripping": "graph_def_from_checkpoint strip_pruning_vars_fn train",
}
NAMES = {name: f"{_HERE}.{module}.{name}"
         for module, names in _OWN.items() for name in names.split()}
