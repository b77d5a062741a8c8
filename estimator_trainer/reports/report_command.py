"""The command `report`: the page of a run, of several, or a table of many; written, or served."""

from __future__ import annotations

import posixpath
import time
from typing import Sequence

from estimator_trainer.coordination import shared_files
from estimator_trainer.reports import (page, report_file, run_folders, runs_server, runs_table,
                                       server)

# A comparison of more runs has too many curves and columns to read.
MOST_COMPARED = 12
_TABLE = "runs.html"


def write(paths: Sequence[str], output: str = "") -> str:
    """Writes a page and its JSON file, and returns the page's path.

    Args:
      paths: Directories of trainings, patterns of them, and folders of many.
      output: The file; "": `report.html` in the directory of one training, `comparison.html` here
        for up to 12 of them, `runs.html` in a folder of trainings, or here for more of them.

    Raises:
      ConfigError: if a path has no training, or the file cannot be written.
    """
    found = run_folders.find(paths)
    if not found.folder and len(found.model_dirs) <= MOST_COMPARED:
        return page.write(found.model_dirs, output)
    path = output or posixpath.join(found.folder, _TABLE)
    names = runs_table.names_within(found.model_dirs, found.folder)
    _, rows = runs_table.Rows().of(found.model_dirs, names)
    for sentence in (each for row in rows for each in row.run.damaged):
        shared_files.warn(sentence)
    now = time.time()
    links = runs_table.Links(posixpath.dirname(path) or ".")
    title = found.folder or f"{len(rows)} runs"
    setting = "output" if output else "model_dir"
    page.write_file(path, page.html(runs_table.content_of(title, rows, links, now), now), setting)
    page.write_file(report_file.path_beside(path), report_file.text_of(
        report_file.of_runs([row.run for row in rows], now, is_brief=True)), setting)
    return path


def serve(paths: Sequence[str], port: int) -> None:
    """Serves the page until Ctrl-C, or SIGTERM; raises ConfigError if the port is taken."""
    found = run_folders.find(paths, may_begin=True)
    if found.folder or len(found.model_dirs) > MOST_COMPARED:
        server.serve(runs_server.RunsSite(found, MOST_COMPARED), port)
    else:
        server.serve(server.LivePage(found.model_dirs), port)
