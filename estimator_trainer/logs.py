"""Logs go through one handler to standard error: each line once, prefixed by the role.

TensorFlow, Estimator, Keras and TFDS log through loggers and warnings of their own; without
--verbose only their warnings pass, and of those not the notices of deprecation. What plug-ins log
passes, through whichever logger, TensorFlow's included, and what their LoggingTensorHooks log.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
from typing import Iterator
import warnings

from estimator_trainer import redaction

# No user of an Estimator can act on these warnings of TensorFlow's.
_NOISE = (
    "deprecat",
    "is experimental",
    "will be removed",
    "From /",
    "Estimator's model_fn",
    "Using temporary folder as model directory",
    "There is non-GPU devices in",
    "It seems that global step (tf.train.get_global_step) has not been increased",
    "EvalSpec.throttle_secs is set as 0",
    "Estimator is not trained yet",
    "No new checkpoint ready for evaluation",
    "already exists; retrying",
    "`eval_strategy` is not passed in",
)
_UPSTREAM = ("/tensorflow/python/", "/tensorflow_datasets/", "/tensorflow_estimator/",
             "/tf_keras/", "/keras/src/", "/absl/flags/")
# The function in which every LoggingTensorHook logs, and what it logs for the Estimator's own one,
# which the lines of progress tell better.
_HOOK, _HOOK_OF_ESTIMATOR = "_log_tensors", re.compile(r"loss = \S+, step = \d+( \(\S+ sec\))?$")
# This one line of TensorFlow's names a phase.
_PHASES = ("Saving checkpoints for",)
_BAR_WIDTH = 24
_FORMAT = "%(asctime)s {role}  %(message)s"


# TensorFlow's libraries print such lines while they are loaded, before any log level counts:
# `2026-01-31 10:00:00.123456: E external/...`, and of newer ones `I0000 00:00:1700000000.123456`.
_NATIVE = re.compile(
    rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWE] |[IWE]\d{4} \d\d:\d\d:"
    rb"|WARNING: All log messages before absl::InitializeLog|To enable the following instructions")


class _Formatter(logging.Formatter):
    """Names the level of what is worse than information; shows no secret and no escape sequence."""

    def format(self, record: logging.LogRecord) -> str:
        return redaction.message_for_terminal(self._with_level(record))

    def _with_level(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if record.levelno < logging.WARNING:
            return text
        return text.replace(record.getMessage(), f"{record.levelname}: {record.getMessage()}", 1)


class _Quiet(logging.Filter):
    """Drops upstream noise; everything of this project and of plug-ins passes."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Plug-ins and upstream code use the same loggers; only the source file tells which it is.
        if not any(p in record.pathname for p in _UPSTREAM):
            return True
        message = record.getMessage()
        if record.funcName == _HOOK:
            return not _HOOK_OF_ESTIMATOR.match(message)
        if message.startswith(_PHASES):
            return True
        return record.levelno >= logging.WARNING and not any(n in message for n in _NOISE)


# Python 3.10 does not take `StreamHandler[TextIO]`.
class _CurrentStderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what `sys.stderr` is at the time, and first wipes an unfinished progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        clear_bar()
        super().emit(record)


_bar_is_drawn = False


def bar(step: int, max_steps: int) -> str:
    """Returns a progress bar, such as "[======      ]"."""
    done = min(_BAR_WIDTH * step // max_steps, _BAR_WIDTH)
    return f"[{'=' * done}{' ' * (_BAR_WIDTH - done)}]"


def draw_bar(text: str) -> None:
    """Draws `text` over the last line of the terminal, without ending the line."""
    global _bar_is_drawn
    _bar_is_drawn = True
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def has_bar() -> bool:
    """Returns whether a progress bar is to be seen."""
    return _bar_is_drawn


def clear_bar() -> None:
    """Wipes the progress bar, if one is drawn."""
    global _bar_is_drawn
    if _bar_is_drawn:
        _bar_is_drawn = False
        sys.stderr.write("\r\x1b[K")


def configure(role: str, verbose: bool) -> None:
    """Sends every log line of the process through one handler.

    Args:
      role: The platform's name of this task, such as "worker:1", which prefixes each line.
      verbose: Whether to let through all that TensorFlow logs.
    """
    handler = _CurrentStderr()
    handler.setFormatter(_Formatter(_FORMAT.format(role=role), datefmt="%H:%M:%S"))
    if not verbose:
        handler.addFilter(_Quiet())
        warnings.simplefilter("ignore")
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Gives a Python program its own loggers and warnings back at the end of the context."""
    loggers = [logging.getLogger(name) for name in (None, "absl", "tensorflow")]
    saved = [(list(each.handlers), each.level, each.propagate) for each in loggers]
    absl = sys.modules.get("absl.logging")
    verbosity = absl.get_verbosity() if absl else -1  # Warnings, as absl begins.
    with warnings.catch_warnings():
        try:
            yield
        finally:
            clear_bar()
            if "absl.logging" in sys.modules:
                sys.modules["absl.logging"].set_verbosity(verbosity)
            for logger, (handlers, level, propagate) in zip(loggers, saved):
                logger.handlers[:], logger.propagate = handlers, propagate
                logger.setLevel(level)


@contextlib.contextmanager
def without_native_noise(verbose: bool) -> Iterator[None]:
    """Drops, within the context, what TensorFlow's libraries print while they are loaded."""
    if verbose:
        yield
        return
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            caught.seek(0)
            with contextlib.suppress(OSError):
                os.write(2, b"".join(line for line in caught if not _NATIVE.match(line)))


def silence_other_threads() -> None:
    """Lets no other thread log any more, so that what this thread prints last is the last line.

    A process that is about to end at once goes on in its other threads until it does.
    """
    for handler in logging.getLogger().handlers:
        handler.acquire()


def silence_tensorflow() -> None:
    """Removes TensorFlow's own log handler, once TensorFlow is imported.

    That handler would print each line a second time (tensorflow/tensorflow#26691).
    """
    absl_logging = sys.modules["absl.logging"]
    absl_logging.set_verbosity(absl_logging.INFO)
    tensorflow = logging.getLogger("tensorflow")
    tensorflow.handlers[:] = []
    tensorflow.propagate = True
    tensorflow.setLevel(logging.INFO)


def stay_the_only_handler() -> None:
    """Keeps absl's log handler out, which `absl.app.run` of a script would put in this one's place.

    absl removes other handlers the first time only, and adds its own each time.
    """
    absl_logging = sys.modules["absl.logging"]
    root = logging.getLogger()
    handlers = list(root.handlers)
    absl_logging.use_absl_handler()
    absl_logging.get_absl_handler().python_handler.addFilter(lambda record: False)
    root.handlers[:] = handlers
