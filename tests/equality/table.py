"""The table: programs times shapes, each run beside the plain Estimator.

CORE are the cells of the default run, one of each kind; all others are `soak`.
"""

from __future__ import annotations

from tests.equality.program import Program
from tests.equality.programs import elements
from tests.equality.programs import hooks

PROGRAMS: dict[str, Program] = {
    **elements.PROGRAMS,
    **hooks.PROGRAMS,
}

CORE: set[tuple[str, str]] = set()
