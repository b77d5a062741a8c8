"""`tf.contrib.deprecated`: the summaries of TensorFlow 0.x, by `tf.summary`."""

from __future__ import annotations

from typing import Any


def _summary() -> Any:
    import tensorflow as tf
    return tf.compat.v1.summary


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    """Returns the op that writes one number under a tag."""
    return _summary().scalar(tags, values, collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    """Returns the op that writes the distribution of `values` under a tag."""
    return _summary().histogram(tag, values, collections)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None,
                  name: Any = None) -> Any:
    """Returns the op that writes up to `max_images` of [batch, height, width, channels]."""
    return _summary().image(tag, tensor, max_images, collections)


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3,
                  collections: Any = None, name: Any = None) -> Any:
    """Returns the op that writes up to `max_outputs` of [batch, frames, channels]."""
    return _summary().audio(tag, tensor, sample_rate, max_outputs, collections)


NAMES = {
    **{each.__name__: each for each in (
        scalar_summary, histogram_summary, image_summary, audio_summary)},
    "merge_all_summaries": "tf.summary.merge_all",
    "merge_summary": "tf.summary.merge",
}
