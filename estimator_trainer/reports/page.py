"""The page of a run or of several: one HTML file that needs no other file and no network."""

import base64
import functools
import hashlib
import json
import pathlib
import posixpath
import time
from typing import NamedTuple, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.checks import model_dir_name
from estimator_trainer.coordination import shared_files
from estimator_trainer.reports import (charts as charts_lib, comparison, curves, evaluation_section,
                                       head, look_at, markup, report_file, run_files, run_names,
                                       task_lives as lives_lib, task_load, what_ran)

COMPARISON = "comparison.html"
_WEB = pathlib.Path(__file__).parent / "web"
# The first keeps the sections as they came, before the others change them.
_SCRIPTS = ("live.js", "uPlot.iife.min.js", "charts.js", "curves.js", "chart_tools.js",
            "threshold.js", "confusion.js", "tables.js", "runs_table.js", "copy.js",
            "contents.js")


def write(model_dirs: Sequence[str], output: str = "") -> str:
    """Writes the page of one or several runs and its JSON file, and returns the page's path.

    `output` is the file; "": `report.html` in the directory, or `comparison.html` here. Raises
    ConfigError if a directory has no training, or the file cannot be written.
    """
    return _write([run_files.read(each) for each in model_dirs], output)


def _write(runs: Sequence[run_files.RunFiles], output: str = "") -> str:
    own = posixpath.join(runs[0].model_dir, model_dir_name.PAGE)
    path = output or (own if len(runs) == 1 else COMPARISON)
    for sentence in (each for run in runs for each in run.damaged):
        shared_files.warn(sentence)
    now = time.time()
    content = html(content_of(runs, now), now)
    setting = "output" if output else "model_dir"
    write_file(path, content, setting)
    write_file(report_file.path_beside(path), report_file.text_of(
        report_file.of_runs(run_names.named(runs), now)), setting)
    return path


def write_file(path: str, content: str, setting: str) -> None:
    """Writes a file; raises ConfigError if it cannot be written.

    `setting` is the name of the setting from which the path comes.
    """
    try:
        shared_files.write_text(path, content)
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            errors.Problem("output", path, f"which cannot be written: {errors.first_line(error)}",
                           "a file that this user may write",
                           errors.Setting("output", "/tmp/report.html"),
                           errors.Setting(setting))) from error


def write_if_possible(model_dir: str) -> None:
    """Writes the page; a failure is logged, because the job has ended."""
    try:
        run = run_files.read(model_dir)
        logging.info("report: %s", _write([run]))
        look_at.log(run)
    except Exception as error:  # pylint: disable=broad-except
        logging.warning("cannot write %s: %s", model_dir_name.PAGE, errors.first_line(error))


def version_of(model_dirs: Sequence[str]) -> str:
    """Returns a text that changes when the page's files change, or have become old."""
    seen = []
    names = ("history.jsonl", "history/*.jsonl", "record.json", "result.json", "evaluation.json",
             "best.json", "events.out.tfevents.*")
    for path in tf.io.gfile.glob([posixpath.join(shared_files.escape(model_dir), name)
                                  for model_dir in model_dirs for name in names]):
        try:
            status = tf.io.gfile.stat(path)
            # A run whose files are old counts as running no more.
            is_old = time.time() - status.mtime_nsec / 1e9 > lives_lib.SILENT_SECS
            seen.append(f"{path} {status.length} {status.mtime_nsec} {is_old}")
        except tf.errors.NotFoundError:
            continue  # The file is being replaced.
    return hashlib.sha256("\n".join(sorted(seen)).encode()).hexdigest()[:16]


class Content(NamedTuple):
    """The content of a page: its title, the markup of its body, and its charts."""

    title: str
    body: str
    charts: list[charts_lib.Chart]


def content_of(runs: Sequence[run_files.RunFiles], now: float) -> Content:
    """Returns the content of the page of one or several runs at a time in seconds since 1970."""
    charts = markup.Charts()
    if len(runs) == 1:
        return Content(runs[0].name, str(_of_run(runs[0], now, charts)), charts.charts)
    runs = run_names.named(runs)
    body = comparison.section(runs, charts, now) + "".join(
        markup.details(run.model_dir, _of_run(run, now, charts)) for run in runs)
    return Content(", ".join(run.name for run in runs), body, charts.charts)


def waiting(reason: str) -> Content:
    """Returns the content of a page that has nothing to show yet."""
    return Content("waiting", "<h1>Nothing to show yet</h1>" + markup.note(reason), [])


class Served(NamedTuple):
    """The version of a served page, and the seconds after which it looks for a newer one."""

    version: str
    poll_secs: float


def html(content: Content, now: float, served: Served | None = None) -> str:
    """Returns the page, made at a time in seconds since 1970; `served` is for a page that polls."""
    polls = (f' data-version="{served.version}" data-poll-secs="{served.poll_secs}"'
             if served else "")
    charts = json.dumps(content.charts, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
        f'<link rel="icon" href="data:,">\n<title>{markup.text(content.title)}</title>\n'
        f"<style>{_shipped('uPlot.min.css')}\n{_shipped('report.css')}</style>\n</head>\n"
        f'<body data-now="{now:.3f}"{polls}>\n<p class="notice" role="status" hidden></p>\n'
        f"<main>{content.body}</main>\n"
        f'<script type="application/json" id="charts">{charts}</script>\n'
        + "\n".join(f"<script>{_shipped(name)}</script>" for name in _SCRIPTS)
        + "\n</body>\n</html>\n")


def _of_run(run: run_files.RunFiles, now: float, charts: markup.Charts) -> markup.Markup:
    lives = lives_lib.of_tasks(run.lines, now)
    speed, histograms = curves.of_speed([run]), charts_lib.of_histograms(run)
    cut = "" if run.events.is_whole else (
        "The event files are large: their scalars and histograms were read in part.")
    return markup.Markup("".join((
        head.section(run, lives, now),
        look_at.section(run, lives),
        markup.section("Damaged files", *map(markup.note, run.damaged)),
        markup.section("Training and evaluation", charts.grid(curves.of_training([run])),
                       markup.note(cut)),
        evaluation_section.section(run.judgement, charts),
        lives_lib.section(lives),
        task_load.section(run, charts.grid(speed)),
        what_ran.section(run),
        markup.section("Variables", charts.grid(histograms) if histograms else ""))))


@functools.cache
def policy() -> str:
    """Returns the page's security policy: only its own scripts, and its own server."""
    hashes = (hashlib.sha256(_shipped(name).encode()).digest() for name in _SCRIPTS)
    scripts = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes)
    return ("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; connect-src"
            f" 'self'; style-src 'unsafe-inline'; script-src {scripts}")


@functools.cache
def _shipped(name: str) -> str:
    return (_WEB / name).read_text(encoding="utf-8")
