"""Collects what is logged, for a caller that shows it in another way."""

from __future__ import annotations

import contextlib
import logging as python_logging
from typing import Iterator

from absl import logging


@contextlib.contextmanager
def warnings_collected() -> Iterator[list[str]]:
    """Collects warnings in place of logging them; lines of lower levels are dropped."""
    lines: list[str] = []

    def collect(record: python_logging.LogRecord) -> bool:
        if record.levelno >= python_logging.WARNING:
            lines.append(f"{record.getMessage().removesuffix('.')}.")
        return False

    logger = logging.get_absl_logger()
    logger.addFilter(collect)
    try:
        yield lines
    finally:
        logger.removeFilter(collect)
