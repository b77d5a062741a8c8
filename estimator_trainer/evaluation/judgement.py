"""The judgement of a model: its predictions of the evaluation's examples, beside their labels.

An evaluation yields numbers alone. Here the model predicts the same examples once more, together
with their labels; `model_dir/evaluation.json` keeps what a report shows of them.
"""

import contextlib
import itertools
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
from estimator_trainer.evaluation import column_entries, hints, kept_rows, ranking, read_answers
from estimator_trainer.evaluation.classification import Classification, ClassificationContent
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.evaluation.multi_label import MultiLabel, MultiLabelContent
from estimator_trainer.evaluation.ranking import Ranking, RankingContent
from estimator_trainer.evaluation.regression import Regression, RegressionContent

NAME = "evaluation.json"
# Enough for a report, and soon done.
_MOST_EXAMPLES = 5000
_MOST_SECS = 10.0
# The kind of the model is that of its first answers.
_LOOKED_AT = 100


# The entry that selects the schema of the file.
_Kind = TypedDict("_Kind", {
    "kind": Literal["classification", "regression", "multi_label", "ranking"]})
_Found = Classification | Regression | MultiLabel | Ranking


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
            found = _judged(kept.passed(answers), plugins.class_names, stop, counted.on_batch,
                            evaluations.metrics)
        content = found.content() | _beside(plugins.params) | {
            "step": evaluations.step, "evaluated": counted.examples}
        if has_columns and stop.is_done and found.judged is not None:
            content |= column_entries.of_evaluation(
                column_entries.Model(single, evaluations.checkpoint_path, plugins), kept,
                found.judged, stop, counted.on_batch)
        shared_files.write_text(posixpath.join(single.model_dir, NAME), json.dumps(content))
        for hint in hints.of_evaluation(content, plugins.params):
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
        "classification": ClassificationContent, "regression": RegressionContent,
        "multi_label": MultiLabelContent, "ranking": RankingContent}
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
            on_batch: Callable[[], None], metrics: Mapping[str, Any] | None = None) -> _Found:
    """Returns what the answers show; raises ValueError for what is neither class nor number."""
    until = time.monotonic() + _MOST_SECS
    first = list(itertools.islice(answers, _LOOKED_AT))
    if not first or first[0].label is None:
        raise ValueError("the input_fn yields no labels in mode 'eval' that are one tensor")
    names = class_names or read_answers.all_classes(first[0].predictions)
    found = _kind(first, names, metrics)
    for count, answer in enumerate(itertools.chain(first, answers), start=1):
        _add(found, answer, names)
        if count >= _MOST_EXAMPLES or time.monotonic() > until or not stop.is_done:
            break
        if not count % 100:
            on_batch()
    return found


def _kind(first: Sequence[passthrough.Answer], names: Sequence[str],
          metrics: Mapping[str, Any] | None) -> _Found:
    """Returns an empty judgement of the kind of the first answers."""
    if ranking.is_ranked(metrics or {}) and read_answers.ranked(first[0]):
        return Ranking()
    if read_answers.has_several_labels(first):
        return MultiLabel(names or read_answers.names_of_labels(first[0].predictions))
    return Classification(names) if read_answers.is_classified(first[0], names) else Regression()


def _add(found: _Found, answer: passthrough.Answer,
         names: Sequence[str]) -> None:
    """Adds an answer; raises ValueError for another kind of answer."""
    if isinstance(found, (MultiLabel, Ranking)):
        read_pair = read_answers.ranked if isinstance(found, Ranking) else read_answers.labels_of
        pair = read_pair(answer)
        if pair is None:
            raise ValueError("the labels or the predictions of an example are of another kind")
        found.add(*pair) if isinstance(found, Ranking) else found.add(*pair, answer.inputs)
        return
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
