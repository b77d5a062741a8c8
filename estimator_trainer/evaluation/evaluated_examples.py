"""Evaluated examples as a report shows them: classes, numbers, and the worst with their inputs."""

import base64
import collections
import heapq
import itertools
from typing import Annotated, Any, Mapping, Sequence, TypedDict

import numpy as np
import tensorflow as tf

from estimator_trainer import schema

_KEPT = 8
_MOST_FEATURES = 40
_MOST_NUMBERS = 12
_MOST_CHARACTERS = 600
_MOST_PIXELS = 96
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
        return {"text": value.decode("utf-8", "replace")[:_MOST_CHARACTERS]}
    if not isinstance(value, np.ndarray):
        return {"text": f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)}
    if value.ndim == 3 and value.shape[-1] in (1, 3, 4) and value.dtype.kind in "fiu":
        return {"image": _data_uri("png", _png(value))}
    flat = value.reshape([-1])[:_MOST_NUMBERS]
    texts = [_input(each)["text"] for each in flat]
    return {"text": ", ".join(texts) + (", ..." if value.size > len(flat) else "")}


def _png(image: np.ndarray) -> bytes:
    """Returns an image as PNG; values that are not bytes are scaled to the image's own range."""
    stride = -(-max(image.shape[:2]) // _MOST_PIXELS)
    image = image[::stride, ::stride]
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
        return bytes(session.run(tf.io.encode_png(image)))


def _data_uri(form: str, data: bytes) -> str:
    return f"data:image/{form};base64,{base64.b64encode(data).decode('ascii')}"


# A larger matrix is unreadable; the report then shows the pairs that are confused most often.
_MOST_CLASSES = 50
_MOST_PAIRS = 30
_MOST_ROWS = 500
_MOST_CURVES = 10
_BINS = 10
_THRESHOLDS = 51
_LEAST_PROBABILITY = 1e-12

# The number of examples of each label and prediction.
Pairs = collections.Counter[tuple[int, int]]

_PerClass = TypedDict("_PerClass", {
    "name": str, "examples": schema.Count, "precision": schema.Number | None,
    "recall": schema.Number | None})
_Confused = TypedDict("_Confused", {"label": str, "predicted": str, "count": schema.Count})
_Matrix = TypedDict("_Matrix", {"names": list[str], "counts": list[list[schema.Count]]})
_Bin = TypedDict("_Bin", {"examples": schema.Count, "certainty": schema.Number | None,
                          "accuracy": schema.Number | None})
_Calibration = TypedDict("_Calibration", {"bins": list[_Bin], "expected_error": schema.Number})
_PrCurve = TypedDict("_PrCurve", {
    "name": str, "true_positives": list[schema.Count], "false_positives": list[schema.Count],
    "positives": schema.Count})


def _is_square(matrix: _Matrix) -> bool:
    size = len(matrix["names"])
    return len(matrix["counts"]) == size and all(len(row) == size for row in matrix["counts"])


class _ClassificationNeeded(TypedDict):
    examples: schema.Count
    evaluated: schema.Count
    step: int
    per_class: list[_PerClass]
    confused: list[_Confused]
    matrix: Annotated[_Matrix, schema.Rule("counts of each pair of names", _is_square)] | None
    worst: list[ShownExample]
    most_certain: list[ShownExample]


class ClassificationContent(_ClassificationNeeded, total=False):
    """The content of `evaluation.json` for a classification; the last two need probabilities."""

    calibration: _Calibration
    pr_curves: list[_PrCurve]


class Classification:
    """Collects the label and the prediction of each example."""

    def __init__(self, class_names: Sequence[str] = ()):
        self._class_names = tuple(class_names)
        self._labels: list[int] = []
        self._classes: list[int] = []
        self._probabilities: list[np.ndarray] = []
        self._worst, self._most_certain = ShownExamples(), ShownExamples()

    def add(self, label: int, predicted: int, probabilities: np.ndarray | None,
            inputs: Mapping[str, Any]) -> None:
        """Adds one example; `probabilities` are float [classes], `inputs` the features by name."""
        position = len(self._labels)
        self._labels.append(label)
        self._classes.append(predicted)
        if probabilities is not None:
            self._probabilities.append(probabilities)
        if label == predicted:
            return
        shown: dict[str, Any] = {"position": position, "label": self._name(label),
                                 "predicted": self._name(predicted)}
        certainty = 0.0
        if probabilities is not None:
            certainty = float(probabilities[predicted])
            of_label = float(probabilities[label]) if label < len(probabilities) else 0.0
            shown |= {"probability": certainty, "probability_of_label": of_label}
            self._worst.offer(-np.log(max(of_label, _LEAST_PROBABILITY)), shown, inputs)
        self._most_certain.offer(certainty, shown, inputs)

    def content(self) -> dict[str, Any]:
        """Returns the content of `evaluation.json`."""
        labels, classes = np.array(self._labels), np.array(self._classes)
        pairs = collections.Counter(zip(self._labels, self._classes))
        found: dict[str, Any] = {
            "kind": "classification", "examples": len(labels),
            "accuracy": float(np.mean(labels == classes)),
            "per_class": self._per_class(pairs), "confused": self._confused(pairs),
            "matrix": self._matrix(pairs),
            "worst": self._worst.content(), "most_certain": self._most_certain.content()}
        if len(self._probabilities) == len(labels):
            probabilities = np.stack(self._probabilities)
            found["calibration"] = _calibration(probabilities, labels == classes, classes)
            found["pr_curves"] = [{"name": self._name(curve["class"]), **curve}
                                  for curve in _pr_curves(probabilities, labels)]
        return found

    def _name(self, number: int) -> str:
        return self._class_names[number] if number < len(self._class_names) else str(number)

    def _matrix(self, pairs: Pairs) -> dict[str, Any] | None:
        """Returns the classes' `names`, and `counts` with a row per label; None if too many."""
        count = max(max(map(max, pairs)) + 1, len(self._class_names))
        if count > _MOST_CLASSES:
            return None
        return {"names": [self._name(i) for i in range(count)],
                "counts": [[pairs[i, j] for j in range(count)] for i in range(count)]}

    def _confused(self, pairs: Pairs) -> list[dict[str, Any]]:
        wrong = Pairs({pair: count for pair, count in pairs.items() if pair[0] != pair[1]})
        return [{"label": self._name(label), "predicted": self._name(predicted), "count": count}
                for (label, predicted), count in wrong.most_common(_MOST_PAIRS)]

    def _per_class(self, pairs: Pairs) -> list[dict[str, Any]]:
        """Returns the precision, the recall and the examples of each class that was seen."""
        labelled, predicted = map(collections.Counter, (self._labels, self._classes))
        # The report shows the classes with the most examples, if there are thousands.
        shown = sorted({*labelled, *predicted}, key=lambda i: (-labelled[i], i))[:_MOST_ROWS]
        return [{"name": self._name(i), "examples": labelled[i],
                 "precision": pairs[i, i] / predicted[i] if predicted[i] else None,
                 "recall": pairs[i, i] / labelled[i] if labelled[i] else None}
                for i in sorted(shown)]


def _calibration(probabilities: np.ndarray, is_right: np.ndarray,
                 classes: np.ndarray) -> dict[str, Any]:
    """Compares the model's certainty with its accuracy, in ten bins of equal width.

    The expected calibration error: Guo et al., "On Calibration of Modern Neural Networks",
    arXiv:1706.04599, equation 3.
    """
    chosen = np.minimum(classes, probabilities.shape[1] - 1)
    certainty = probabilities[np.arange(len(chosen)), chosen]
    bins = np.minimum((certainty * _BINS).astype(int), _BINS - 1)
    found: list[dict[str, Any]] = []
    error = 0.0
    for i in range(_BINS):
        is_in = bins == i
        count = int(np.sum(is_in))
        sure, right = ((float(certainty[is_in].mean()), float(is_right[is_in].mean())) if count
                       else (None, None))
        found.append({"examples": count, "certainty": sure, "accuracy": right})
        error += count / len(bins) * abs((sure or 0.0) - (right or 0.0))
    return {"bins": found, "expected_error": error}


def _pr_curves(probabilities: np.ndarray, labels: np.ndarray) -> list[dict[str, Any]]:
    """Returns precision and recall at thresholds, of each class against all others.

    With two classes only the second has a curve; with more than ten, none has.
    """
    count = probabilities.shape[1]
    chosen = [1] if count == 2 else list(range(count)) if count <= _MOST_CURVES else []
    thresholds = np.linspace(0, 1, _THRESHOLDS)
    curves = []
    for number in chosen:
        is_label = labels == number
        taken = probabilities[:, number][None, :] >= thresholds[:, None]
        true_positives = np.sum(taken & is_label, axis=1)
        false_positives = np.sum(taken & ~is_label, axis=1)
        curves.append({
            "class": number, "thresholds": thresholds.tolist(),
            "true_positives": true_positives.tolist(), "false_positives": false_positives.tolist(),
            "positives": int(is_label.sum()), "negatives": int((~is_label).sum())})
    return curves


_REGRESSION_BINS = 30
_MOST_POINTS = 1000


_Residuals = TypedDict("_Residuals", {"counts": list[schema.Count], "edges": list[schema.Number]})
_Points = TypedDict("_Points", {"labels": list[schema.Number], "predictions": list[schema.Number]})


class RegressionContent(TypedDict):
    """The content of `evaluation.json` for a regression; sums of large numbers may be infinite."""

    examples: schema.Count
    evaluated: schema.Count
    step: int
    not_finite: schema.Count
    mean_error: float | None
    mean_absolute_error: float | None
    r_squared: float | None
    residuals: _Residuals
    points: _Points
    worst: list[ShownExample]


class Regression:
    """Collects the label and the prediction of each example."""

    def __init__(self) -> None:
        self._labels: list[float] = []
        self._predictions: list[float] = []
        self._worst = ShownExamples()

    def add(self, label: float, predicted: float, inputs: Mapping[str, Any]) -> None:
        """Adds one example; `inputs` are its features by name."""
        shown = {"position": len(self._labels), "label": label, "predicted": predicted}
        self._labels.append(label)
        self._predictions.append(predicted)
        if np.isfinite(predicted - label):
            self._worst.offer(abs(predicted - label), shown, inputs)

    def content(self) -> dict[str, Any]:
        """Returns the content of `evaluation.json`; a residual is prediction - label."""
        labels, predictions = np.array(self._labels), np.array(self._predictions)
        is_finite = np.isfinite(labels) & np.isfinite(predictions)
        labels, predictions = labels[is_finite], predictions[is_finite]
        residuals = predictions - labels
        counts, edges = np.histogram(residuals, _REGRESSION_BINS)
        points = np.linspace(0, len(labels) - 1, min(_MOST_POINTS, len(labels))).astype(int)
        spread = float(np.sum((labels - labels.mean()) ** 2)) if len(labels) else 0.0
        return {
            "kind": "regression", "examples": len(self._labels),
            "not_finite": int(np.sum(~is_finite)),
            "mean_error": float(residuals.mean()) if len(residuals) else None,
            "mean_absolute_error": float(np.abs(residuals).mean()) if len(residuals) else None,
            "r_squared": 1 - float(np.sum(residuals ** 2)) / spread if spread else None,
            "residuals": {"counts": counts.tolist(), "edges": edges.tolist()},
            "points": {"labels": labels[points].tolist(),
                       "predictions": predictions[points].tolist()},
            "worst": self._worst.content()}
