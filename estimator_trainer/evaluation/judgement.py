"""The judgement of a model: its predictions of the evaluation's examples, beside their labels.

An evaluation yields numbers alone. Here the model predicts the same examples once more, together
with their labels; `model_dir/evaluation.json` keeps what a report shows of them.
"""

import contextlib
import functools
import json
import posixpath
import time
from typing import Any, Callable, Generator, Iterator, Literal, Mapping, Sequence, TypedDict

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors, schema
from estimator_trainer.coordination import shared_files
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator import passthrough
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import hints
from estimator_trainer.evaluation.evaluated_examples import (Classification, ClassificationContent,
                                                             Regression, RegressionContent)
from estimator_trainer.evaluation.evaluation_log import EvaluationLog

NAME = "evaluation.json"
# Enough for a report, and soon done.
_MOST_EXAMPLES = 5000
_MOST_SECS = 10.0
_CLASSES = ("class_ids", "classes", "class_id")
_NAME = "class"


# The entry that selects the schema of the file.
_Kind = TypedDict("_Kind", {"kind": Literal["classification", "regression"]})


def write(single: tf.estimator.Estimator, plugins: LoadedPlugins, evaluations: EvaluationLog,
          eval_steps: int, stop: Stop) -> dict[str, Any] | None:
    """Writes `evaluation.json` of the checkpoint that was evaluated last, and returns its content.

    A model that cannot be judged is not a failure: the reason is logged, and None returned.

    Args:
      single: An Estimator of the model that computes in this process alone.
      plugins: The user's functions, adapted.
      evaluations: The log of evaluations, whose `on_batch` is called at times.
      eval_steps: The batches that an evaluation takes; 0: all.
      stop: Ends the judgement early.
    """
    counted = evaluations.progress
    if not evaluations.checkpoint_path or not counted.examples:
        return None
    try:
        answers = _answers(single, plugins, evaluations.checkpoint_path, eval_steps)
        with contextlib.closing(answers):
            content = _judged(answers, plugins.class_names, stop, counted.on_batch)
        content |= {"step": evaluations.step, "evaluated": counted.examples}
        shared_files.write_text(posixpath.join(single.model_dir, NAME), json.dumps(content))
        for hint in hints.of_evaluation(content):
            logging.warning("%s.", hint)
        return content
    except Exception as error:  # pylint: disable=broad-except
        logging.info("the report shows no examples of the evaluation: %s",
                     errors.first_line(error) or type(error).__name__)
        return None


def read(model_dir: str, warn_of: shared_files.Warn | None = None) -> dict[str, Any] | None:
    """Returns the content of `evaluation.json`; None if the file is missing or damaged.

    `warn_of` takes the sentence about a damaged file; None: the sentence is logged.
    """
    return shared_files.read_or_warn(
        _parsed, posixpath.join(model_dir, NAME),
        "The report leaves the file out. The next final evaluation writes the file again.", warn_of)


def _parsed(text: str) -> dict[str, Any]:
    """Returns the content of `evaluation.json`; raises SchemaError for another schema."""
    content = schema.decoded(text)
    kinds: dict[str, type[Any]] = {
        "classification": ClassificationContent, "regression": RegressionContent}
    found: dict[str, Any] = schema.made(kinds[schema.made(_Kind, content)["kind"]], content)
    return found


def _answers(single: tf.estimator.Estimator, plugins: LoadedPlugins, path: str,
             eval_steps: int) -> Generator[passthrough.Answer, None, None]:
    def input_fn(mode: str, params: dict[str, Any], config: Any = None) -> Any:
        del mode
        made = plugins.input_fn(tf.estimator.ModeKeys.EVAL, params, config)
        if isinstance(made, tf.data.Dataset):
            return (made.take(eval_steps) if eval_steps else made).map(
                functools.partial(passthrough.mark, has_inputs=True, most_rank=4))
        batch = made if isinstance(made, tuple) else (made,)
        return passthrough.mark(*batch, has_inputs=True, most_rank=4)

    for prediction in single.predict(input_fn, checkpoint_path=path):
        yield passthrough.answer(prediction)


def _judged(answers: Iterator[passthrough.Answer], class_names: Sequence[str], stop: Stop,
            on_batch: Callable[[], None]) -> dict[str, Any]:
    """Returns the content of the file; raises ValueError for what is neither class nor number."""
    first = next(answers, None)
    if first is None or first.label is None:
        raise ValueError("the input_fn yields no labels in mode 'eval' that are one tensor")
    names = class_names or _all_classes(first.predictions)
    found = Classification(names) if _is_classified(first, names) else Regression()
    _add(found, first, names)
    until = time.monotonic() + _MOST_SECS
    for count, answer in enumerate(answers, start=2):
        _add(found, answer, names)
        if count >= _MOST_EXAMPLES or time.monotonic() > until or stop.request:
            break
        if not count % 100:
            on_batch()
    return found.content()


def _add(found: Classification | Regression, answer: passthrough.Answer,
         names: Sequence[str]) -> None:
    """Adds an answer; raises ValueError for another kind of answer."""
    if isinstance(found, Classification):
        label = _label_class(answer.label, names)
        probabilities, predicted = _chosen(answer.predictions)
        if label is None or predicted is None:
            raise ValueError("a label or a prediction is not a class")
        found.add(label, predicted, probabilities, answer.inputs)
        return
    target, output = _number(answer.label), _number(_only_output(answer.predictions))
    if target is None or output is None:
        raise ValueError("labels and predictions are neither classes nor single numbers")
    found.add(target, output, answer.inputs)


def _is_classified(answer: passthrough.Answer, names: Sequence[str]) -> bool:
    probabilities, predicted = _chosen(answer.predictions)
    has_class = predicted is not None and _label_class(answer.label, names) is not None
    # A single number between 0 and 1 may be a probability, if the labels are classes.
    is_sigmoid = "logistic" not in answer.predictions and probabilities is not None and (
        np.size(_only_output(answer.predictions)) == 1)
    return has_class and not (is_sigmoid and np.asarray(answer.label).dtype.kind == "f")


def _label_class(label: Any, names: Sequence[str]) -> int | None:
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


def _chosen(predictions: Mapping[str, Any]) -> tuple[np.ndarray | None, int | None]:
    """Returns the probabilities of the classes, or None, and the class that the model chose."""
    number = next((np.asarray(predictions[key]) for key in _CLASSES if key in predictions), None)
    predicted = (int(number.reshape([-1])[0]) if number is not None and number.size == 1 and
                 number.dtype.kind in "iu" else None)
    vector = np.asarray(predictions["probabilities"] if "probabilities" in predictions else
                        predictions["logistic"] if "logistic" in predictions else
                        _only_output(predictions))
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


def _all_classes(predictions: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of the classes that canned Estimators predict for each example."""
    names = np.asarray(predictions.get("all_classes", ())).reshape([-1])
    texts = tuple(map(tf.compat.as_str_any, names))
    return () if texts == tuple(map(str, range(len(texts)))) else texts


def _only_output(predictions: Mapping[str, Any]) -> Any:
    """Returns `predictions`, `logits` or the only output of a model without probabilities."""
    for key in ("predictions", "logits"):
        if key in predictions:
            return predictions[key]
    others = [value for name, value in predictions.items() if name not in (*_CLASSES, _NAME)]
    if _NAME not in predictions or len(others) != 1:
        others = list(predictions.values())
    return others[0] if len(others) == 1 else np.zeros([0, 0])


def _number(value: Any) -> float | None:
    array = np.asarray(value)
    return float(array.reshape([-1])[0]) if array.size == 1 and array.dtype.kind in "fiub" else None
