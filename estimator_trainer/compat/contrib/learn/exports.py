"""SavedModels of Estimators of `tf.contrib.learn`, and when they are written.

Source: tensorflow/contrib/learn/python/learn of TensorFlow 1.15: export_strategy.py,
utils/saved_model_export_utils.py, utils/input_fn_utils.py and estimators/estimator.py.
"""

from __future__ import annotations

import collections
import inspect
import os
import time
from typing import Any, Callable, NamedTuple

import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging

from estimator_trainer.compat.contrib.learn.keys import MetricKey, PredictionKey, ProblemType

_DEFAULT_INPUTS, _DEFAULT_OUTPUTS = "default_input_alternative", "default_output_alternative"


class InputFnOps(NamedTuple):
    """Features, labels, and the placeholders that they come from."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(feature_spec: Any, default_batch_size: Any = None) -> Any:
    """Returns a function that returns the InputFnOps of serialized Examples.

    Args:
      feature_spec: As `tf.parse_example` takes it.
      default_batch_size: The batch's size; None for any.
    """
    def input_fn() -> InputFnOps:
        v1 = tf.compat.v1
        examples = v1.placeholder(tf.string, [default_batch_size], "input_example_tensor")
        return InputFnOps(v1.parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(features: Any, default_batch_size: Any = None) -> Any:
    """Returns a function that returns the InputFnOps of placeholders like the features given."""
    def input_fn() -> InputFnOps:
        made = {name: tf.compat.v1.placeholder(
            each.dtype, [default_batch_size, *each.shape.as_list()[1:]], each.op.name)
                for name, each in features.items()}
        return InputFnOps(made, None, made)

    return input_fn


class ExportStrategy(collections.namedtuple("ExportStrategy", [
        "name", "export_fn", "strip_default_attrs"])):
    """A name, and a function of an Estimator and a folder that exports."""

    def __new__(cls, name: str, export_fn: Callable[..., Any],
                strip_default_attrs: Any = None) -> Any:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any = None,
               eval_result: Any = None) -> Any:
        """Calls the function with those of its arguments that it has.

        Raises:
          ValueError: export_fn takes eval_result, but no checkpoint_path.
        """
        arguments = inspect.signature(self.export_fn).parameters
        if "eval_result" in arguments and "checkpoint_path" not in arguments:
            raise ValueError("An export_fn accepting eval_result must also accept "
                             "checkpoint_path.")
        options = {"checkpoint_path": checkpoint_path, "eval_result": eval_result,
                   "strip_default_attrs": self.strip_default_attrs}
        return self.export_fn(estimator, export_path, **{
            name: value for name, value in options.items() if name in arguments})


def make_export_strategy(serving_input_fn: Any, default_output_alternative_key: Any = None,
                         assets_extra: Any = None, as_text: bool = False,
                         exports_to_keep: Any = 5, strip_default_attrs: Any = None) -> Any:
    """Returns an ExportStrategy, called "Servo", that writes SavedModels and keeps a few.

    Args:
      serving_input_fn: Returns InputFnOps, or what a `tf.estimator.Estimator` needs.
      default_output_alternative_key, assets_extra, as_text, strip_default_attrs: As in
        `Estimator.export_savedmodel`.
      exports_to_keep: How many are kept; None for all.
    """
    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None,
                  strip_default_attrs: bool = False) -> Any:
        options = {"assets_extra": assets_extra, "as_text": as_text,
                   "checkpoint_path": checkpoint_path, "strip_default_attrs": strip_default_attrs}
        if not isinstance(estimator, tf.compat.v1.estimator.Estimator):
            options["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError("default_output_alternative_key is not supported in core Estimator. "
                             f"Given: {default_output_alternative_key}")
        found = estimator.export_savedmodel(export_dir_base, serving_input_fn, **options)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return found

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def make_parsing_export_strategy(feature_columns: Any, default_output_alternative_key: Any = None,
                                 assets_extra: Any = None, as_text: bool = False,
                                 exports_to_keep: Any = 5, target_core: bool = False,
                                 strip_default_attrs: Any = None) -> Any:
    """Returns `make_export_strategy` of Examples of feature columns of `tf.contrib.layers`."""
    from estimator_trainer.compat.contrib.layers import column_parsing
    spec = column_parsing.create_feature_spec_for_parsing(feature_columns)
    build = (tf.compat.v1.estimator.export.build_parsing_serving_input_receiver_fn if target_core
             else build_parsing_serving_input_fn)
    return make_export_strategy(build(spec), default_output_alternative_key, assets_extra, as_text,
                                exports_to_keep, strip_default_attrs)


def make_best_model_export_strategy(
        serving_input_fn: Any, exports_to_keep: Any = 1, model_dir: Any = None,
        event_file_pattern: Any = None, compare_fn: Any = None,
        default_output_alternative_key: Any = None, strip_default_attrs: Any = None) -> Any:
    """Returns an ExportStrategy, called "best_model", that exports what is better than before.

    Args:
      serving_input_fn, default_output_alternative_key, strip_default_attrs, exports_to_keep: As in
        `make_export_strategy`.
      model_dir, event_file_pattern: Event files, whose best evaluation has to be beaten.
      compare_fn: Whether the second of two evaluations is better; the lower loss by default.
    """
    strategy = make_export_strategy(serving_input_fn, default_output_alternative_key,
                                    exports_to_keep=exports_to_keep,
                                    strip_default_attrs=strip_default_attrs)
    is_better = compare_fn or _has_lower_loss
    best = [_best_of_events(os.path.join(model_dir, event_file_pattern), is_better)
            if model_dir and event_file_pattern else None]

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any,
                  eval_result: Any = None) -> Any:
        path = checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir)
        if not path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{path} has empty evaluation results.")
        if best[0] is not None and not is_better(best[0], eval_result):
            return ""
        best[0] = eval_result
        folder = os.path.join(export_dir_base, tf.compat.as_bytes(os.path.basename(path))
                              if isinstance(export_dir_base, bytes) else os.path.basename(path))
        return strategy.export(estimator, folder, path, eval_result)

    return ExportStrategy("best_model", export_fn)


def _has_lower_loss(best: Any, candidate: Any) -> bool:
    for name, result in (("curr_best_eval_result", best), ("cand_eval_result", candidate)):
        if not result or MetricKey.LOSS not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best[MetricKey.LOSS] > candidate[MetricKey.LOSS])


def _best_of_events(pattern: str, is_better: Any) -> Any:
    best = None
    for path in tf.io.gfile.glob(pattern):
        for event in tf.compat.v1.train.summary_iterator(path):
            if event.HasField("summary"):
                found = {each.tag: each.simple_value for each in event.summary.value
                         if each.HasField("simple_value")}
                best = found if best is None or is_better(best, found) else best
    return best


def garbage_collect_exports(export_dir_base: Any, exports_to_keep: Any) -> None:
    """Deletes all exports of a folder but the newest; None keeps all."""
    if exports_to_keep is None:
        return
    for version in sorted(_versions(export_dir_base))[:-exports_to_keep or None]:
        tf.io.gfile.rmtree(os.path.join(tf.compat.as_str_any(export_dir_base), version))


def get_most_recent_export(export_dir_base: Any) -> Any:
    """Returns the folder of the newest export, or None."""
    versions = _versions(export_dir_base)
    if not versions:
        return None
    return os.path.join(tf.compat.as_str_any(export_dir_base), max(versions))


def _versions(export_dir_base: Any) -> list[str]:
    if not tf.io.gfile.isdir(export_dir_base):
        return []
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(
        tf.compat.as_str_any(export_dir_base))]
    return [name for name in names if len(name) == 10 and name.isdigit()]


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """Returns a folder that is not there yet, called after the time, as bytes."""
    for _ in range(10):
        folder = os.path.join(tf.compat.as_bytes(export_dir_base), b"%d" % time.time())
        if not tf.io.gfile.exists(folder):
            return folder
        logging.warning("Export directory %s already exists; retrying", folder)
        time.sleep(1)
    raise RuntimeError("Failed to obtain a unique export directory name.")


def write(model_fn: Callable[[Any], Any], checkpoint: str, export_dir_base: Any,
          serving_input_fn: Any, default_key: Any, assets_extra: Any, as_text: bool,
          strip_default_attrs: bool) -> bytes:
    """Writes a SavedModel into a new folder, and returns that."""
    v1 = tf.compat.v1
    folder = get_timestamped_export_dir(export_dir_base)
    parent, name = os.path.split(folder)
    unfinished = os.path.join(parent, b"temp-" + name)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.train.create_global_step(graph)
        inputs = serving_input_fn()
        for key in inputs.features:
            graph.add_to_collection("input_feature_keys", key)
        model = model_fn(inputs.features)
        signatures = _signatures(inputs.default_inputs, model, default_key)
        saver = model.scaffold and model.scaffold.saver or v1.train.Saver(sharded=True)
        saver.restore(session, checkpoint)
        builder = v1.saved_model.Builder(tf.compat.as_str_any(unfinished))
        builder.add_meta_graph_and_variables(
            session, ["serve"], signature_def_map=signatures,
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.group(v1.local_variables_initializer(), v1.tables_initializer()),
            strip_default_attrs=strip_default_attrs)
        builder.save(as_text)
    for relative, source in (assets_extra or {}).items():
        target = os.path.join(tf.compat.as_str_any(unfinished), "assets.extra", relative)
        tf.io.gfile.makedirs(os.path.dirname(target))
        tf.io.gfile.copy(source, target)
    tf.io.gfile.rename(unfinished, folder)
    return folder


def _signatures(inputs: Any, model: Any, default_key: Any) -> dict[str, Any]:
    alternatives, default = output_alternatives(model, default_key)
    found = {f"{_DEFAULT_INPUTS}:{key}": _signature(inputs, *value)
             for key, value in alternatives.items()}
    return {**found, "serving_default": _signature(inputs, *alternatives[default])}


def output_alternatives(model: Any, default_key: Any) -> tuple[dict[Any, Any], Any]:
    """Returns a model's outputs by their keys, and the key of those that are the default.

    Raises:
      ValueError: There are several, and no default; or there is no such key.
    """
    alternatives = model.output_alternatives
    if not alternatives:
        outputs = model.predictions
        if not isinstance(outputs, dict):
            outputs = {PredictionKey.GENERIC: outputs}
        alternatives = {_DEFAULT_OUTPUTS: (ProblemType.UNSPECIFIED, outputs)}
    elif len(alternatives) > 1 and not default_key:
        raise ValueError("Please specify a default_output_alternative.  Available "
                         f"output_alternatives are: {sorted(alternatives)}")
    default = default_key or next(iter(alternatives))
    if default not in alternatives or default_key and not model.output_alternatives:
        raise ValueError(f"Requested default_output_alternative: {default_key}, but available "
                         f"output_alternatives are: {sorted(map(str, alternatives))}")
    return alternatives, default


def _signature(inputs: Any, problem_type: int, outputs: Any) -> Any:
    signatures = tf.compat.v1.saved_model.signature_def_utils
    classes = outputs.get(PredictionKey.CLASSES)
    if classes is not None and classes.dtype != tf.string:
        classes = None
    scores = outputs.get(PredictionKey.SCORES, outputs.get(PredictionKey.PROBABILITIES))
    if len(inputs) == 1 and len(outputs) == 1 and classes is None and scores is None:
        scores = next(iter(outputs.values()))
    is_classification = problem_type in (ProblemType.CLASSIFICATION,
                                         ProblemType.LOGISTIC_REGRESSION)
    if len(inputs) != 1 or not is_classification or classes is None and scores is None:
        if problem_type == ProblemType.LINEAR_REGRESSION and len(inputs) == len(outputs) == 1:
            return signatures.regression_signature_def(
                next(iter(inputs.values())), next(iter(outputs.values())))
        return signatures.predict_signature_def(inputs, outputs)
    return signatures.classification_signature_def(next(iter(inputs.values())), classes, scores)
