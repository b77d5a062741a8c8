"""The command line: runs one command, and returns its exit code."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from types import TracebackType
from typing import Any, Callable, Iterator, Sequence, TYPE_CHECKING

from estimator_trainer import (__version__, environment, errors, result, storage, task_events,
                               versions)
from estimator_trainer.settings import command_table

if TYPE_CHECKING:
    from estimator_trainer.settings.command_line import CommandLine

# These commands write their results to model_dir, not to standard output.
_ANSWERED_IN_MODEL_DIR = ("train", "run", "launch")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (0 done, 1 failed, 2 configuration error)."""
    task_events.begin()
    _keep_streams()
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _print_uncaught
    try:
        with _terminable(is_process=argv is None):
            code = _answer(list(sys.argv[1:] if argv is None else argv))
        _flush()
    except BrokenPipeError:
        # The reader of the pipe (`head`) has exited.
        _drop_output()
        code = 0
    except KeyboardInterrupt:
        print("estimator-trainer: SIGINT: ends before the work began", file=sys.stderr)
        code = result.EXIT_CODES["stopped"]
    except Exception as error:
        if not storage.is_loaded():
            raise
        errors.print_traceback(error)
        code = 1
    tracking = sys.modules.get("estimator_trainer.reports.tracking")
    # The package of a tracker that hangs may wait for it in a function of atexit.
    if storage.is_loaded() or argv is None and tracking and tracking.is_hanging():
        storage.end_process(code)
    if argv is None and "tensorflow" in sys.modules:
        from estimator_trainer.graph import session_close
        if session_close.is_closing() or _has_daemons():
            session_close.end_process(code)
    return code


def _has_daemons() -> bool:
    """Returns whether threads go on that Python does not wait for.

    Python ends such a thread at its return from TensorFlow, which aborts the process with exit
    code 134. A script's own threads end as they would without this program.
    """
    return sys.argv[1:2] != ["run"] and any(each.daemon for each in threading.enumerate())


@contextlib.contextmanager
def _terminable(is_process: bool) -> Iterator[None]:
    """Lets SIGTERM end a process as stopped before its work, and do nothing after its last line."""
    def end(number: int, frame: Any) -> None:
        print("estimator-trainer: SIGTERM: ends before the work began", file=sys.stderr)
        raise SystemExit(result.EXIT_CODES["stopped"])

    if is_process:
        signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if is_process:
            # At exit Python restores the kernel's own handler, which would kill.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _flush() -> None:
    """Writes the rest of standard output, which is not the command's answer, or warns."""
    try:
        sys.stdout.flush()
    except errors.OutputError as error:
        _drop_output()
        errors.show(error)


def _drop_output() -> None:
    """Lets Python drop, at exit, output that cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_uncaught(kind: type[BaseException], error: BaseException,
                    where: TracebackType | None) -> None:
    """Prints an uncaught error; Python itself would print the passwords of URLs."""
    errors.print_traceback(error)


def _answer(argv: list[str]) -> int:
    try:
        if wants_version(argv):
            print(f"estimator_trainer {__version__}, {versions.installed()}", flush=True)
            return 0
        topic = help_topic(argv)
        if topic is not None:
            from estimator_trainer.settings import help_page
            is_full = "helpfull" in _questions(argv)[1]
            print(help_page.of_command(topic, is_full) if topic else help_page.of_program(),
                  flush=True)
            return 0
        # Help and the version do not wait for these.
        from estimator_trainer import commands
        from estimator_trainer.settings import command_line
        line = command_line.parse(argv)
        run: Callable[[CommandLine, environment.Environment], int]
        run = getattr(commands, command_table.COMMANDS[line.command].run)
        code = run(line, environment.read())
        if line.command not in _ANSWERED_IN_MODEL_DIR:
            sys.stdout.flush()
        return code
    except errors.TrainerError as error:
        if isinstance(error, errors.OutputError):
            _drop_output()
        errors.show(error)
        return error.exit_code


_HELP = ("help", "h", "helpfull")


def wants_version(argv: Sequence[str]) -> bool:
    """Returns whether --version is one of the flags."""
    return "version" in _questions(argv)[1]


def help_topic(argv: Sequence[str]) -> str | None:
    """Returns the command whose help is requested, "" for all of them, or None for no help.

    `--help`, `-h` and `--helpfull` count as flags, but not as the values of other flags or after
    `--`; the word `help` counts before and behind a command.
    """
    words, flag_names = _questions(argv)
    topic = next((word for word in words if word != "help"), "")
    if not set(_HELP) & set(flag_names) and "help" not in (words[:1] + words[1:][-1:]):
        return None
    if topic and topic not in command_table.COMMANDS:
        # Only this mistake waits for absl's flags.
        from estimator_trainer.settings import command_line
        raise command_line.unknown(topic)
    return topic


def _questions(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words and the names of the flags, known or not, before `--`."""
    fields = command_table.fields_of(argv[0] if argv else "")
    with_value = {field.name for field in fields if not isinstance(field.default, bool)}
    with_value |= {"flagfile", "job_dir"} if fields is command_table.TASK_FIELDS else {"flagfile"}
    words, flag_names = [], []
    left = iter(argv[:argv.index("--")] if "--" in argv else argv)
    for word in left:
        if not word.startswith("-"):
            words.append(word)
            continue
        flag_names.append(word.lstrip("-").replace("-", "_"))
        if flag_names[-1] in with_value:
            next(left, None)  # Skips the value of the flag.
    return words, flag_names


class _Output(io.FileIO):
    """Standard output: a failed write is a failure of the command."""

    def write(self, data: Any) -> int:
        try:
            return os.write(self.fileno(), data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise errors.OutputError(
                f"standard output cannot be written: {error.strerror}. Make room, or send it to"
                " another place.") from error


class _Messages(io.FileIO):
    """Standard error: with a full disk or a closed pipe, messages are lost."""

    def write(self, data: Any) -> int:
        with contextlib.suppress(OSError):
            return os.write(self.fileno(), data)
        return len(data)


def _keep_streams() -> None:
    """Replaces closed standard streams, and makes the others tolerate failed writes.

    While standard output is closed, a newly opened file would get its number, and its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout.encoding,
                           is_prompt=sys.stdout.isatty())
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2, "w", closefd=False), "utf-8", is_prompt=True)


def _text(stream: io.FileIO, encoding: str, is_prompt: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(stream), encoding, errors="backslashreplace",
                            line_buffering=is_prompt)


if __name__ == "__main__":
    sys.exit(main())
