"""Finds the images of a TFDS dataset, and brings each to one size.

    shapes = resized_shapes(builder, params)    # {} if all images stay as they are
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns.reading import augment
from input_fns.reading.errors import DataParamError


def uint8_images(
    builder: tfds.core.DatasetBuilder,
    label: str,
) -> dict[str, tfds.features.Image]:
    """Returns the features, without the label, that are uint8 images, by name."""
    return {name: feature for name, feature in builder.info.features.items()
            if isinstance(feature, tfds.features.Image) and name != label and
            feature.tf_dtype == tf.uint8}


def resized_shapes(
    builder: tfds.core.DatasetBuilder,
    params: Mapping[str, Any],
) -> dict[str, tuple[int, ...]]:
    """Returns each image's new (height, width, channels); {} if all stay as they are."""
    kind, size = params["augment"], params["image_size"]
    augment.check(kind, size, least_size=0)
    images = uint8_images(builder, params["label"])
    if kind == "none" and not size:
        return {}
    if not images:
        raise DataParamError(
            f"augment is {kind!r} and image_size is {size}, but {builder.name} has no uint8 "
            f"image among its features {sorted(builder.info.features)}; expected neither. For "
            "example: --param augment=none --param image_size=0")
    shapes: dict[str, tuple[int, ...]] = {}
    for name, feature in images.items():
        height, width, channels = feature.shape
        shapes[name] = (size or height, size or width, channels or 3)
        if None in shapes[name]:
            raise uneven(builder, name, feature)
    return shapes


def resized(
    number: tf.Tensor,
    record: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    kind: str,
    seed: Optional[int],
) -> dict[str, Any]:
    """Decodes the images of record `number`, an int64 scalar; with a seed, for training."""
    decoded = dict(record)
    for name, shape in shapes.items():
        if seed is None:
            decoded[name] = augment.evaluation_image(record[name], kind, shape)
        else:
            decoded[name] = augment.training_image(record[name], tf.stack([seed, number]),
                                                   kind, shape)
    return decoded


def uneven(builder: tfds.core.DatasetBuilder, name: str, spec: Any) -> DataParamError:
    """Returns the error for a feature whose shape differs from record to record."""
    return DataParamError(
        f"Feature {name!r} of dataset {builder.name!r} is {spec}, which differs from record to "
        "record; expected one shape, to batch. For example: --param image_size=224 for an image, "
        "or write an input_fn plug-in that resizes or pads it")
