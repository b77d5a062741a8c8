"""A page of the examples whose figures are compared with those of its text."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import time
import types
from typing import Any, Callable, Iterable

from examples.runs import EXAMPLES, Runs

HEADING = "## The text and here"
_COLUMNS = "|  | the text | here |\n|---|---|---|\n"


@dataclasses.dataclass(frozen=True)
class Row:
    """One figure of a text, and a function that finds ours.

    Attributes:
      what: Description of the figure.
      text: The text's figure, or a function that finds a substitute.
      here: Returns our figure, from the result of the page's `run`.
    """

    what: str
    text: str | Callable[[Any], Any]
    here: Callable[[Any], Any]

    def shown(self, done: Any) -> str:
        """Returns the row of the table."""
        text = self.text if isinstance(self.text, str) else self.text(done)
        return f"| {self.what} | {text} | {self.here(done)} |\n"


@dataclasses.dataclass(frozen=True)
class Page:
    """A page and the `text.py` beside it: SOURCE, `run(runs)`, and ROWS.

    Attributes:
      name: Name of its folder, such as "04_sigmoid_mnist".
    """

    name: str

    @property
    def text(self) -> types.ModuleType:
        """The module of its runs and rows."""
        spec = importlib.util.spec_from_file_location("text", EXAMPLES / self.name / "text.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def section(self, runs: Runs) -> str:
        """Runs the page's comparison; returns its last section, in Markdown."""
        import tensorflow as tf
        start = time.monotonic()
        text = self.text
        done = text.run(runs)
        rows = "".join(row.shown(done) for row in text.ROWS)
        minutes = max(1, round((time.monotonic() - start) / 60))
        flag, data = ((" --mnist=FOLDER", ", from MNIST's four IDX files in FOLDER")
                      if runs.use_mnist else ("", ""))
        return (f"{HEADING}\n\n{text.SOURCE}\n\n{_COLUMNS}{rows}\n"
                f"`python -m examples.verify{flag} {self.name[:2]}` makes this table{data}; here"
                f" with TensorFlow {tf.__version__} on {os.cpu_count()} CPU cores, in"
                f" {minutes} min.\n")

    def write(self, section: str) -> None:
        """Replaces the last section of the page by `section`."""
        path = EXAMPLES / self.name / "README.md"
        before = path.read_text().partition(HEADING)[0].rstrip()
        path.write_text(f"{before}\n\n{section}")


def spread(figures: Iterable[str]) -> str:
    """Returns the smallest and the largest figure of runs that differ only in their seed."""
    found = sorted(figures)
    return f"{found[0]} to {found[-1]}"


def pages() -> list[Page]:
    """Returns the pages that have a text, in their order."""
    return [Page(path.parent.name) for path in sorted(EXAMPLES.glob("*/text.py"))]
