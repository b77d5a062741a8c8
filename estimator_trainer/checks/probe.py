"""The probe checks with TensorFlow, by writing to model_dir and reading the data."""

import dataclasses
import posixpath
import socket
import time
from typing import Any

import tensorflow as tf

from estimator_trainer import errors, schema
from estimator_trainer.checks import data_check
from estimator_trainer.checks.plan import Findings, Plan
from estimator_trainer.coordination import job_state, shared_files
from estimator_trainer.estimator import input_fn_adapter, loaded_plugins

_MARK = "check-%s.json"


@dataclasses.dataclass(frozen=True)
class _Mark:
    """The mark of a checked task in model_dir; `time` is in seconds since 1970."""

    task: str
    host: str
    time: schema.Time


def examine(plan: Plan) -> Findings:
    """Tries model_dir, the plug-ins and their data, and the GPUs; writes a mark to model_dir."""
    found = _model_dir(plan) if plan.config.model_dir else Findings()
    found += _data(plan)
    found.facts["gpus of TensorFlow"] = [
        device.name for device in tf.config.list_physical_devices("GPU")] or "none"
    return found


def _model_dir(plan: Plan) -> Findings:
    """Writes a mark into model_dir, and reads the other tasks' marks."""
    found, folder, task = Findings(), plan.config.model_dir, plan.task
    mark = dataclasses.asdict(_Mark(task.name, socket.gethostname(), time.time()))
    try:
        shared_files.write_json(posixpath.join(folder, _MARK % task.name.replace(":", "-")), mark)
        paths = tf.io.gfile.glob(posixpath.join(shared_files.escape(folder), _MARK % "*"))
        marks = [seen for path in paths if (seen := shared_files.read_as(_Mark, path))]
        is_running = tf.io.gfile.exists(posixpath.join(folder, job_state.JOB_FILE))
    except (tf.errors.OpError, ValueError) as error:
        found.problems.append(errors.Problem(
            "model_dir", folder, f"which cannot be written: {errors.first_line(error)}",
            "a directory that this task may write"))
        return found
    found.facts["model_dir written by"] = [
        f"{seen.task} on {seen.host} {max(0, time.time() - seen.time):.0f} s ago"
        for seen in marks]
    chief = task.name_of("chief", 0)
    is_seen = is_running or any(seen.task == chief for seen in marks)
    if not task.is_chief and not is_seen:
        found.warnings.append(
            f"model_dir {folder!r} shows no sign of {chief}: either it has not written there yet,"
            " or the two do not share that directory, and every task must. Run `estimator-trainer"
            f" check --probe` in {chief} first, then here again; if this stays, mount the same"
            " storage in both, or use one like --model_dir=gs://bucket/job")
    return found


def _data(plan: Plan) -> Findings:
    found = Findings()
    try:
        found += data_check.examine(plan, is_quick=False)
        if found.problems:
            return found
        plugins = loaded_plugins.load(plan)
        spec = input_fn_adapter.describe(plugins.input_fn, plugins.params)
    except errors.ConfigError as error:
        found.problems += error.problems
    except Exception as error:  # pylint: disable=broad-except
        assert plan.data is not None
        is_explained = hasattr(error, "exit_code")
        found.problems.append(str(error) if is_explained else errors.Problem(
            plan.data.kind, plan.data.name, "which fails in mode 'eval':"
            f" {type(error).__name__}: {errors.first_line(error)}",
            advice="Correct it; its stack: estimator-trainer train"))
    else:
        found.facts |= {"features": _shown(spec.features), "labels": _shown(spec.labels)}
    return found


def _shown(spec: Any) -> Any:
    if isinstance(spec, dict):
        return [f"{name} {_shown(each)}" for name, each in spec.items()]
    if isinstance(spec, tf.TensorSpec):
        return f"{spec.dtype.name}{spec.shape}"
    return "none" if spec is None else str(spec)
