"""A function that does what a command does: its signature, its documentation, its errors.

Completion and `help` read the signature and the documentation, which name every setting. A mistake
is one sentence in Python's words, with no frame of this package above it.
"""

import contextlib
import dataclasses
import functools
import inspect
import json
import re
import shlex
from typing import Any, Callable, Collection, Iterator, Sequence, TypeVar

from estimator_trainer import task_events
from estimator_trainer.errors import (ConfigError, in_python, in_short, Interrupted, Problem,
                                      Setting, TrainerError, Words)
from estimator_trainer.python import keyword_settings
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

OnEvaluation = Callable[[dict[str, Any]], object]
_Function = TypeVar("_Function", bound=Callable[..., Any])
_QUOTED = r"'[^']*'(?:\"'\"'[^']*')*|\"[^\"]*\"|\S+?(?=[.,;:)]*(?:\s|$))"
_PARAM = re.compile(rf"--param ([\w.]+)=({_QUOTED})")
_PARAMS = re.compile(rf"{_PARAM.pattern}(?: {_PARAM.pattern})*")
_FLAG = re.compile(rf"(?<![\w-])--([a-z]\w+)(?:=({_QUOTED}))?")
_MEMORY = re.compile(r"memory-table://\w+")
_TEXT_ARGUMENTS = ("data", "eval_data", "label")
_FLAGS = {field.name: field.default for config in (TrainerConfig, JobConfig)
          for field in dataclasses.fields(config)}


def of_command(name: str) -> Callable[[_Function], _Function]:
    """Makes a function show the settings of a command in its signature and its documentation."""
    def decorated(function: _Function) -> _Function:
        short = with_short_errors(function)
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        named = {each.name for each in own}
        fields = [field for field in keyword_settings.fields_of(name) if field.name not in named]
        keywords = [
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default,
                              annotation=keyword_settings.type_of(field)) for field in fields]
        short.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *keywords])
        short.__doc__ = f"{inspect.getdoc(function)}\n\nSettings:\n{_described(fields)}"
        return short
    return decorated


def with_short_errors(function: _Function) -> _Function:
    """Makes a function raise an error that a sentence explains without the frames below it."""
    @functools.wraps(function)
    def short(*args: Any, **keywords: Any) -> Any:
        try:
            with in_python():
                return function(*args, **keywords)
        except Exception as error:  # pylint: disable=broad-except
            if not hasattr(error, "exit_code"):
                raise
            passed = inspect.signature(function).bind(*args, **keywords).arguments
            explained = _of_python(error, {name for name in passed if passed[name] is not None})
        # The error has no cause and no context: TensorFlow's frames explain nothing more.
        raise explained from None
    return short  # type: ignore[return-value]


def _of_python(error: Exception, passed: Collection[str]) -> TrainerError:
    """Returns an error whose message has Python's words; `passed` are the arguments of the call.

    An error of a plug-in with an `exit_code` of its own is of its class, and a TrainerError too.
    """
    if not isinstance(error, TrainerError):
        kind = ConfigError if getattr(error, "exit_code") == ConfigError.exit_code else TrainerError
        both: Any = type(type(error).__name__, (type(error), kind),
                         {"__module__": type(error).__module__})
        made: TrainerError = both.__new__(both)
        made.__dict__.update(error.__dict__)
        made.args = error.args
        if isinstance(made, ConfigError):
            made.problems = (str(error),)
        error = made
    if error.args and isinstance(error.args[0], str):
        error.args = (in_words(error.args[0], passed), *error.args[1:])
    return error.with_traceback(None)


def in_words(text: str, passed: Collection[str] = ()) -> str:
    """Returns a text with keyword arguments in place of flags of the command line.

    `--param units=5` becomes `params={'units': 5}`, and `--train_steps=100` `train_steps=100`. A
    param becomes the argument that stands for it, if that was `passed`.
    """
    for param, argument in _arguments(passed).items():
        text = re.sub(rf"^{param} is", f"{argument} is", text)
        text = text.replace(f"--param {param}=", f"--{argument}=")
    if "tf_config" in passed:
        text = text.replace("(from the environment)", "(from tf_config=)")
        text = re.sub(r"\bTF_CONFIG(?=\[| is)", "tf_config", text)
    text = _PARAMS.sub(_params, text)
    text = text.replace("--param ", "params ").replace("the same command", "the same call")
    text = _FLAG.sub(_keyword, text)
    tables = list(dict.fromkeys(_MEMORY.findall(text)))
    for table in tables:
        text = re.sub(f"'?{table}'?", "the table in memory" if table == tables[0] else
                      "another one", text)
    return text


def _arguments(passed: Collection[str]) -> dict[str, str]:
    """Returns the arguments, by the params that they stand for."""
    names = {"label": "label", "train_files": "data", "train_dir": "data", "predict_files": "data",
             "eval_files": "eval_data", "eval_dir": "eval_data"}
    if "eval_data" not in passed and "label" not in passed:  # The function is `evaluate`.
        names.update(eval_files="data", eval_dir="data")
    return {param: name for param, name in names.items()
            if name in passed or param == "label" and "data" in passed and "params" not in passed}


def _params(found: "re.Match[str]") -> str:
    pairs = [f"{key!r}: {_value(value)!r}" for key, value in _PARAM.findall(found[0])]
    return f"params={{{', '.join(pairs)}}}"


def _keyword(found: "re.Match[str]") -> str:
    name, value = found[1], found[2]
    bare = name.removeprefix("no")
    if name in _TEXT_ARGUMENTS and value is not None:
        return f"{name}={_unquoted(value)!r}"
    if name in _FLAGS:
        default = _FLAGS[name]
        if value is None:
            return f"{name}=True" if isinstance(default, bool) else f"{name}="
        plain = _unquoted(value)
        if isinstance(default, tuple):
            return f"{name}={plain.split(',')!r}"
        is_text = isinstance(default, str)
        return f"{name}={plain!r}" if is_text else f"{name}={_value(value)!r}"
    return f"{bare}=False" if bare in _FLAGS and value is None else found[0]


def _unquoted(text: str) -> str:
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return text


def _value(text: str) -> Any:
    """Returns the value that a flag's text means: JSON, or the text itself."""
    plain = _unquoted(text)
    try:
        return json.loads(plain)
    except ValueError:
        return plain


def _described(fields: Sequence[dataclasses.Field[Any]]) -> str:
    return "\n".join(f"  {field.name}: {in_words(field.metadata['help'])}" for field in fields)


@contextlib.contextmanager
def receiving(on_evaluation: OnEvaluation | None) -> Iterator[None]:
    """Calls a function with the metrics of each evaluation of this process.

    An exception of the function stops the training, and then reaches the caller.
    """
    raised: list[Exception] = []

    def receive(kind: str, values: dict[str, Any]) -> None:
        if kind == "evaluation":
            try:
                on_evaluation({"global_step": values["step"], **values["metrics"]})  # type: ignore
            except Exception as error:  # pylint: disable=broad-except
                raised.append(error)
                raise Interrupted("stopped", in_short(error), "on_evaluation") from error

    if on_evaluation is None:
        yield
    elif callable(on_evaluation):
        try:
            with task_events.received_by(receive):
                yield
        finally:
            if raised:
                raise raised[0] from None
    else:
        raise ConfigError(Problem("on_evaluation", on_evaluation, example=Setting(
            "on_evaluation", Words("print")), expected="a function that takes a dict of metrics"))
