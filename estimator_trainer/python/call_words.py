"""A call of this package as words, for the record: the function, and one word for each argument."""

from typing import Any, Mapping

from estimator_trainer import redaction
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.plugin import KINDS
from estimator_trainer.python import training_data
from estimator_trainer.python.training_data import Data


def of(function: str, settings: Mapping[str, Any], params: Mapping[str, Any] | None,
       data: Data = Data()) -> tuple[str, ...]:
    """Returns the words of a call, with secrets masked.

    An object has its name, and data in memory their type.
    """
    words = [f"{name}={_setting(name, value)}" for name, value in settings.items()]
    for name, part in (("data", data.train), ("eval_data", data.evaluation)):
        if part is not None:
            shown = training_data.described(part)
            words.append(f"{name}={redaction.without_credentials(shown)}")
    words += [f"label={data.label!r}"] if data.label else []
    words += [f"params={redaction.masked('params', dict(params))!r}"] if params else []
    return (f"estimator_trainer.{function}", *words)


def _setting(name: str, value: Any) -> str:
    if name in KINDS and isinstance(value, str) and loader.is_kept(value):
        return value.rpartition(":")[2]
    return repr(redaction.masked(name, value))
