"""`predict`: the answers of a checkpoint or an export, in the order of the input."""

from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.estimator import builder, loaded_plugins, passthrough
from estimator_trainer.estimator.input_fn_adapter import InputFn
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.passthrough import Answer
from estimator_trainer.estimator.starting_checkpoint import CheckpointFit
from estimator_trainer.evaluation import offline
from estimator_trainer.input import read_batches
from estimator_trainer.plugins.params import class_names
from estimator_trainer.prediction import exported_model, json_instances, output_file, typed_rows
from estimator_trainer.prediction.exported_model import ExportedModel
from estimator_trainer.prediction.input_rows import InputRows
from estimator_trainer.prediction.json_instances import JsonInstances
from estimator_trainer.prediction.prediction_writer import PredictionWriter
from estimator_trainer.record import record_file


class Found(NamedTuple):
    """The answers to all instances, and what is known of them.

    Attributes:
      answers: What the model predicts, in order.
      class_names: The names of the classes.
      kind: The kind of file that the data are in, or "".
      inputs: The inputs to write beside the answers, as they came; None if the answers have them.
      has_position: Whether the position is the key, since nothing else is.
    """

    answers: Iterator[Answer]
    class_names: tuple[str, ...]
    kind: str = output_file.JSON
    inputs: InputRows | None = None
    has_position: bool = True


def predict(plan: Plan) -> int:
    """Writes the answer for each instance of --data, or of the input_fn's data in mode "infer".

    Each has the model's predictions and `key`, the instance's position in the input; with
    --forward_key it has that feature or column in place of the position. Returns the number of
    instances.
    """
    output = plan.config.output
    with output_file.opened(output, is_stream=plan.config.data == "-") as write:
        found = answered(plan)
        return write_answers(plan, found, output_file.kind_of(output, found.kind), write)


def write_answers(plan: Plan, found: Found, kind: str, write: output_file.Write) -> int:
    """Writes the answers as a file of a kind; returns the number of instances."""
    config = plan.config
    writer = PredictionWriter(found.class_names, kind == output_file.CSV, found.has_position,
                              kind in output_file.TYPED, config.all)
    try:
        if kind in output_file.TYPED:
            rows = (writer.next_row(answer, config.with_inputs and not found.inputs)
                    for answer in found.answers)
            typed_rows.write(typed_rows.tables(rows, found.inputs), kind, write)
        else:
            for answer in with_inputs(found):
                write(writer.next_line(answer, config.with_inputs).encode())
    finally:
        logging.info("predicted %d instance%s", writer.count, "s" * (writer.count != 1))
    return writer.count


def instances(plan: Plan, dicts: Iterable[Mapping[str, Any]] | None = None
              ) -> Iterator[dict[str, Any]]:
    """Yields the entry that `predict` writes for each instance, for a Python program.

    `dicts` are the instances, each by feature name; None: the instances of --data.
    """
    found = answered(plan, dicts)
    writer = PredictionWriter(found.class_names, has_key=found.has_position,
                              is_all=plan.config.all)
    for answer in with_inputs(found):
        yield writer.next_entry(answer, plan.config.with_inputs)


def answered(plan: Plan, dicts: Iterable[Mapping[str, Any]] | None = None,
             model: ExportedModel | None = None) -> Found:
    """Returns the answers to the instances of --data, or to dicts, each by feature name.

    `model` is the export, if it is loaded already.
    """
    config = plan.config
    if config.export_dir and model is None:
        model = ExportedModel(config.export_dir)
    path = "" if model else offline.one_checkpoint(config, "predict")
    if model and model.features is not None and config.is_data_json and plan.params is not None:
        return _of_signature(plan, model, dicts)
    plugins = loaded_plugins.load_for_prediction(plan)
    key = plugins.key_column
    keys: Iterator[Any] | None
    if config.is_data_json:
        lines = _json(plan, plugins.features, dicts, plugins.instance_problem, key)
        source: InputFn | JsonInstances = lines
        kind, inputs, keys = output_file.JSON, None, lines.keys()
    else:
        kind, inputs, keys = _stored(plan, plugins)
        source = _carrying(plan, plugins.input_fn, has_inputs=not inputs)
    is_feature = loaded_plugins.is_key_feature(plan, plugins.features)
    passed = "" if is_feature else config.forward_key
    answers = (_from_export(plan, model, source, plugins.params, passed) if model else
               _from_checkpoint(plan, plugins, path, source))
    return Found(_keyed(answers, passed, keys if key else None), plugins.class_names, kind, inputs,
                 not key and not is_feature)


def _of_signature(plan: Plan, model: ExportedModel,
                  dicts: Iterable[Mapping[str, Any]] | None) -> Found:
    """Returns an export's answers to JSON, for which the data and the plug-ins may be missing."""
    assert plan.params is not None
    features = record_file.features_of(plan.recorded) or model.features
    key = "" if loaded_plugins.is_key_feature(plan, features) else plan.config.forward_key
    assert model.features is not None
    problem_of = loaded_plugins.instance_problem(plan, model.features)
    lines = _json(plan, model.features, dicts, problem_of, key)
    return Found(_keyed(_from_export(plan, model, lines, {}, key), key, lines.keys()),
                 class_names(plan.params.values), has_position=not plan.config.forward_key)


def _keyed(answers: Iterator[Answer], key: str, keys: Iterator[Any] | None) -> Iterator[Answer]:
    """Returns the answers with the keys of their instances, which come as they are in the data."""
    if not key:
        return answers
    # The input_fn, or an export, may have it as text.
    answers = (answer if key not in answer.predictions else answer._replace(predictions={
        name: value for name, value in answer.predictions.items() if name != key})
               for answer in answers)
    return answers if keys is None else (
        answer._replace(predictions={key: value, **answer.predictions})
        for answer, value in zip(answers, keys, strict=True))


def _stored(plan: Plan, plugins: LoadedPlugins
            ) -> tuple[str, InputRows | None, Iterator[Any] | None]:
    """Returns the kind of the data, and the inputs to write as they came, if they can be read so.

    The texts of a CSV file are for another one; elsewhere a number is a number, and the keys that
    are no feature are by themselves.
    """
    if plugins.rows_to_predict is None:
        return output_file.kind_of_name(plan.config.data), None, None
    stored = loaded_plugins.stored_rows(plugins.rows_to_predict, plugins.params, plugins.key_column)
    is_typed = stored.kind in ("", *output_file.TYPED)
    key = [plugins.key_column] if plugins.key_column else []
    if not is_typed and output_file.kind_of(plan.config.output, stored.kind) != output_file.CSV:
        keys = (row[key[0]] for row in InputRows(stored.batches, key).rows()) if key else None
        return stored.kind, None, keys
    identifiers = (*getattr(stored, "identifiers", ()), *_identifiers(plan))
    names = [*key, *(stored.names if plan.config.with_inputs else
                     (name for name in identifiers if name in stored.names))]
    inputs = InputRows(stored.batches, list(dict.fromkeys(names))) if names else None
    return stored.kind, inputs, None


def with_inputs(found: Found) -> Iterator[Answer]:
    """Returns the answers with their inputs."""
    if found.inputs is None:
        return found.answers
    return (answer._replace(inputs=row)
            for answer, row in zip(found.answers, found.inputs.rows(), strict=True))


def _json(plan: Plan, features: Any, dicts: Iterable[Mapping[str, Any]] | None,
          problem_of: Callable[[Mapping[str, Any]], str] | None = None,
          key: str = "") -> JsonInstances:
    assert plan.params is not None
    if key and isinstance(features, dict):
        features = {name: spec for name, spec in features.items() if name != key}
    beside = loaded_plugins.beside(plan.params.values)
    has_missing = bool(plan.params.values.get("table_columns"))
    lines = json_instances.lines(plan.config.data) if dicts is None else dicts
    made = JsonInstances(lines, features, "line" if dicts is None else "instance", beside,
                         has_missing, problem_of)
    if key:
        made.keep(key, loaded_plugins.is_key_demanded(plan))
    return made


def _from_checkpoint(plan: Plan, plugins: LoadedPlugins, path: str,
                     source: InputFn | JsonInstances) -> Iterator[Answer]:
    single = builder.for_one_process(plan.config, plugins)
    hooks: list[Any] = [fits := CheckpointFit(plan.config, path)]
    if isinstance(source, JsonInstances):
        hooks.append(json_instances.Feeding(source))
    input_fn = _carrying(plan, source.input_fn) if isinstance(source, JsonInstances) else source
    with fits.explained():
        for prediction in single.predict(input_fn, checkpoint_path=path, hooks=hooks):
            yield passthrough.answer(prediction)


def _carrying(plan: Plan, input_fn: InputFn, has_inputs: bool = True) -> InputFn:
    """Returns an input_fn with the labels, and maybe the inputs, to write beside the answers."""
    if not has_inputs:
        return passthrough.carrying(input_fn, False)
    return passthrough.carrying(input_fn, plan.config.with_inputs, _identifiers(plan))


def _identifiers(plan: Plan) -> tuple[str, ...]:
    assert plan.params is not None
    return loaded_plugins.identifiers(plan.params.values)


def _from_export(plan: Plan, model: ExportedModel, source: InputFn | JsonInstances,
                 params: dict[str, Any], key: str) -> Iterator[Answer]:
    """Yields an export's answers; a key that is no feature goes into it as an empty text."""
    batches: Iterator[Any]
    if isinstance(source, JsonInstances):
        batches = (passthrough.mark(features, has_inputs=plan.config.with_inputs)
                   for features in source.batches())
    else:
        batches = read(source, params)
    for marked in batches:
        features, beside = passthrough.taken_apart(marked)
        named = features if isinstance(features, dict) else {json_instances.UNNAMED: features}
        if model.inputs == [exported_model.EXAMPLES]:
            named = {exported_model.EXAMPLES: exported_model.serialize(named)}
        elif key and key in model.inputs and key not in named:
            size = exported_model.size_of(next(iter(named.values())))
            named = {**named, key: np.full([size], b"", object)}
        missing = sorted(set(model.inputs) - set(named))
        if missing:
            raise errors.ConfigError(
                f"the export {plan.config.export_dir} takes {', '.join(model.inputs)}, but"
                f" the input_fn yields only {', '.join(sorted(named))}.")
        yield from passthrough.answers(model.predict(named), beside)


def read(input_fn: InputFn, params: dict[str, Any]) -> Iterator[Any]:
    """Yields the features of each batch to predict, as numpy arrays, in order."""
    return read_batches.values(
        lambda: input_fn(tf.estimator.ModeKeys.PREDICT, params),
        lambda batch: batch[0] if isinstance(batch, tuple) else batch)
