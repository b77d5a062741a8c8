"""`tf.contrib.rnn`, with the cells of `tf.nn.rnn_cell`."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.rnn"
_MODULES = {
    "block": ("GRUBlockCell", "GRUBlockCellV2", "LSTMBlockCell"),
    "cells": ("LayerRNNCell",),
    "fused": ("FusedRNNCell", "FusedRNNCellAdaptor", "LSTMBlockFusedCell", "LSTMBlockWrapper",
              "TimeReversedFusedRNN"),
    "gated": ("CFNCell", "IntersectionRNNCell", "MinimalRNNCell", "NASCell", "SRUCell",
              "UGRNNCell"),
    "grid": ("BidirectionalGridLSTMCell", "GridLSTMCell", "TimeFreqLSTMCell"),
    "independent": ("IndRNNCell", "IndyGRUCell", "IndyLSTMCell"),
    "normalized": ("CoupledInputForgetGateLSTMCell", "LayerNormBasicLSTMCell",
                   "LayerNormLSTMCell", "WeightNormLSTMCell"),
    "stacked": ("stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn"),
    "structured": ("Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell",
                   "GLSTMCell", "PhasedLSTMCell"),
    "wrappers": ("AttentionCellWrapper", "CompiledWrapper", "EmbeddingWrapper", "HighwayWrapper",
                 "InputProjectionWrapper", "OutputProjectionWrapper"),
}

NAMES = {
    **{name: f"tf.nn.rnn_cell.{name}" for name in (
        "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell",
        "LSTMStateTuple", "MultiRNNCell", "RNNCell", "ResidualWrapper")},
    **{name: f"tf.nn.{name}" for name in (
        "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn")},
    **{name: f"{_HERE}.{module}.{name}" for module, names in _MODULES.items() for name in names},
    "best_effort_input_batch_size": "tensorflow.python.ops.rnn._best_effort_input_batch_size",
    "transpose_batch_time": "tensorflow.python.ops.rnn._transpose_batch_time",
    # Private names that published cells import from `core_rnn_cell` and `lstm_ops`.
    "_Linear": f"{_HERE}.cells.Linear",
    "_block_lstm": f"{_HERE}.block.block_lstm",
    "_linear": f"{_HERE}.cells.linear",
}
