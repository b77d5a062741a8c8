"""The file systems of paths, by their schemes, and the requirements of each.

Standard library only, so that a mistake is reported before TensorFlow is imported. TensorFlow reads
and writes local paths and gs://. Its other file systems, such as s3:// and hdfs://, moved to the
package tensorflow-io, whose last release does not load in TensorFlow 2.18 and newer
(tensorflow/io#2104); here it is used with 2.15.
"""

import glob
import importlib
import os
import re
import sys
from typing import Iterable, NoReturn

from estimator_trainer.errors import Problem, Setting

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)")
_HOME = re.compile(r"(^|,)(\s*)(~[\w.-]*)(?=/)")
_ONE_SLASH = re.compile(r"(gs|s3|hdfs|file):/([^/].*)")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_BUILT_IN = ("file", "gs", "ram")
# The schemes of tensorflow-io 0.36.0, which fits TensorFlow 2.15.
_PLUGIN_SCHEMES = ("s3", "hdfs", "viewfs", "har", "az", "http", "https")
# The requirement for pip.
PLUGIN = "tensorflow-io==0.36.*"
_PLUGIN_TENSORFLOW = "2.15."
# Stores that replace a file atomically, have no folders, and charge for each request.
_OBJECT_STORES = ("gs", "s3", "az")
# Names of the same stores in other tools.
_ALIASES = {"gcs": "gs", "s3a": "s3", "s3n": "s3", "abfs": "az", "abfss": "az", "wasbs": "az"}
# Linux allows names of 255 bytes in paths of 4095; the files in a model_dir need a part of them.
_MOST_BYTES, _MOST_BYTES_OF_A_NAME = 3500, 250
_MOST_COMMAS = 5  # in the name of a file
# Mountpoint for S3 cannot rename files, and suits files that are only read.
_MOUNTS = {"s3": "s3fs or JuiceFS, or to read only with mountpoint-s3",
           "az": "BlobFuse2 or JuiceFS", "hdfs": "HDFS's NFS gateway, fuse-dfs or JuiceFS"}


def can_be_path(path: str, has_names: bool = True) -> bool:
    """Returns whether a path, or without `has_names` a longer list of paths, may be one."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        return False
    is_short = len(encoded) < _MOST_BYTES and all(
        len(name) <= _MOST_BYTES_OF_A_NAME for name in encoded.split(b"/"))
    return b"\0" not in encoded and (is_short or not has_names)


def with_home(paths: str) -> str:
    """Returns a path, or several with commas, with home folders in place of `~/` and `~user/`.

    The shell leaves them as they are in --model_dir=~/digits.
    """
    return _HOME.sub(lambda found: found[1] + found[2] + os.path.expanduser(found[3]), paths)


def parts_of(paths: str) -> list[str]:
    """Returns the paths that commas separate; the name of an existing file may have commas too."""
    pieces = paths.split(",")
    parts: list[str] = []
    while pieces:
        most = min(len(pieces), _MOST_COMMAS + 1)
        texts = (",".join(pieces[:count]).strip() for count in range(most, 0, -1))
        part = next((text for text in texts if not scheme(text) and os.path.exists(text)),
                    pieces[0].strip())
        parts.append(part)
        pieces = pieces[part.count(",") + 1:]
    return parts


def is_found(pattern: str) -> bool:
    """Returns whether there is a local file of this very name, or one that matches the pattern."""
    folder, name = os.path.split(pattern)
    return os.path.exists(pattern) or bool(glob.glob(pattern)) or (
        os.path.isdir(folder) and bool(glob.glob(name, root_dir=folder)))


def scheme(path: str) -> str:
    """Returns the scheme of a path, such as "gs"; "" if it is local."""
    match = _SCHEME.match(path)
    return match[1] if match else ""


def is_object_store(path: str) -> bool:
    """Returns whether the path is in a bucket."""
    return scheme(path) in _OBJECT_STORES


def bucket(path: str) -> str:
    """Returns the bucket of a path in an object store, such as "gs://bucket"; "" for others."""
    match = _SCHEME.match(path)
    return match[0] if match and match[1] in _OBJECT_STORES else ""


def needs_plugin(paths: Iterable[str]) -> bool:
    """Returns whether TensorFlow needs tensorflow-io to open one of the paths."""
    return any(scheme(path) in _PLUGIN_SCHEMES for path in paths)


def problem(name: str, path: str, tensorflow: str | None,
            plugin: str | None) -> Problem | None:
    """Returns why the path of a setting cannot be used with these versions, or None."""
    found, slashes = scheme(path), _ONE_SLASH.match(path)
    if slashes:
        return Problem(
            name, path, f"which has one slash after {slashes[1]}: and means a folder of that name"
            " here", "two", Setting(name, f"{slashes[1]}://{slashes[2]}"))
    if found == "gs" and not _BUCKET.fullmatch(bucket(path).partition("://")[2]):
        return Problem(name, path, f"in which {bucket(path)!r} is no name of a bucket",
                       "lower-case letters, digits, '-', '_' and '.'",
                       Setting(name, "gs://bucket/job"))
    is_released = f"{tensorflow}.".startswith(_PLUGIN_TENSORFLOW)
    if not found or found in _BUILT_IN or found in _PLUGIN_SCHEMES and is_released and plugin:
        return None
    meant = _ALIASES.get(found, found)
    example = (f"gs{path[path.index(':'):]}" if meant == "gs" else
               f"/mnt/{re.sub(r'[^A-Za-z0-9]+', '-', meant)}/job")
    return Problem(
        name, path, f"and TensorFlow {tensorflow} has no file system for {found}:// here",
        "a local path or gs://BUCKET/FOLDER", Setting(name, example),
        advice=_remedy(path, meant, is_released))


def _remedy(path: str, meant: str, is_released: bool) -> str:
    text = f"Mount it in every task, with {_MOUNTS[meant]}. " if meant in _MOUNTS else ""
    if meant in _PLUGIN_SCHEMES and is_released:
        spelled = "" if meant == scheme(path) else f", and write {meant}://"
        text += f'Or type: python -m pip install "{PLUGIN}"{spelled}. '
    return text


def load() -> None:
    """Loads tensorflow-io, which must precede TensorFlow's first access to a file."""
    import logging
    try:
        importlib.import_module("tensorflow_io")
    except Exception as error:  # pylint: disable=broad-except
        # Built for another TensorFlow; each path that cannot be opened raises an error later.
        logging.getLogger("absl").warning("tensorflow-io cannot be loaded: %s", error)


def is_loaded() -> bool:
    """Returns whether this process has loaded tensorflow-io."""
    return "tensorflow_io" in sys.modules


def end_process(code: int) -> NoReturn:
    """Ends this process at once with an exit code.

    An ordinary end destroys tensorflow-io's file systems while their threads still run, which
    aborts the process with exit code 134 (tensorflow/io#1912, tensorflow/io#2039).
    """
    import logging
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
