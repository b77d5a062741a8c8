"""Decides which records of a split one input pipeline reads.

    shard = shard_of(builder, "train", input_context)
    dataset = builder.as_dataset(split=shard.split)
"""

from __future__ import annotations

import functools
import operator
from typing import Any, Mapping, NamedTuple, Optional

import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns.reading.errors import DataParamError


class Shard(NamedTuple):
    """The part of a split that one input pipeline reads.

    Attributes:
      split: The sub-split, as `builder.as_dataset` takes it.
      records: Number of records in it.
      least_records: Number of records in the smallest shard of the split.
      pipeline_id: Number of this input pipeline, from 0.
      pipelines: Number of input pipelines that share the split.
      way: "by file" if the split has at least one file per pipeline, else "by record".
    """

    split: Any
    records: int
    least_records: int
    pipeline_id: int
    pipelines: int
    way: str


def shard_of(
    builder: tfds.core.DatasetBuilder,
    split: str,
    input_context: Optional[tf.distribute.InputContext] = None,
) -> Shard:
    """Returns the shard of `split` that one pipeline reads; without a context, the whole split.

    A shard is a run of neighbouring records, so a pipeline opens only the files with its run: its
    share of the files, and part of one more at either end. Shards of whole files would be as
    uneven as the files, and with fewer files than pipelines some pipelines would have nothing to
    read (tensorflow/datasets#2133).
    """
    pipelines = input_context.num_input_pipelines if input_context else 1
    pipeline_id = input_context.input_pipeline_id if input_context else 0
    splits = builder.info.splits
    try:
        whole = splits[split]
        part = _part(splits, split, pipeline_id, pipelines) if pipelines > 1 else split
        records = splits[part].num_examples
    except (KeyError, ValueError, NotImplementedError) as error:
        raise _unknown_split(builder, split) from error
    if whole.num_examples < pipelines:
        raise DataParamError(
            f"Split {split!r} of {builder.name} has {whole.num_examples} records; expected at "
            f"least one for each of the {pipelines} input pipelines. Name a larger split, or start "
            "fewer workers")
    return Shard(split=part,
                 records=records,
                 least_records=whole.num_examples // pipelines,
                 pipeline_id=pipeline_id,
                 pipelines=pipelines,
                 way="by file" if whole.num_shards >= pipelines else "by record")


def _part(splits: Mapping[str, Any], split: str, pipeline_id: int, pipelines: int) -> Any:
    """Returns the sub-split of a pipeline; `split` may be a sum such as "train+test[:50%]".

    TFDS cuts each term by itself, and its first parts get the surplus records. Each term starts
    with the part after the last one that got a surplus record, so the sums differ by at most one
    record.
    """
    terms = list(splits) if split == "all" else [term.strip() for term in split.split("+")]
    parts = []
    before = 0
    for term in terms:
        parts.append(tfds.even_splits(term, pipelines)[(pipeline_id - before) % pipelines])
        before += splits[term].num_examples
    return functools.reduce(operator.add, parts)


def _unknown_split(builder: tfds.core.DatasetBuilder, split: str) -> DataParamError:
    counts = ", ".join(f"{name} ({info.num_examples} records)"
                       for name, info in builder.info.splits.items())
    return DataParamError(
        f"Split {split!r} is none of {builder.name}; it has {counts}, and parts and sums of "
        "them. For example: --param train_split=train[:90%] --param eval_split=train[90%:]")
