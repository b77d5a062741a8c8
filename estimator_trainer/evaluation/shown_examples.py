"""Evaluated examples as a report shows them, with their inputs as images and texts."""

import base64
import heapq
import itertools
from typing import Any, Mapping, TypedDict

import numpy as np
import tensorflow as tf

from estimator_trainer import schema

_KEPT = 8
_MOST_FEATURES = 40
_MOST_NUMBERS = 12
_MOST_CHARACTERS = 600
_MOST_PIXELS = 160
# Smaller images stay exact; a photo of this size would be five times as large as PNG.
_LEAST_JPEG = 65
# The first bytes of the formats that browsers show.
_FORMATS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}


_Named = TypedDict("_Named", {"name": str})


class ShownInput(_Named, total=False):
    """An input of an example, as a data URI or as text."""

    image: str
    text: str


_Needed = TypedDict("_Needed", {"position": int, "label": str | float, "predicted": str | float,
                                "inputs": list[ShownInput]})


class ShownExample(_Needed, total=False):
    """An example in `evaluation.json`; only a classification has the last two entries."""

    probability: schema.Number
    probability_of_label: schema.Number


class ShownExamples:
    """Keeps the few examples of the highest score."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, dict[str, Any], dict[str, Any]]] = []
        self._count = itertools.count()

    def offer(self, score: float, shown: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keeps an example if its score is among the highest so far.

        `shown` are its entries in `evaluation.json`, without `inputs`, the features by name.
        """
        if len(self._heap) == _KEPT and score <= self._heap[0][0]:
            return
        # The first example with a score stays.
        entry = (float(score), -next(self._count), dict(shown), dict(inputs))
        (heapq.heappushpop if len(self._heap) == _KEPT else heapq.heappush)(self._heap, entry)

    def content(self) -> list[dict[str, Any]]:
        """Returns the examples, the highest score first."""
        return [{**shown, "inputs": [
            {"name": name, **_input(value)}
            for name, value in itertools.islice(inputs.items(), _MOST_FEATURES)]}
                for _, _, shown, inputs in sorted(self._heap, reverse=True)]


def _input(value: Any) -> dict[str, str]:
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape([])[()]
    if isinstance(value, bytes):
        form = next((form for magic, form in _FORMATS.items() if value.startswith(magic)), "")
        if form:
            return {"image": _data_uri(form, value)}
        text = value.decode("utf-8", "replace")
        return {"text": text[:_MOST_CHARACTERS] + "..." * (len(text) > _MOST_CHARACTERS)}
    if not isinstance(value, np.ndarray):
        return {"text": f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)}
    if value.ndim == 3 and value.shape[-1] in (1, 3, 4) and value.dtype.kind in "fiu":
        return {"image": _data_uri(*_encoded(value))}
    flat = value.reshape([-1])[:_MOST_NUMBERS]
    texts = [_input(each)["text"] for each in flat]
    return {"text": ", ".join(texts) + (", ..." if value.size > len(flat) else "")}


def _encoded(image: np.ndarray) -> tuple[str, bytes]:
    """Returns the format and the bytes of an image of at most `_MOST_PIXELS` on a side.

    Values that are not bytes are scaled to the image's own range.
    """
    image = _smaller(image, -(-max(image.shape[:2]) // _MOST_PIXELS) or 1)
    if image.dtype != np.uint8:
        image = np.nan_to_num(image.astype(np.float64))
        low, high = float(image.min(initial=0.0)), float(image.max(initial=0.0))
        if low < 0 or high > 255:
            image = (image - low) / (high - low)
        elif high > 1:
            image = image / 255
        image = np.round(255 * image).astype(np.uint8)
    # In a graph, since TensorFlow 1 behaviour may be on.
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        if max(image.shape[:2]) >= _LEAST_JPEG and image.shape[-1] != 4:
            return "jpeg", bytes(session.run(tf.io.encode_jpeg(image, quality=90)))
        return "png", bytes(session.run(tf.io.encode_png(image)))


def _smaller(image: np.ndarray, stride: int) -> np.ndarray:
    """Returns the means of squares of `stride` pixels; rows and columns that are left over go."""
    if stride == 1:
        return image
    height, width = (size // stride for size in image.shape[:2])
    if not height or not width:
        return image[::stride, ::stride]
    blocks = image[:height * stride, :width * stride].astype(np.float64).reshape(
        height, stride, width, stride, image.shape[-1])
    means = blocks.mean(axis=(1, 3))
    return np.round(means).astype(image.dtype) if image.dtype.kind in "iu" else means


def _data_uri(form: str, data: bytes) -> str:
    return f"data:image/{form};base64,{base64.b64encode(data).decode('ascii')}"
