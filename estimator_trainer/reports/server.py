"""The page of a run or of several, served on this machine while a job runs."""

import functools
import http.server
import signal
import time
from typing import Any, Sequence

from estimator_trainer import errors
from estimator_trainer.reports import page, run_files

_HOST = "127.0.0.1"
# Other host names are refused, because another site could make its name point here.
_NAMES = (_HOST, "localhost")


def serve(model_dirs: Sequence[str], port: int) -> None:
    """Serves the page until Ctrl-C, or SIGTERM; raises ConfigError if the port is taken."""
    try:
        server = http.server.ThreadingHTTPServer(
            (_HOST, port), functools.partial(_Handler, list(model_dirs)))
    except (OSError, OverflowError) as error:
        raise errors.ConfigError(
            errors.Problem("port", port, f"which cannot be listened at ({error})",
                           "a free one up to 65535", errors.Setting("port", 0))) from error
    # In the background of a shell, Python has no handler of SIGINT.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"http://{_HOST}:{server.server_address[1]}/  (Ctrl-C ends)", flush=True)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers with the page, or with its version."""

    def __init__(self, model_dirs: list[str], *args: Any):
        self._model_dirs = model_dirs
        super().__init__(*args)

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        """Answers a request; before there is anything to show, with a page that waits."""
        path = self.path.partition("?")[0]
        if self.headers.get("Host", "").partition(":")[0] not in _NAMES:
            self.send_error(403)
            return
        if path not in ("/", "/version"):
            self.send_error(404)
            return
        version = page.version_of(self._model_dirs)
        if path == "/version":
            self._send("text/plain", version)
            return
        try:
            runs = [run_files.read(each) for each in self._model_dirs]
            self._send("text/html", page.html(runs, time.time(), version))
        except errors.ConfigError as error:
            self._send("text/html", page.waiting(str(error)))

    def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
        """Logs no request."""

    def _send(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
