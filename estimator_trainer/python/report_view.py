"""The page of a run as a notebook shows it: within a frame, apart from the notebook's own page."""

from __future__ import annotations

import html
from typing import Any

from estimator_trainer import errors

_HEIGHT = 800


class Report(str):
    """The path of a page, a str; a notebook shows the page itself.

    A frame without the rights of the notebook has the page, so that no text of a run can act in
    the notebook.
    """

    @property
    def path(self) -> str:
        """The path of the page."""
        return str(self)

    @property
    def data(self) -> dict[str, Any]:
        """The content of the page's JSON file, as docs/report.md describes it.

        Raises ConfigError if the file is missing or damaged.
        """
        from estimator_trainer.reports import report_file
        return report_file.read(report_file.path_beside(self.path))

    def _repr_html_(self) -> str:
        from estimator_trainer.coordination import shared_files
        try:
            page = shared_files.read_text(self.path)
        except Exception as error:  # pylint: disable=broad-except
            why = f"{self.path} cannot be read: {errors.first_line(error)}"
            return f"<p>{html.escape(why)}</p>"
        if page is None:
            return f"<p>{html.escape(self.path)} is no longer there.</p>"
        return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts"'
                f' title="{html.escape(self.path)}" width="100%" height="{_HEIGHT}"'
                ' style="border: 0"></iframe>')
