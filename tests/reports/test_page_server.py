"""`report --serve` shows the page of its model_dirs to this machine, and no file."""

from __future__ import annotations

import functools
import http.server
import json
import re
import socket
import threading

import pytest

from estimator_trainer.record import run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.reports import server as server_lib

_PRIVATE = "PRIVATE-7f3a"


@pytest.fixture(name="request_text", scope="module")
def fixture_request(tmp_path_factory):
    """Returns a function that sends a request as it stands, and returns status and text."""
    tmp_path = tmp_path_factory.mktemp("served")
    (tmp_path / "private").write_text(json.dumps({"step": 1, "kind": _PRIVATE}) + f"\n{_PRIVATE}\n")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "record.json").write_text(run_record.to_json(RunRecord()))
    for name in ("history.jsonl", "result.json", "evaluation.json", "report.html", "checkpoint"):
        (folder / name).symlink_to(tmp_path / "private")
    (folder / "outside").symlink_to(tmp_path)
    handler = functools.partial(server_lib.Handler, server_lib.LivePage([str(folder)]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def request_text(path: str, host: str = "127.0.0.1",
                         method: str = "GET") -> tuple[int, str]:
            with socket.create_connection(server.server_address, timeout=30) as connection:
                connection.sendall(f"{method} {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
                answer = b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()
            return int(answer.split(" ", 2)[1]), answer

        yield request_text
        server.shutdown()


def test_serve_follows_no_link_to_another_file(request_text):
    status, page = request_text("/")
    assert status == 200 and "<html" in page and _PRIVATE not in page


@pytest.mark.parametrize("path", [
    "/outside/private", "/model/record.json", "/record.json", "/report.html", "/outside/",
    "/model", "/../private", "/%2e%2e/private", "/..%2fprivate", "/%2e%2e%2f..%2fetc/passwd",
    "//etc/passwd", "/etc/passwd", "http://127.0.0.1/etc/passwd", "file:///etc/passwd",
    "../private", "/version/../private", "/data/../private", "/data/", "/./",
    "/\\..\\private", "/%00", "/private%00.html", "*"])
def test_serve_shows_no_file_and_no_listing(request_text, path):
    status, answer = request_text(path)
    assert status in (400, 404) and _PRIVATE not in answer and "root:" not in answer


def test_serve_answers_with_data_that_run_nothing(request_text):
    status, answer = request_text("/data")
    head, _, body = answer.partition("\r\n\r\n")
    data = json.loads(body)
    assert status == 200 and set(data) == {"version", "now", "title", "body", "charts"}
    assert "<h1>model" in data["body"] and "<script" not in data["body"]
    assert data["version"] == request_text("/version")[1].rpartition("\r\n")[2]
    assert "Content-Type: application/json" in head


@pytest.mark.parametrize("path", ["/", "/version", "/data", "/none"])
def test_serve_lets_the_browser_run_only_its_own_scripts(request_text, path):
    head = request_text(path)[1].partition("\r\n\r\n")[0]
    for header in ("X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                   "X-Frame-Options: DENY"):
        assert header in head
    [policy] = re.findall("Content-Security-Policy: (.*)", head)
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy
    [scripts] = re.findall("script-src ([^;]*)", policy)
    assert all(each.startswith("'sha256-") for each in scripts.split())


@pytest.mark.parametrize("host, status", [
    ("127.0.0.1", 200), ("127.0.0.1:8000", 200), ("localhost:1", 200), ("evil.example", 403),
    ("localhost.evil.example", 403), ("127.0.0.1.evil.example:80", 403), ("", 403),
    ("evil.example:127.0.0.1", 403), ("0.0.0.0", 403)])
def test_serve_answers_no_page_of_another_site(request_text, host, status):
    for path in ("/version", "/data"):
        assert request_text(path, host)[0] == status
        assert "access-control" not in request_text(path, host)[1].lower()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"])
def test_serve_answers_only_reading(request_text, method):
    assert request_text("/", method=method)[0] == 501
