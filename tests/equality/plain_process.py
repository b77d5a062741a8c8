"""Plain runs: a script in a fork that has imported TensorFlow, and nothing else of this project."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import runpy
import sys
import traceback
from typing import Mapping, NoReturn, Sequence

from estimator_trainer.launcher import fork_server

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.equality.plain_imports", "numpy.random"])


def start(script: pathlib.Path, args: Sequence[str], variables: Mapping[str, str],
          log: pathlib.Path) -> multiprocessing.process.BaseProcess:
    """Starts `python SCRIPT ARGS`; its output goes to a file."""
    process = _CONTEXT.Process(
        target=_become, args=(str(script), list(args), dict(variables), str(log)), daemon=True)
    process.start()
    return process


def _become(script: str, args: Sequence[str], variables: Mapping[str, str],
            log: str) -> NoReturn:
    fork_server.die_with_parent(os.getppid())
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1), os.dup2(output, 2)
    sys.stdout = open(1, "w", buffering=1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = [script, *args]
    code = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush(), sys.stderr.flush()
    # A server of TensorFlow's, which the process may have, has no other end.
    os._exit(code)
