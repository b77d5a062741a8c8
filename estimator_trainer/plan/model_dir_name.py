"""The name of a model_dir may hold nothing that TensorFlow takes for a pattern.

`tf.train.latest_checkpoint` and the removal of old checkpoints look for files by patterns that
begin with model_dir: `run[1]` means a directory `run1` there, and `run*` means `run2` too.
"""

from __future__ import annotations

import re

_PATTERN = re.compile(r"[\[*?\\]")
_REPLACED = re.compile(r"[\[\]*?\\]+")


def problem(model_dir: str, source: str = "--model_dir") -> str:
    """Returns why a job cannot train in a directory of this name, or "".

    Args:
      model_dir: The directory, a local path or one with a scheme.
      source: Who has named it: the flag, or words.
    """
    found = _PATTERN.search(model_dir)
    if not found:
        return ""
    is_flag = source.startswith("--")
    named = f"{source}={_plain(model_dir)}" if is_flag else f"model_dir={_plain(model_dir)!r}"
    return (f"model_dir is {model_dir!r} (from {source}), and TensorFlow takes {found[0]} in a path"
            " for part of a pattern, so that it misses the checkpoints there, or finds those of"
            rf" another directory; expected a path without [, *, ? and \. For example: {named}")


def _plain(path: str) -> str:
    """Returns a path like this one, without the signs of patterns."""
    return "/".join(_REPLACED.sub("-", part).strip("-") or "job" if _PATTERN.search(part) else part
                    for part in path.split("/"))
