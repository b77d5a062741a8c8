"""Logs once what a program gets in the place of something old."""

from __future__ import annotations

import functools

from absl import logging


@functools.lru_cache(maxsize=None)
def log(sentence: str) -> None:
    """Logs a sentence, unless it was logged before."""
    logging.warning("%s", sentence)
