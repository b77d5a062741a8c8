"""Counts the modules of estimator_trainer that a local `train` crosses before its first step.

A module counts when one of its functions runs between `cli.main` and the end of the first session
run that trains; an import alone does not count.

    python -m benchmarks.crossed_modules
"""

from __future__ import annotations

import inspect
import pathlib
import sys
import tempfile
import threading
from typing import Any

import estimator_trainer
from estimator_trainer import cli

_ROOT = pathlib.Path(estimator_trainer.__file__).parent


class _Profile:
    """A profile hook that notes the modules of estimator_trainer whose functions are called."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self._is_over = False

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        """Notes a call, up to the first `after_run` of a hook."""
        if self._is_over or event != "call":
            return
        code = frame.f_code
        if code.co_name == "after_run":
            self._is_over = True
            return
        path = pathlib.Path(code.co_filename)
        if code.co_flags & inspect.CO_OPTIMIZED and _ROOT in path.parents and (
                not _is_imported(frame)):
            name = path.relative_to(_ROOT).as_posix()
            self.calls[name] = self.calls.get(name, 0) + 1


def _is_imported(frame: Any) -> bool:
    """Returns whether a call is a part of an import."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and _ROOT in pathlib.Path(
                frame.f_code.co_filename).parents:
            return True
        frame = frame.f_back
    return False


def main() -> None:
    """Trains the bundled model for two steps, and prints the modules."""
    profile = _Profile()
    with tempfile.TemporaryDirectory() as folder:
        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            cli.main([f"--model_dir={folder}/digits", "--train_steps=2"])
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    for name, calls in sorted(profile.calls.items()):
        print(f"{calls:7,}  {name}")
    print(f"{len(profile.calls)} modules")


if __name__ == "__main__":
    main()
