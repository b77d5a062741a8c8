"""The program as Python functions, each of which does what the command of its name does.

    import estimator_trainer

    result = estimator_trainer.train(model_fn=my_model_fn, input_fn="csv", model_dir="d",
                                     params={"train_files": "train.csv"}, train_steps=1000)
    estimator_trainer.evaluate("d")["accuracy"]

A plug-in is a name, as on the command line, or a function, class, Estimator or Keras model. Data
are a DataFrame, other columns, or paths: `train(data=frame, label="price")`. Every flag of `train`
is a keyword: `train_steps=1000`, `exporters=["best"]`. What a call leaves out comes
from the record of its model_dir. A user's mistake is a ConfigError, a model or data that fail a
TrainerError or the exception that they raise; nothing here exits the process, but for the watchdog
of a job that hangs (`stall_timeout_secs`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import threading
from typing import Any, Iterable, Iterator, Mapping, Sequence, TYPE_CHECKING

from estimator_trainer import environment, logs, start
from estimator_trainer.checks import data_check, machine_check, model_dir_name, printout, run_plan
from estimator_trainer.checks.plan import Invocation, Plan
from estimator_trainer.errors import (ConfigError, Interrupted, Problem, refuse, Setting,
                                      TrainerError)
from estimator_trainer.plugins import importing, loader
from estimator_trainer.plugins.plugin import KINDS
from estimator_trainer.python import call, call_words, keyword_settings, training_data
from estimator_trainer.python.keyword_settings import config_of, words_of
from estimator_trainer.python.report_view import Report
from estimator_trainer.python.training_data import Data
from estimator_trainer.result import Result
from estimator_trainer.settings.command_table import AverageConfig
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from estimator_trainer.python import keywords

__all__ = ["average", "check", "ConfigError", "evaluate", "export", "Interrupted", "launch",
           "predict", "report", "Result", "show", "train", "TrainerError"]

# A name, or what the name of a plug-in may stand for.
PlugIn = Any
Folder = str | os.PathLike[str]
_calls = threading.RLock()


@call.of_command("train")
def train(model_fn: PlugIn = None, input_fn: PlugIn = None, model_dir: Folder = "", *,
          data: Any = None, label: str = "", eval_data: Any = None,
          on_evaluation: call.OnEvaluation | None = None, params: Mapping[str, Any] | None = None,
          tf_config: Mapping[str, Any] | str | None = None,
          **settings: Unpack[keywords.Train]) -> Result:
    """Trains and evaluates in the role that TF_CONFIG gives; without one, in this process.

    Args:
      model_fn: The model_fn plug-in; default: that of the record in model_dir, or "canned" for a
        table, or "cnn".
      input_fn: The input_fn plug-in; default: that of the record, or "table" for a table, or
        "image_folder" for a folder of folders of pictures, or "digits".
      model_dir: The directory of checkpoints and exports; default: a temporary one.
      data: The data to train on: a DataFrame, an Arrow table, a dict from name to column, a list of
        dicts, or paths of files or folders; default: what params say.
      label: The column of the label.
      eval_data: The data to evaluate on; default: a part of `data`, which training leaves out.
      on_evaluation: A function that gets the metrics of each evaluation of this process, a dict
        with "global_step". If it raises, training stops, and this function raises the same.
      params: Values of the plug-ins' params, by name.
      tf_config: TF_CONFIG as a dict or as JSON; default: that of the environment.

    Returns:
      How training ended: status, step, reason, metrics of the last evaluation, paths of exports,
      and `history`, the values of training and evaluations by step.

    Raises:
      ConfigError: for a mistake that is found before training.
      Interrupted: if a signal, Ctrl-C included, or a lost task ended training; a checkpoint was
        saved where it could be, and the same call goes on from there.
      TrainerError: if one sentence explains what failed; else what the user's code raised.
    """
    with _call(settings, model_fn, input_fn, model_dir) as user_set, call.receiving(on_evaluation):
        plan = _planned(run_plan.for_training, "train", user_set, params, _variables(tf_config),
                        Data(data, label, eval_data))
        ended = start.train(plan)
        if ended.status in ("stopped", "lost") and ended.exit_code:
            interrupted = Interrupted(ended.status, ended.reason, ended.task)
            interrupted.args = (
                f"training was {ended.status} at step {ended.step}: {ended.reason}. The checkpoint"
                f" is in {plan.config.model_dir}; the same call goes on from there",)
            raise interrupted
        return _complete(ended, plan.config.model_dir)


@call.of_command("evaluate")
def evaluate(model_dir: Folder, data: Any = None, *, params: Mapping[str, Any] | None = None,
             **settings: Unpack[keywords.Evaluate]) -> dict[str, Any]:
    """Evaluates one checkpoint in this process.

    Args:
      model_dir: The directory of a trained model.
      data: The data to evaluate on, with labels, as for `train`; default: those of the training.
      params: Values that differ from the recorded ones, such as {"eval_files": "new.csv"}.

    Returns:
      The metrics by name, "loss" and "global_step" among them.

    Raises:
      ConfigError: for a mistake, TrainerError for data that fail.
    """
    with _call(settings, model_dir=model_dir) as user_set:
        if user_set.get("checkpoint") == "all":
            raise ConfigError(Problem("checkpoint", "all", expected="one checkpoint",
                                      example=Setting("checkpoint", "step=1000")))
        plan = _planned(run_plan.for_one_process, "evaluate", user_set, params,
                        data=Data(evaluation=data))
        with start.using_model(plan):
            from estimator_trainer.evaluation import offline
            return offline.evaluate(plan)[0]


@call.of_command("average")
def average(model_dir: Folder, *, last: int = 5, best: int = 0,
            params: Mapping[str, Any] | None = None,
            **settings: Unpack[keywords.Average]) -> dict[str, Any]:
    """Writes the mean of the `last` checkpoints, or of the `best`, and evaluates it.

    Returns:
      The path of the mean as `checkpoint`, the `steps` of the averaged checkpoints, the metrics of
      the mean as `average`, and those of the newest checkpoint as `latest`; see `evaluate`.
    """
    with _call(settings, model_dir=model_dir) as user_set:
        wanted = AverageConfig(keyword_settings.typed("last", last, 5),
                               keyword_settings.typed("best", best, 0))
        plan = _planned(run_plan.for_one_process, "average", user_set, params)
        with start.using_model(plan):
            from estimator_trainer.evaluation import average as average_lib
            return average_lib.evaluate(plan, wanted)


@call.of_command("predict")
def predict(model_dir: Folder = "", data: Any = None, *, params: Mapping[str, Any] | None = None,
            **settings: Unpack[keywords.Predict]) -> Any:
    """Predicts, in this process.

    Args:
      model_dir: The directory of a trained model; "" with export_dir=.
      data: The data to predict: a path of files or a folder, a list of paths, a list of dicts from
        feature name to value, or columns: a DataFrame, an Arrow table, or a dict of arrays; for
        "image_folder" Pillow's images, or uint8 arrays of pixels, too; None: the input_fn's
        evaluation data.
      params: Values that differ from the recorded ones.

    Returns:
      A list of a dict for each instance, in the order of the data, with what the model predicts, as
      plain Python values or lists of them, and its `key`. Of columns: columns of the same kind,
      rows in the same order and with the same index.

    Raises:
      ConfigError: for a mistake, TrainerError for data that fail.
    """
    is_path = data is None or training_data.is_path(data)
    with _call(settings, model_dir=model_dir) as user_set:
        if data is not None:
            training_data.check_instances(data)
            user_set["data"] = training_data.paths(data) if is_path else "-"
        plan = _planned(run_plan.for_one_process, "predict", user_set, params)
        with start.using_model(plan):
            from estimator_trainer.prediction import frames, pictures, predict as predict_lib
            if images := pictures.found(plan, data):
                return pictures.predicted(plan, images)
            stacked = frames.stacked(plan, data)
            if stacked or frames.is_columns(data):
                rows = frames.Rows(plan, stacked or data)
                with start.explaining(rows.plan):
                    return list(predict_lib.instances(rows.plan)) if stacked else rows.predicted()
            several = data if isinstance(data, Iterable) else [data]
            return list(predict_lib.instances(plan, None if is_path else several))


@call.of_command("export")
def export(model_dir: Folder, *, params: Mapping[str, Any] | None = None,
           **settings: Unpack[keywords.Export]) -> str:
    """Exports a SavedModel from a checkpoint, and returns its path; see `evaluate`."""
    with _call(settings, model_dir=model_dir) as user_set:
        plan = _planned(run_plan.for_one_process, "export", user_set, params)
        with start.using_model(plan):
            from estimator_trainer.evaluation import offline
            return offline.export(plan)


@call.of_command("check")
def check(model_fn: PlugIn = None, input_fn: PlugIn = None, model_dir: Folder = "", *,
          data: Any = None, label: str = "", eval_data: Any = None,
          params: Mapping[str, Any] | None = None,
          tf_config: Mapping[str, Any] | str | None = None,
          **settings: Unpack[keywords.Check]) -> dict[str, Any]:
    """Returns what `train` with these arguments would run, and everything that speaks against it.

    Returns:
      The content of `estimator-trainer check --json`; `problems` is a list of sentences, empty if
      the job can run.

    Raises:
      ConfigError: for a keyword that is no setting, or a value out of its range.
    """
    with _call(settings, model_fn, input_fn, model_dir) as user_set:
        variables = _variables(tf_config)
        config, params = _with_data(run_plan.for_training, "check", user_set, params, variables,
                                    Data(data, label, eval_data))
        plan = run_plan.for_training(config, variables,
                                     Invocation(frozenset(user_set), params or {}))
        found = machine_check.examine(plan, variables) + data_check.examine(plan, is_quick=True)
        found.problems += _tf1_problems(config.tf1)
        content: dict[str, Any] = json.loads(printout.describe(plan, found, as_json=True))
        return content


@call.of_command("launch")
def launch(model_fn: PlugIn = None, input_fn: PlugIn = None, model_dir: Folder = "", *,
           params: Mapping[str, Any] | None = None,
           **settings: Unpack[keywords.Launch]) -> Result:
    """Runs a whole cluster on this machine, one process a task, and waits for its end.

    Args:
      model_fn: The name of the model_fn plug-in; a task's process can find a name alone.
      input_fn: The name of the input_fn plug-in.
      model_dir: The directory that all tasks share.
      params: Values of the plug-ins' params, by name.

    Returns:
      How the job ended, with the metrics of its last evaluation.

    Raises:
      ConfigError: for a mistake that is found before a task starts.
      TrainerError: if the job failed; Interrupted if it was stopped.
    """
    for kind, thing in (("model_fn", model_fn), ("input_fn", input_fn)):
        if thing is not None and not isinstance(thing, str):
            raise ConfigError(Problem(kind, thing, "and the tasks are processes that cannot see it",
                                      f"a name, or a file that defines `{kind}`",
                                      Setting(kind, f"./my_{kind}.py")))
    of_job = {field.name for field in dataclasses.fields(JobConfig)}
    passed: dict[str, Any] = {**settings}
    of_call = {name: passed.pop(name) for name in of_job & passed.keys()}
    job = JobConfig(**{name: os.fspath(value) if isinstance(value, os.PathLike) else value
                       for name, value in of_call.items()})
    with _call(passed, model_fn, input_fn, model_dir) as user_set:
        if not user_set.get("model_dir"):
            raise ConfigError(Problem("model_dir", expected="a directory that all tasks share",
                                      example=Setting("model_dir", "/tmp/digits")))
        words = call_words.of("launch", {**user_set, **of_call}, params)
        pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                 for key, value in (params or {}).items()]
        user_set["param"] = (*user_set.get("param", ()), *pairs)
        config, variables = config_of(user_set, "launch"), environment.read()
        from estimator_trainer.launcher import launch as launch_lib
        code = launch_lib.run(job, config, words_of(config, user_set), variables,
                              user_set=frozenset(user_set), command=words)
        return _result_of_job(model_dir_name.of_trial(
            config.model_dir, variables.trial, variables.aip_model_dir), code)


@call.with_short_errors
def report(model_dir: Folder | Sequence[Folder], output: Folder = "") -> Report:
    """Writes the page of a run, of several beside each other, or a table of many; returns its path.

    The path is a str that a notebook shows as the page, and whose `data` is the content of the
    page's JSON file.

    Args:
      model_dir: The directory of a training, a list of them, or a folder of many.
      output: The file; default: `report.html` in the directory, of several `comparison.html` here,
        and `runs.html` in a folder of many.
    """
    folders = [model_dir] if isinstance(model_dir, (str, os.PathLike)) else list(model_dir)
    if not folders:
        raise ConfigError(Problem(
            "model_dir", [], expected="the directory of a training, or several",
            example=Setting("model_dir", "/tmp/digits")))
    with _call({}):
        names, page_file = [os.fspath(folder) for folder in folders], os.fspath(output)
        start.read_model_dirs(TrainerConfig(output=page_file), environment.read(), names)
        from estimator_trainer.reports import report_command
        return Report(report_command.write(names, page_file))


@call.with_short_errors
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
    if not isinstance(model_dir, (str, os.PathLike)):
        raise ConfigError(Problem("model_dir", model_dir, expected="the path of a directory",
                                  example=Setting("model_dir", "/tmp/digits")))
    named = {"model_fn": model_fn, "input_fn": input_fn, "model_dir": os.fspath(model_dir)}
    user_set = {**{name: value for name, value in named.items() if value not in (None, "")},
                **settings}
    for kind in KINDS:
        if kind in user_set and not isinstance(user_set[kind], str):
            user_set[kind] = loader.keep(user_set[kind])
    # Loggers, the environment and TensorFlow's graphs are the process's: a call of another thread
    # waits.
    with _calls:
        importing.forget_edited()
        with logs.as_before(), environment.as_before():
            yield user_set


def _planned(make: start.MakePlan, function: str, user_set: Mapping[str, Any],
             params: Mapping[str, Any] | None,
             variables: environment.Environment | None = None, data: Data = Data()) -> Plan:
    variables = variables or environment.read()
    config, with_data = _with_data(make, function, user_set, params, variables, data)
    refuse(_tf1_problems(config.tf1))
    words = call_words.of(function, user_set, params, data)
    return start.planned(make, config, variables, Invocation(
        frozenset(user_set), with_data or {}, command=words))


def _with_data(make: start.MakePlan, function: str, user_set: Mapping[str, Any],
               params: Mapping[str, Any] | None, variables: environment.Environment, data: Data
               ) -> tuple[TrainerConfig, Mapping[str, Any] | None]:
    """Returns the settings and the params of a call, the data among them."""
    config = config_of(user_set, function)
    training_data.check_label(data.label)
    if params is not None and not isinstance(params, Mapping):
        raise ConfigError(Problem("params", params, expected="a dict",
                                  example=Setting("params", {"learning_rate": 0.1})))
    if not data:
        return config, params
    # These are no settings of the user: a record in model_dir has others.
    names: dict[str, Any] = training_data.default_plugins(data)
    config = dataclasses.replace(config, **{
        name: value for name, value in names.items() if name not in user_set})
    first = start.sketched(make, config, variables, Invocation(frozenset(user_set), params or {}))
    run_plan.refuse(first)
    if data.has_table:
        start.import_tensorflow(first)
    return config, {**(params or {}), **training_data.params_of(first, data)}


def _tf1_problems(tf1: bool) -> list[Problem]:
    return [Problem(
        "tf1", True, "which would change TensorFlow for this whole process",
        "no tf1=, in a new process (a restarted kernel) whose first line is this import",
        "import estimator_trainer.compat.tf1",
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
    ended = checkpoints.read_result(model_dir)
    if code in (130, 142, 143):
        raise Interrupted("lost" if code == 142 else "stopped", f"exit {code}", "launch")
    if code:
        raise TrainerError(f"the job failed with exit {code}"
                           + (f": {ended.reason}" if ended else "; its log says why"))
    if ended is None:
        raise TrainerError(f"the job ended with exit 0, and {model_dir} has no result.json that is"
                           " whole; its log says how it ended")
    return _complete(ended, model_dir)


def _complete(ended: Result, model_dir: str) -> Result:
    """Returns a result with what Python programs get beside the content of result.json."""
    from estimator_trainer.reports import history
    return dataclasses.replace(ended, model_dir=model_dir,
                               history=tuple(history.by_step(model_dir)))
