"""The page of a run or of several, served on this machine while a job runs."""

import functools
import json
import threading
import time
from typing import Any, Protocol, Sequence

from estimator_trainer import deadlines, errors, local_server
from estimator_trainer.reports import page, run_files


class Site(Protocol):
    """The pages that a server has."""

    def find(self, path: str, query: str) -> tuple["LivePage", str] | str | None:
        """Returns what a request is for.

        A page and the part of it ("", "version" or "data"), or the address to request instead;
        None if there is no such page.
        """


def serve(site: Site, port: int) -> None:
    """Serves pages until Ctrl-C, or SIGTERM; raises ConfigError if the port is taken."""
    local_server.serve(functools.partial(Handler, site), port)


class LivePage:
    """The page of model_dirs, which is made once for each version of their files."""

    def __init__(self, model_dirs: Sequence[str]):
        self._model_dirs = list(model_dirs)
        self._lock = threading.Lock()
        self._version = ""
        self._content = page.waiting("")

    def find(self, path: str, query: str) -> tuple["LivePage", str] | str | None:
        """Returns this page as the only one of a site; see Site."""
        return (self, path[1:]) if path in ("/", "/version", "/data") else None

    @property
    def poll_secs(self) -> float:
        """The seconds between two questions of the page for a newer version."""
        return max(map(deadlines.history_secs, self._model_dirs))

    @property
    def version(self) -> str:
        """A text that changes with the content."""
        return page.version_of(self._model_dirs)

    def html(self) -> str:
        """Returns the whole page, which polls for newer versions."""
        version, content = self._current()
        return page.html(content, time.time(), page.Served(version, self.poll_secs))

    def data(self) -> str:
        """Returns the parts of the page that change, as JSON.

        An object with `version`, `now` (seconds since 1970), and `title`, `body` (markup in which
        every text of a run is escaped) and `charts` of the content.
        """
        version, content = self._current()
        return json.dumps({"version": version, "now": time.time(), **content._asdict()})

    def _current(self) -> tuple[str, page.Content]:
        """Returns the version and the content; of several requests, one reads the files."""
        with self._lock:
            # A file that changes meanwhile makes a newer version.
            version = self.version
            if version != self._version:
                self._content, self._version = self.read(), version
            return version, self._content

    def read(self) -> page.Content:
        """Returns the content as the files are now."""
        try:
            runs = [run_files.read(each) for each in self._model_dirs]
        except errors.ConfigError as error:
            return page.waiting(str(error))
        return page.content_of(runs, time.time())


class Handler(local_server.Handler):
    """Answers with the page, with its version, or with its data."""

    def __init__(self, site: Site, *args: Any):
        self._site = site
        super().__init__(*args)

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        """Answers a request of this machine's browser."""
        path, _, query = self.path.partition("?")
        if self.is_foreign():
            return
        found = self._site.find(path, query)
        if found is None:
            self.send_error(404)
        elif isinstance(found, str):
            self.send_response(302)
            self.send_header("Location", found)
            self.end_headers()
        else:
            self._send_part(*found)

    def _send_part(self, live_page: LivePage, part: str) -> None:
        if part == "":
            self._send("text/html", live_page.html())
        elif part == "version":
            self._send("text/plain", live_page.version)
        elif part == "data":
            self._send("application/json", live_page.data())
        else:
            self.send_error(404)

    def end_headers(self) -> None:
        """Adds the headers of every answer, those of errors included."""
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Content-Security-Policy", page.policy() + "; frame-ancestors 'none'")
        super().end_headers()

    def _send(self, kind: str, text: str) -> None:
        self.answer(f"{kind}; charset=utf-8", text.encode())
