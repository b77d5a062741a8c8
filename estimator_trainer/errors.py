"""Errors that a user can cause: one clear sentence, and an exit code of its own.

TrainerError            1   the user's model or data failed
├── Interrupted             the job was requested to end; the code follows from its status
├── OutputError         1   standard output cannot be written
└── ConfigError         2   found before training: flags, params, plug-ins, files
    ├── TaskConfigError 2   TF_CONFIG, every problem in it at once
    └── OtherClusterError 2 TF_CONFIG, compared with the chief's

`cli.main` prints the message of a TrainerError and exits with its code; any other exception is a
bug, or comes from user code, and keeps its traceback.

A ConfigError holds Problems. Their sentences name a setting as a flag, or within `in_python` as a
keyword argument.
"""

import contextlib
import contextvars
import dataclasses
import enum
import json
import re
import shlex
import sys
import traceback
from typing import Any, Iterable, Iterator, Sequence

from estimator_trainer import redaction, task_events
from estimator_trainer.result import CONFIGURATION, Status

# Texts that autograph, and a session, put around the message of an error.
_IN_USER_CODE = re.compile(r'File ".*", line \d+, in ')
_GRAPH = re.compile(r"Graph execution error:")
_OF_NODE = re.compile(r"Node: '.*'$")
_MESSAGE = re.compile(r"(?!\[\[|Detected at node|File |\d+ root error).*[\w.]+(:|\b.*\s)")

_is_python = contextvars.ContextVar("is_python", default=False)


@contextlib.contextmanager
def in_python() -> Iterator[None]:
    """Makes problems name settings as keyword arguments of a Python function, not as flags."""
    token = _is_python.set(True)
    try:
        yield
    finally:
        _is_python.reset(token)


def worded(command_line: str, python: str) -> str:
    """Returns the text for the caller, a command line or a Python program."""
    return python if _is_python.get() else command_line


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting in a message: `--train_steps=5`, or in Python `train_steps=5`."""

    name: str
    value: Any = None  # The value to type; None for the name alone.
    file: str = ""  # The file that the value comes from, if it was neither a flag nor an argument.

    @property
    def source(self) -> str:
        """Where the value comes from."""
        return self.file or str(Setting(self.name))

    def __str__(self) -> str:
        name, value = self.name, self.value
        if value is None:
            return worded(f"--{name}", f"{name}=")
        if isinstance(value, bool):
            return worded(f"--{'' if value else 'no'}{name}", f"{name}={value}")
        is_list = isinstance(value, (list, tuple))
        text = ",".join(value) if is_list else str(value)
        return worded(f"--{name}={shlex.quote(text)}",
                      f"{name}={list(value) if is_list else value!r}")


@dataclasses.dataclass(frozen=True)
class Param:
    """A param in a message: `--param units=5`, or in Python `params={"units": 5}`."""

    key: str
    value: Any = None  # The value to type; None for the key alone.

    def __str__(self) -> str:
        if self.value is None:
            return worded(f"--param {self.key}", f"params[{self.key!r}]")
        text = self.value if isinstance(self.value, str) else json.dumps(self.value)
        return worded(f"--param {self.key}={shlex.quote(text)}",
                      f"params={{{self.key!r}: {self.value!r}}}")


class Words(str):
    """A value that a sentence shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


class Absent(enum.Enum):
    """The value of a problem without one."""

    MISSING = enum.auto()
    UNKNOWN = enum.auto()


MISSING, UNKNOWN = Absent.MISSING, Absent.UNKNOWN


@dataclasses.dataclass(frozen=True)
class Problem:
    """One mistake; `str` makes its sentence."""

    field: str  # The place of the mistake: a setting, a variable, an entry of a file.
    value: Any = MISSING
    why: str = ""  # A clause on what is wrong with the value, such as "which cannot be read".
    expected: str = ""  # The values that would do.
    example: Setting | Param | str | Sequence[Setting | Param] = ""  # The words to type.
    source: Setting | Param | str = ""  # The value's origin; default: the setting named `field`.
    beside: Setting | None = None  # Another setting that does not go together with this one.
    advice: str = ""  # Sentences after the expected values, such as " Did you mean 'x'?".
    verb: str = "is"  # The word between field and value.

    @property
    def setting(self) -> str:
        """Name of the setting that has the value; "" if the value comes from elsewhere."""
        source = self.source or Setting(self.field)
        return source.name if isinstance(source, Setting) else ""

    def _is_wrong(self, example: Any) -> bool:
        """Returns whether an example is what was typed."""
        if not isinstance(example, (Setting, Param)) or isinstance(self.value, Absent):
            return False
        source = self.source or Setting(self.field)
        return str(example) == str(source if isinstance(source, str) else dataclasses.replace(
            source, value=self.value))

    def __str__(self) -> str:
        source = self.source or Setting(self.field)
        if self.value is MISSING:
            text = f"{self.field} is missing (no {source})"
        elif self.value is UNKNOWN:
            text = f"{self.field} (from {source}) is unknown"
        else:
            value = redaction.masked(self.field, self.value)
            shown = self.value if isinstance(self.value, Words) else repr(value)
            text = f"{self.field} {self.verb} {shown} (from {source})"
        if self.beside:
            other = redaction.masked(self.beside.name, self.beside.value)
            text += f", and {self.beside.name} is {other!r} (from {self.beside.source})"
        text += f", {self.why}" if self.why else ""
        text += f"; expected {self.expected}" if self.expected else ""
        text = f"{text.removesuffix('.')}.{' ' * bool(self.advice)}{self.advice.strip()}"
        many = self.example if isinstance(self.example, (list, tuple)) else [self.example]
        example = worded(" ", ", ").join(
            str(each) for each in many if not self._is_wrong(each))
        return f"{text} For example: {example}" if example else text


class TrainerError(Exception):
    """A failure that one clear sentence explains; ends the program with `exit_code`."""

    exit_code = 1

    def _render_traceback_(self) -> list[str]:
        """Returns all that IPython shows of the error: the sentence."""
        return [f"{type(self).__name__}: {self}"]


class OutputError(TrainerError):
    """Standard output that cannot be written."""


class ConfigError(TrainerError):
    """A configuration mistake, found before anything was written to model_dir."""

    exit_code = 2

    def __init__(self, *problems: Problem | str):
        """Makes the error; a text is a problem in which no value of the user's is wrong."""
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def refuse(problems: Iterable[Problem | str]) -> None:
    """Raises ConfigError with all problems, one a line, if there are any."""
    if found := tuple(problems):
        raise ConfigError(*found)


class Interrupted(TrainerError):
    """The job was requested to end before it was done.

    `status` is how the job ends: "stopped", "failed" or "lost"; `reason` is "SIGTERM", or what
    failed or was lost; `by` is the task that sent the request.
    """

    def __init__(self, status: Status, reason: str, by: str):
        super().__init__(f"{by}: {status}: {reason}")
        self.status, self.reason, self.by = status, reason, by


class TaskConfigError(ConfigError):
    """A TF_CONFIG that cannot work."""


class OtherClusterError(ConfigError):
    """A TF_CONFIG with other numbers of tasks than the chief's."""

    def __init__(self, problem: Problem, is_missed: bool):
        """Makes the error; `is_missed` if the chief waits for this task, and ends with it."""
        super().__init__(problem)
        self.is_missed = is_missed


def show(error: BaseException) -> None:
    """Prints the message of an error to standard error, and sends it to a launcher."""
    text = redaction.message_for_terminal(str(error))
    task_events.emit("error", message=text)
    print(f"estimator-trainer: {text}", file=sys.stderr)


def print_traceback(error: BaseException) -> None:
    """Prints the traceback of an error, which may quote a URL, to standard error."""
    sys.stderr.write(redaction.message_for_terminal("".join(traceback.format_exception(error))))
    sys.stderr.flush()


def unwrapped(error: Exception) -> Exception:
    """Returns the error with an `exit_code` that autograph has wrapped, else `error`.

    Autograph runs the code of `dataset.map`, Keras layers and `tf.function`, and raises an error
    of another class, or with the text "in user code:", in place of the code's own.
    """
    found: BaseException = error
    while str(found).startswith("in user code:") and found.__context__ is not None:
        found = found.__context__
    return found if isinstance(found, Exception) and hasattr(found, "exit_code") else error


def first_line(error: BaseException) -> str:
    """Returns the line of an error that says what is wrong, at most 300 characters of it.

    TensorFlow puts places in the code before that line.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = lines[0] if lines else ""
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
    name = type(error).__name__
    return text if isinstance(error, TrainerError) else f"{name}: {text}" if text else name


def _after(lines: Sequence[str], pattern: re.Pattern[str]) -> str:
    """Returns the message that follows the last line of a pattern; "" if there is none."""
    after = [i + 1 for i, line in enumerate(lines) if pattern.match(line)] or [len(lines)]
    return next(filter(_MESSAGE.match, lines[after[-1]:]), "")


def near_match(got: str, allowed: Iterable[str], least_likeness: float = 0.6) -> str:
    """Returns ` Did you mean 'x'?` when another of `allowed` resembles `got`, else ""."""
    return did_you_mean(nearest(got, allowed, least_likeness))


def did_you_mean(near: str) -> str:
    """Returns ` Did you mean 'x'?`, or "" for ""."""
    return f" Did you mean {near!r}?" if near else ""


def nearest(got: str, allowed: Iterable[str], least_likeness: float = 0.6) -> str:
    """Returns the one of `allowed` that resembles `got` the most, and is another; "" for none."""
    import difflib  # Takes 2 ms, and few starts have a mistake.
    others = [each for each in allowed if each != got]
    return next(iter(difflib.get_close_matches(got, others, 1, least_likeness)), "")
