"""`predict`: the answers of a checkpoint or an export, in the order of the input."""

from typing import Any, Iterable, Iterator, Mapping

from absl import logging
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
from estimator_trainer.prediction import exported_model, json_instances, prediction_writer
from estimator_trainer.prediction.exported_model import ExportedModel
from estimator_trainer.prediction.json_instances import JsonInstances
from estimator_trainer.prediction.prediction_writer import PredictionWriter


def predict(plan: Plan) -> int:
    """Writes a line for each instance of --data, or of the input_fn's dataset in mode "infer".

    Each line holds the model's predictions and `key`, the instance's position in the input; with
    --forward_key the line holds that feature in place of the position. Returns the number of lines.
    """
    config = plan.config
    with prediction_writer.opened(config.output, is_stream=config.data == "-") as write:
        answers, class_names = _answers(plan)
        writer = PredictionWriter(class_names, config.output.endswith(".csv"),
                                  not config.forward_key)
        try:
            for answer in answers:
                write(writer.next_line(answer, config.with_inputs))
        finally:
            logging.info("predicted %d instance%s", writer.count, "s" * (writer.count != 1))
    return writer.count


def instances(plan: Plan, dicts: Iterable[Mapping[str, Any]] | None = None
              ) -> Iterator[dict[str, Any]]:
    """Yields the entry that `predict` writes for each instance, for a Python program.

    `dicts` are the instances, each by feature name; None: the instances of --data.
    """
    answers, class_names = _answers(plan, dicts)
    writer = PredictionWriter(class_names, has_key=not plan.config.forward_key)
    for answer in answers:
        yield writer.next_entry(answer, plan.config.with_inputs)


def _answers(plan: Plan, dicts: Iterable[Mapping[str, Any]] | None = None
             ) -> tuple[Iterator[Answer], tuple[str, ...]]:
    """Returns the answers, and the names of the classes."""
    config = plan.config
    model = ExportedModel(config.export_dir) if config.export_dir else None
    path = "" if model else offline.one_checkpoint(config, "predict")
    if model and model.features is not None and config.is_data_json and plan.params is not None:
        # The signature suffices, so the data and the plug-ins may be missing.
        names = loaded_plugins.class_names(plan.params.values)
        return _from_export(plan, model, _json(plan, model.features, dicts), {}), names
    plugins = loaded_plugins.load_for_prediction(plan)
    source = _json(plan, plugins.features, dicts) if config.is_data_json else plugins.input_fn
    answers = (_from_export(plan, model, source, plugins.params) if model else
               _from_checkpoint(plan, plugins, path, source))
    return answers, plugins.class_names


def _json(plan: Plan, features: Any, dicts: Iterable[Mapping[str, Any]] | None) -> JsonInstances:
    return JsonInstances(dicts, features) if dicts is not None else JsonInstances(
        json_instances.lines(plan.config.data), features, "line")


def _from_checkpoint(plan: Plan, plugins: LoadedPlugins, path: str,
                     source: InputFn | JsonInstances) -> Iterator[Answer]:
    single = builder.for_one_process(plan.config, plugins)
    hooks: list[Any] = [fits := CheckpointFit(plan.config, path)]
    if isinstance(source, JsonInstances):
        hooks.append(json_instances.Feeding(source))
    input_fn = source.input_fn if isinstance(source, JsonInstances) else source
    with fits.explained():
        for prediction in single.predict(_carrying(plan, input_fn), checkpoint_path=path,
                                         hooks=hooks):
            yield passthrough.answer(prediction)


def _carrying(plan: Plan, input_fn: InputFn) -> InputFn:
    assert plan.params is not None
    return passthrough.carrying(input_fn, plan.config.with_inputs,
                                loaded_plugins.identifiers(plan.params.values))


def _from_export(plan: Plan, model: ExportedModel, source: InputFn | JsonInstances,
                 params: dict[str, Any]) -> Iterator[Answer]:
    batches: Iterator[Any]
    if isinstance(source, JsonInstances):
        batches = (passthrough.mark(features, has_inputs=plan.config.with_inputs)
                   for features in source.batches())
    else:
        batches = read(_carrying(plan, source), params)
    for marked in batches:
        features, beside = passthrough.taken_apart(marked)
        named = features if isinstance(features, dict) else {json_instances.UNNAMED: features}
        if model.inputs == [exported_model.EXAMPLES]:
            named = {exported_model.EXAMPLES: exported_model.serialize(named)}
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
