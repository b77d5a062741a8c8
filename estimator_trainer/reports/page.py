"""The page of a run or of several: one HTML file that needs no other file and no network."""

import base64
import functools
import hashlib
import json
import pathlib
import posixpath
import time
from typing import Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.checks import model_dir_name
from estimator_trainer.coordination import shared_files
from estimator_trainer.reports import (charts as charts_lib, comparison, evaluation_section, markup,
                                       run_files, task_lives as lives_lib, what_ran)

COMPARISON = "comparison.html"
_WEB = pathlib.Path(__file__).parent / "web"
_SCRIPTS = ("uPlot.iife.min.js", "charts.js")


def write(model_dirs: Sequence[str], output: str = "") -> str:
    """Writes the page of one or several runs, and returns its path.

    `output` is the file; "": `report.html` in the directory, or `comparison.html` here. Raises
    ConfigError if a directory has no training, or the file cannot be written.
    """
    own = posixpath.join(model_dirs[0], model_dir_name.PAGE)
    path = output or (own if len(model_dirs) == 1 else COMPARISON)
    runs = [run_files.read(each) for each in model_dirs]
    for sentence in (each for run in runs for each in run.damaged):
        shared_files.warn(sentence)
    content = html(runs, time.time())
    try:
        shared_files.write_text(path, content)
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            errors.Problem("output", path, f"which cannot be written: {errors.first_line(error)}",
                           "a file that this user may write",
                           errors.Setting("output", "/tmp/report.html"),
                           errors.Setting("output" if output else "model_dir"))) from error
    return path


def write_if_possible(model_dir: str) -> None:
    """Writes the page; a failure is logged, because the job has ended."""
    try:
        logging.info("report: %s", write([model_dir]))
    except Exception as error:  # pylint: disable=broad-except
        logging.warning("cannot write %s: %s", model_dir_name.PAGE, errors.first_line(error))


def version_of(model_dirs: Sequence[str]) -> str:
    """Returns a text that changes when the page's files change."""
    seen = []
    names = ("history.jsonl", "history/*.jsonl", "record.json", "result.json", "evaluation.json")
    for path in tf.io.gfile.glob([posixpath.join(shared_files.escape(model_dir), name)
                                  for model_dir in model_dirs for name in names]):
        try:
            status = tf.io.gfile.stat(path)
            seen.append(f"{path} {status.length} {status.mtime_nsec}")
        except tf.errors.NotFoundError:
            continue  # The file is being replaced.
    return hashlib.sha256("\n".join(sorted(seen)).encode()).hexdigest()[:16]


def html(runs: Sequence[run_files.RunFiles], now: float, version: str = "") -> str:
    """Returns the page; `version`, of `version_of`, is for a page that polls for a newer one."""
    charts = markup.Charts()
    if len(runs) == 1:
        title, body = runs[0].name, str(_of_run(runs[0], now, charts))
    else:
        title = ", ".join(comparison.names(runs))
        body = comparison.section(runs, charts) + "".join(
            markup.details(run.model_dir, _of_run(run, now, charts)) for run in runs)
    poll_secs = deadlines.history_secs(runs[0].model_dir)
    served = f' data-version="{version}" data-poll-secs="{poll_secs}"' if version else ""
    content = json.dumps(charts.charts, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        f'<link rel="icon" href="data:,">\n<title>{markup.text(title)}</title>\n'
        f"<style>{_shipped('uPlot.min.css')}\n{_shipped('report.css')}</style>\n</head>\n"
        f"<body{served}>\n{body}\n"
        f'<script type="application/json" id="charts">{content}</script>\n'
        + "\n".join(f"<script>{_shipped(name)}</script>" for name in _SCRIPTS)
        + "\n</body>\n</html>\n")


def waiting(reason: str) -> str:
    """Returns a page that reloads every two seconds, until there is something to show."""
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta http-equiv="refresh" content="2"><link rel="icon" href="data:,">'
            f"<title>waiting</title><style>{_shipped('report.css')}</style></head>"
            f"<body><h1>Nothing to show yet</h1>{markup.note(reason)}</body></html>\n")


def _of_run(run: run_files.RunFiles, now: float, charts: markup.Charts) -> markup.Markup:
    lives = lives_lib.of_tasks(run.lines, now)
    speed, histograms = charts_lib.of_speed([run]), charts_lib.of_histograms(run)
    cut = "" if run.events.is_whole else (
        "The event files are large: their scalars and histograms were read in part.")
    return markup.Markup("".join((
        _head(run, lives, now),
        markup.section("Damaged files", *map(markup.note, run.damaged)),
        markup.section("Training and evaluation", charts.grid(charts_lib.of_training([run])),
                       markup.note(cut)),
        evaluation_section.section(run.judgement, charts),
        what_ran.section(run),
        lives_lib.section(run, lives),
        markup.section("Speed", charts.grid(speed) if speed else ""),
        markup.section("Variables", charts.grid(histograms) if histograms else ""))))


def _head(run: run_files.RunFiles, lives: dict[str, list[lives_lib.Life]],
          now: float) -> markup.Markup:
    status, step, reason = _state(run, lives)
    # While a run goes on, result.json is left from the run before.
    metrics = run.result.metrics if run.result and status != lives_lib.RUNNING else {}
    if not metrics and run.evaluations:
        metrics = run.evaluations[-1]
    spans = [life for found in lives.values() for life in found]
    facts = [("step", f"{step:,}"), *(
        (name, f"{value:.4g}") for name, value in metrics.items()
        if name not in ("global_step", "eval_name") and isinstance(value, (int, float)))]
    if spans:
        secs = max(life.end for life in spans) - min(life.start for life in spans)
        facts.append(("from the first start to the last end", lives_lib.duration(secs)))
    shown = "".join(
        f'<div class="fact"><b>{markup.text(value)}</b><span>{markup.text(name)}</span></div>'
        for name, value in facts)
    summary = f"{run.model_dir}: {reason}".rstrip(".: ")
    made = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    return markup.Markup(
        f'<h1>{markup.text(run.name)} <span class="status {markup.text(status.split()[0])}">'
        f"{markup.text(status)}</span></h1>"
        + markup.note(f"{summary}. Made {made}.")
        + markup.note(run.result.note if run.result and status == run.result.status else "")
        + f'<div class="facts">{shown}</div>')


def _state(run: run_files.RunFiles, lives: dict[str, list[lives_lib.Life]]) -> tuple[str, int, str]:
    head = next(iter(lives.values()), None)
    steps = [line["step"] for line in run.lines if isinstance(line.get("step"), int)]
    result = run.result
    if head is None or head[-1].exit_code == 0 and result:
        return ((result.status, result.step, result.reason) if result else
                ("no end recorded", max(steps, default=0), ""))
    last = head[-1]
    return last.status, last.last_step or max(steps, default=0), last.reason


@functools.cache
def _policy() -> str:
    """Returns the page's security policy: only its own two scripts, and its own server."""
    hashes = (hashlib.sha256(_shipped(name).encode()).digest() for name in _SCRIPTS)
    scripts = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes)
    return ("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; connect-src"
            f" 'self'; style-src 'unsafe-inline'; script-src {scripts}")


@functools.cache
def _shipped(name: str) -> str:
    return (_WEB / name).read_text(encoding="utf-8")
