"""Finds settings that contradict each other, or have no known form."""

import re
from typing import Any, Iterable, Iterator
import warnings

from estimator_trainer import storage
from estimator_trainer.errors import ConfigError, near_match, Problem, Setting

EXPORTERS = ("final", "latest", "best")
_CHECKPOINT = re.compile(r"latest|best|all|step=\d+")
_DEVICE = re.compile(r"(cpu|gpu):\d+")
# A comma within brackets is a part of a regular expression.
_COMMA = re.compile(r",(?![^\[({]*[\])}])")
_RANGE = re.compile(r"\d+,\d+")


def problems(config: Any) -> list[Problem]:
    """Returns what is wrong with a TrainerConfig."""
    return [*_path_problems(config), *_export_problems(config), *_checkpoint_problems(config),
            *_variable_problems(config), *_device_problems(config), *_count_problems(config)]


def _path_problems(config: Any) -> Iterator[Problem]:
    """Yields each path that no file system takes, such as one with a NUL."""
    for name, path in {**config.paths, "params_file": config.params_file}.items():
        if not storage.can_be_path(path, name != "data"):
            yield Problem(name, path[:80],
                          f"a text of {len(path)} characters that no file system takes for a path",
                          "names of at most 250 bytes, in UTF-8", Setting(name, "/tmp/digits"))
    if config.data and config.data == config.output:
        yield Problem("output", config.output, beside=Setting("data", config.data),
                      expected="another file", example=Setting("output", "predictions.jsonl"))


def refuse_prediction(command: str, config: Any) -> None:
    """Raises ConfigError if settings of `predict` are passed to another command."""
    passed = [name for name in ("data", "with_inputs") if getattr(config, name)]
    if passed and command != "predict":
        raise ConfigError(Problem(passed[0], getattr(config, passed[0]),
                                  f"which only `predict` takes, and the command is `{command}`",
                                  example="estimator-trainer predict --data=new.csv"))


def _export_problems(config: Any) -> Iterator[Problem]:
    unknown = [e for e in config.exporters if e not in EXPORTERS and e != "none"]
    if unknown:
        yield Problem("exporters", ",".join(config.exporters),
                      expected=f"some of {', '.join(EXPORTERS)}, or none",
                      advice=near_match(unknown[0], EXPORTERS),
                      example=Setting("exporters", ("final", "best")))
    if "none" in config.exporters and len(config.exporters) > 1:
        yield Problem("exporters", ",".join(config.exporters), "in which `none` stands alone",
                      example=Setting("exporters", ("none",)))
    if config.serving_input_fn and config.serving_input != "raw":
        yield Problem("serving_input", config.serving_input,
                      beside=Setting("serving_input_fn", config.serving_input_fn),
                      why="which decides what exports take", expected="one of them",
                      example=Setting("serving_input", "raw"))


def _checkpoint_problems(config: Any) -> Iterator[Problem]:
    if not _CHECKPOINT.fullmatch(config.checkpoint):
        yield Problem("checkpoint", config.checkpoint, expected="latest, best, all or step=N",
                      example=Setting("checkpoint", "step=1000"))
    steps, secs = config.save_checkpoints_steps, config.save_checkpoints_secs
    if steps and secs:
        yield Problem("save_checkpoints_steps", steps,
                      beside=Setting("save_checkpoints_secs", secs), expected="one of them",
                      example=Setting("save_checkpoints_steps", 500))
    if secs and config.is_collective:
        yield Problem("save_checkpoints_secs", secs,
                      "and the workers of multi_worker_mirrored must save at the same step, not by"
                      " their own clocks", example=Setting("save_checkpoints_steps", 1000))
    every = config.eval_every_steps
    if every and (secs or steps not in (0, every)):
        name = "save_checkpoints_secs" if secs else "save_checkpoints_steps"
        yield Problem("eval_every_steps", every, beside=Setting(name, secs or steps),
                      why="but each evaluation needs a checkpoint of its step",
                      expected="one of them", example=Setting("eval_every_steps", every))


def _variable_problems(config: Any) -> Iterator[Problem]:
    found = [_pattern_problem(name, getattr(config, name))
             for name in ("warm_start_vars", "freeze") if getattr(config, name)]
    if config.warm_start_rename:
        found.append(_rename_problem(config.warm_start_rename))
    yield from filter(None, found)
    for name in ("warm_start_rename", "warm_start_missing"):
        if getattr(config, name) and not config.warm_start_from:
            yield Problem(name, getattr(config, name),
                          "and warm_start_from is missing: nothing is warm-started",
                          example=Setting("warm_start_from", "/tmp/digits"))
    if config.warm_start_from and config.train_distribute == "central_storage":
        # TensorFlow sets the initial values of another object than the one it initializes.
        yield Problem("warm_start_from", config.warm_start_from,
                      beside=Setting("train_distribute", config.train_distribute),
                      why="with which TensorFlow takes nothing from a checkpoint",
                      example=Setting("train_distribute", "mirrored"))


def _device_problems(config: Any) -> Iterator[Problem]:
    if config.device and not _DEVICE.fullmatch(config.device):
        yield Problem("device", config.device, expected="cpu:N or gpu:N",
                      example=Setting("device", "gpu:0"))
    elif config.device and config.train_distribute not in ("none", "parameter_server"):
        yield Problem("device", config.device,
                      beside=Setting("train_distribute", config.train_distribute),
                      why="which chooses the devices by itself", example=Setting("num_replicas", 1))
    if config.profile_steps and not (
            _RANGE.fullmatch(config.profile_steps) and
            0 < config.profiled_steps[0] <= config.profiled_steps[1]):
        yield Problem("profile_steps", config.profile_steps,
                      expected="the first and the last step, from 1",
                      example=Setting("profile_steps", "100,110"))


def _count_problems(config: Any) -> Iterator[Problem]:
    if config.epochs_of == "worker" and not config.train_epochs:
        yield Problem("epochs_of", "worker", "and train_epochs is 0: no passes are counted",
                      example=Setting("train_epochs", 20))
    if config.sync_tokens and not config.sync_replicas:
        yield Problem("sync_tokens", config.sync_tokens,
                      "and sync_replicas is 0: training is not synchronous by tokens",
                      example=Setting("sync_replicas", 2))
    if config.steps_per_loop > 1 and config.sync_replicas:
        yield Problem("steps_per_loop", config.steps_per_loop,
                      beside=Setting("sync_replicas", config.sync_replicas),
                      why="a step of which waits for other trainers in queues that a loop cannot"
                      " use", example=Setting("steps_per_loop", 1))
    if config.num_evaluators > 1:
        yield Problem("num_evaluators", config.num_evaluators,
                      expected="0 or 1, because a job has one evaluator",
                      example=Setting("num_evaluators", 1))


def split(text: str) -> tuple[str, ...]:
    """Returns the patterns of --warm_start_vars or --freeze, which commas separate."""
    return tuple(filter(None, (part.strip() for part in _COMMA.split(text))))


def matches(pattern: str, name: str) -> bool:
    """Returns whether a pattern matches a variable, as in TensorFlow's own collections.

    A pattern is a regular expression that matches from the beginning of the name, so a scope
    matches all variables below it.
    """
    return bool(re.match(pattern, name) or re.match(pattern, f"{name}:0"))


def _pattern_problem(setting: str, text: str) -> Problem | None:
    """Returns the first wrong pattern of a setting, or None."""
    for pattern in split(text):
        try:
            # Python warns of syntax that a later version may read in another way.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return Problem(setting, text, f"in which {pattern!r} is no regular expression: {error}",
                           example=Setting(setting, "conv.*,dense/kernel"))
    return None


def renames(pairs: Iterable[str]) -> dict[str, str]:
    """Returns the old name, or scope, by the new one."""
    return {new: old for old, _, new in (pair.partition("=") for pair in pairs)}


def _rename_problem(pairs: Iterable[str]) -> Problem | None:
    """Returns the first wrong rename, or None."""
    for pair in pairs:
        old, _, new = pair.partition("=")
        if not old or not new or "=" in new or old.endswith("/") != new.endswith("/"):
            return Problem(
                "warm_start_rename", pair, verb="has",
                expected="OLD=NEW, two names, or two scopes that end with a slash",
                example=Setting("warm_start_rename",
                                ("dense/kernel=logits/kernel", "encoder/=backbone/")))
    return None
