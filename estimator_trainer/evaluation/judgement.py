"""The judgement of a model: its predictions of the evaluation's examples, beside their labels.

An evaluation yields numbers alone. Here the model predicts the same examples once more, together
with their labels; `model_dir/evaluation.json` keeps what a report shows of them.
"""

import contextlib
import json
import posixpath
import time
from typing import Any, Callable, Generator, Iterator, Literal, Mapping, Sequence, TypedDict

from absl import logging
import tensorflow as tf

from estimator_trainer import errors, schema
from estimator_trainer.coordination import shared_files
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator import passthrough
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import columns, hints, kept_rows, read_answers
from estimator_trainer.evaluation.classification import Classification, ClassificationContent
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.evaluation.regression import Regression, RegressionContent

NAME = "evaluation.json"
# Enough for a report, and soon done.
_MOST_EXAMPLES = 5000
_MOST_SECS = 10.0


# The entry that selects the schema of the file.
_Kind = TypedDict("_Kind", {"kind": Literal["classification", "regression"]})


def write(single: tf.estimator.Estimator, plugins: LoadedPlugins, evaluations: EvaluationLog,
          eval_steps: int, stop: Stop, has_columns: bool = True) -> dict[str, Any] | None:
    """Writes `evaluation.json` of the checkpoint that was evaluated last, and returns its content.

    A model that cannot be judged is not a failure: the reason is logged, and None returned.

    Args:
      single: An Estimator of the model that computes in this process alone.
      plugins: The user's functions, adapted.
      evaluations: The log of evaluations, whose `on_batch` is called at times.
      eval_steps: The batches that an evaluation takes; 0: all.
      stop: Ends the judgement early.
      has_columns: Whether to find out which columns matter.
    """
    counted = evaluations.progress
    if not evaluations.checkpoint_path or not counted.examples:
        return None
    try:
        kept = kept_rows.KeptRows()
        answers = _answers(single, plugins, evaluations.checkpoint_path, eval_steps, kept)
        with contextlib.closing(answers):
            found = _judged(kept.passed(answers), plugins.class_names, stop, counted.on_batch)
        content = found.content() | _beside(plugins.params) | {
            "step": evaluations.step, "evaluated": counted.examples}
        if has_columns and stop.is_done:
            content["columns"] = columns.of_model(
                single, evaluations.checkpoint_path, kept, found.judged, stop, counted.on_batch)
        shared_files.write_text(posixpath.join(single.model_dir, NAME), json.dumps(content))
        for hint in hints.of_evaluation(content):
            logging.warning("%s.", hint)
        return content
    except Exception as error:  # pylint: disable=broad-except
        logging.info("the report shows no examples of the evaluation: %s",
                     errors.first_line(error) or type(error).__name__)
        return None


def _beside(params: Mapping[str, Any]) -> dict[str, str]:
    """Returns the names of the label, and of the weights that this judgement leaves out."""
    found = {"label": params.get("label"), "weight": params.get("weight_column")}
    return {key: name for key, name in found.items() if isinstance(name, str) and name}


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
             eval_steps: int, kept: kept_rows.KeptRows
             ) -> Generator[passthrough.Answer, None, None]:
    def input_fn(mode: str, params: dict[str, Any], config: Any = None) -> Any:
        del mode
        made = plugins.input_fn(tf.estimator.ModeKeys.EVAL, params, config)
        if isinstance(made, tf.data.Dataset):
            return (made.take(eval_steps) if eval_steps else made).map(kept.mark)
        batch = made if isinstance(made, tuple) else (made,)
        return kept.mark(*batch)

    for prediction in single.predict(input_fn, checkpoint_path=path):
        yield passthrough.answer(prediction)


def _judged(answers: Iterator[passthrough.Answer], class_names: Sequence[str], stop: Stop,
            on_batch: Callable[[], None]) -> Classification | Regression:
    """Returns what the answers show; raises ValueError for what is neither class nor number."""
    first = next(answers, None)
    if first is None or first.label is None:
        raise ValueError("the input_fn yields no labels in mode 'eval' that are one tensor")
    names = class_names or read_answers.all_classes(first.predictions)
    found = Classification(names) if read_answers.is_classified(first, names) else Regression()
    _add(found, first, names)
    until = time.monotonic() + _MOST_SECS
    for count, answer in enumerate(answers, start=2):
        _add(found, answer, names)
        if count >= _MOST_EXAMPLES or time.monotonic() > until or not stop.is_done:
            break
        if not count % 100:
            on_batch()
    return found


def _add(found: Classification | Regression, answer: passthrough.Answer,
         names: Sequence[str]) -> None:
    """Adds an answer; raises ValueError for another kind of answer."""
    if isinstance(found, Classification):
        label = read_answers.label_class(answer.label, names)
        probabilities, predicted = read_answers.chosen(answer.predictions)
        if label is None or predicted is None:
            raise ValueError("a label or a prediction is not a class")
        found.add(label, predicted, probabilities, answer.inputs)
        return
    target = read_answers.number(answer.label)
    output = read_answers.number(read_answers.only_output(answer.predictions))
    if target is None or output is None:
        raise ValueError("labels and predictions are neither classes nor single numbers")
    found.add(target, output, answer.inputs)
