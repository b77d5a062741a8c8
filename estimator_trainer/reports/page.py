"""The page of a run or of several: one HTML file that needs no other file and no network."""

import base64
import functools
import hashlib
import http.server
import json
import pathlib
import posixpath
import signal
import time
from typing import Any, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.checks import model_dir_name
from estimator_trainer.coordination import shared_files
from estimator_trainer.reports import (charts as charts_lib, markup, run_files, sections,
                                       task_lives as lives_lib)

COMPARISON = "comparison.html"
_HERE = pathlib.Path(__file__).parent
_SCRIPTS = ("uPlot.iife.min.js", "report.js")


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
        title = ", ".join(sections.names(runs))
        body = sections.comparison(runs, charts) + "".join(
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
        sections.examples(run.judgement, charts),
        sections.what_ran(run),
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
    return (_HERE / name).read_text(encoding="utf-8")


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
        version = version_of(self._model_dirs)
        if path == "/version":
            self._send("text/plain", version)
            return
        try:
            runs = [run_files.read(each) for each in self._model_dirs]
            self._send("text/html", html(runs, time.time(), version))
        except errors.ConfigError as error:
            self._send("text/html", waiting(str(error)))

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
