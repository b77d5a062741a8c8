"""A small Google Cloud Storage on this machine serves tests; it keeps its objects in memory.

TensorFlow's names for it are fixed: https://www.googleapis.com and https://storage.googleapis.com,
port 443. So this server is also the proxy that `https_proxy` names: a client says CONNECT, and then
speaks TLS with this server itself, which has a certificate for these names by an authority of its
own. Nothing outside the client's environment is touched, and no right is needed.
"""

from __future__ import annotations

import base64
import dataclasses
import http.server
import itertools
import pathlib
import ssl
import threading
import time
from typing import Any

import trustme

from tests.support.cloud_objects import Answer, CloudObjects

_HOSTS = ("www.googleapis.com", "storage.googleapis.com")


@dataclasses.dataclass(frozen=True)
class Request:
    """One request that was answered.

    Attributes:
      at: The time at which it came, a time.monotonic() in seconds.
      client: The user's name in the client's `https_proxy`.
      kind: "get", "read", "list", "insert", "rewrite", "delete" or "bucket".
      name: The object, or the prefix of a list.
      status: The HTTP status of the answer.
    """

    at: float
    client: str
    kind: str
    name: str
    status: int


class CloudStorage:
    """The server serves while it is entered as a context.

    Attributes:
      requests: The requests that were answered so far, in order.
      objects: The buckets and what they hold.
    """

    def __init__(self, folder: pathlib.Path, buckets: tuple[str, ...] = ("bucket",),
                 latency_secs: float = 0, is_write_limited: bool = False, fault_every: int = 0,
                 is_bucket_hidden: bool = False):
        """Makes a server.

        Args:
          folder: For its authority's certificate.
          buckets: Existing buckets.
          latency_secs: Time of each answer.
          is_write_limited: Whether a second write of an object within a second is refused, with
            429, as Cloud Storage does.
          fault_every: One of so many requests is answered with 429 or 503, in turn; 0: none.
          is_bucket_hidden: Whether the buckets' own data may not be read, as with the role Storage
            Object Admin; their objects may.
        """
        self.requests: list[Request] = []
        self.objects = CloudObjects(buckets, is_write_limited, is_bucket_hidden)
        self._latency_secs = latency_secs
        self._faults = itertools.cycle([0] * (fault_every - 1) + [429]
                                       + [0] * (fault_every - 1) + [503]) if fault_every else None
        self._lock = threading.Lock()
        authority = trustme.CA()
        self._ca_path = folder / "cloud_storage_ca.pem"
        authority.cert_pem.write_to_path(str(self._ca_path))
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*_HOSTS).configure_cert(self.tls)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.storage = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> CloudStorage:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def environment(self, client: str = "task") -> dict[str, str]:
        """Returns the variables of a process whose gs:// is this server."""
        proxy = f"http://{client.replace(':', '-')}:x@127.0.0.1:{self._server.server_port}"
        # gRPC heeds a proxy, too; the tasks of a job must talk to each other without one.
        return {"https_proxy": proxy, "no_proxy": "127.0.0.1,localhost", "NO_GCE_CHECK": "true",
                "CURL_CA_BUNDLE": str(self._ca_path), "GOOGLE_APPLICATION_CREDENTIALS": ""}

    def answer(self, method: str, target: str, headers: Any, body: bytes
               ) -> tuple[str, str, Answer]:
        """Answers one request, as slowly and as unreliably as it was asked to.

        Returns:
          The kind of the request, the object or prefix that it was about, and the answer.
        """
        time.sleep(self._latency_secs)
        with self._lock:
            status = next(self._faults) if self._faults else 0
        if status:
            return "fault", target, Answer(status)
        return self.objects.answer(method, target, headers, body)


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection takes a CONNECT, then TLS, then requests of the JSON and XML interfaces."""

    protocol_version = "HTTP/1.1"
    # An answer's head and body are two packets; without this the second waits for 40 ms.
    disable_nagle_algorithm = True
    _client = ""

    @property
    def _storage(self) -> CloudStorage:
        return self.server.storage  # type: ignore[attr-defined]

    def log_message(self, *_: Any) -> None:
        pass

    def do_CONNECT(self) -> None:
        words = base64.b64decode(self.headers.get("Proxy-Authorization", "").partition(" ")[2])
        self._client = words.decode().partition(":")[0]
        self.send_response_only(200, "Connection established")
        self.end_headers()
        try:
            self.connection = self._storage.tls.wrap_socket(self.connection, server_side=True)
        except OSError:
            self.close_connection = True
            return
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)
        self.close_connection = False

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def finish(self) -> None:
        # The server itself closes the socket that was there before TLS.
        super().finish()
        self.connection.close()

    def _answer(self) -> None:
        at = time.monotonic()
        body = self._body()
        kind, name, answer = self._storage.answer(self.command, self.path, self.headers, body)
        self.send_response_only(answer.status)
        for header, value in answer.headers.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        self._storage.requests.append(Request(at, self._client, kind, name, answer.status))

    def _body(self) -> bytes:
        # TensorFlow sends both headers; the coding is what holds (RFC 9112, section 6.3).
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body
