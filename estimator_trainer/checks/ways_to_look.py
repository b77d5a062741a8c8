"""The ways to look at a run: its page, while it runs and afterwards, and TensorBoard."""

from __future__ import annotations

import importlib.util
import posixpath
import shlex

PAGE = "report.html"


def while_it_runs(model_dir: str) -> str:
    """Returns the line that tells where the page will be, and how to see it before."""
    return (f"report: {posixpath.join(model_dir, PAGE)} at the end; before: estimator-trainer"
            f" report --serve --model_dir={shlex.quote(model_dir)}")


def tensorboard(model_dir: str) -> str:
    """Returns the line that tells how to look at a run with TensorBoard."""
    command = f"tensorboard --logdir={shlex.quote(model_dir)}"
    if importlib.util.find_spec("tensorboard") is not None:
        return f"TensorBoard: {command}"
    return f"TensorBoard is not installed: pip install tensorboard; then: {command}"
