"""The flags that the plug-ins' modules define, which they read as FLAGS.NAME.

The flags are absl's own FLAGS, made by absl or as `tf.compat.v1.flags`. The flags of this program
lie elsewhere (`settings/command_line.py`), so none collides. A flag is parsed after the import that
defines it.
"""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any, Iterator, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import errors, redaction

_LIBRARIES = ("absl", "tensorflow", "tensorflow_datasets", "tensorboard", "tf_keras", "keras",
              "etils")
_EXAMPLE = "For example: -- --NAME=VALUE"


@contextlib.contextmanager
def parsed(words: Sequence[str]) -> Iterator[None]:
    """Parses the flags that modules define within.

    Within, they are the arguments of the program, for a module that reads those at its import.

    Args:
      words: Each flag as `name=value`, or as `name` of a boolean.

    Raises:
      ConfigError: for an unknown flag, a value out of its range, and a required flag that is
        missing.
    """
    argv, sys.argv = sys.argv, [sys.argv[0], *(f"--{word}" for word in words)]
    # absl's own flag --verbosity sets it back to its default when values are forgotten.
    verbosity = logging.get_verbosity()
    try:
        _reset()
        yield
        _reset()
        tf.compat.v1.flags.FLAGS(sys.argv)
    except tf.compat.v1.flags.Error as error:
        raise errors.ConfigError(_problem(error)) from error
    finally:
        sys.argv = argv
        if not any(word.startswith("verbosity=") for word in words):
            logging.set_verbosity(verbosity)


def _reset() -> None:
    """Forgets values of before: a module may have parsed them, when it did not know them all."""
    if tf.compat.v1.flags.FLAGS.is_parsed():
        tf.compat.v1.flags.FLAGS.unparse_flags()


def _problem(error: Exception) -> str:
    own = _own()
    listed = ", ".join(f"--{name}" for name in sorted(own)) or "none, for they define no flags"
    if isinstance(error, tf.compat.v1.flags.UnrecognizedFlagError):
        near = errors.near_match(error.flagname, own).replace("'", "'--", 1)
        return (f"flag --{error.flagname} (after `--`, or from --plugin_flag) is unknown; expected"
                f" flags of the plug-in's modules: {listed}.{near} {_EXAMPLE}")
    missing = re.match(r"flag --(\w+)=None: ", str(error))
    if missing:
        name = missing.group(1)
        return (f"flag --{name} of the plug-in's modules is missing, and they need it"
                f" ({own.get(name, '')}). For example: -- --{name}=VALUE")
    return (f"a flag of the plug-in's modules (after `--`, or from --plugin_flag) cannot be taken:"
            f" {redaction.masked_flags(str(error))}")


def _own() -> dict[str, str]:
    """Returns the help of each flag that is not one of a library."""
    flags: dict[str, list[Any]] = tf.compat.v1.flags.FLAGS.flags_by_module_dict()
    return {flag.name: flag.help for module, defined in flags.items() for flag in defined
            if module.partition(".")[0] not in _LIBRARIES}
