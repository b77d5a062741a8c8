"""The plug-ins that read the data: one for all modes, or one for each."""

from __future__ import annotations

from typing import NamedTuple

from estimator_trainer import errors
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings.trainer_config import TrainerConfig


class InputPlugins(NamedTuple):
    """The plug-ins that read the data.

    Attributes:
      evaluation: The plug-in whose input_fn is called to evaluate and to predict.
      training: The plug-in whose input_fn is called to train, or None if it is the same.
      serving: The plug-in of the serving_input_receiver_fn that a flag names, or None.
    """

    evaluation: Plugin
    training: Plugin | None
    serving: Plugin | None


def find(config: TrainerConfig, is_training: bool) -> InputPlugins:
    """Finds the plug-ins that --input_fn and its likes name.

    Args:
      config: The settings.
      is_training: Whether the command trains.

    Raises:
      ConfigError: if a plug-in is not there, or the data of a mode would be those of the example.
    """
    train, evaluate = config.train_input_fn, config.eval_input_fn
    there, lacking = (("train", "eval") if train else ("eval", "train"))
    has_one = bool(train) != bool(evaluate) and (is_training or bool(train))
    if has_one and config.input_fn == type(config).input_fn:
        raise errors.ConfigError(
            f"{there}_input_fn is {train or evaluate!r} (from --{there}_input_fn), and nothing"
            f" names the data of the other mode (no --{lacking}_input_fn). For example:"
            f" --{lacking}_input_fn={train or evaluate}")
    evaluation = (loader.find("eval_input_fn", evaluate) if evaluate else
                  loader.find("input_fn", config.input_fn))
    training = None
    if train:
        training = loader.find("train_input_fn", train)
    elif has_one:
        training = loader.find("input_fn", config.input_fn)
    serving = (loader.find("serving_input_fn", config.serving_input_fn)
               if config.serving_input_fn else None)
    return InputPlugins(evaluation, training, serving)
