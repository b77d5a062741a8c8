"""A table of many runs, served with the page of each run, and with comparisons of some."""

from __future__ import annotations

import threading
import time
import urllib.parse

from estimator_trainer.reports import page, run_folders, runs_table
from estimator_trainer.reports.run_folders import Found
from estimator_trainer.reports.server import LivePage

_POLL_SECS = 5.0
# Pages keep what they have read, and poll for more.
_MOST_PAGES = 16


class RunsSite:
    """The pages of many runs: `/`, `/run/NAME/`, and `/compare/?run=NAME&run=NAME`.

    Only a name of a run that was found leads to a page, so that no path leaves the folder.
    """

    def __init__(self, found: Found, most_compared: int):
        self._table = _TablePage(found)
        self._most_compared = most_compared
        self._lock = threading.Lock()
        self._pages: dict[tuple[str, ...], LivePage] = {}

    def find(self, path: str, query: str) -> tuple[LivePage, str] | str | None:
        """Returns what a request is for; see server.Site."""
        if path in ("/", "/version", "/data"):
            return self._table, path[1:]
        top, _, rest = path[1:].partition("/")
        if top == "compare":
            names = [value for key, value in urllib.parse.parse_qsl(query) if key == "run"]
            names = list(dict.fromkeys(names))[:self._most_compared + 1]
            if path == "/compare":
                return "/compare/?" + urllib.parse.urlencode([("run", name) for name in names])
            return self._page(names, rest)
        if top == "run":
            name, _, part = rest.rpartition("/")
            return self._page([urllib.parse.unquote(name)], part)
        return None

    def _page(self, names: list[str], part: str) -> tuple[LivePage, str] | None:
        known = self._table.model_dirs
        if not 0 < len(names) <= self._most_compared or any(name not in known for name in names):
            return None
        key = tuple(names)
        with self._lock:
            # The pages that were requested last are at the end.
            found = self._pages.pop(key, None) or LivePage([known[name] for name in names])
            self._pages[key] = found
            for old in list(self._pages)[:-_MOST_PAGES]:
                del self._pages[old]
        return found, part


class _TablePage(LivePage):
    """The page of the table, which finds new runs in the folder."""

    def __init__(self, found: Found):
        super().__init__(found.model_dirs)
        self._folder = found.folder
        self._scan_lock = threading.Lock()
        self._reader = runs_table.Rows()
        self._rows: list[runs_table.Row] = []
        self.model_dirs: dict[str, str] = dict(zip(
            runs_table.names_within(found.model_dirs, found.folder), found.model_dirs))

    @property
    def poll_secs(self) -> float:
        """The seconds between two questions of the page for a newer version."""
        return max(_POLL_SECS, super().poll_secs)

    @property
    def version(self) -> str:
        """A text that changes with the content."""
        with self._scan_lock:
            if self._folder:
                found = list(run_folders.below(self._folder))
                self.model_dirs = dict(zip(
                    runs_table.names_within(found, self._folder), found))
            version, self._rows = self._reader.of(
                list(self.model_dirs.values()), list(self.model_dirs))
        return version

    def read(self) -> page.Content:
        """Returns the content as the files are now."""
        title = self._folder or f"{len(self._rows)} runs"
        return runs_table.content_of(title, self._rows, runs_table.Links(""), time.time())
