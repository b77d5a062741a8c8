"""The meaning of an answer of a model: class, probabilities or number, beside the label.

The names are those of canned Estimators, of Keras and of the model_fns here.
"""

from typing import Any, Mapping, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer.estimator import passthrough

CLASSES = ("class_ids", "classes", "class_id")
_NAME = "class"


def is_classified(answer: passthrough.Answer, names: Sequence[str]) -> bool:
    """Returns whether an answer is a class, and not a number."""
    probabilities, predicted = chosen(answer.predictions)
    has_class = predicted is not None and label_class(answer.label, names) is not None
    # A single number between 0 and 1 may be a probability, if the labels are classes.
    is_sigmoid = "logistic" not in answer.predictions and probabilities is not None and (
        np.size(only_output(answer.predictions)) == 1)
    return has_class and not (is_sigmoid and np.asarray(answer.label).dtype.kind == "f")


def labels_of(answer: passthrough.Answer) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns which of several labels an example has, bool [labels], and their probabilities.

    None: the label is no vector of 0 and 1, or the model has no output of its size.
    """
    label, predictions = np.asarray(answer.label), answer.predictions
    key = "probabilities" if "probabilities" in predictions else "logits"
    output = np.asarray(predictions[key] if key in predictions else only_output(predictions))
    is_pair = label.ndim == output.ndim == 1 and label.size == output.size > 1
    if not is_pair or label.dtype.kind not in "fiub" or output.dtype.kind != "f" or not (
            np.all((label == 0) | (label == 1)) and np.all(np.isfinite(output))):
        return None
    output = output.astype(np.float64)
    if np.any((output < 0) | (output > 1)):
        output = 1 / (1 + np.exp(-np.clip(output, -700, 700)))
    return label == 1, output


def has_several_labels(answers: Sequence[passthrough.Answer]) -> bool:
    """Returns whether examples have several labels each; that first ones have one may be chance."""
    found = [labels_of(answer) for answer in answers]
    if None in found:
        return False
    counts = {int(pair[0].sum()) for pair in found if pair is not None}
    if counts - {1} and counts - {0}:
        return True
    # Probabilities of classes that exclude each other have the sum 1.
    return all("probabilities" in answer.predictions and abs(
        float(np.sum(answer.predictions["probabilities"])) - 1) > 1e-2 for answer in answers)


def names_of_labels(predictions: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the vocabulary that TensorFlow's MultiLabelHead predicts for each example."""
    names = np.asarray(predictions.get("classes", ())).reshape([-1])
    return tuple(map(tf.compat.as_str_any, names)) if names.dtype.kind in "OSU" else ()


def ranked(answer: passthrough.Answer) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns labels and scores of an example, or of a query; None if they are not numbers."""
    label, output = (np.asarray(each).reshape([-1]) for each in (
        answer.label, only_output(answer.predictions)))
    if label.size != output.size or not {label.dtype.kind, output.dtype.kind} <= set("fiub"):
        return None
    return label.astype(np.float64), output.astype(np.float64)


def label_class(label: Any, names: Sequence[str]) -> int | None:
    """Returns the class of a label: a number, a name, or a vector with a 1 at its place."""
    value = np.asarray(label)
    if value.size > 1:
        is_one_hot = value.ndim == 1 and np.sum(value == 1) == 1 and np.sum(value == 0) == (
            value.size - 1)
        return int(np.argmax(value)) if is_one_hot else None
    item = value.reshape([-1])[0] if value.size else None
    if isinstance(item, bytes):
        item = item.decode("utf-8", "replace")
    if isinstance(item, str):
        return list(names).index(item) if item in names else None
    if item is None or not np.isfinite(item) or float(item) != int(item) or item < 0:
        return None
    return int(item)


def chosen(predictions: Mapping[str, Any]) -> tuple[np.ndarray | None, int | None]:
    """Returns the probabilities of the classes, or None, and the class that the model chose."""
    classes = next((np.asarray(predictions[key]) for key in CLASSES if key in predictions), None)
    predicted = (int(classes.reshape([-1])[0]) if classes is not None and classes.size == 1 and
                 classes.dtype.kind in "iu" else None)
    vector = np.asarray(predictions["probabilities"] if "probabilities" in predictions else
                        predictions["logistic"] if "logistic" in predictions else
                        only_output(predictions))
    if vector.dtype.kind != "f" or vector.ndim > 1 or not np.all(np.isfinite(vector)):
        return None, predicted
    probabilities = _probabilities(vector.astype(np.float64).reshape([-1]))
    if predicted is None and probabilities is not None:
        predicted = int(np.argmax(probabilities))
    return probabilities, predicted


def _probabilities(vector: np.ndarray) -> np.ndarray | None:
    """Reads one number as the probability of class 1, and numbers of another sum as logits."""
    if vector.size == 1:
        return np.array([1 - vector[0], vector[0]]) if 0 <= vector[0] <= 1 else None
    if np.all(vector >= 0) and abs(vector.sum() - 1) < 1e-2:
        return vector
    powers = np.exp(vector - vector.max())
    return powers / powers.sum()


def probabilities_of_batch(matrix: np.ndarray) -> np.ndarray | None:
    """Returns what `chosen` reads as probabilities, of a batch's outputs [rows, outputs]."""
    if not np.all(np.isfinite(matrix)):
        return None
    if matrix.shape[1] == 1:
        return np.hstack([1 - matrix, matrix]) if 0 <= matrix.min() <= matrix.max() <= 1 else None
    if np.all(matrix >= 0) and np.all(np.abs(matrix.sum(axis=1) - 1) < 1e-2):
        return matrix
    powers = np.exp(matrix - matrix.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def all_classes(predictions: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of the classes that canned Estimators predict for each example."""
    names = np.asarray(predictions.get("all_classes", ())).reshape([-1])
    texts = tuple(map(tf.compat.as_str_any, names))
    return () if texts == tuple(map(str, range(len(texts)))) else texts


def only_output(predictions: Mapping[str, Any]) -> Any:
    """Returns `predictions`, `logits` or the only output of a model without probabilities."""
    for key in ("predictions", "logits"):
        if key in predictions:
            return predictions[key]
    others = [value for name, value in predictions.items() if name not in (*CLASSES, _NAME)]
    if _NAME not in predictions or len(others) != 1:
        others = list(predictions.values())
    return others[0] if len(others) == 1 else np.zeros([0, 0])


def number(value: Any) -> float | None:
    """Returns the only number of an array; None if there is not one number."""
    array = np.asarray(value)
    return float(array.reshape([-1])[0]) if array.size == 1 and array.dtype.kind in "fiub" else None
