"""Asks what is in a plug-in's data, in the module that it names for this, without TensorFlow."""

import dataclasses
from typing import Any, Mapping

from estimator_trainer.errors import ConfigError
from estimator_trainer.plugins import importing
from estimator_trainer.plugins.plugin import Plugin


@dataclasses.dataclass(frozen=True)
class Inspection:
    """The data of a plug-in; `input_fns/__init__.py` has what each attribute holds."""

    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    num_classes: int = 0
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    naive_loss: float = 0.0


def described(plugin: Plugin, params: Mapping[str, Any], is_quick: bool) -> Inspection:
    """Returns what is in the data that the params name; `is_quick` takes part of a second.

    Raises:
      ConfigError: if the data or a param cannot be used.
    """
    return Inspection(**_called(plugin, "described", params, is_quick))


def starting_params(plugin: Plugin, data: str) -> dict[str, Any] | None:
    """Returns the params by which a plug-in reads a file or folder; None if it reads no such data.

    Raises:
      ConfigError: if the data cannot be used.
    """
    found: dict[str, Any] | None = _called(plugin, "starting_params", data)
    return found


def labels(plugin: Plugin, params: Mapping[str, Any]) -> list[str]:
    """Returns the names among which the label is to be chosen; none if the data decide.

    Raises:
      ConfigError: if the data or a param cannot be used.
    """
    return list(_called(plugin, "labels", params))


def _called(plugin: Plugin, function: str, *arguments: Any) -> Any:
    try:
        return getattr(importing.imported(plugin.inspection), function)(*arguments)
    except Exception as error:  # pylint: disable=broad-except
        if not hasattr(error, "exit_code") or isinstance(error, ConfigError):
            raise
        text = str(error)
        raise ConfigError(text if text.endswith((".", "?")) or "For example:" in text
                          else f"{text}.") from error
