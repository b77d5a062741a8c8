"""Each error that a user can cause ends the program with an exit code of its own.

TrainerError            1   the user's model or data failed
├── Interrupted             the job was asked to end; its status tells the code
├── OutputError         1   standard output cannot be written
└── ConfigError         2   found before training: flags, params, plug-ins, files
    ├── TaskConfigError 2   TF_CONFIG, every problem in it at once
    └── OtherClusterError 2 TF_CONFIG, compared with the chief's

`cli.main` prints the message of a TrainerError and exits with its code; any other
exception is a bug, or came out of user code, and keeps its traceback.
"""

from __future__ import annotations

import re
import sys
import traceback
from typing import Iterable, Sequence

from estimator_trainer import redaction, task_events
from estimator_trainer.result import CONFIGURATION, Status

# The texts around the message of an error: of autograph, and of a session.
_IN_USER_CODE = re.compile(r'File ".*", line \d+, in ')
_GRAPH = re.compile(r"Graph execution error:")
_OF_NODE = re.compile(r"Node: '.*'$")
_MESSAGE = re.compile(r"(?!\[\[|Detected at node|File |\d+ root error).*[\w.]+(:|\b.*\s)")


class TrainerError(Exception):
    """A failure that one clear sentence explains; ends the program with `exit_code`."""

    exit_code = 1


class OutputError(TrainerError):
    """Standard output that cannot be written."""


class ConfigError(TrainerError):
    """A configuration mistake, found before anything was written to model_dir."""

    exit_code = 2


class Interrupted(TrainerError):
    """The job was asked to end before it was done.

    Attributes:
      status: How the job ends: "stopped", "failed" or "lost".
      reason: "SIGTERM", or what failed or was lost.
      by: The task that asked.
    """

    def __init__(self, status: Status, reason: str, by: str):
        super().__init__(f"{by}: {status}: {reason}")
        self.status, self.reason, self.by = status, reason, by


class TaskConfigError(ConfigError):
    """A TF_CONFIG that cannot work.

    Attributes:
      problems: One sentence for each problem, with its JSON path.
    """

    def __init__(self, problems: Sequence[str]):
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class OtherClusterError(ConfigError):
    """A TF_CONFIG that tells of other numbers of tasks than the chief's.

    Attributes:
      is_missed: Whether the chief waits for this task, and is to end with it.
    """

    def __init__(self, message: str, is_missed: bool):
        super().__init__(message)
        self.is_missed = is_missed


def show(error: BaseException) -> None:
    """Prints the message of an error to standard error, and tells it to a launcher."""
    text = redaction.message_for_terminal(str(error))
    task_events.emit("error", message=text)
    print(f"estimator-trainer: {text}", file=sys.stderr)


def print_traceback(error: BaseException) -> None:
    """Prints the traceback of an error, which may quote a URL, to standard error."""
    sys.stderr.write(redaction.message_for_terminal("".join(traceback.format_exception(error))))
    sys.stderr.flush()


def unwrapped(error: Exception) -> Exception:
    """Returns the error with an `exit_code` that autograph has put into an error of its own.

    Autograph runs the code of a `dataset.map`, of Keras layers and of `tf.function`, and makes an
    error of another class, or the text "in user code:", of what that code raises.

    Returns:
      The code's own error if that has an `exit_code`, else `error`.
    """
    found: BaseException = error
    while str(found).startswith("in user code:") and found.__context__ is not None:
        found = found.__context__
    return found if isinstance(found, Exception) and hasattr(found, "exit_code") else error


def first_line(error: BaseException) -> str:
    """Returns the line of an error's text that says what is wrong, at most 300 characters of it.

    TensorFlow puts the places in the code before it, which say nothing by themselves.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[0]
    if line.startswith("in user code:"):
        line = _after(lines, _IN_USER_CODE) or line
        line = line.removeprefix(f"{type(error).__name__}: ")
    elif _GRAPH.match(line):
        line = _after(lines, _OF_NODE) or _after(lines, _GRAPH) or line
    return redaction.without_credentials(line)[:300]


def in_short(error: Exception) -> str:
    """Returns one line that names an error, for other tasks and for result.json."""
    text = first_line(error)
    if getattr(error, "exit_code", None) == ConfigError.exit_code:
        return f"{CONFIGURATION}: {text}"
    return text if isinstance(error, TrainerError) else f"{type(error).__name__}: {text}"


def _after(lines: Sequence[str], pattern: re.Pattern[str]) -> str:
    """Returns the message that follows the last line of a pattern; "" if there is none."""
    places = [i for i, line in enumerate(lines) if pattern.match(line)]
    return next((line for line in lines[places[-1] + 1:] if _MESSAGE.match(line)),
                "") if places else ""


def near_match(got: str, allowed: Iterable[str]) -> str:
    """Returns ` Did you mean 'x'?` when one of `allowed` resembles `got`, else an empty string."""
    import difflib  # Few starts have a mistake, and it takes 2 ms.
    close = difflib.get_close_matches(got, list(allowed), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
