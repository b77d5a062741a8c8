"""`tf.contrib.grid_rnn`: cells of the Grid LSTM."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.grid_rnn.cells"

NAMES = {name: f"{_HERE}.{name}" for name in (
    "Grid1BasicLSTMCell", "Grid1BasicRNNCell", "Grid1LSTMCell", "Grid2BasicLSTMCell",
    "Grid2BasicRNNCell", "Grid2GRUCell", "Grid2LSTMCell", "Grid3LSTMCell", "GridRNNCell")}
