"""The mean of checkpoints, which is a checkpoint of its own in `model_dir/average`."""

import dataclasses
import functools
import json
import math
import posixpath
from typing import Any, Iterator, Mapping, Sequence

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors, schema
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints, shared_files
from estimator_trainer.errors import Problem, Setting
from estimator_trainer.evaluation import evaluation_log, event_files, offline
from estimator_trainer.settings.command_table import AverageConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_FILE = "average.json"
_FEWEST = 2
# As many bytes of variables are in memory at once, or one larger variable.
_PART_BYTES = 1 << 28


@dataclasses.dataclass(frozen=True)
class _Average:
    """The content of `average/average.json`: the global steps of the averaged checkpoints."""

    steps: tuple[int, ...]


def steps(model_dir: str, warn_of: shared_files.Warn | None = None) -> tuple[int, ...]:
    """Returns the steps of the checkpoints whose mean `model_dir/average` holds; () without it."""
    if not checkpoints.latest_average(model_dir):
        return ()
    found = shared_files.read_or_warn(
        functools.partial(schema.parsed, _Average),
        posixpath.join(checkpoints.average_dir(model_dir), _FILE),
        "Its steps are not known: make the mean again, with `average`.", warn_of)
    return found.steps if found else ()


def evaluate(plan: Plan, wanted: AverageConfig) -> dict[str, Any]:
    """Makes the mean; returns what `write` does, with the metrics of the mean and of the newest."""
    content = write(plan.config, wanted)
    latest = checkpoints.latest(plan.config.model_dir)
    with offline.evaluating(plan) as evaluate_one:
        return {**content, "average": evaluate_one(content["checkpoint"]),
                "latest": evaluate_one(latest)}


def write(config: TrainerConfig, wanted: AverageConfig) -> dict[str, Any]:
    """Writes the mean of the wanted checkpoints; returns its path and the steps of those.

    Numbers with a fraction are averaged in 64 bits, optimizers' variables too. Integers, texts and
    tables, the global step among them, are those of the newest one.

    Raises:
      ConfigError: if there are not two such checkpoints, or they are of different models.
    """
    paths = _chosen(config, wanted)
    folder = checkpoints.average_dir(config.model_dir)
    if tf.io.gfile.exists(folder):
        tf.io.gfile.rmtree(folder)
    shared_files.make_folder(folder)
    target = posixpath.join(folder, posixpath.basename(paths[-1]))
    found = tuple(map(checkpoints.step_of, paths))
    try:
        _save(target, paths)
    except tf.errors.NotFoundError as error:
        raise errors.TrainerError(
            "a checkpoint was deleted while it was read, by a training that goes on. Run the same"
            f" command again, or train with {Setting('keep_checkpoint_max', 10)}.") from error
    shared_files.write_text(posixpath.join(folder, _FILE),
                            json.dumps(dataclasses.asdict(_Average(found))) + "\n")
    # Before this file, there is no mean.
    shared_files.write_text(posixpath.join(folder, checkpoints.STATE_FILE),
                            f'model_checkpoint_path: "{posixpath.basename(target)}"\n')
    logging.info("wrote the mean of %d checkpoints, of steps %s, to %s", len(paths),
                 ", ".join(map(str, found)), target)
    return {"checkpoint": target, "steps": list(found)}


def _chosen(config: TrainerConfig, wanted: AverageConfig) -> list[str]:
    """Returns the paths of the checkpoints to average, oldest first."""
    if config.checkpoint != "latest":
        raise errors.ConfigError(Problem(
            "checkpoint", config.checkpoint, "and `average` takes the last or the best ones",
            example=Setting("last", 5)))
    # Initial values have no place in a mean.
    paths = [path for path in checkpoints.paths_in(config.model_dir)
             if checkpoints.step_of(path) and checkpoints.is_whole(path)]
    name, number = ("best", wanted.best) if wanted.best else ("last", wanted.last)
    if wanted.best:
        values = _values(config)
        known = [path for path in paths if checkpoints.step_of(path) in values]
        known.sort(key=lambda path: values[checkpoints.step_of(path)],
                   reverse=config.best_mode == "max")
        found = sorted(known[:number], key=checkpoints.step_of)
    else:
        found = paths[-number:]
    if len(found) < _FEWEST:
        raise errors.ConfigError(Problem(
            name, number, f"and {config.model_dir} has {len(found)} whole"
            f" checkpoint{'s' * (len(found) != 1)} after step 0"
            + " with an evaluation" * bool(wanted.best), f"a model_dir with at least {_FEWEST}",
            advice=f"To keep more of them, train with {Setting('keep_checkpoint_max', 10)}."))
    if len(found) < number:
        logging.warning("%s is %d, and there are %d such checkpoints: averages these", name,
                        number, len(found))
    return found


def _values(config: TrainerConfig) -> dict[int, float]:
    """Returns the values of `best_metric` in the evaluations of training, by global step."""
    values = {}
    for metrics in event_files.read(config.model_dir):
        if "eval_name" not in metrics:
            evaluation_log.check_metric("best_metric", config.best_metric, metrics)
            values[metrics["global_step"]] = metrics[config.best_metric]
    return {step: value for step, value in values.items() if not math.isnan(value)}


def _save(target: str, paths: Sequence[str]) -> None:
    """Saves the mean in parts, of which one is in memory at a time, and joins these."""
    parts: list[str] = []
    part: dict[str, Any] = {}
    for name, value in _means(paths):
        part[name] = value
        if sum(each.nbytes for each in part.values()) > _PART_BYTES:
            parts.append(_save_part(f"{target}.part-{len(parts)}", part))
            part = {}
    if part:
        parts.append(_save_part(f"{target}.part-{len(parts)}", part))
    with tf.Graph().as_default():
        _run(tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=parts, destination_prefix=target, delete_old_dirs=False), {})


def _save_part(prefix: str, values: Mapping[str, Any]) -> str:
    with tf.Graph().as_default():
        dtypes = [tf.string if each.dtype == object else each.dtype for each in values.values()]
        placeholders = [tf.compat.v1.placeholder(dtype) for dtype in dtypes]
        saved = tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(values), tensors=placeholders,
                                  shape_and_slices=[""] * len(values))
        _run(saved, dict(zip(placeholders, values.values(), strict=True)))
    return prefix


def _run(operation: Any, feed_dict: dict[Any, Any]) -> None:
    with tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(device_count={"GPU": 0})) as session:
        session.run(operation, feed_dict)


def _means(paths: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yields each variable's name and mean, a NumPy array; a divided one as a whole."""
    readers = [tf.train.load_checkpoint(path) for path in paths]
    newest = readers[-1]
    dtypes = newest.get_variable_to_dtype_map()
    for path, reader in zip(paths, readers):
        _check_same(path, reader, paths[-1], newest)
    for name in sorted(dtypes):
        dtype = dtypes[name]
        if not _is_averaged(name, dtypes):
            value = newest.get_tensor(name)
            yield name, np.asarray(value, object if dtype == tf.string else None)
            continue
        total = np.asarray(readers[0].get_tensor(name)).astype(
            np.complex128 if dtype.is_complex else np.float64)
        for reader in readers[1:]:
            total += reader.get_tensor(name)
        yield name, (total / len(readers)).astype(dtype.as_numpy_dtype)


def _is_averaged(name: str, dtypes: Mapping[str, tf.DType]) -> bool:
    """Returns whether a variable has a mean: numbers with a fraction, but for a table's values."""
    table = name.removesuffix("-values")
    is_table = table != name and f"{table}-keys" in dtypes
    return (dtypes[name].is_floating or dtypes[name].is_complex) and not is_table


def _check_same(path: str, reader: Any, newest_path: str, newest: Any) -> None:
    """Raises ConfigError if two checkpoints have different variables."""
    dtypes = newest.get_variable_to_dtype_map()
    own, wanted = reader.get_variable_to_shape_map(), newest.get_variable_to_shape_map()
    differing = sorted(
        name for name in own.keys() | wanted.keys()
        if (name in own) != (name in wanted)
        or _is_averaged(name, dtypes) and own[name] != wanted[name])
    if differing:
        name = differing[0]
        raise errors.ConfigError(
            f"the checkpoints of steps {checkpoints.step_of(path)} and"
            f" {checkpoints.step_of(newest_path)} are of different models: {name} has the shape"
            f" {own.get(name, '(none)')} in one, and {wanted.get(name, '(none)')} in the other."
            f" Average fewer of them. For example: {Setting('last', _FEWEST)}")
