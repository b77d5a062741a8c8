"""A server of HTTP for this machine alone, which ends with Ctrl-C or SIGTERM."""

import http.server
import signal
from typing import Any, Callable

from estimator_trainer import errors

_HOST = "127.0.0.1"
# Other host names are refused, because another site could make its name point here.
_NAMES = (_HOST, "localhost")


def serve(make_handler: Callable[..., "Handler"], port: int, path: str = "/") -> None:
    """Serves until Ctrl-C, or SIGTERM, and prints the address of `path` before.

    Raises:
      ConfigError: if the port is taken.
    """
    try:
        server = http.server.ThreadingHTTPServer((_HOST, port), make_handler)
    except (OSError, OverflowError) as error:
        raise errors.ConfigError(
            errors.Problem("port", port, f"which cannot be listened at ({error})",
                           "a free one up to 65535", errors.Setting("port", 0))) from error
    with server:
        try:
            signal.signal(signal.SIGTERM, _end)
            # In the background of a shell, SIGINT is ignored.
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, _end)
            print(f"http://{_HOST}:{server.server_address[1]}{path}  (Ctrl-C ends)", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def _end(*_: Any) -> None:
    """Ends the server at the first signal; a second one does not disturb the end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests of this machine's programs, and logs none."""

    def is_foreign(self) -> bool:
        """Returns whether a request names another host, and answers it with an error then."""
        if self.headers.get("Host", "").partition(":")[0] in _NAMES:
            return False
        self.send_error(403)
        return True

    def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
        """Logs no request."""

    def end_headers(self) -> None:
        """Adds the headers of every answer, those of errors included."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def answer(self, kind: str, body: bytes, code: int = 200) -> None:
        """Sends an answer of a type, such as "text/html; charset=utf-8"."""
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
