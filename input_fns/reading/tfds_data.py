"""Makes the batches of one input pipeline from a prepared TFDS dataset.

    shard > read > cache > shuffle > repeat > (augment) > batch > scale > prefetch

For training, a shard that fits in memory is read and decoded once, and `memory.py` gathers its
batches from there. Images that are augmented or resized stay encoded until then: JPEG files are
decoded only in part, and the cache and the shuffle hold encoded images.

Memory does not grow with the dataset: the shard or the cache is bounded by `memory.LIMIT_BYTES`,
the shuffle by `shuffle_buffer` records, the rest by a few batches.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
from typing import Any, Callable, Mapping, Optional

from absl import logging
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns.reading import memory
from input_fns.reading.errors import DataParamError
from input_fns.reading.files import files_of_process
from input_fns.reading.pipeline import Pipeline, pipeline_of, with_options
from input_fns.reading.tfds_images import resized, resized_shapes, uint8_images, uneven
from input_fns.reading.tfds_shard import Shard, shard_of


# AutoGraph has nothing to convert here, and would take 0.2 s to find out.
@tf.autograph.experimental.do_not_convert
def read(
    builder: tfds.core.DatasetBuilder,
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of `(features, labels)`.

    Args:
      builder: A TFDS builder whose data is prepared.
      mode: "train", or "eval" or "infer", which read every record once and in order.
      params: The params of `input_fns/tfds.py`, without dataset and data_dir.
      input_context: Decides which shard to read and how many replicas share a batch; None: all
        records, one replica.

    Returns:
      A dataset of (dict of every feature but the label, label). A uint8 image is
      `[batch, height, width, channels]` float32 in [0, 1]; other features are as in TFDS.
    """
    training = mode == "train"
    shard = shard_of(builder, params["train_split" if training else "eval_split"], input_context)
    _check_label(builder, params["label"])
    pipeline = pipeline_of(params, input_context)
    shapes = resized_shapes(builder, params)
    seed = pipeline.seed if training and params["shuffle_buffer"] > 0 else None
    finish = functools.partial(_to_features_and_label, params=params,
                               images=tuple(uint8_images(builder, params["label"])))
    if training:
        logging.info("reads shard %d/%d of %s/%s (%s, %d records)", shard.pipeline_id + 1,
                     shard.pipelines, builder.name, params["train_split"], shard.way, shard.records)
        if pipeline.is_handed_out:
            return _handed_out(builder, shard, params, pipeline, finish)
    dataset = _records(builder, shard, params, tuple(shapes))
    is_small = training and params["epochs"] != 1 and _is_small(dataset, builder, shard)
    if is_small and not shapes:
        dataset = memory.training_batches(dataset.batch(shard.records), pipeline.batch_size,
                                          params["epochs"], seed, finish)
    else:
        if seed is not None:
            dataset = _records(builder, shard, params, tuple(shapes), seed)
        if training:
            dataset = _training_order(dataset, is_small, params, seed)
        if shapes:
            resize = functools.partial(resized, shapes=shapes, kind=params["augment"],
                                       seed=pipeline.seed if training else None)
            dataset = dataset.enumerate().map(resize, num_parallel_calls=tf.data.AUTOTUNE)
        # Replicas average their losses as if all batches had the same size.
        dataset = dataset.batch(pipeline.batch_size, drop_remainder=training)
        dataset = dataset.map(finish, num_parallel_calls=tf.data.AUTOTUNE)
    if training and params["epochs"]:
        synchronous = input_context is not None and input_context.num_replicas_in_sync > 1
        dataset = dataset.take(_num_batches(shard, params, pipeline.batch_size, synchronous))
    return with_options(dataset.prefetch(tf.data.AUTOTUNE))


def _handed_out(
    builder: tfds.core.DatasetBuilder,
    shard: Shard,
    params: Mapping[str, Any],
    pipeline: Pipeline,
    finish: Callable[[Any], Any],
) -> tf.data.Dataset:
    """Returns batches to train on, for processes that divide the dataset."""
    size, epochs = pipeline.batch_size, params["epochs"]
    seed = pipeline.seed if params["shuffle_buffer"] > 0 else None
    shapes = resized_shapes(builder, params)
    if epochs:
        _num_batches(shard, params, size, synchronous=False)
    dataset = _records(builder, shard, params, tuple(shapes))
    if _is_small(dataset, builder, shard):
        order = memory.order_of(size, seed)
        batches = functools.partial(memory.handed_out_batches, dataset.batch(shard.records),
                                    shard.records, order, epochs)
        if not shapes:
            return with_options(batches(lambda _, batch: finish(batch)).prefetch(tf.data.AUTOTUNE))
        numbered = batches(lambda number, batch: (order.positions(number), batch)).unbatch()
    else:
        # TFDS has shuffled the records when it wrote them.
        files = builder.info.splits[shard.split].num_shards
        dataset = _training_order(
            _records(builder, shard, params, tuple(shapes), at_a_time=files_of_process(files)),
            False, params, seed)
        numbered = dataset.map(lambda record: (_drawn(pipeline.seed), record))
    resize = functools.partial(resized, shapes=shapes, kind=params["augment"], seed=pipeline.seed)
    return with_options(
        numbered.map(resize, num_parallel_calls=tf.data.AUTOTUNE).batch(size, drop_remainder=True)
        .map(finish, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))


def _drawn(seed: int) -> tf.Tensor:
    """Returns a random number, int64, in place of a record's place in the training."""
    return tf.random.uniform([], maxval=2**62, dtype=tf.int64, seed=seed)


def known_params(
    builder: tfds.core.DatasetBuilder,
    label: str,
    train_split: str,
) -> dict[str, Any]:
    """Returns the facts about a dataset that need no record.

    Returns:
      `num_classes` if the label is a class, and `class_names` if the classes have names beside
      their numbers; `train_examples` if the data is prepared.
    """
    _check_label(builder, label)
    known: dict[str, Any] = {}
    feature = builder.info.features[label]
    if isinstance(feature, tfds.features.ClassLabel) and feature.num_classes:
        known["num_classes"] = feature.num_classes
        if feature.names != [str(number) for number in range(feature.num_classes)]:
            known["class_names"] = list(feature.names)
    with contextlib.suppress(KeyError, ValueError):  # no such split; input_fn raises the error
        if builder.info.splits:
            known["train_examples"] = builder.info.splits[train_split].num_examples
    return known


def _records(
    builder: tfds.core.DatasetBuilder,
    shard: Shard,
    params: Mapping[str, Any],
    encoded: tuple[str, ...],
    shuffle_seed: Optional[int] = None,
    at_a_time: int = 1,
) -> tf.data.Dataset:
    """Returns the records, decoded except for the images `encoded`, from `at_a_time` files.

    With a seed, the records come from 16 files at a time, in any order.
    """
    shuffle_files = shuffle_seed is not None and not builder.info.disable_shuffling
    read_config = tfds.ReadConfig(try_autocache=False,
                                  skip_prefetch=True,
                                  add_tfds_id=params["tfds_id"],
                                  shuffle_seed=shuffle_seed,
                                  interleave_cycle_length=16 if shuffle_files else at_a_time)
    dataset = builder.as_dataset(split=shard.split,
                                 shuffle_files=shuffle_files,
                                 decoders={name: tfds.decode.SkipDecoding() for name in encoded},
                                 read_config=read_config)
    for name, feature in dataset.element_spec.items():
        for spec in tf.nest.flatten(feature):
            shape = getattr(spec, "shape", None)
            if shape is None or not shape.is_fully_defined():
                raise uneven(builder, name, spec)
    return dataset


def _is_small(
    records: tf.data.Dataset,
    builder: tfds.core.DatasetBuilder,
    shard: Shard,
) -> bool:
    """Returns whether the shard's records, in the form of `records`, fit in memory."""
    record_bytes = memory.record_bytes(records)
    # No spec has the length of strings; the encoded size is an upper bound.
    return record_bytes is not None and (
        shard.records * record_bytes + builder.info.dataset_size <= memory.LIMIT_BYTES)


def _training_order(
    dataset: tf.data.Dataset,
    is_small: bool,
    params: Mapping[str, Any],
    seed: Optional[int],
) -> tf.data.Dataset:
    """Returns the records shuffled and repeated, from memory after the first epoch if small."""
    if is_small:
        dataset = dataset.cache()
    if seed is not None:
        dataset = dataset.shuffle(params["shuffle_buffer"], seed=seed)
    return dataset.repeat(params["epochs"] or None)


def _num_batches(shard: Shard, params: Mapping[str, Any], batch_size: int,
                 synchronous: bool) -> int:
    """Returns the number of full batches in all epochs of a shard.

    In a synchronous step every replica needs a batch: a pipeline with one more record must not
    start a step for which the others have no data, or it would wait for them for ever.
    """
    records = (shard.least_records if synchronous else shard.records) * params["epochs"]
    batches = records // batch_size
    if not batches:
        raise DataParamError(
            f"batch_size is {batch_size} a replica, but epochs={params['epochs']} of a shard are "
            f"{records} records; expected at least one full batch. For example: "
            "--param epochs=0")
    return batches


def _to_features_and_label(
    record: Mapping[str, Any],
    images: tuple[str, ...],
    params: Mapping[str, Any],
) -> tuple[dict[str, Any], Any]:
    """Splits one batch and scales its images from 0..255 to [0, 1]."""
    features = dict(record)
    labels = features.pop(params["label"])
    if params["tfds_id"]:
        features[params["key"]] = features.pop("tfds_id")
    for image in images:
        features[image] = tf.cast(features[image], tf.float32) / 255.0
    return features, labels


def _check_label(builder: tfds.core.DatasetBuilder, label: str) -> None:
    names = sorted(builder.info.features)
    if label not in names:
        near = difflib.get_close_matches(label, names, n=1) or names
        raise DataParamError(
            f"label is {label!r}; expected one of {names}, the features of {builder.name}. For "
            f"example: --param label={near[0]}")
