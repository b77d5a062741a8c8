"""A folder of many runs: its table, and the pages that the program serves for it."""

from __future__ import annotations

import functools
import html
import http.client
import http.server
import json
import pathlib
import re
import threading
import time
import urllib.parse

import pytest

from estimator_trainer import cli
from estimator_trainer.reports import report_command, run_folders, runs_server, runs_table, server
from tests.support import compared_runs
from tests.support.compared_runs import Run

pytestmark = pytest.mark.cluster  # All of it takes seconds.

_HOSTILE = "x\"'><img src=x onerror=alert(1)>"


def _table(page):
    """Returns the texts of the cells of each row by the run's name, and the headings."""
    [body] = re.findall(r'<table class="sortable runs">(.*?)</table>', page)
    rows = [[html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in re.findall(
        r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in re.findall(r"<tr>(.*?)</tr>", body)]
    return rows[0], {row[0]: dict(zip(rows[0], row)) for row in rows[1:]}


def _written(paths, output=""):
    return pathlib.Path(report_command.write(paths, output)).read_text(encoding="utf-8")


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    """Returns a folder of four runs: good, one in a folder of its own, failed, and running."""
    folder = tmp_path / "runs"
    compared_runs.write(folder / "good", Run((0.5, 0.9), 0.1))
    compared_runs.write(folder / "group/b d", Run((0.7, 0.6), 0.01))
    compared_runs.write(folder / "bad", Run((0.3,), 10.0, "failed", "NaN"))
    compared_runs.write(folder / "now", Run((0.4,), 1.0, "running"))
    (folder / "empty").mkdir()
    (folder / "good/report.html").write_text("")
    return folder


def test_report_of_a_folder_is_a_table_of_its_runs(folder, capsys):
    assert cli.main(["report", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}/runs.html\n"
    page = (folder / "runs.html").read_text()
    headings, rows = _table(page)
    assert list(rows) == ["now", "bad", "good", "group/b d"] or list(rows)[0] == "now"
    assert headings[1:4] == ["status", "best accuracy", "accuracy"]
    assert rows["good"]["accuracy"] == "0.9 best" and rows["good"]["learning_rate"] == "0.1"
    assert rows["group/b d"]["best accuracy"] == "0.7" and rows["group/b d"]["accuracy"] == "0.6"
    assert rows["bad"]["status"] == "failed NaN" and rows["now"]["status"] == "running"
    assert rows["good"]["wall time"] == "90.0 s" and rows["good"]["began (UTC)"] == (
        "2026-11-18 11:06")
    assert 'data-value="90.0"' in page and 'data-value="1795000000.0"' in page


def test_report_of_a_folder_leads_to_the_pages_that_are_there(folder):
    page = _written([str(folder)])
    assert re.findall('<a href="([^"]*)"', page) == ["good/report.html"]
    page = _written([str(folder)], str(folder / "group/all.html"))
    assert re.findall('<a href="([^"]*)"', page) == ["../good/report.html"]


def test_report_of_more_runs_than_a_comparison_has_is_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [str(compared_runs.write(tmp_path / f"r{i}")) for i in range(13)]
    assert report_command.write(folders[:12]) == "comparison.html"
    assert report_command.write(folders) == "runs.html"
    assert len(_table((tmp_path / "runs.html").read_text())[1]) == 13


def test_table_of_two_hundred_runs_is_small_and_fast(tmp_path):
    run = Run(tuple(i / 100 for i in range(100)))
    for i in range(200):
        compared_runs.write(tmp_path / f"run{i:03}", Run(run.accuracy, i / 1000))
    began = time.process_time()
    page = _written([str(tmp_path)])
    # A limit that only an order of magnitude breaks.
    assert time.process_time() - began < 30
    assert len(page) < 2_000_000 and len(_table(page)[1]) == 200


def test_runs_are_found_three_levels_below_and_not_within_a_run(tmp_path):
    for name in ("a/b/c", "a/b/c/eval", "a/b/d/e/f", ".hidden/x"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "result.json").write_text("{}")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    assert list(run_folders.below(str(tmp_path)))[0] == f"{tmp_path}/a/b/c"
    assert not [each for each in run_folders.below(str(tmp_path))
                if "eval" in each or "hidden" in each or each.endswith("/f")]


def test_table_escapes_names_params_and_reasons(tmp_path):
    folder = compared_runs.write(tmp_path / _HOSTILE, Run(
        (0.5,), status="failed", reason="<script>alert(1)</script>", params={_HOSTILE: _HOSTILE}))
    compared_runs.write(tmp_path / "javascript:alert(1)", Run(params={_HOSTILE: "other"}))
    for each in (folder, tmp_path / "javascript:alert(1)"):
        (each / "report.html").write_text("")
    page = _written([str(tmp_path)])
    assert "<img" not in page and "<script>alert" not in page
    assert sorted(re.findall('href="([^"]*report.html)"', page)) == [
        "javascript%3Aalert%281%29/report.html",
        f"{urllib.parse.quote(_HOSTILE)}/report.html"]
    assert "default-src 'none'" in page


def test_table_shows_damaged_files_and_the_other_runs(folder):
    (folder / "bad/result.json").write_text("{")
    page = _written([str(folder)])
    assert "bad/result.json is damaged" in page and len(_table(page)[1]) == 4


@pytest.fixture(name="get")
def fixture_get(folder):
    """Returns a function that requests a path of the served folder: status, headers, text."""
    site = runs_server.RunsSite(run_folders.find([str(folder)]), 3)
    with http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(server.Handler, site)) as served:
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()

        def get(path):
            connection = http.client.HTTPConnection(*served.server_address, timeout=30)
            connection.request("GET", path)
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return answer.status, answer.headers, text

        yield get
        served.shutdown()


def test_serve_shows_the_table_and_each_run(get):
    status, headers, page = get("/")
    links = re.findall('<a href="([^"]*)"', page)
    assert status == 200 and sorted(links) == [
        "run/bad/", "run/good/", "run/group/b%20d/", "run/now/"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    for link in links:
        status, headers, page = get(f"/{link}")
        assert status == 200 and "<h1>" in page and "script-src" in headers[
            "Content-Security-Policy"]
        assert get(f"/{link}version")[2] == re.search('data-version="([^"]+)"', page)[1]
        assert json.loads(get(f"/{link}data")[2])["body"]
    status, headers, _ = get("/run/group%2Fb%20d/")
    assert status == 200


def test_serve_compares_the_chosen_runs(get):
    query = "run=good&run=group%2Fb%20d"
    status, headers, _ = get(f"/compare?{query}")
    assert (status, headers["Location"]) == (302, "/compare/?run=good&run=group%2Fb+d")
    status, _, page = get(headers["Location"])
    assert status == 200 and "<title>good, b d</title>" in page
    assert json.loads(get(f"/compare/data?{query}")[2])["title"] == "good, b d"


@pytest.mark.parametrize("path", [
    "/run/../good/", "/run/..%2fruns%2fgood/", "/run/none/", "/run/", "/run//", "/run/good",
    "/run/good/record.json", "/run/good/../bad/", "/run/empty/", "/run/%2e%2e/", "/good/",
    "/run/good%00/", "/compare/", "/compare/?run=none", "/compare/?run=../x",
    "/compare/?run=good&run=bad&run=now&run=group/b+d", "/compare/record.json?run=good", "/x",
    "/run/group/", "/runs.html"])
def test_serve_has_no_other_page(get, path):
    assert get(path)[0] == 404


def test_serve_finds_a_run_that_begins(get, folder):
    before = get("/version")[2]
    assert get("/version")[2] == before and get("/run/new/")[0] == 404
    compared_runs.write(folder / "new", Run())
    assert get("/version")[2] != before and "run/new/" in get("/")[2]
    assert get("/run/new/")[0] == 200
    now = get("/version")[2]
    result = folder / "new/result.json"
    result.write_text(result.read_text().replace("0.8", "0.85"))
    assert get("/version")[2] != now and "0.85" in get("/")[2]


def test_names_of_runs_are_their_paths_in_the_folder(folder):
    found = run_folders.find([f"{folder}/"])
    assert found.folder == str(folder)
    assert runs_table.names_within(found.model_dirs, found.folder) == [
        "bad", "good", "now", "group/b d"]
