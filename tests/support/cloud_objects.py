"""The objects of a small Cloud Storage lie in memory, and answer what TensorFlow asks."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import threading
import time
from typing import Any
import urllib.parse

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


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


class CloudObjects:
    """The buckets and their objects; safe to use from any thread."""

    def __init__(self, buckets: tuple[str, ...], is_write_limited: bool = False,
                 is_bucket_hidden: bool = False):
        """Makes empty buckets.

        Args:
          buckets: The names of those that exist.
          is_write_limited: Whether a second write of an object within a second is refused.
          is_bucket_hidden: Whether the buckets' own data may not be read.
        """
        self._is_write_limited, self._is_bucket_hidden = is_write_limited, is_bucket_hidden
        self._buckets: dict[str, dict[str, _Object]] = {name: {} for name in buckets}
        self._uploads: dict[str, tuple[str, str, bytearray]] = {}
        self._generations = itertools.count(1)
        self._lock = threading.RLock()

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
          The kind of the request, the object or prefix that it was about, and the answer.
        """
        url = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(url.query))
        path = [urllib.parse.unquote(part) for part in url.path.strip("/").split("/")]
        with self._lock:
            if path[0] == "upload":
                return self._upload(method, path, query, headers, body)
            if path[0] == "storage":
                return self._json(method, path[3:], query)
            return self._media(path[0], urllib.parse.unquote(url.path).lstrip("/"), headers)

    def _json(self, method: str, path: list[str], query: dict[str, str]
              ) -> tuple[str, str, Answer]:
        """Answers requests for b/BUCKET, b/BUCKET/o, b/BUCKET/o/OBJECT and what is below."""
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
        """Answers requests for what an object holds, or for a range of it."""
        name = path.partition("/")[2]
        found = self._buckets.get(bucket, {}).get(name)
        if found is None:
            return "read", name, Answer(404)
        wanted = _RANGE.fullmatch(headers.get("Range", ""))
        if not wanted:
            return "read", name, Answer(200, found.content)
        start, end = int(wanted[1]), int(wanted[2] or len(found.content) - 1)
        if start >= len(found.content):
            return "read", name, Answer(416)
        part = found.content[start:end + 1]
        return "read", name, Answer(206, part, {
            "Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(found.content)}"})

    def _upload(self, method: str, path: list[str], query: dict[str, str], headers: Any,
                body: bytes) -> tuple[str, str, Answer]:
        """Answers an upload in one request, and the two or more requests of a resumable one."""
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
        wanted = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
        if wanted and wanted[1] and int(wanted[1]) == len(received):
            received.extend(body)
        if wanted and wanted[3] != "*" and len(received) < int(wanted[3]):
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
