"""Logging through one handler to standard error: each line once, with the task's name.

TensorFlow, Estimator, Keras and TFDS use loggers and warnings of their own; without --verbose only
their warnings pass, except notices of deprecation. All records of plug-ins pass, through any
logger, and the records of their LoggingTensorHooks.
"""

import contextlib
import functools
import logging
import os
import re
import sys
import tempfile
from typing import Any, Iterator
import warnings

from estimator_trainer import progress_bar, redaction

# Warnings of TensorFlow on which no user of an Estimator can act.
_NOISE = ("deprecat", "is experimental", "will be removed", "From /", "Estimator's model_fn",
          "Using temporary folder as model directory", "There is non-GPU devices in",
          "It seems that global step (tf.train.get_global_step) has not been increased",
          "EvalSpec.throttle_secs is set as 0", "Estimator is not trained yet",
          "No new checkpoint ready for evaluation", "already exists; retrying",
          "`eval_strategy` is not passed in")
_UPSTREAM = ("/tensorflow/python/", "/tensorflow_datasets/", "/tensorflow_estimator/",
             "/tf_keras/", "/keras/src/", "/absl/flags/")
# The function in which every LoggingTensorHook logs, and the line of the Estimator's own hook,
# which the lines of progress replace.
_HOOK, _HOOK_OF_ESTIMATOR = "_log_tensors", re.compile(r"loss = \S+, step = \d+( \(\S+ sec\))?$")
# The only line of TensorFlow that names a phase.
_PHASES = ("Saving checkpoints for",)
_BAR_WIDTH = 24
# The source files of this package, and of its plug-ins beside it.
_HOUSE = os.path.dirname(os.path.abspath(__file__))
_OWN = tuple(os.path.join(os.path.dirname(_HOUSE), name, "") for name in (
    os.path.basename(_HOUSE), "input_fns", "model_fns"))
_FORMAT = "%(asctime)s {role}  %(message)s"
# TensorFlow's libraries print these lines while they are loaded, before any log level applies:
# `2026-01-31 10:00:00.123456: E external/...`, and newer libraries `I0000 00:00:1700000000.123456`.
_NATIVE = re.compile(
    rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWE] |[IWE]\d{4} \d\d:\d\d:"
    rb"|WARNING: All log messages before absl::InitializeLog|To enable the following instructions")


class _Formatter(logging.Formatter):
    """Adds the level of warnings and errors; masks secrets and escape sequences."""

    def format(self, record: logging.LogRecord) -> str:
        text, message = super().format(record), record.getMessage()
        if record.levelno >= logging.WARNING:
            text = text.replace(message, f"{record.levelname}: {message}", 1)
        return redaction.message_for_terminal(text)


class _Quiet(logging.Filter):
    """Drops upstream noise, and no record of this project or of plug-ins."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Plug-ins and upstream code use the same loggers; only the source file differs.
        if record.levelno < logging.WARNING and record.pathname.startswith(_OWN) and (
                progress_bar.is_notebook()):
            return False  # The bar shows the progress.
        if not any(p in record.pathname for p in _UPSTREAM):
            return True
        message = record.getMessage()
        if record.funcName == _HOOK:
            return not _HOOK_OF_ESTIMATOR.match(message)
        if message.startswith(_PHASES):
            return not progress_bar.is_notebook()
        return record.levelno >= logging.WARNING and not any(n in message for n in _NOISE)


# Python 3.10 does not take `StreamHandler[TextIO]`.
class _CurrentStderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the current `sys.stderr`, above the bar of a training."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        with progress_bar.aside():
            super().emit(record)


def bar(step: int, max_steps: int) -> str:
    """Returns a progress bar, such as "[======      ]"."""
    done = min(_BAR_WIDTH * step // max_steps, _BAR_WIDTH)
    return f"[{'=' * done}{' ' * (_BAR_WIDTH - done)}]"


def configure(role: str, verbose: bool) -> None:
    """Sends every log line of the process through one handler, with `role` as its prefix."""
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
    """Restores a Python program's own loggers and warnings at the end of the context."""
    loggers = [logging.getLogger(name) for name in (None, "absl", "tensorflow")]
    saved = [(list(each.handlers), each.level, each.propagate) for each in loggers]
    absl = sys.modules.get("absl.logging")
    verbosity = absl.get_verbosity() if absl else -1  # Warnings, as absl begins.
    with warnings.catch_warnings():
        try:
            yield
        finally:
            if "absl.logging" in sys.modules:
                sys.modules["absl.logging"].set_verbosity(verbosity)
            for logger, (handlers, level, propagate) in zip(loggers, saved):
                logger.handlers[:], logger.propagate = handlers, propagate
                logger.setLevel(level)


@contextlib.contextmanager
def without_native_noise(verbose: bool) -> Iterator[None]:
    """Drops, within the context, the lines that TensorFlow's libraries print while loading."""
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
    """Blocks the log for other threads, so this thread's last line is the process's last line."""
    for handler in logging.getLogger().handlers:
        handler.acquire()


def silence_tensorflow() -> None:
    """Removes TensorFlow's log handler, which would print each line twice (tensorflow#26691)."""
    absl_logging = sys.modules["absl.logging"]
    absl_logging.set_verbosity(absl_logging.INFO)
    tensorflow = logging.getLogger("tensorflow")
    tensorflow.handlers[:] = []
    tensorflow.propagate = True
    tensorflow.setLevel(logging.INFO)


def stay_the_only_handler() -> None:
    """Prevents `absl.app.run` of a script from replacing this log handler with absl's.

    absl removes other handlers the first time only, and adds its own each time.
    """
    absl_logging, root = sys.modules["absl.logging"], logging.getLogger()
    handlers = list(root.handlers)
    absl_logging.use_absl_handler()
    absl_logging.get_absl_handler().python_handler.addFilter(lambda record: False)
    root.handlers[:] = handlers


class _Handlers(list):  # type: ignore[type-arg]
    """The handlers of a logger, of which this project's are not counted."""

    def __len__(self) -> int:
        return sum(not isinstance(each, _CurrentStderr) for each in self)


@contextlib.contextmanager
def scripts_configure() -> Iterator[None]:
    """Lets a script set up logging as if nothing had: it finds no handler at the root.

    `logging.basicConfig` adds the script's file and handlers. Without them its lines go through
    this project's handler. A level applies to what it adds, so that no line of progress is lost.
    """
    root, configure_root = logging.getLogger(), logging.basicConfig
    root.handlers = _Handlers(root.handlers)

    @functools.wraps(configure_root)
    def basicConfig(**options: Any) -> None:
        if len(root.handlers) and not options.get("force"):
            return
        level, before = root.level, list(root.handlers)
        if options.get("filename") or options.get("handlers"):
            configure_root(**options)
        wanted = options.get("level")
        if wanted is not None:
            root.setLevel(wanted)
            wanted = root.level
            for each in root.handlers:
                if each not in before:
                    each.setLevel(wanted)
            root.setLevel(min(level, wanted))
        for each in reversed(before):
            if isinstance(each, _CurrentStderr) and each not in root.handlers:
                root.handlers.insert(0, each)

    logging.basicConfig = basicConfig
    try:
        yield
    finally:
        logging.basicConfig, root.handlers = configure_root, list(root.handlers)
