"""The script that runs a program of the table: `python` runs it, and `estimator-trainer run` too.

    program_script.py PROGRAM SHAPE FOLDER
"""

from __future__ import annotations

import json
import os
import pathlib
import sys

from tests.equality import plain_imports  # noqa: F401

# isort: split
from tests.equality import table
from tests.equality.job import Job


def main(name: str, shape: str, folder: str) -> None:
    task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
    label = f"{task.get('type', 'local')}-{task.get('index', 0)}"
    program = table.PROGRAMS[name]
    job = Job(program, shape, pathlib.Path(folder, "model"))
    raised = None
    try:
        (program.main or Job.train_and_evaluate)(job)
    except BaseException as error:
        raised = type(error).__name__
        raise
    finally:
        job.save(pathlib.Path(folder, f"{label}.json"), raised)


main(*sys.argv[1:])
