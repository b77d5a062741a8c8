"""Images in one folder per class: `DIR/cat/1.jpg`, `DIR/dog/2.png`.

Images of any size, JPEG, PNG, GIF (the first frame), BMP and, from TensorFlow 2.19 on, WebP; grey,
with an alpha channel or 16 bits deep. They become RGB, and are turned as their EXIF orientation
says. Folders within a class's folder are of the class. Other files are passed over, with a line in
the log. The classes are the folders of train_dir that hold images, sorted by name, from 0, unless
`class_names` lists them. Params:

  train_dir       folder of the training images, local or of any file system that TensorFlow reads;
                  of a folder that holds `train` and `val` or `test`, these are taken
  eval_dir        the same, for "eval" and "infer": every file once, sorted by class and name;
                  empty: every `eval_every`th file of each class, which training leaves out
  eval_every      2 or more
  predict_files   for "infer" in place of eval_dir: new images; a folder, searched with its folders,
                  a file, a pattern, a .txt with one path per line, or several with commas
  class_names     JSON list of the classes in their order; []: the folders of train_dir
  image_size      height and width of the result, in pixels; 0: by the number of images, 64 for
                  fewer than 2,000, then 96, 128, 160 and 224, but no larger than most images are
  augment         change of the images in training: light, imagenet, cifar or none; see
                  `input_fns/reading/augment.py`; empty: light for fewer than 100,000 images, none
                  for images of less than 32 pixels, otherwise imagenet
  background      JSON list of red, green and blue, 0 to 255: the colour behind what is transparent
                  in a PNG or WebP; []: the colours that the file has there, which nobody sees
  file_name       name of a string feature that holds CLASS/FILE of each image, the path for
                  predict_files; empty: no feature. Predictions have it as `file_name`

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`. Only
the names of the files are shuffled, and they fit in memory: any `shuffle_buffer` other than 0
shuffles all of them.

Features: `image`, `[batch, image_size, image_size, 3]` float32 in [0, 1]; label int64, for
predict_files the class's name, where an image lies in a class's folder.
"""

from __future__ import annotations

import functools
from typing import Any, Mapping, Optional

from absl import logging
import numpy as np
import pyarrow as pa
import tensorflow as tf

from input_fns.reading import (augment, class_folders, image_decode, image_facts, image_files,
                               memory, pipeline, same_files, stored_rows)
from input_fns.reading.bad_record import elements, ERRORS, one_line
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.new_images import found

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "train_dir": "",
    "eval_dir": "",
    "eval_every": 5,
    "predict_files": "",
    "class_names": [],
    "image_size": 0,
    "augment": "",
    "background": [255, 255, 255],
    "file_name": "",
}
DATA = "images"
FIRST_PARAMS = ("train_dir", "eval_dir", "image_size", "augment", "batch_size")
# Transparency was ignored.
OLDER_PARAMS: dict[str, Any] = {"background": []}
GLOBAL_BATCH_PARAM = "batch_size"
TRAINS_UNTIL = "no_improvement"
INSPECTION = "input_fns.reading.folder_inspection"
_MOST_BAD = 10  # damaged images that one sentence names
# A path, a name and a label of each image.
_Columns = tuple[list[Any], ...]
# AutoGraph has nothing to convert here.
_plain = tf.autograph.experimental.do_not_convert


def input_fn(
    mode: str,
    params: Mapping[str, Any],
    input_context: Optional[tf.distribute.InputContext] = None,
) -> tf.data.Dataset:
    """Returns batches of (dict of features, label): see the module's docstring."""
    training = mode == "train"
    place = pipeline.pipeline_of(params, input_context)
    if mode == "infer" and params["predict_files"]:
        return pipeline.with_options(
            _new_examples(params).batch(place.batch_size).prefetch(tf.data.AUTOTUNE))
    folders = class_folders.found(params)
    params = _complete(params, folders)
    images = class_folders.images(params, folders, training)[place.number::place.total]
    if not images:
        raise DataFileError(f"input pipeline {place.number + 1} of {place.total} has no image"
                            " to read; expected one for each. Start fewer workers")
    columns = tuple(map(list, zip(*images)))
    if not training:
        dataset = tf.data.Dataset.from_tensor_slices(columns).map(
            functools.partial(_example, params=params, seed=None),
            num_parallel_calls=tf.data.AUTOTUNE).batch(place.batch_size)
    else:
        logging.info("reads %d images, part %d of %d", len(images), place.number + 1, place.total)
        make = _from_memory if params["augment"] == "light" else _from_files
        dataset = make(columns, place, params)
    return pipeline.with_options(dataset.prefetch(tf.data.AUTOTUNE))


def _from_files(columns: _Columns, place: pipeline.Pipeline,
                params: Mapping[str, Any]) -> tf.data.Dataset:
    """Returns batches to train on, of images that are read again in each epoch."""
    @_plain
    def example(number: tf.Tensor, image: Any) -> Any:
        return _example(*image, params=params, seed=tf.stack([place.seed, number]))

    if place.is_handed_out:
        images = _handed_out(columns, place, params)
    else:
        images = _in_training_order(tf.data.Dataset.from_tensor_slices(columns), columns, place,
                                    params).enumerate()
    return images.map(example, num_parallel_calls=tf.data.AUTOTUNE).batch(
        place.batch_size, drop_remainder=True)


def _from_memory(columns: _Columns, place: pipeline.Pipeline,
                 params: Mapping[str, Any]) -> tf.data.Dataset:
    """Returns batches to train on, of images that are kept in memory if they fit there."""
    shape = (params["image_size"], params["image_size"], 3)
    images = tf.data.Dataset.from_tensor_slices(columns)
    decoded = functools.partial(_stored, params=params)

    @_plain
    def changed(number: tf.Tensor, batch: Any) -> Any:
        pixels, name, label = batch
        images = augment.light_images(pixels, tf.stack([place.seed, number]), shape)
        return _labelled(images, name, label, params)

    def decode(files: tf.data.Dataset) -> tf.data.Dataset:
        return files.map(decoded, num_parallel_calls=tf.data.AUTOTUNE)

    count = len(columns[0])
    fits = count * decode(images).element_spec[0].shape.num_elements() <= memory.LIMIT_BYTES
    if place.is_handed_out:
        if fits:
            return memory.handed_out_batches(decode(images).batch(count), count,
                                             _order(place, params), params["epochs"], changed)
        numbered = _handed_out(columns, place, params).map(
            _plain(lambda number, image: (number, decoded(*image))),
            num_parallel_calls=tf.data.AUTOTUNE).batch(place.batch_size, drop_remainder=True)
        return numbered.map(_plain(lambda numbers, batch: changed(numbers[0], batch)),
                            num_parallel_calls=tf.data.AUTOTUNE)
    if fits:
        dataset = _in_training_order(decode(images).cache(), columns, place, params)
    else:
        dataset = decode(_in_training_order(images, columns, place, params))
    return dataset.batch(place.batch_size, drop_remainder=True).enumerate().map(
        changed, num_parallel_calls=tf.data.AUTOTUNE)


def _in_training_order(dataset: tf.data.Dataset, columns: _Columns, place: pipeline.Pipeline,
                       params: Mapping[str, Any]) -> tf.data.Dataset:
    if params["shuffle_buffer"] > 0:
        # The images are sorted by class, so a smaller buffer would hold few classes.
        dataset = dataset.shuffle(len(columns[0]), seed=place.seed)
    return dataset.repeat(params["epochs"] or None)


def _handed_out(columns: _Columns, place: pipeline.Pipeline,
                params: Mapping[str, Any]) -> tf.data.Dataset:
    """Returns each image's place in the training, and its files' entries, in the training order."""
    rows = memory.handed_out_rows(len(columns[0]), _order(place, params), params["epochs"])
    return rows.map(_plain(lambda position, row: (
        position, tuple(tf.gather(column, row) for column in columns))))


def _order(place: pipeline.Pipeline, params: Mapping[str, Any]) -> memory.Order:
    return memory.order_of(place.batch_size, place.seed if params["shuffle_buffer"] > 0 else None)


def _complete(params: Mapping[str, Any], folders: class_folders.Folders) -> dict[str, Any]:
    """Returns the params with the size and the augmentation that the folder decides."""
    paths = [image.path for image in class_folders.images(params, folders, training=True)]
    complete = {**params, **image_facts.decided(params, paths)}
    augment.check(complete["augment"], complete["image_size"], least_size=1)
    return complete


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns num_classes, class_names, train_examples, and image_size and augment if unset.

    The first bytes of the files are looked at too, so that a file that is no image ends the job
    before it begins. To predict new images the training images need not be there.

    Raises:
      DataParamError, DataFileError: A param, a folder or a file is wrong.
    """
    if params["predict_files"]:
        names = _known_classes(params)
        return {"num_classes": len(names), "class_names": names} if names else {}
    folders = class_folders.found(params)
    images = {training: class_folders.images(params, folders, training)
              for training in (True, False)}
    problem = image_files.no_images([image.path for each in images.values() for image in each])
    if problem:
        raise DataFileError(problem)
    same_files.log_images(*([image.path for image in images[training]]
                            for training in (True, False)))
    complete = _complete(params, folders)
    image_facts.log_flat(params, [image.path for image in images[True]])
    return {"num_classes": len(folders.classes), "class_names": folders.classes,
            "train_examples": len(images[True]),
            **{name: complete[name] for name in ("image_size", "augment") if not params[name]}}


def rows_to_predict(params: Mapping[str, Any]) -> stored_rows.StoredRows:
    """Returns the files of the images that mode "infer" reads, to stand beside the answers."""
    if params["predict_files"]:
        files = [image.path for image in found(params["predict_files"], ())]
    else:
        folders = class_folders.found(params)
        images = class_folders.images(params, folders, training=False)
        files = [image.name for image in images]
    name = params["file_name"] or "file_name"
    batch = pa.record_batch({name: pa.array(files, pa.string())})
    return stored_rows.StoredRows("", (name,), iter([batch]), identifiers=(name,))


def instance_problem(features: Mapping[str, np.ndarray]) -> str:
    """Returns what is wrong with an image that does not come from a file; "" if nothing is."""
    low, high = np.min(features["image"], initial=0.0), np.max(features["image"], initial=0.0)
    if low >= 0.0 and high <= 1.0:
        return ""
    return (f"has an image with values from {low:g} to {high:g}; expected 0 to 1. "
            "Pixels of 8 bits become these by a division by 255, or name the picture's file")


def data_problem(params: Mapping[str, Any]) -> str:
    """Returns the files that are no images, as one sentence; "" if there is none."""
    try:
        paths = [image.path for image in _all_images(params)]
    except (DataFileError, DataParamError) as error:
        return str(error)
    logging.info("looks for a bad image among %d files", len(paths))
    bad: list[tuple[str, str]] = []
    place = 0
    while place < len(paths) and len(bad) < _MOST_BAD:
        try:
            for _ in elements(lambda: _decoded(paths[place:])):
                place += 1
        except ERRORS as error:
            bad.append((paths[place], one_line(error)))
            place += 1
    if not bad:
        return ""
    path, why = bad[0]
    more = [path for path, _ in bad[1:]]
    others = f"; so are {', '.join(more)}{' and maybe others' * (len(bad) == _MOST_BAD)}"
    return f"{path} is no readable image: {why}{others if more else ''}"


def _decoded(paths: list[str]) -> tf.data.Dataset:
    """Decodes images, in order."""
    @_plain
    def highest(path: tf.Tensor) -> tf.Tensor:
        return tf.reduce_max(image_decode.decoded(tf.io.read_file(path)))

    return tf.data.Dataset.from_tensor_slices(paths).map(
        highest, num_parallel_calls=tf.data.AUTOTUNE)


def _all_images(params: Mapping[str, Any]) -> list[Any]:
    if params["predict_files"]:
        return found(params["predict_files"], ())
    folders = class_folders.found(params)
    return [image for training in (True, False)
            for image in class_folders.images(params, folders, training)]


def _new_examples(params: Mapping[str, Any]) -> tf.data.Dataset:
    """Returns the images to predict, with their class names if any is known."""
    if params["train_dir"] and tf.io.gfile.isdir(params["train_dir"]) and not (
            params["image_size"] and params["augment"]):
        params = _complete(params, class_folders.found(params))
    params = {**params, "augment": params["augment"] or "light"}
    image_facts.check_background(params["background"])
    augment.check(params["augment"], params["image_size"], least_size=1)
    images = found(params["predict_files"], _known_classes(params))
    has_labels = any(image.label for image in images)

    @_plain
    def example(path: tf.Tensor, label: tf.Tensor) -> Any:
        features, _ = _example(path, path, tf.constant(0), params, None)
        return (features, label) if has_labels else features

    return tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*images)))).map(
        example, num_parallel_calls=tf.data.AUTOTUNE)


def _known_classes(params: Mapping[str, Any]) -> list[str]:
    """Returns the names of the classes, if they are known without the training images."""
    if params["class_names"] or not params["train_dir"]:
        return list(params["class_names"])
    return class_folders.classes_of(params["train_dir"])


@_plain
def _stored(path: tf.Tensor, name: tf.Tensor, label: tf.Tensor, params: Mapping[str, Any]) -> Any:
    """Reads an image as it is kept in memory."""
    shape = (params["image_size"], params["image_size"], 3)
    stored = augment.stored_image(tf.io.read_file(path), shape, params["background"])
    return stored, name, label


@_plain
def _example(path: tf.Tensor, name: tf.Tensor, label: tf.Tensor, params: Mapping[str, Any],
             seed: Optional[tf.Tensor]) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Reads an image; with a seed, an int64 [2], for training."""
    contents = tf.io.read_file(path)
    shape = (params["image_size"], params["image_size"], 3)
    if seed is None:
        pixels = augment.evaluation_image(contents, params["augment"], shape,
                                          params["background"])
    else:
        pixels = augment.training_image(contents, seed, params["augment"], shape,
                                        params["background"])
    return _labelled(pixels, name, label, params)


def _labelled(pixels: tf.Tensor, name: tf.Tensor, label: tf.Tensor,
              params: Mapping[str, Any]) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    features = {"image": pixels / 255.0}
    if params["file_name"]:
        features[params["file_name"]] = name
    return features, tf.cast(label, tf.int64)
