"""Images in one folder per class: `DIR/cat/1.jpg`, `DIR/dog/2.png`.

JPEG and PNG files of any size, grey, with an alpha channel or 16 bits deep, become RGB. Their
names end in `.jpg`, `.jpeg` or `.png`, in any case; other files are ignored. The classes are the
folders of train_dir, sorted by name, from 0, unless `class_names` lists them. Params:

  train_dir       folder of the training images, local or of any file system that TensorFlow reads
  eval_dir        the same, for "eval" and "infer": every file once, sorted by class and name;
                  empty: every `eval_every`th file of each class, which training leaves out
  eval_every      2 or more
  predict_files   for "infer" in place of eval_dir: new images; a folder, searched with its folders,
                  a file, a pattern, a .txt with one path per line, or several with commas
  class_names     JSON list of the classes in their order; []: the folders of train_dir
  image_size      height and width of the result, in pixels
  augment         change of the images in training: imagenet, cifar or none; see
                  `input_fns/reading/augment.py`
  file_name       name of a string feature that holds CLASS/FILE of each image, the path for
                  predict_files; empty: none

For `batch_size`, `epochs`, `shuffle_buffer` and `seed` see `input_fns/reading/pipeline.py`. Only
the names of the files are shuffled, and they fit in memory: any `shuffle_buffer` other than 0
shuffles all of them.

Features: `image`, `[batch, image_size, image_size, 3]` float32 in [0, 1]; label int64, for
predict_files the class's name, where an image lies in a class's folder.
"""

from __future__ import annotations

import functools
import os.path
from typing import Any, Mapping, NamedTuple, Optional

from absl import logging
import tensorflow as tf

from input_fns.reading import augment, pipeline
from input_fns.reading.bad_record import elements, ERRORS, one_line
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.new_images import ENDINGS, found

DEFAULT_PARAMS = {
    **pipeline.DEFAULT_PARAMS,
    "train_dir": "",
    "eval_dir": "",
    "eval_every": 5,
    "predict_files": "",
    "class_names": [],
    "image_size": 224,
    "augment": "imagenet",
    "file_name": "",
}
GLOBAL_BATCH_PARAM = "batch_size"


class Image(NamedTuple):
    """A file that holds an image.

    Attributes:
      path: Path of the file.
      name: CLASS/FILE, for the param `file_name`.
      label: Number of its class.
    """

    path: str
    name: str
    label: int


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
    folders = _folders(params)
    images = _images(params, folders, training)[place.number::place.total]
    if not images:
        raise DataFileError(f"input pipeline {place.number + 1} of {place.total} has no image"
                            " to read; expected one for each. Start fewer workers")
    dataset = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*images))))
    if training:
        logging.info("reads %d images, part %d of %d", len(images), place.number + 1,
                     place.total)
        if params["shuffle_buffer"] > 0:
            # The images are sorted by class, so a smaller buffer would hold few classes.
            dataset = dataset.shuffle(len(images), seed=place.seed)
        dataset = dataset.repeat(params["epochs"] or None)
    example = functools.partial(_example, params=params,
                                seed=place.seed if training else None)
    dataset = dataset.enumerate().map(example, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(place.batch_size, drop_remainder=training)
    return pipeline.with_options(dataset.prefetch(tf.data.AUTOTUNE))


def data_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns num_classes, class_names and train_examples, from the names of the files.

    To predict new images the training images need not be there.
    """
    if params["predict_files"]:
        names = _known_classes(params)
        return {"num_classes": len(names), "class_names": names} if names else {}
    folders = _folders(params)
    names = list(params["class_names"]) or folders["train_dir"]
    return {"num_classes": len(names), "class_names": names,
            "train_examples": len(_images(params, folders, training=True))}


def data_problem(params: Mapping[str, Any]) -> str:
    """Returns the first file that is not an image, as one sentence; "" if there is none."""
    try:
        paths = [image.path for image in _all_images(params)]
    except (DataFileError, DataParamError) as error:
        return str(error)
    logging.info("looks for a bad image among %d files", len(paths))
    good = 0
    try:
        for _ in elements(lambda: tf.data.Dataset.from_tensor_slices(paths).map(
                lambda path: tf.reduce_sum(tf.io.decode_png(tf.io.read_file(path), channels=3)),
                num_parallel_calls=tf.data.AUTOTUNE)):
            good += 1
    except ERRORS as error:
        return f"{paths[good]} is no readable image: {one_line(error)}"
    return ""


def _all_images(params: Mapping[str, Any]) -> list[Any]:
    if params["predict_files"]:
        return found(params["predict_files"], ())
    folders = _folders(params)
    return [image for training in (True, False) for image in _images(params, folders, training)]


def _new_examples(params: Mapping[str, Any]) -> tf.data.Dataset:
    """Returns the images to predict, with their class names if any is known."""
    augment.check(params["augment"], params["image_size"], least_size=1)
    images = found(params["predict_files"], _known_classes(params))
    has_labels = any(image.label for image in images)

    def example(path: tf.Tensor, label: tf.Tensor) -> Any:
        features, _ = _example(tf.constant(0), (path, path, tf.constant(0)), params, None)
        return (features, label) if has_labels else features

    return tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*images)))).map(
        example, num_parallel_calls=tf.data.AUTOTUNE)


def _known_classes(params: Mapping[str, Any]) -> list[str]:
    """Returns the names of the classes, if they are known without the training images."""
    if params["class_names"] or not params["train_dir"]:
        return list(params["class_names"])
    return _classes(params["train_dir"]) if tf.io.gfile.isdir(params["train_dir"]) else []


def _example(
    number: tf.Tensor,
    image: tuple[tf.Tensor, tf.Tensor, tf.Tensor],
    params: Mapping[str, Any],
    seed: Optional[int],
) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Reads image `number`, an int64 scalar; with a seed, for training."""
    path, name, label = image
    contents = tf.io.read_file(path)
    shape = (params["image_size"], params["image_size"], 3)
    if seed is None:
        pixels = augment.evaluation_image(contents, params["augment"], shape)
    else:
        pixels = augment.training_image(contents, tf.stack([seed, number]), params["augment"],
                                        shape)
    features = {"image": pixels / 255.0}
    if params["file_name"]:
        features[params["file_name"]] = name
    return features, tf.cast(label, tf.int64)


def _images(params: Mapping[str, Any], folders: Mapping[str, list[str]],
            training: bool) -> list[Image]:
    """Returns the files that all pipelines together read, in order."""
    classes = list(params["class_names"]) or folders["train_dir"]
    name = "train_dir" if training or not params["eval_dir"] else "eval_dir"
    every = 0 if params["eval_dir"] else params["eval_every"]
    images = []
    for kind in folders[name]:
        if kind not in classes:
            raise DataFileError(
                f"{name} {params[name]!r} holds a folder {kind!r} that train_dir "
                f"{params['train_dir']!r} does not, or class_names do not; expected no other than "
                f"{', '.join(classes)}")
        folder = os.path.join(params[name], kind)
        files = sorted(f for f in tf.io.gfile.listdir(folder) if f.lower().endswith(ENDINGS))
        images += [Image(os.path.join(folder, file), f"{kind}/{file}", classes.index(kind))
                   for i, file in enumerate(files, 1)
                   if not every or (i % every != 0) == training]
    if not images:
        raise DataFileError(
            f"{name} is {params[name]!r}, where the folders of the classes {', '.join(classes)} "
            f"hold no {', '.join(ENDINGS)} for {'training' if training else 'evaluation'}")
    return images


def _classes(folder: str) -> list[str]:
    """Returns the names of the folders in a folder, sorted."""
    entries = sorted(name.rstrip("/") for name in tf.io.gfile.listdir(folder))
    return [name for name in entries
            if not name.startswith(".") and tf.io.gfile.isdir(os.path.join(folder, name))]


def _folders(params: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the folders of the classes in train_dir and, if it is set, in eval_dir.

    Raises:
      DataParamError, DataFileError: A param or a folder is wrong.
    """
    augment.check(params["augment"], params["image_size"], least_size=1)
    if not params["train_dir"]:
        raise DataParamError("train_dir is ''; expected a folder with one folder of images a "
                             "class. For example: --param train_dir=/data/pets/train")
    if not params["eval_dir"] and params["eval_every"] < 2:
        raise DataParamError(
            f"eval_every is {params['eval_every']} and eval_dir is ''; expected 2 or more, or a "
            "folder. For example: --param eval_every=5")
    folders = {}
    for name in ["train_dir", *(["eval_dir"] if params["eval_dir"] else [])]:
        folder = params[name]
        if not tf.io.gfile.isdir(folder):
            raise DataFileError(f"{name} is {folder!r}, and there is no such folder; expected one "
                                f"that this machine can read. For example: --param {name}=/data")
        folders[name] = _classes(folder)
        if not folders[name]:
            held = sorted(tf.io.gfile.listdir(folder))[:5]
            raise DataFileError(f"{name} is {folder!r}, which holds no folder, but "
                                f"{', '.join(held) or 'nothing'}; expected one folder a class")
    return folders
