"""Lists the networks to train: the tutorial's at two batch sizes, and three of sigmoid layers."""

from __future__ import annotations

import pathlib
from typing import NamedTuple

PROBE = f"--model_fn={pathlib.Path(__file__).resolve().with_name('probe_mlp.py')}"
MLP_BATCH = 32


class Network(NamedTuple):
    """A network, and how it is trained.

    Attributes:
      flags: Flags of the network.
      batch_size: Number of examples in a batch of one trainer.
      line_steps: Number of steps between two lines of the log of a trainer that waits for others;
        each line ends a session run, so lines should be few.
      variables: Number of the variables.
      variable_bytes: Size of all variables, in bytes.
    """

    flags: tuple[str, ...]
    batch_size: int
    line_steps: int
    variables: int
    variable_bytes: int


def _dense(layers: int, units: int, line_steps: int) -> Network:
    variable_bytes = 4 * (785 * units + (layers - 1) * (units + 1) * units + 10 * (units + 1))
    return Network((PROBE, f"--param=hidden_layers={layers}", f"--param=hidden_units={units}"),
                   MLP_BATCH, line_steps, 2 * layers + 2, variable_bytes)


_CNN_FLAGS = ("--model_fn=cnn", "--param=learning_rate=0.01")
CNN = {"cnn64": Network(_CNN_FLAGS, 64, 20, 6, 1_388_584),
       "cnn256": Network(_CNN_FLAGS, 256, 5, 6, 1_388_584)}
MLP = {"mlp128": _dense(1, 128, 50), "mlp4096": _dense(1, 4096, 5), "deep128": _dense(16, 128, 20)}
