"""A table of many runs, with their figures, the settings that differ, and links to their pages."""

from __future__ import annotations

from concurrent import futures
import dataclasses
import hashlib
import posixpath
import shlex
import time
from typing import Any, NamedTuple, Sequence
import urllib.parse

import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.checks import model_dir_name
from estimator_trainer.reports import (compared_settings, comparison, markup, page, run_files,
                                       run_names, run_summary, task_lives)
from estimator_trainer.reports.run_files import RunFiles
from estimator_trainer.reports.run_summary import Summary

_MOST_METRICS, _MOST_SETTINGS = 12, 16
_MOST_CHARACTERS = 60
_THREADS = 8
# Facts of a run that explain no difference of its metrics, or repeat another column.
_NO_COLUMNS = ("command", "source of ", "git commit of ", "version of ", "data")
_FILES = ("history.jsonl", "record.json", "result.json", "best.json", model_dir_name.PAGE)


class Links(NamedTuple):
    """How the table leads to the pages of its runs.

    `folder` is the folder of the table's file; "" for a table that is served.
    """

    folder: str

    @property
    def is_served(self) -> bool:
        """Whether the program answers requests for the pages."""
        return not self.folder

    def to(self, name: str, model_dir: str, has_page: bool) -> str:
        """Returns the relative address of a run's page; "" if there is none."""
        if self.is_served:
            return f"run/{urllib.parse.quote(name)}/"
        path = posixpath.join(model_dir, model_dir_name.PAGE)
        if not has_page or storage.scheme(path) != storage.scheme(self.folder):
            return ""
        # A quoted path has no colon, so that no part of it is a scheme.
        return urllib.parse.quote(posixpath.relpath(path, self.folder))


class Row(NamedTuple):
    """A run of the table; `has_page` says whether report.html is there."""

    run: RunFiles
    has_page: bool


class Rows:
    """The rows of a table, of which each is read again only after its files have changed."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[str, Row]] = {}

    def of(self, model_dirs: Sequence[str], names: Sequence[str]) -> tuple[str, list[Row]]:
        """Returns a version, which changes with the content, and the rows of runs with names."""
        with futures.ThreadPoolExecutor(_THREADS) as pool:
            found = list(pool.map(self._of_run, model_dirs))
        self._read = dict(zip(model_dirs, found))
        seen = "\n".join(f"{name} {version}" for name, (version, _) in zip(names, found))
        rows = [row._replace(run=dataclasses.replace(row.run, label=name))
                for name, (_, row) in zip(names, found)]
        return hashlib.sha256(seen.encode()).hexdigest()[:16], rows

    def _of_run(self, model_dir: str) -> tuple[str, Row]:
        version, has_page = _version(model_dir)
        before = self._read.get(model_dir)
        if before and before[0] == version:
            return before
        return version, Row(run_files.read_brief(model_dir), has_page)


def names_within(model_dirs: Sequence[str], folder: str) -> list[str]:
    """Returns the names of runs: their paths within the folder, or the shortest that differ."""
    if not folder:
        return run_names.of_paths(model_dirs)
    start = posixpath.join(folder, "")
    return [each.removeprefix(start).strip("/") for each in model_dirs]


def content_of(title: str, rows: Sequence[Row], links: Links, now: float) -> page.Content:
    """Returns the content of the page at a time in seconds since 1970."""
    summaries = [run_summary.of_run(row.run, now) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: -(summaries[i].began or 0.0))
    rows, summaries = [rows[i] for i in order], [summaries[i] for i in order]
    status, *figures = _figures(summaries)
    columns = [status, *_metrics(rows, summaries), *_settings(rows), *figures]
    links_to = [links.to(row.run.name, row.run.model_dir, row.has_page) for row in rows]
    body = "".join(
        f"<tr>{_name(row, link)}{''.join(column.cells[i] for column in columns)}</tr>"
        for i, (row, link) in enumerate(zip(rows, links_to)))
    head = '<th scope="col">run</th>' + "".join(column.heading for column in columns)
    damaged = [each for row in rows for each in row.run.damaged]
    return page.Content(title, "".join((
        f"<h1>{markup.text(title)}</h1>", _tools(len(rows), links),
        f'<section><div class="wide"><table class="sortable runs"><thead><tr>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div></section>",
        markup.section("Damaged files", *map(markup.note, damaged)))), [])


class _Column(NamedTuple):
    """A column: the markup of its heading, and of the cell of each run."""

    heading: str
    cells: list[str]


def _tools(count: int, links: Links) -> str:
    """Returns the filter, and the place that shows how to compare the chosen runs."""
    kind = "address" if links.is_served else "command"
    return ('<div class="runs-tools">'
            '<label>Filter <input type="search" data-filter="runs"></label>'
            f' <span class="quiet" data-count="runs" role="status">{count:,} runs</span>'
            f'<p data-compare="{kind}" role="status">Choose runs to compare them.</p></div>')


def _name(row: Row, link: str) -> str:
    name, path = markup.text(row.run.name), markup.text(shlex.quote(row.run.model_dir))
    shown = f'<a href="{markup.text(link)}">{name}</a>' if link else name
    return (f'<th scope="row" data-value="{name}"><input type="checkbox" data-run="{name}"'
            f' data-path="{path}" aria-label="compare {name}"> {shown}</th>')


def _column(title: str, values: Sequence[tuple[Any, Any]], first: str = "ascending",
            is_sorted: bool = False) -> _Column:
    """Returns a column of (value to sort by, text); `first` is the order of the first click."""
    now = f' aria-sort="{first}"' if is_sorted else ""
    cells = []
    for value, shown in values:
        is_number = isinstance(value, (int, float))
        kept = "" if value is None else f' data-value="{markup.text(_exact(value))}"'
        cells.append(f'<td{" class=number" * is_number}{kept}>{markup.text(shown)}</td>')
    return _Column(f'<th scope="col" data-first="{first}"{now}>{markup.text(title)}</th>', cells)


def _exact(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float)) else str(value)


def _figures(summaries: Sequence[Summary]) -> list[_Column]:
    return [
        _column("status", [(each.status, comparison.status(dataclasses.replace(
            each, reason="" if each.status == "done" else _cut(each.reason))))
                           for each in summaries]),
        _column("step", [(each.step, f"{each.step:,}") for each in summaries], "descending"),
        _column("wall time", [(each.wall_secs, None if each.wall_secs is None else
                               task_lives.duration(each.wall_secs)) for each in summaries]),
        _column("examples/s", [(each.examples_per_sec, None if each.examples_per_sec is None else
                                f"{each.examples_per_sec:,.0f}") for each in summaries],
                "descending"),
        _column("began (UTC)", [(each.began, each.began and time.strftime(
            "%Y-%m-%d %H:%M", time.gmtime(each.began))) for each in summaries], "descending",
                is_sorted=True)]


def _metrics(rows: Sequence[Row], summaries: Sequence[Summary]) -> list[_Column]:
    """Returns a column for each metric: its last value, and of the first metric its best."""
    runs = [row.run for row in rows]
    columns: list[_Column] = []
    ranked = comparison.comparable(runs, summaries)
    for metric in comparison.ordered(runs, summaries)[:_MOST_METRICS]:
        direction = comparison.better_of(metric, runs)
        first = "descending" if direction == "max" else "ascending"
        kinds = [("", [each.last.get(metric) for each in summaries])]
        if direction and not columns:
            kinds.insert(0, ("best ", [each.best.get(metric) for each in summaries]))
        for kind, found in kinds:
            shown = comparison.marked(found, direction, ranked)
            columns.append(_column(f"{kind}{metric}", [
                (None if each is None else each.value, text) for each, text in zip(found, shown)],
                                   first))
    return columns


def _settings(rows: Sequence[Row]) -> list[_Column]:
    different, _ = compared_settings.parted(
        compared_settings.rows([row.run.record for row in rows]))
    different = [row for row in different if not row[0].startswith(_NO_COLUMNS)]
    return [_column(name.removeprefix("param "), [_setting(value) for value in values])
            for name, values in different[:_MOST_SETTINGS]]


def _setting(text: str | None) -> tuple[Any, Any]:
    """Returns a setting to sort by, a number if it is one, and its text."""
    if text is None:
        return None, None
    try:
        return float(text.removesuffix(" (default)")), _cut(text)
    except ValueError:
        return _cut(text), _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} ..."


def _version(model_dir: str) -> tuple[str, bool]:
    """Returns a text that changes with the files of a run, and whether it has a page."""
    seen, has_page = [], False
    for name in _FILES:
        try:
            status = tf.io.gfile.stat(posixpath.join(model_dir, name))
        except tf.errors.OpError:
            continue
        has_page = has_page or name == model_dir_name.PAGE
        is_old = time.time() - status.mtime_nsec / 1e9 > task_lives.SILENT_SECS
        seen.append(f"{name} {status.length} {status.mtime_nsec} {is_old}")
    return " ".join(seen), has_page
