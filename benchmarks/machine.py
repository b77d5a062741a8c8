"""Names the processor that figures are taken on."""

from __future__ import annotations

import pathlib


def cpu_name() -> str:
    """Returns the processor's name, as Linux spells it."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines
                 if line.startswith("model name")), "unknown processor")
