"""`tf.contrib.integrate`: ordinary differential equations."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.integrate"
NAMES = {"odeint": f"{_HERE}.adaptive.odeint", "odeint_fixed": f"{_HERE}.fixed_grid.odeint_fixed"}
