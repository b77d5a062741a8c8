"""The plug-ins that read the data: one for all modes, or one for each."""

from __future__ import annotations

from typing import NamedTuple

from estimator_trainer import errors
from estimator_trainer.plan import plugins
from estimator_trainer.settings.trainer_config import TrainerConfig


class InputPlugins(NamedTuple):
    """The plug-ins that read the data.

    Attributes:
      evaluation: The plug-in whose input_fn is called to evaluate and to predict.
      training: The plug-in whose input_fn is called to train, or None if it is the same.
      serving: The plug-in of the serving_input_receiver_fn that a flag names, or None.
    """

    evaluation: plugins.Plugin
    training: plugins.Plugin | None
    serving: plugins.Plugin | None


def find(config: TrainerConfig, is_training: bool) -> InputPlugins:
    """Finds the plug-ins that --input_fn and its likes name.

    Args:
      config: The settings.
      is_training: Whether the command trains.

    Raises:
      ConfigError: if a plug-in is not there, or the data of a mode would be those of the example.
    """
    kinds = {mode: f"{mode}_input_fn" for mode in ("train", "eval")}
    named = {mode: getattr(config, kind) for mode, kind in kinds.items()}
    if not is_training and named["eval"]:
        named["train"] = named["train"] or named["eval"]
    missing = [mode for mode, name in named.items() if not name]
    if len(missing) == 1 and config.input_fn == type(config).input_fn:
        [there] = set(named) - set(missing)
        raise errors.ConfigError(
            f"{kinds[there]} is {named[there]!r} (from --{kinds[there]}), and nothing names the"
            f" data of the other mode (no --{kinds[missing[0]]}). For example:"
            f" --{kinds[missing[0]]}={named[there]}")
    both = plugins.find("input_fn", config.input_fn) if missing else None
    training, evaluation = (
        plugins.find(kinds[mode], name) if name else both for mode, name in named.items())
    assert evaluation is not None
    serving = (plugins.find("serving_input_fn", config.serving_input_fn)
               if config.serving_input_fn else None)
    return InputPlugins(evaluation, None if training == evaluation else training, serving)
