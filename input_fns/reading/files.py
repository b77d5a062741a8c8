"""Makes the batches of one input pipeline from the files of a data set.

    share files > read > share records > shuffle > repeat > batch > decode

The shuffle holds records as they are stored, so its memory is `shuffle_buffer` times the
size of a stored record. For training, records that fit in memory are read and decoded once, and
`memory.py` gathers the batches from there.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Optional

from absl import logging
import numpy as np
import tensorflow as tf

from input_fns.reading import file_system, memory
from input_fns.reading.pipeline import Pipeline, pipeline_of, with_options

_FILES_AT_A_TIME = 16
_RECORDS_AT_A_TIME = 16
_DECODED_AT_A_TIME = 1024
# A remote file system takes a while to return the size of a file.
_FILES_TO_MEASURE = 64


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
    if most and pipeline.is_handed_out:
        dataset = memory.handed_out_batches(
            decoded.batch(most), most, memory.order_of(pipeline.batch_size, seed),
            params["epochs"], lambda _, batch: form.finish(batch))
    elif most and params["epochs"] != 1:
        dataset = memory.training_batches(decoded.batch(most), pipeline.batch_size,
                                          params["epochs"], seed, form.finish)
    else:
        records = _records(shares, form, seed, pipeline.is_handed_out)
        if seed is not None:
            records = records.shuffle(params["shuffle_buffer"], seed=seed)
        if training:
            records = records.repeat(params["epochs"] or None)
        dataset = records.batch(pipeline.batch_size, drop_remainder=training).map(
            lambda stored: form.finish(form.decode(stored)), num_parallel_calls=tf.data.AUTOTUNE)
    return with_options(dataset.prefetch(tf.data.AUTOTUNE))


def _records(shares: list[tuple[str, int, int]], form: Form, seed: Optional[int],
             is_handed_out: bool = False) -> tf.data.Dataset:
    """Returns the stored records; with a seed, from several files at a time, in any order."""
    shuffled = seed is not None
    cycle = min(_FILES_AT_A_TIME, len(shares)) if shuffled else 1
    if shuffled and is_handed_out:
        # A process must not take the files that others could read.
        cycle = files_of_process(len(shares))
        shares = [shares[i] for i in np.random.default_rng(seed).permutation(len(shares))]
    paths, *parts = zip(*shares)
    opened = tf.data.Dataset.from_tensor_slices((list(paths), *np.array(parts, np.int64)))
    if shuffled and not is_handed_out:
        opened = opened.shuffle(len(shares), seed=seed)
    # Without a seed the order matters, so the files are read one after the other.
    return opened.interleave(
        lambda path, parts, part: form.open_file(path).shard(parts, part),
        cycle_length=cycle, block_length=_RECORDS_AT_A_TIME,
        num_parallel_calls=tf.data.AUTOTUNE if shuffled else None)


def files_of_process(num_files: int) -> int:
    """Returns how many files a process reads at a time where up to eight divide a set."""
    return max(1, min(_FILES_AT_A_TIME, num_files // 64))


def _most_in_memory(shares: list[tuple[str, int, int]], decoded: tf.data.Dataset,
                    least_bytes: int) -> int:
    """Returns an upper bound of the shares' records; 0 if they may not fit in memory."""
    record_bytes = memory.record_bytes(decoded)
    if not least_bytes or record_bytes is None or len(shares) > _FILES_TO_MEASURE:
        return 0
    stored_bytes = most = 0
    for path, parts, _ in shares:
        size = file_system.stat(path).length
        stored_bytes += size
        most += size // least_bytes // parts + 1
    # No spec has the length of strings; the stored bytes are an upper bound.
    return most if stored_bytes + most * record_bytes <= memory.LIMIT_BYTES else 0


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
