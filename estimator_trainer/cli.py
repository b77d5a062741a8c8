"""The program runs one command, and ends with its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Callable, Sequence

from estimator_trainer import __version__
from estimator_trainer import commands
from estimator_trainer import environment
from estimator_trainer import errors
from estimator_trainer import result
from estimator_trainer import storage_plugin
from estimator_trainer import task_events
from estimator_trainer import versions
from estimator_trainer.environment import Environment
from estimator_trainer.settings import command_line
from estimator_trainer.settings import help_page
from estimator_trainer.settings import questions
from estimator_trainer.settings.command_line import CommandLine
from estimator_trainer.settings.command_table import COMMANDS


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (0 done, 1 failed, 2 configuration error)."""
    task_events.begin()
    try:
        code = _answer(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads, such as `head`, has read enough; Python would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        print("estimator-trainer: SIGINT: ends before the work began", file=sys.stderr)
        code = result.EXIT_CODES["stopped"]
    except Exception:
        if not storage_plugin.is_loaded():
            raise
        traceback.print_exc()
        code = 1
    if storage_plugin.is_loaded():
        storage_plugin.end_process(code)
    return code


def _answer(argv: list[str]) -> int:
    try:
        if questions.asks_version(argv):
            print(f"estimator_trainer {__version__}, {versions.installed()}")
            return 0
        topic = questions.help_topic(argv)
        if topic is not None:
            print(help_page.text(topic))
            return 0
        line = command_line.parse(argv)
        run: Callable[[CommandLine, Environment], int]
        run = getattr(commands, COMMANDS[line.command].run)
        return run(line, environment.read())
    except errors.TrainerError as error:
        errors.show(error)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
