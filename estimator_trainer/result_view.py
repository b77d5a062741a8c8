"""The result of a training as a notebook shows it: in short, as HTML, as a frame, as a chart."""

from __future__ import annotations

import html
import io
from typing import Any, Mapping, Sequence

# Names of a record of the history that are no value to plot.
_NO_CURVES = ("global_step", "examples_per_sec", "eval_name")
_METRICS_SHOWN = 5
# Charts beside each other.
_COLUMNS = 3


def line(result: Any) -> str:
    """Returns a line: how training ended, and the first metrics."""
    shown = ", ".join(f"{name}={_short(value)}" for name, value in _first(result.metrics))
    what = f"{result.status} at step {result.step} ({result.reason})"
    return f"Result({result.note + ' ' if result.note else ''}{what}{', ' if shown else ''}{shown})"


def page(result: Any) -> str:
    """Returns HTML for a notebook: a table of the metrics below how training ended."""
    rows = [("model_dir", result.model_dir), *(
        (name, _short(value)) for name, value in result.metrics.items()), *(
        ("export", path) for path in result.exports)]
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                    f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
                    for name, value in rows if value != "")
    note = f"<p>{html.escape(result.note)}</p>" if result.note else ""
    return (f"<p><b>{html.escape(result.status)}</b> at step {result.step}"
            f" ({html.escape(result.reason)})</p>{note}<table>{cells}</table>")


def frame(history: Sequence[Mapping[str, Any]]) -> Any:
    """Returns the history as a pandas DataFrame, by global step."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame() makes a pandas DataFrame: pip install pandas") from error
    made = pandas.DataFrame(list(history), columns=None if history else ["global_step"])
    return made.set_index("global_step")


def chart(history: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    """Returns a Matplotlib figure with a chart of each value by step; see `Result.plot`."""
    try:
        from matplotlib import figure
    except ImportError as error:
        raise ImportError("plot() makes a Matplotlib figure: pip install matplotlib") from error
    known = _curves(history)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"plot() got {unknown[0]!r}; expected values of the history: "
                         f"{', '.join(known) or 'there is none'}")
    shown = list(names) or known
    charts = [["loss", "train_loss"] if name == "loss" and not names else [name]
              for name in shown if names or name != "train_loss" or "loss" not in shown]
    columns, rows = min(len(charts), _COLUMNS) or 1, -(-len(charts) // _COLUMNS) or 1
    # A notebook shows a plain figure only where its program has imported pyplot.
    made = type("Chart", (figure.Figure,), {"_repr_png_": _png})(
        figsize=(4.5 * columns, 3 * rows), layout="constrained")
    for place, curves in enumerate(charts, start=1):
        axes = made.add_subplot(rows, columns, place)
        for name in (each for each in curves if each in known):
            # A further set of evaluation data has a curve of its own.
            for of_set in sorted({each.get("eval_name", "") for each in history if name in each}):
                points = [(each["global_step"], each[name]) for each in history
                          if name in each and each.get("eval_name", "") == of_set]
                axes.plot(*zip(*points), marker="o" if len(points) < 30 else None,
                          label=f"{name} {of_set}".strip())
        axes.set_xlabel("global step")
        axes.legend()
    return made


def _png(figure: Any) -> bytes:
    """Returns a figure as a PNG file."""
    written = io.BytesIO()
    figure.savefig(written, format="png")
    return written.getvalue()


def _curves(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the values that have a curve, the losses first."""
    names = dict.fromkeys(name for record in history for name in record)
    curves = [name for name in names if name not in _NO_CURVES]
    return sorted(curves, key=lambda name: (name != "loss", name != "train_loss"))


def _first(metrics: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in metrics.items()
            if name != "global_step"][:_METRICS_SHOWN]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
