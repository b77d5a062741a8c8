"""A small Google Cloud Storage on this machine, for tests: what TensorFlow asks of it, in memory.

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
import json
import pathlib
import re
import ssl
import threading
import time
from typing import Any
import urllib.parse

import trustme

_HOSTS = ("www.googleapis.com", "storage.googleapis.com")
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


@dataclasses.dataclass(frozen=True)
class Request:
    """One request that was answered.

    Attributes:
      at: When it came, a time.monotonic() in seconds.
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


@dataclasses.dataclass
class _Object:
    content: bytes
    generation: int
    written_at: float


@dataclasses.dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, status: int, content: dict[str, Any]) -> Answer:
        """Returns an answer that holds JSON."""
        return cls(status, json.dumps(content).encode(), {"Content-Type": "application/json"})


class CloudStorage:
    """The server; it serves while it is entered as a context.

    Attributes:
      requests: Those that were answered so far, in order.
    """

    def __init__(self, folder: pathlib.Path, buckets: tuple[str, ...] = ("bucket",),
                 latency_secs: float = 0, is_write_limited: bool = False, fault_every: int = 0,
                 is_bucket_hidden: bool = False):
        """Makes a server.

        Args:
          folder: For its authority's certificate.
          buckets: Those that exist.
          latency_secs: What each answer takes.
          is_write_limited: Whether a second write of an object within a second is refused, with
            429, as Cloud Storage does.
          fault_every: One of so many requests is answered with 429 or 503, in turn; 0: none.
          is_bucket_hidden: Whether the buckets' own data may not be read, as with the role Storage
            Object Admin; their objects may.
        """
        self.requests: list[Request] = []
        self._latency_secs, self._is_write_limited = latency_secs, is_write_limited
        self._is_bucket_hidden = is_bucket_hidden
        self._faults = itertools.cycle([0] * (fault_every - 1) + [429]
                                       + [0] * (fault_every - 1) + [503]) if fault_every else None
        self._buckets: dict[str, dict[str, _Object]] = {name: {} for name in buckets}
        self._uploads: dict[str, tuple[str, str, bytearray]] = {}
        self._generations = itertools.count(1)
        self._lock = threading.RLock()
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
        # gRPC heeds a proxy, too; the tasks of a job talk to each other without.
        return {"https_proxy": proxy, "no_proxy": "127.0.0.1,localhost", "NO_GCE_CHECK": "true",
                "CURL_CA_BUNDLE": str(self._ca_path), "GOOGLE_APPLICATION_CREDENTIALS": ""}

    def names(self, prefix: str = "", suffix: str = "", bucket: str = "bucket") -> list[str]:
        """Returns the names of the objects that begin and end so, sorted."""
        with self._lock:
            return sorted(name for name in self._buckets[bucket]
                          if name.startswith(prefix) and name.endswith(suffix))

    def read(self, name: str, bucket: str = "bucket") -> bytes:
        """Returns what an object holds."""
        with self._lock:
            return self._buckets[bucket][name].content

    def write(self, name: str, content: bytes, bucket: str = "bucket") -> None:
        """Makes or replaces an object."""
        with self._lock:
            self._buckets[bucket][name] = _Object(content, next(self._generations),
                                                  time.monotonic())

    def remove(self, name: str, bucket: str = "bucket") -> None:
        """Removes an object."""
        with self._lock:
            del self._buckets[bucket][name]

    def answer(self, method: str, target: str, headers: Any, body: bytes
               ) -> tuple[str, str, Answer]:
        """Answers one request.

        Returns:
          What it was about, the object or prefix, and the answer.
        """
        time.sleep(self._latency_secs)
        url = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(url.query))
        path = [urllib.parse.unquote(part) for part in url.path.strip("/").split("/")]
        with self._lock:
            if self._faults and (status := next(self._faults)):
                return "fault", target, Answer(status)
            if path[0] == "upload":
                return self._upload(method, path, query, headers, body)
            if path[0] == "storage":
                return self._json(method, path[3:], query)
            return self._media(path[0], urllib.parse.unquote(url.path).lstrip("/"), headers)

    def _json(self, method: str, path: list[str], query: dict[str, str]
              ) -> tuple[str, str, Answer]:
        """Answers for b/BUCKET, b/BUCKET/o, b/BUCKET/o/OBJECT and what is below."""
        bucket, rest = path[0], path[1:]
        if bucket not in self._buckets:
            return "bucket", bucket, Answer.of(
                404, {"error": {"code": 404, "message": "The specified bucket does not exist."}})
        if not rest and self._is_bucket_hidden:
            return "bucket", bucket, Answer.of(
                403, {"error": {"code": 403, "message": "no storage.buckets.get access"}})
        objects = self._buckets[bucket]
        if rest in ([], ["storageLayout"]):
            return "bucket", bucket, Answer.of(200, {
                "kind": "storage#bucket", "name": bucket, "location": "EU",
                "hierarchicalNamespace": {"enabled": False}})
        if rest == ["o"]:
            return "list", query.get("prefix", ""), Answer.of(200, _listed(objects, query))
        name = rest[1]
        if name not in objects:
            return "get", name, Answer.of(404, {"error": {"code": 404}})
        if method == "DELETE":
            del objects[name]
            return "delete", name, Answer(204)
        if rest[2:3] == ["rewriteTo"]:
            target = rest[6]
            return "rewrite", target, self._replace(rest[4], target, objects[name].content)
        return "get", name, Answer.of(200, _facts(objects[name]))

    def _media(self, bucket: str, path: str, headers: Any) -> tuple[str, str, Answer]:
        """Answers for what an object holds, or a range of it."""
        name = path.partition("/")[2]
        found = self._buckets.get(bucket, {}).get(name)
        if found is None:
            return "read", name, Answer(404)
        asked = _RANGE.fullmatch(headers.get("Range", ""))
        if not asked:
            return "read", name, Answer(200, found.content)
        start, end = int(asked[1]), int(asked[2] or len(found.content) - 1)
        if start >= len(found.content):
            return "read", name, Answer(416)
        part = found.content[start:end + 1]
        return "read", name, Answer(206, part, {
            "Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(found.content)}"})

    def _upload(self, method: str, path: list[str], query: dict[str, str], headers: Any,
                body: bytes) -> tuple[str, str, Answer]:
        """Answers for an upload in one request, and for the two or more of a resumable one."""
        bucket = path[4]
        if bucket not in self._buckets:
            return "insert", bucket, Answer(404)
        if method == "POST" and query["uploadType"] == "media":
            if query.get("ifGenerationMatch") == "0" and query["name"] in self._buckets[bucket]:
                return "insert", query["name"], Answer(412)
            return "insert", query["name"], self._replace(bucket, query["name"], body)
        if method == "POST":
            key = str(next(self._generations))
            self._uploads[key] = (bucket, query["name"], bytearray())
            uri = (f"https://www.googleapis.com/upload/storage/v1/b/{bucket}/o"
                   f"?uploadType=resumable&upload_id={key}")
            return "insert", query["name"], Answer(200, headers={"Location": uri})
        _, name, received = self._uploads[query["upload_id"]]
        asked = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
        if asked and asked[1] and int(asked[1]) == len(received):
            received.extend(body)
        if asked and asked[3] != "*" and len(received) < int(asked[3]):
            so_far = {"Range": f"bytes=0-{len(received) - 1}"} if received else {}
            return "insert", name, Answer(308, headers=so_far)
        return "insert", name, self._replace(bucket, name, bytes(received or body))

    def _replace(self, bucket: str, name: str, content: bytes) -> Answer:
        objects, now = self._buckets[bucket], time.monotonic()
        old = objects.get(name)
        if self._is_write_limited and old and now - old.written_at < 1:
            return Answer(429)
        objects[name] = _Object(content, next(self._generations), now)
        return Answer.of(200, {"done": True, **_facts(objects[name])})


def _facts(found: _Object) -> dict[str, str]:
    return {"size": str(len(found.content)), "generation": str(found.generation),
            "updated": "2026-01-01T00:00:00.000Z"}


def _listed(objects: dict[str, _Object], query: dict[str, str]) -> dict[str, Any]:
    """Returns a page of names, those below the delimiter as one prefix each."""
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    items: list[dict[str, str]] = []
    prefixes: set[str] = set()
    limit, start = int(query.get("maxResults", 1000)), query.get("pageToken", "")
    for name in sorted(name for name in objects if name.startswith(prefix) and name >= start):
        if len(items) + len(prefixes) == limit:
            return {"items": items, "prefixes": sorted(prefixes), "nextPageToken": name}
        rest = name[len(prefix):]
        if delimiter and delimiter in rest:
            prefixes.add(prefix + rest.partition(delimiter)[0] + delimiter)
        else:
            items.append({"name": name})
    return {"items": items, "prefixes": sorted(prefixes)}


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection: a CONNECT, then TLS, then requests of the JSON and the XML interface."""

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
        # The server closes the socket of before TLS.
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
