"""The name of a model_dir: the directory of a tuning trial, and the signs that no name may hold.

`tf.train.latest_checkpoint` and the removal of old checkpoints look for files by patterns that
begin with model_dir: `run[1]` means a directory `run1` there, and `run*` means `run2` too.
"""

from __future__ import annotations

import posixpath
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


def of_trial(model_dir: str, trial: str, aip_model_dir: str) -> str:
    """Returns the directory that one trial of a tuning job has for itself.

    Vertex AI has put the trial into AIP_MODEL_DIR (BASE/TRIAL/model/), so a directory in BASE/TRIAL
    is the trial's own already. Any other directory is that of all trials: AI Platform's --job-dir.

    Args:
      model_dir: The directory that the job was given; "" stays "".
      trial: The number of the trial; "" outside a tuning job.
      aip_model_dir: The text of AIP_MODEL_DIR, or "".
    """
    if not model_dir or not trial:
        return model_dir
    vertex, mine = (posixpath.normpath(_mounted(path)) for path in (aip_model_dir, model_dir))
    parent = posixpath.dirname(vertex)
    is_own = posixpath.basename(parent) == trial and f"{mine}/".startswith(f"{parent}/")
    return model_dir if is_own else posixpath.join(model_dir, trial)


def _mounted(path: str) -> str:
    """Returns the path at which Vertex AI mounts what is in a bucket; any other path as it is."""
    return "/gcs/" + path[len("gs://"):] if path.startswith("gs://") else path


def _plain(path: str) -> str:
    """Returns a path like this one, without the signs of patterns."""
    return "/".join(_REPLACED.sub("-", part).strip("-") or "job" if _PATTERN.search(part) else part
                    for part in path.split("/"))
