"""The table: programs times shapes, each run beside the plain Estimator.

CORE are the cells of the default run, one of each kind; all others are `soak`.
"""

from __future__ import annotations

from tests.equality.program import Program
from tests.equality.programs import (canned, datasets, draws, elements, exports, hooks, optimizers,
                                     patterns, platform, run_config, state, steps, updates)

_KINDS = (elements, datasets, updates, state, optimizers, hooks, run_config, platform, exports,
          canned, steps, patterns, draws)

PROGRAMS: dict[str, Program] = {
    name: program for kind in _KINDS for name, program in kind.PROGRAMS.items()}
if len(PROGRAMS) < sum(len(kind.PROGRAMS) for kind in _KINDS):
    raise ValueError("two programs of the table have the same name")

CORE = {tuple(cell.split("-")) for cell in (
    "trains_in_epochs-one", "several_estimators-one", "a_key_error-one", "keras_layers_seeded-one",
    "one_shot_and_random-one", "hooks-ps")}
