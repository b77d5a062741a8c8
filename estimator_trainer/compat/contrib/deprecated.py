"""`tf.contrib.deprecated`: the summaries of TensorFlow 0.x, whose tags are not their names."""

from __future__ import annotations

from typing import Any


def _summary(kind: str, tag: Any, data: Any, collections: Any, name: Any, **options: Any) -> Any:
    import tensorflow as tf
    v1, op = tf.compat.v1, getattr(tf.raw_ops, kind)
    with v1.name_scope(name, kind.removesuffix("V2"), [tag, data]) as scope:
        summary = op(**{"tags" if kind == "ScalarSummary" else "tag": tag}, **options, name=scope)
    for each in [v1.GraphKeys.SUMMARIES] if collections is None else collections:
        v1.add_to_collection(each, summary)
    return summary


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    """Returns the op that writes numbers under tags of the same shape."""
    return _summary("ScalarSummary", tags, values, collections, name, values=values)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    """Returns the op that writes the distribution of `values` under a tag."""
    return _summary("HistogramSummary", tag, values, collections, name, values=values)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None,
                  name: Any = None) -> Any:
    """Returns the op that writes up to `max_images` of [batch, height, width, channels]."""
    return _summary("ImageSummary", tag, tensor, collections, name, tensor=tensor,
                    max_images=max_images)


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3,
                  collections: Any = None, name: Any = None) -> Any:
    """Returns the op that writes up to `max_outputs` of [batch, frames, channels]."""
    return _summary("AudioSummaryV2", tag, tensor, collections, name, tensor=tensor,
                    sample_rate=sample_rate, max_outputs=max_outputs)


NAMES = {
    **{each.__name__: each for each in (
        scalar_summary, histogram_summary, image_summary, audio_summary)},
    "merge_all_summaries": "tf.summary.merge_all",
    "merge_summary": "tf.summary.merge",
}
