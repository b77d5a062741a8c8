"""Makes the batches of one input pipeline from the files of a data set.

    share files > read > share records > shuffle > repeat > batch > decode

The shuffle holds records as they are stored, so its memory is `shuffle_buffer` times the
size of a stored record. For training, records that fit in memory are read and decoded once, and
`memory.py` gathers the batches from there.
"""

from __future__ import annotations

import difflib
import os.path
from typing import Any, Callable, Mapping, NamedTuple, Optional

from absl import logging
import numpy as np
import tensorflow as tf

from input_fns.reading import memory
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.pipeline import Pipeline, pipeline_of, with_options
from input_fns.reading.table_file import has_ending, MEMORY_SCHEME

_FILES_AT_A_TIME = 16
_RECORDS_AT_A_TIME = 16
_DECODED_AT_A_TIME = 1024
# A remote file system takes a while to return the size of a file.
_FILES_TO_MEASURE = 64
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
            f"{param} is ''; expected a file, a pattern of files, or several separated by "
            f"commas. For example: {_flag(param)}'/data/{param[:5].rstrip('_')}-*'")
    files: list[str] = []
    for pattern in parts_of(patterns):
        found = _glob(param, pattern)
        if not found or found == [pattern] and tf.io.gfile.isdir(found[0]):
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
    if not any(pattern.startswith(MEMORY_SCHEME) or tf.io.gfile.isdir(pattern)
               for pattern in parts if pattern):
        return matched(param, patterns)
    files: list[str] = []
    for pattern in parts:
        if pattern.startswith(MEMORY_SCHEME):
            files.append(pattern)
        elif tf.io.gfile.isdir(pattern):
            found = sorted(name for name in tf.io.gfile.listdir(pattern)
                           if not name.startswith((".", "_")) and not name.endswith("/"))
            found = [path for path in (os.path.join(pattern, name) for name in found)
                     if not tf.io.gfile.isdir(path)]
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


def text_lines(path: tf.Tensor) -> tf.data.Dataset:
    """Returns the lines of a file, string scalars; a file whose name ends in `.gz` is gzipped."""
    is_gzip = tf.strings.regex_full_match(path, r".*\.gz")
    return tf.data.TextLineDataset(path, compression_type=tf.where(is_gzip, "GZIP", ""))


class Form(NamedTuple):
    """How records are stored and decoded.

    Attributes:
      open_file: A function from the path of a file, a string scalar, to its records; called in a
        graph.
      decode: A function from stored records, string [batch], to tensors [batch, ...].
      finish: A function from those tensors to what the dataset yields.
      least_bytes: Smallest size of a stored record, in bytes; 0 if unknown.
    """

    open_file: Callable[[tf.Tensor], tf.data.Dataset]
    decode: Callable[[tf.Tensor], Any]
    finish: Callable[[Any], Any]
    least_bytes: int


# AutoGraph has nothing to convert here, and would take 0.2 s to find out.
@tf.autograph.experimental.do_not_convert
def batches(
    files: list[str],
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext],
    form: Form,
) -> tf.data.Dataset:
    """Returns the batches of one input pipeline.

    Args:
      files: The files that all pipelines share.
      mode: A `tf.estimator.ModeKeys`; "train" shuffles, repeats and yields full batches only, the
        others yield every record once, in order.
      params: The params of `pipeline.py`.
      input_context: Decides which part to read, and how many replicas share a batch.
      form: The form of the records.
    """
    training = mode == "train"
    pipeline = pipeline_of(params, input_context)
    seed = pipeline.seed if training and params["shuffle_buffer"] > 0 else None
    shares = shares_of(files, pipeline, training)
    decoded = (_records(shares, form, None).batch(_DECODED_AT_A_TIME)
               .map(form.decode, num_parallel_calls=tf.data.AUTOTUNE).unbatch())
    most = _most_in_memory(shares, decoded, form.least_bytes) if training else 0
    if most and params["epochs"] != 1:
        dataset = memory.training_batches(decoded.batch(most), pipeline.batch_size,
                                          params["epochs"], seed, form.finish)
    else:
        records = _records(shares, form, seed)
        if seed is not None:
            records = records.shuffle(params["shuffle_buffer"], seed=seed)
        if training:
            records = records.repeat(params["epochs"] or None)
        dataset = records.batch(pipeline.batch_size, drop_remainder=training).map(
            lambda stored: form.finish(form.decode(stored)), num_parallel_calls=tf.data.AUTOTUNE)
    return with_options(dataset.prefetch(tf.data.AUTOTUNE))


def _records(shares: list[tuple[str, int, int]], form: Form,
             seed: Optional[int]) -> tf.data.Dataset:
    """Returns the stored records; with a seed, from several files at a time, in any order."""
    shuffled = seed is not None
    paths, *parts = zip(*shares)
    opened = tf.data.Dataset.from_tensor_slices((list(paths), *np.array(parts, np.int64)))
    if shuffled:
        opened = opened.shuffle(len(shares), seed=seed)
    # Without a seed the order matters, so the files are read one after the other.
    return opened.interleave(
        lambda path, parts, part: form.open_file(path).shard(parts, part),
        cycle_length=min(_FILES_AT_A_TIME, len(shares)) if shuffled else 1,
        block_length=_RECORDS_AT_A_TIME, num_parallel_calls=tf.data.AUTOTUNE if shuffled else None)


def _most_in_memory(shares: list[tuple[str, int, int]], decoded: tf.data.Dataset,
                    least_bytes: int) -> int:
    """Returns an upper bound of the shares' records; 0 if they may not fit in memory."""
    record_bytes = memory.record_bytes(decoded)
    if not least_bytes or record_bytes is None or len(shares) > _FILES_TO_MEASURE:
        return 0
    stored_bytes = most = 0
    for path, parts, _ in shares:
        size = tf.io.gfile.stat(path).length
        stored_bytes += size
        most += size // least_bytes // parts + 1
    # No spec has the length of strings; the stored bytes are an upper bound.
    return most if stored_bytes + most * record_bytes <= memory.LIMIT_BYTES else 0


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


def shares_of(files: list[str], pipeline: Pipeline,
              is_logged: bool) -> list[tuple[str, int, int]]:
    """Returns what a pipeline reads: (path, number of parts of the file, number of this part).

    Every pipeline gets the same number of whole files, and a part of each remaining file (of all
    files, if they are fewer than the pipelines), so that every pipeline has data, and about as
    much as the others.
    """
    total, number = pipeline.total, pipeline.number
    whole = len(files) // total * total
    own = [(path, 1, 0) for path in files[:whole][number::total]]
    # The first part of a file is the largest, so each file's goes to another pipeline.
    parts = [(path, total, (number + i) % total) for i, path in enumerate(files[whole:])]
    if is_logged:
        logging.info("reads %d of %d files, %d of them shared record by record with the other "
                     "input pipelines", len(own + parts), len(files), len(files) % total)
    return own + parts


def _glob(param: str, pattern: str) -> list[str]:
    try:
        # A file's name may have brackets, which are part of a pattern too.
        is_name = "[" in pattern and "://" not in pattern and os.path.isfile(pattern)
        return [pattern] if is_name else sorted(tf.io.gfile.glob(pattern))
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
    is_folder = tf.io.gfile.isdir(pattern)
    folder = pattern if is_folder else os.path.dirname(pattern) or "."
    what = "is a folder" if is_folder else "matches no file"
    if not tf.io.gfile.isdir(folder):
        return (f"{param} is {pattern!r}, which {what}: there is no folder {folder!r}; expected "
                f"files that this machine can read. For example: {_flag(param)}'/data/*'")
    names = sorted(tf.io.gfile.listdir(folder))
    if not names:
        return (f"{param} is {pattern!r}, which {what}, and {folder!r} is empty; expected files "
                f"that this machine can read. For example: {_flag(param)}'/data/*'")
    shown = ", ".join(names[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    near = difflib.get_close_matches(os.path.basename(pattern), names, n=1, cutoff=0.0)[0]
    example = os.path.join(folder, "*" if is_folder else near)
    return (f"{param} is {pattern!r}, which {what}; expected a file or a pattern of files, and "
            f"{folder!r} holds {shown}{more}. For example: {_flag(param)}'{example}'")
