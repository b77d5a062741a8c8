"""The bar of a training, one line on a terminal or in a notebook: steps, loss, metric, time left.

A log that is a file has lines of progress instead.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from typing import Any, Iterator, Mapping

from estimator_trainer import task_events

_FORMAT = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} steps [{elapsed}<{remaining}{postfix}]"
_TO_AT_MOST = _FORMAT.replace("<", "<at most ")
_WITHOUT_END = "{n_fmt} steps [{elapsed}{postfix}]"
_METRICS = ("accuracy", "auc", "rmse", "mae")

_bar: _TrainingBar | None = None
_is_open = False


def is_notebook() -> bool:
    """Returns whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


def is_possible() -> bool:
    """Returns whether somebody sees a bar: on a terminal, or in a notebook."""
    return is_notebook() or sys.stderr.isatty()


def is_shown() -> bool:
    """Returns whether a bar is visible."""
    return _bar is not None


@contextlib.contextmanager
def until_end() -> Iterator[None]:
    """Keeps the bar of a training up to the end of the context, for the final evaluation."""
    global _is_open
    before, _is_open = _is_open, True
    try:
        with task_events.received_by(_receive):
            yield
    finally:
        _is_open = before
        close()


def begin(step: int, max_steps: int | None, may_end_before: bool) -> None:
    """Shows the bar of a training from a global step to `max_steps`; None: without a known end."""
    global _bar
    if _bar is None and _is_open and is_possible():
        _bar = _TrainingBar(step, max_steps, may_end_before)


def update(step: int, values: Mapping[str, str]) -> None:
    """Shows a global step, and values by their names, in the bar if there is one."""
    if _bar is not None:
        _bar.update(step, values)


def close() -> None:
    """Ends the line of the bar, which stays visible, if there is one."""
    global _bar
    if _bar is not None:
        bar, _bar = _bar, None
        bar.close()


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Lets the context write a line to standard error above the bar."""
    if _bar is None:
        yield
    else:
        with _bar.aside():
            yield


def _receive(kind: str, values: dict[str, Any]) -> None:
    if kind == "evaluation" and _bar is not None:
        _bar.evaluated(values)


class _TrainingBar:
    """A bar of tqdm's, with the last values of training and evaluation behind it."""

    def __init__(self, step: int, max_steps: int | None, may_end_before: bool):
        self._values: dict[str, str] = {}
        total = max_steps if max_steps and max_steps >= step else None
        self._bar = _tqdm(total=total, initial=step, mininterval=0, leave=True,
                          bar_format=(_TO_AT_MOST if may_end_before else _FORMAT) if total else
                          _WITHOUT_END)

    def update(self, step: int, values: Mapping[str, str]) -> None:
        self._values.update(values)
        self._bar.n = step
        self._show()

    def evaluated(self, values: dict[str, Any]) -> None:
        metrics = values["metrics"]
        name = next((each for each in _METRICS if each in metrics), "loss")
        if name in metrics:
            self._values[f"eval {name}" if name == "loss" else name] = f"{metrics[name]:.4g}"
        self._show()

    def close(self) -> None:
        self._bar.close()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        with self._bar.external_write_mode(file=sys.stderr):
            yield

    def _show(self) -> None:
        text = ", ".join(f"{name} {value}" for name, value in self._values.items())
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.refresh()


def _tqdm(**options: Any) -> Any:
    """Returns a bar of the kind that fits this process."""
    import tqdm  # Takes 15 ms, and most commands have no bar.
    from tqdm import notebook
    own = {"monitor_interval": 0}  # A thread of tqdm's would outlive the training.
    if is_notebook() and notebook.IProgress is not None:  # The widgets are installed.
        return type("Bar", (notebook.tqdm,), own)(ncols="100%", **options)
    # A terminal may say that it has no size, as in a container; a notebook shows errors on red.
    columns, lines = shutil.get_terminal_size()
    return type("Bar", (tqdm.tqdm,), own)(
        file=sys.stdout if is_notebook() else sys.stderr, ncols=columns, nrows=lines, **options)
