"""Finds the files of a data set that a param names: files, patterns, folders, several with commas.
"""

from __future__ import annotations

import difflib
import os.path
from typing import Any, Callable, Mapping

from absl import logging

from input_fns.reading import file_system
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.table_file import has_ending, MEMORY_SCHEME

_SHOWN_NAMES = 5
_MOST_COMMAS = 5  # in the name of a file


def matched(param: str, patterns: str) -> list[str]:
    """Returns the files that match, pattern by pattern, sorted within each.

    Args:
      param: Name of the param that has the patterns, for messages.
      patterns: Paths or glob patterns, separated by commas; local, or of any file system that
        TensorFlow reads (`gs://`).

    Raises:
      DataParamError: The param is empty.
      DataFileError: A pattern matches no file.
    """
    if not patterns.strip():
        raise DataParamError(
            f"{param} is missing; expected a file, a pattern of files, or several separated by "
            f"commas. For example: {_flag(param)}'/data/{param[:5].rstrip('_')}-*'")
    files: list[str] = []
    for pattern in parts_of(patterns):
        found = found_by(param, pattern)
        if not found or found == [pattern] and file_system.is_folder(found[0]):
            raise DataFileError(_no_match(param, pattern))
        files += found
    return list(dict.fromkeys(files))


def parts_of(patterns: str) -> list[str]:
    """Returns the paths or patterns that commas separate; a name of a file may have commas too."""
    pieces = patterns.split(",")
    parts: list[str] = []
    while pieces:
        most = min(len(pieces), _MOST_COMMAS + 1)
        texts = (",".join(pieces[:count]) for count in range(most, 0, -1))
        part = next(text for text in texts if text == pieces[0] or "://" not in text and
                    os.path.exists(os.path.expanduser(text.strip())))
        parts.append(os.path.expanduser(part.strip()))
        pieces = pieces[part.count(",") + 1:]
    return parts


def matched_tables(param: str, patterns: str) -> list[str]:
    """Returns the files of tables that match; those in a folder that is named, if one is.

    Arguments and errors are those of `matched`.
    """
    parts = parts_of(patterns)
    if not any(pattern.startswith(MEMORY_SCHEME) or file_system.is_folder(pattern)
               for pattern in parts if pattern):
        return matched(param, patterns)
    files: list[str] = []
    for pattern in parts:
        if pattern.startswith(MEMORY_SCHEME):
            files.append(pattern)
        elif file_system.is_folder(pattern):
            found = sorted(name for name in file_system.names_in(pattern)
                           if not name.startswith((".", "_")) and not name.endswith("/"))
            found = [path for path in (os.path.join(pattern, name) for name in found)
                     if not file_system.is_folder(path)]
            files += _named_as_tables(pattern, found) or matched(param, pattern)
        else:
            files += matched(param, pattern)
    return list(dict.fromkeys(files))


def _named_as_tables(folder: str, paths: list[str]) -> list[str]:
    """Returns those of a folder's files whose names say that they are tables; all if none does."""
    tables = [path for path in paths if has_ending(path)]
    if tables and len(tables) < len(paths):
        others = [os.path.basename(path) for path in paths if path not in tables]
        logging.info("%s: files that are no tables by their names are left out: %s%s", folder,
                     ", ".join(others[:_SHOWN_NAMES]), ", ..." * (len(others) > _SHOWN_NAMES))
    return tables or paths


def first_problem(params: Mapping[str, Any], kind: str,
                  of_files: Callable[[list[str], str], str],
                  match: Callable[[str, str], list[str]] = matched) -> str:
    """Returns the first problem of the training and evaluation files, or "".

    Args:
      params: The params, of which `train_files` and `eval_files`, which may be empty, are used.
      kind: The word for a record in the log, "record" or "line".
      of_files: A function that returns the problem of a param's files, "" if there is none.
      match: `matched`, or `matched_tables`.
    """
    for name in ["train_files", *(["eval_files"] if params["eval_files"] else [])]:
        files = match(name, params[name])
        logging.info("looks for a bad %s in %s, %d files", kind, name, len(files))
        problem = of_files(files, name)
        if problem:
            return problem
    return ""


def found_by(param: str, pattern: str) -> list[str]:
    """Returns the file of that very name, or the files and folders that match, sorted."""
    if file_system.is_remote(pattern):
        return _remote(param, pattern)
    try:
        return file_system.matching(pattern)
    except OSError as error:
        raise DataFileError(f"{param} is {pattern!r}, which cannot be looked at: {error.strerror}. "
                            "Look at the rights of its folder") from error


def _remote(param: str, pattern: str) -> list[str]:
    import tensorflow as tf
    try:
        return file_system.matching(pattern)
    except tf.errors.UnimplementedError as error:
        scheme = pattern.partition(":")[0]
        raise DataFileError(
            f"{param} is {pattern!r}, and TensorFlow {tf.__version__} has no file system for "
            f"{scheme}:// here; expected a local path or gs://BUCKET/FILES. Mount the storage, or "
            "with TensorFlow 2.15 install tensorflow-io 0.36. For example: --param "
            f"{param}='/mnt/{pattern.partition('://')[2]}'") from error
    except tf.errors.NotFoundError as error:
        raise DataFileError(
            f"{param} is {pattern!r}, and there is no bucket {'/'.join(pattern.split('/')[:3])}; "
            f"expected one that exists. For example: {_flag(param)}'gs://bucket/data-*'"
        ) from error
    except tf.errors.OpError as error:
        reason = str(error.message).partition("\n")[0]
        raise DataFileError(f"{param} is {pattern!r}, which cannot be looked at: {reason[:300]}. "
                            "Look at the rights and the network of this machine") from error


def _flag(param: str) -> str:
    """Returns the command line before the value of a param; new data have their own flag."""
    return "--data=" if param == "predict_files" else f"--param {param}="


def _no_match(param: str, pattern: str) -> str:
    is_folder = file_system.is_folder(pattern)
    folder = pattern if is_folder else os.path.dirname(pattern) or "."
    what = "is a folder" if is_folder else "matches no file"
    example = f"{_flag(param)}'{'/mnt' * pattern.startswith('/data/')}/data/*'"
    if not file_system.is_folder(folder):
        return (f"{param} is {pattern!r}, which {what}: there is no folder {folder!r}; expected "
                f"files that this machine can read. For example: {example}")
    names = sorted(file_system.names_in(folder))
    if not names:
        return (f"{param} is {pattern!r}, which {what}, and {folder!r} is empty; expected files "
                f"that this machine can read. For example: {example}")
    shown = ", ".join(names[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    ending = os.path.splitext(pattern)[1]
    alike = [name for name in names if os.path.splitext(name)[1] == ending or has_ending(name)]
    near = difflib.get_close_matches(os.path.basename(pattern), alike or ["*"], n=1, cutoff=0.0)[0]
    path = os.path.join(folder, "*" if is_folder else near)
    return (f"{param} is {pattern!r}, which {what}; expected a file or a pattern of files, and "
            f"{folder!r} holds {shown}{more}. For example: {_flag(param)}'{path}'")
