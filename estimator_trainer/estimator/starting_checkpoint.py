"""The checkpoint that a model starts from: whether it fits, and the choice of a warm start.

TensorFlow's own warm start takes only trainable variables. This one takes every variable of the
model that the checkpoint has, such as the statistics of batch norm, but neither those of optimizers
nor the global step.
"""

import contextlib
import dataclasses
import posixpath
import re
from typing import Any, Iterator, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer.coordination import checkpoints
from estimator_trainer.errors import ConfigError, Problem, Setting, worded
from estimator_trainer.graph import graph_state, operations
from estimator_trainer.input import batches
from estimator_trainer.settings import conflicts
from estimator_trainer.settings.trainer_config import TrainerConfig

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_REPLICA_OR_PART = re.compile(r"/(part|replica)_\d+")


class CheckpointFit(tf.estimator.SessionRunHook):
    """Compares the model with the checkpoint that it is restored from."""

    def __init__(self, config: TrainerConfig, path: str = ""):
        """Makes the hook; `path` is the checkpoint, "" the latest, which training resumes from."""
        self._config, self._path, self._misfit = config, path, ""

    def begin(self) -> None:
        path = self._path or checkpoints.latest(self._config.model_dir)
        if path:
            self._misfit = _misfit(path, tf.compat.v1.global_variables())
            if self._config.warm_start_from and not self._path:
                logging.warning("warm_start_from is ignored: training resumes from %s", path)

    def after_create_session(self, session: Any, coord: Any) -> None:
        # A resource variable of another shape is restored without an error, and then broadcasts.
        for variable in tf.compat.v1.global_variables() if self._misfit else []:
            if variable.shape.is_fully_defined() and (
                    session.run(variable).shape != tuple(variable.shape.as_list())):
                raise ConfigError(self._misfit)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._misfit = ""

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Raises a ConfigError for a failure, up to the first step, that the checkpoint causes."""
        try:
            yield
        except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError) as error:
            if self._misfit:
                raise ConfigError(self._misfit) from error
            raise


def _misfit(path: str, variables: list[Any]) -> str:
    reader = tf.train.load_checkpoint(path)
    saved = reader.get_variable_to_shape_map()
    # Replicas and parts of variables are saved under the whole variable's name.
    model = {variable.op.name: variable.shape for variable in variables
             if not _REPLICA_OR_PART.search(variable.op.name)}
    missing = model.keys() - saved.keys()
    shapes = [f"{name} is {saved[name]} there, {shape.as_list()} in the model"
              for name, shape in model.items()
              if name in saved and not shape.is_compatible_with(saved[name])]
    if not missing and not shapes:
        return ""
    lines = [f"checkpoint {path} does not fit the model:"]
    lines += [f"  {title}: {operations.some(entries)}" for title, entries in (
        ("not in the checkpoint", missing), ("of another shape", shapes),
        ("only in the checkpoint", saved.keys() - model.keys())) if entries]
    example = worded(" ", ", ").join(str(Setting(name, value)) for name, value in (
        ("model_dir", "NEW"), ("warm_start_from", "OLD"), ("warm_start_vars", "REGEX")))
    lines.append("Use the model and the params that wrote it, or another model_dir; for example"
                 f" {example}")
    return "\n".join(lines)


@dataclasses.dataclass
class _Choice:
    """The variables of the model, by name, that a warm start takes, and the others.

    Attributes:
      taken: The name in the checkpoint of each variable.
      missing: The variables that are not in the checkpoint.
      others: Why each other variable is not taken.
    """

    taken: dict[str, str] = dataclasses.field(default_factory=dict)
    missing: list[str] = dataclasses.field(default_factory=list)
    others: dict[str, str] = dataclasses.field(default_factory=dict)


@batches.as_it_is  # With a strategy autograph would rewrite it, and hide its log.
def warm_start(config: TrainerConfig, is_chief: bool) -> None:
    """Makes the model's variables in the current graph start from the checkpoint of the settings.

    Call it after the model_fn, in each replica of a strategy. A run that resumes from a checkpoint
    of its own uses no other. The chief logs the variables.

    Raises:
      ConfigError: if there is no checkpoint, or it does not fit.
    """
    if tf.train.latest_checkpoint(config.model_dir):
        return

    def start(_: Any) -> None:
        path = _checkpoint(config.warm_start_from)
        variables = _variables()
        choice = _choose(config, path, variables)
        tf.compat.v1.train.warm_start(
            path, vars_to_warm_start=[each for name in choice.taken for each in variables[name]],
            var_name_to_prev_var_name=choice.taken)
        if is_chief:
            _log(config.verbose, path, choice, variables)

    # By then all replicas have made their variables.
    tf.distribute.get_replica_context().merge_call(start)


def _checkpoint(path: str) -> str:
    """Returns the path of the checkpoint, of an export's, or of the latest one of a directory."""
    if tf.saved_model.contains_saved_model(path):
        return posixpath.join(path, "variables", "variables")
    found = tf.train.latest_checkpoint(path) if tf.io.gfile.isdir(path) else path
    if not found or not tf.io.gfile.glob(f"{found}.index"):
        raise ConfigError(Problem(
            "warm_start_from", path, "where there is no checkpoint",
            "the directory of a training, a checkpoint of it, or an export",
            Setting("warm_start_from", "/tmp/digits/model.ckpt-1000")))
    return str(found)


def _variables() -> dict[str, list[Any]]:
    """Returns the variables of the model by name; a partitioned one has several.

    The variables of optimizers and the global step are left out.
    """
    found: dict[str, list[Any]] = {}
    for variable in tf.compat.v1.global_variables():
        found.setdefault(operations.saved_name(variable), []).append(variable)
    step = operations.saved_name(tf.compat.v1.train.get_global_step())
    for name in (step, *graph_state.OPTIMIZER_VARIABLES.all()):
        found.pop(name, None)
    return found


def _trainable() -> set[str]:
    return set(map(operations.saved_name, tf.compat.v1.trainable_variables()))


def _choose(config: TrainerConfig, path: str, variables: Mapping[str, list[Any]]) -> _Choice:
    """Chooses the variables to take.

    Raises:
      ConfigError: if a pattern or a rename matches nothing, or if a trainable variable is missing
        or has another shape.
    """
    reader = tf.train.load_checkpoint(path)
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    keys = _keys(reader) or {name: name for name in shapes}
    old_names = _old_names(config, variables, keys)
    trainable, choice = _trainable(), _Choice()
    for name in _matched(config, variables):
        key, variable = keys.get(old_names[name]), variables[name][0]
        if key is None:
            choice.missing.append(name)
        # TensorFlow itself compares the parts of a variable with the whole.
        elif variable.dtype.base_dtype == dtypes[key] and (
                operations.is_part(variable) or variable.shape.is_compatible_with(shapes[key])):
            choice.taken[name] = key
        else:
            there = f"{dtypes[key].name}{shapes[key]}"
            here = f"{variable.dtype.base_dtype.name}{list(variable.shape)}"
            if name in trainable:
                raise ConfigError(Problem(
                    "warm_start_from", config.warm_start_from,
                    f"where {old_names[name]} is {there}, and {name} of the model is {here}",
                    "the same shape",
                    advice=f"To leave it out: {Setting('warm_start_vars', f'(?!{name})')}"))
            choice.others[name] = f"{name} is {there} there, {here} here"
    missing = [name for name in choice.missing if name in trainable]
    if missing and not config.warm_start_missing:
        raise ConfigError(Problem(
            "warm_start_from", config.warm_start_from, f"and {path} lacks"
            f" {operations.some(missing)}; it has {operations.some(keys)}",
            advice="To let those start from their initial values:"
            f" {Setting('warm_start_missing', True)}; if they have other names there:"
            f" {Setting('warm_start_rename', (f'OLD={missing[0]}',))}"))
    return choice


def _matched(config: TrainerConfig, variables: Mapping[str, Any]) -> list[str]:
    found = set()
    for pattern in conflicts.split(config.warm_start_vars):
        names = {name for name in variables if conflicts.matches(pattern, name)}
        if not names:
            raise ConfigError(Problem(
                "warm_start_vars", config.warm_start_vars,
                f"and {pattern!r} matches no variable of model_fn {config.model_fn!r}",
                advice=operations.near(pattern, variables)))
        found |= names
    return sorted(found)


def _old_names(config: TrainerConfig, variables: Mapping[str, Any],
               keys: Mapping[str, str]) -> dict[str, str]:
    """Returns the name that each variable has in the checkpoint."""
    found = {name: name for name in variables}
    for new, old in conflicts.renames(config.warm_start_rename).items():
        is_scope = new.endswith("/")
        for wrong, names, where in ((old, keys, f"in {config.warm_start_from}"),
                                    (new, variables, f"in model_fn {config.model_fn!r}")):
            if not any(name == wrong or is_scope and name.startswith(wrong) for name in names):
                raise ConfigError(Problem(
                    "warm_start_rename", f"{old}={new}",
                    f"and there is no variable {wrong!r} {where}", "OLD=NEW", verb="has",
                    advice=operations.near(wrong, names)))
        found |= {name: old + name.removeprefix(new) for name in variables
                  if name == new or is_scope and name.startswith(new)}
    return found


def _keys(reader: Any) -> dict[str, str]:
    """Returns the key of each variable's name in a checkpoint of objects, as Keras writes them."""
    if not reader.has_tensor(_OBJECT_GRAPH):
        return {}
    from tensorflow.core.protobuf import trackable_object_graph_pb2
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(
        reader.get_tensor(_OBJECT_GRAPH))
    return {attribute.full_name: attribute.checkpoint_key
            for node in graph.nodes for attribute in node.attributes if attribute.full_name}


def _log(is_verbose: bool, path: str, choice: _Choice, variables: Mapping[str, Any]) -> None:
    trained = len(_trainable() & choice.taken.keys())
    logging.info("warm start from %s: takes %d of the model's %d variables, %d trainable and %d"
                 " others", path, len(choice.taken), len(variables), trained,
                 len(choice.taken) - trained)
    unmatched = variables.keys() - {*choice.taken, *choice.missing, *choice.others}
    left = [*(f"{name} (not there)" for name in choice.missing), *choice.others.values(),
            *(f"{name} ({Setting('warm_start_vars')})" for name in unmatched)]
    if left:
        logging.info("warm start does not take %d: %s", len(left),
                     ", ".join(sorted(left)) if is_verbose else operations.some(left))
    if is_verbose:
        logging.info("warm start takes %s", ", ".join(
            name if name == old else f"{name} from {old}"
            for name, old in sorted(choice.taken.items())))
