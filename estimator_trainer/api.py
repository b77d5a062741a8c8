"""The program as Python functions, each of which does what the command of its name does.

    import estimator_trainer

    result = estimator_trainer.train(model_fn=my_model_fn, input_fn="csv", model_dir="d",
                                     params={"train_files": "train.csv"}, train_steps=1000)
    estimator_trainer.evaluate("d")["accuracy"]

A plug-in is a name, as on the command line, or a function, class, Estimator or Keras model. Every
flag of `train` is a keyword: `train_steps=1000`, `exporters=["best"]`. What a call leaves out comes
from the record of its model_dir. A user's mistake is a ConfigError, a model or data that fail a
TrainerError or the exception that they raise; nothing here exits the process, but for the watchdog
of a job that hangs (`stall_timeout_secs`).
"""

import contextlib
import dataclasses
import json
import os
from typing import Any, Iterator, Mapping, Sequence

from estimator_trainer import environment, logs, redaction, start
from estimator_trainer.checks import data_check, machine_check, model_dir_name, printout, run_plan
from estimator_trainer.checks.plan import Invocation, Plan
from estimator_trainer.errors import (ConfigError, in_python, Interrupted, near_match, Problem,
                                      refuse, Setting, TrainerError, UNKNOWN)
from estimator_trainer.plugins import importing, loader
from estimator_trainer.plugins.plugin import KINDS
from estimator_trainer.result import Result
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

__all__ = ["check", "ConfigError", "evaluate", "export", "Interrupted", "launch", "predict",
           "report", "Result", "show", "train", "TrainerError"]

# A name, or what the name of a plug-in may stand for.
PlugIn = Any
Folder = str | os.PathLike[str]
_KINDS = {bool: "True or False", int: "an integer", str: "a text", tuple: "a list of texts"}
# A Python program may pass several patterns as a list.
_PATTERNS = ("warm_start_vars", "freeze")


@in_python()
def train(model_fn: PlugIn = None, input_fn: PlugIn = None, model_dir: Folder = "", *,
          params: Mapping[str, Any] | None = None,
          tf_config: Mapping[str, Any] | str | None = None, **settings: Any) -> Result:
    """Trains and evaluates in the role that TF_CONFIG gives; without one, in this process.

    Args:
      model_fn: The model_fn plug-in; default: that of the record in model_dir, or "cnn".
      input_fn: The input_fn plug-in; default: that of the record, or "digits".
      model_dir: The directory of checkpoints and exports; default: a temporary one.
      params: Values of the plug-ins' params, by name.
      tf_config: TF_CONFIG as a dict or as JSON; default: that of the environment.
      **settings: Any flag of `train`, by its name.

    Returns:
      How training ended: status, step, reason, metrics of the last evaluation, paths of exports,
      and the metrics of every evaluation in model_dir, `history`.

    Raises:
      ConfigError: for a mistake that is found before training.
      Interrupted: if a signal, Ctrl-C included, or a lost task ended training; a checkpoint was
        saved where it could be, and the same call goes on from there.
      TrainerError: if one sentence explains what failed; else what the user's code raised.
    """
    with _call(settings, model_fn, input_fn, model_dir) as user_set:
        plan = _planned(run_plan.for_training, "train", user_set, params, _variables(tf_config))
        ended = start.train(plan)
        from estimator_trainer.evaluation import event_files
        if ended.status in ("stopped", "lost"):
            raise Interrupted(ended.status, ended.reason, ended.task)
        return dataclasses.replace(ended, history=tuple(event_files.read(plan.config.model_dir)))


@in_python()
def evaluate(model_dir: Folder, *, params: Mapping[str, Any] | None = None,
             **settings: Any) -> dict[str, Any]:
    """Evaluates one checkpoint in this process.

    Args:
      model_dir: The directory of a trained model.
      params: Values that differ from the recorded ones, such as {"eval_files": "new.csv"}.
      **settings: Any flag of `evaluate`, such as checkpoint="best".

    Returns:
      The metrics by name, "loss" and "global_step" among them.

    Raises:
      ConfigError: for a mistake, TrainerError for data that fail.
    """
    with _call(settings, model_dir=model_dir) as user_set:
        if user_set.get("checkpoint") == "all":
            raise ConfigError(Problem("checkpoint", "all", expected="one checkpoint",
                                      example=Setting("checkpoint", "step=1000")))
        plan = _planned(run_plan.for_one_process, "evaluate", user_set, params)
        with start.using_model(plan):
            from estimator_trainer.evaluation import offline
            return offline.evaluate(plan)[0]


@in_python()
def predict(model_dir: Folder = "", data: Any = None, *, params: Mapping[str, Any] | None = None,
            **settings: Any) -> Any:
    """Predicts, in this process.

    Args:
      model_dir: The directory of a trained model; "" with export_dir=.
      data: The data to predict: the paths that --data takes, or a list of dicts from feature name
        to value, or columns: a DataFrame, an Arrow table, or a dict of arrays; None: the input_fn's
        evaluation data.
      params: Values that differ from the recorded ones.
      **settings: Any flag of `predict`, such as checkpoint="best" or export_dir="d/export/...".

    Returns:
      A list of a dict for each instance, in the order of the data, with what the model predicts, as
      plain Python values or lists of them, and its `key`. Of columns: columns of the same kind,
      rows in the same order and with the same index.

    Raises:
      ConfigError: for a mistake, TrainerError for data that fail.
    """
    is_path = data is None or isinstance(data, (str, os.PathLike))
    settings = {**settings, **({} if data is None else {"data": data if is_path else "-"})}
    with _call(settings, model_dir=model_dir) as user_set:
        plan = _planned(run_plan.for_one_process, "predict", user_set, params)
        with start.using_model(plan):
            from estimator_trainer.prediction import frames, predict as predict_lib
            if frames.is_columns(data):
                rows = frames.Rows(plan, data)
                with start.explaining(rows.plan):
                    return rows.predicted()
            return list(predict_lib.instances(plan, None if is_path else data))


@in_python()
def export(model_dir: Folder, *, params: Mapping[str, Any] | None = None,
           **settings: Any) -> str:
    """Exports a SavedModel from a checkpoint, and returns its path; see `evaluate`."""
    with _call(settings, model_dir=model_dir) as user_set:
        plan = _planned(run_plan.for_one_process, "export", user_set, params)
        with start.using_model(plan):
            from estimator_trainer.evaluation import offline
            return offline.export(plan)


@in_python()
def check(model_fn: PlugIn = None, input_fn: PlugIn = None, model_dir: Folder = "", *,
          params: Mapping[str, Any] | None = None,
          tf_config: Mapping[str, Any] | str | None = None, **settings: Any) -> dict[str, Any]:
    """Returns what `train` with these arguments would run, and everything that speaks against it.

    Returns:
      The content of `estimator-trainer check --json`; `problems` is a list of sentences, empty if
      the job can run.

    Raises:
      ConfigError: for a keyword that is no setting, or a value out of its range.
    """
    with _call(settings, model_fn, input_fn, model_dir) as user_set:
        variables, config = _variables(tf_config), config_of(user_set)
        plan = run_plan.for_training(config, variables,
                                     Invocation(frozenset(user_set), params or {}))
        found = machine_check.examine(plan, variables) + data_check.examine(plan, is_quick=True)
        found.problems += _tf1_problems(config.tf1)
        content: dict[str, Any] = json.loads(printout.describe(plan, found, as_json=True))
        return content


@in_python()
def launch(model_fn: PlugIn = None, input_fn: PlugIn = None, model_dir: Folder = "", *,
           params: Mapping[str, Any] | None = None, **settings: Any) -> Result:
    """Runs a whole cluster on this machine, one process a task, and waits for its end.

    Args:
      model_fn: The name of the model_fn plug-in; a task's process can find a name alone.
      input_fn: The name of the input_fn plug-in.
      model_dir: The directory that all tasks share.
      params: Values of the plug-ins' params, by name.
      **settings: The job, such as worker=2, ps=1, evaluator=1, and any flag of `train`.

    Returns:
      How the job ended, with the metrics of its last evaluation.

    Raises:
      ConfigError: for a mistake that is found before a task starts.
      TrainerError: if the job failed; Interrupted if it was stopped.
    """
    for kind, thing in (("model_fn", model_fn), ("input_fn", input_fn)):
        if thing is not None and not isinstance(thing, str):
            raise ConfigError(Problem(kind, thing, "and the tasks are processes that cannot see it",
                                      "the name of a plug-in", Setting(kind, f"./my_{kind}.py")))
    of_job = {field.name for field in dataclasses.fields(JobConfig)}
    job = JobConfig(**{name: settings.pop(name) for name in of_job & settings.keys()})
    with _call(settings, model_fn, input_fn, model_dir) as user_set:
        if not user_set.get("model_dir"):
            raise ConfigError(Problem("model_dir", expected="a directory that all tasks share",
                                      example=Setting("model_dir", "/tmp/digits")))
        pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                 for key, value in (params or {}).items()]
        user_set["param"] = (*user_set.get("param", ()), *pairs)
        config, variables = config_of(user_set), environment.read()
        from estimator_trainer.launcher import launch as launch_lib
        code = launch_lib.run(job, config, _words_of(config, user_set), variables,
                              user_set=frozenset(user_set))
        return _result_of_job(model_dir_name.of_trial(
            config.model_dir, variables.trial, variables.aip_model_dir), code)


@in_python()
def report(model_dir: Folder | Sequence[Folder], output: Folder = "") -> str:
    """Writes the page of a run, or of several beside each other, and returns its path.

    Args:
      model_dir: The directory of a training, or a list of them.
      output: The file; default: `report.html` in the directory, of several `comparison.html` here.
    """
    folders = [model_dir] if isinstance(model_dir, (str, os.PathLike)) else list(model_dir)
    if not folders:
        raise ConfigError(Problem(
            "model_dir", [], expected="the directory of a training, or several",
            example=Setting("model_dir", "/tmp/digits")))
    with _call({}):
        names, page_file = [os.fspath(folder) for folder in folders], os.fspath(output)
        start.read_model_dirs(TrainerConfig(output=page_file), environment.read(), names)
        from estimator_trainer.reports import page
        return page.write(names, page_file)


@in_python()
def show(model_dir: Folder) -> dict[str, Any]:
    """Returns what `estimator-trainer show --json` prints: what a model_dir holds."""
    with _call({}, model_dir=model_dir) as user_set:
        [folder] = start.read_model_dirs(config_of(user_set), environment.read())
        from estimator_trainer.reports import show as show_lib
        return show_lib.found_in(folder)


@contextlib.contextmanager
def _call(settings: Mapping[str, Any], model_fn: PlugIn = None, input_fn: PlugIn = None,
          model_dir: Folder = "") -> Iterator[dict[str, Any]]:
    """Yields the settings of a call by name, and leaves the process as it was afterwards."""
    named = {"model_fn": model_fn, "input_fn": input_fn, "model_dir": os.fspath(model_dir)}
    user_set = {**{name: value for name, value in named.items() if value not in (None, "")},
                **settings}
    for kind in KINDS:
        if kind in user_set and not isinstance(user_set[kind], str):
            user_set[kind] = loader.keep(user_set[kind])
    importing.forget_edited()
    with logs.as_before(), environment.as_before():
        yield user_set


def _planned(make: start.MakePlan, function: str, user_set: Mapping[str, Any],
             params: Mapping[str, Any] | None,
             variables: environment.Environment | None = None) -> Plan:
    config = config_of(user_set)
    refuse(_tf1_problems(config.tf1))
    words = (f"estimator_trainer.{function}",
             *(f"{name}={redaction.masked(name, value)!r}"
               for name, value in {**user_set, **(params or {})}.items()))
    return start.planned(make, config, variables or environment.read(), Invocation(
        frozenset(user_set), params or {}, command=words))


def _tf1_problems(tf1: bool) -> list[Problem]:
    return [Problem(
        "tf1", True, "which would change TensorFlow for this whole process",
        "the command line for it, or in this program: import estimator_trainer.compat.tf1",
    )] if tf1 else []


def _variables(tf_config: Mapping[str, Any] | str | None) -> environment.Environment:
    """Returns the environment of this process, with another TF_CONFIG where one is passed."""
    variables = environment.read()
    if tf_config is None:
        return variables
    text = tf_config if isinstance(tf_config, str) else json.dumps(tf_config)
    return dataclasses.replace(variables, tf_config=text, cluster_spec="")


def _result_of_job(model_dir: str, code: int) -> Result:
    """Returns how a job ended whose launcher returned `code`."""
    start.import_tensorflow(run_plan.for_model_dir(
        TrainerConfig(model_dir=model_dir), environment.read()))
    from estimator_trainer.coordination import checkpoints
    from estimator_trainer.evaluation import event_files
    ended = checkpoints.read_result(model_dir)
    if code in (130, 142, 143):
        raise Interrupted("lost" if code == 142 else "stopped", f"exit {code}", "launch")
    if code:
        raise TrainerError(f"the job failed with exit {code}"
                           + (f": {ended.reason}" if ended else "; its log says why"))
    if ended is None:
        raise TrainerError(f"the job ended with exit 0, and {model_dir} has no result.json that is"
                           " whole; its log says how it ended")
    return dataclasses.replace(ended, history=tuple(event_files.read(model_dir)))


def config_of(user_set: Mapping[str, Any]) -> TrainerConfig:
    """Returns the settings of a call, with defaults for the others, or raises ConfigError."""
    defaults = {field.name: field.default for field in dataclasses.fields(TrainerConfig)}
    for name in sorted(user_set.keys() - defaults.keys()):
        raise ConfigError(Problem(
            f"setting {name!r}", UNKNOWN, source=Setting(name),
            expected="a flag that `estimator-trainer train --help` lists, without dashes",
            advice=near_match(name, defaults), example=Setting("train_steps", 1000)))
    settings = {name: _typed(name, value, defaults[name]) for name, value in user_set.items()}
    if settings.get("train_epochs"):
        settings.setdefault("train_steps", 0)
    return TrainerConfig(**settings)


def _words_of(config: TrainerConfig, user_set: Mapping[str, Any]) -> list[str]:
    """Returns the same settings as flags of a command line."""
    words = []
    for name in user_set:
        value = getattr(config, name)
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no{name}")
        elif name in ("param", "plugin_flag"):
            words += [f"--{name}={each}" for each in value]
        else:
            words.append(f"--{name}={','.join(value) if isinstance(value, tuple) else value}")
    return words


def _typed(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, str) and isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        if isinstance(default, tuple):
            return tuple(value)
        if name in _PATTERNS:
            return ",".join(value)
    if type(value) is type(default):
        return value
    raise ConfigError(Problem(name, value, expected=_KINDS[type(default)],
                              example=Setting(name, default)))
