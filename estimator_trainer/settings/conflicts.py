"""Finds settings that contradict each other, or have no known form."""

import os.path
import re
from typing import Iterable, Iterator, Mapping, Sequence
import warnings

from estimator_trainer import storage
from estimator_trainer.cluster.declared_cluster import MOST_EVALUATORS
from estimator_trainer.errors import (ConfigError, did_you_mean, near_match, nearest, Param,
                                      Problem, Setting, Words)
from estimator_trainer.settings import length

EXPORTERS = ("final", "latest", "best")
SERVING_INPUTS = ("raw", "example", "csv")
TRACKERS = ("mlflow", "wandb")
_CHECKPOINT = re.compile(r"latest|best|average|all|step=\d+")
_DEVICE = re.compile(r"(cpu|gpu):\d+")
_FUNCTION = re.compile(r"(.+\.py|[A-Za-z_][\w.]*):[A-Za-z_]\w*")
# A comma within brackets is a part of a regular expression.
_COMMA = re.compile(r",(?![^\[({]*[\])}])")
_RANGE = re.compile(r"(\d+),(\d+)")


def of_paths(paths: Mapping[str, str]) -> Iterator[Problem]:
    """Yields each path that no file system takes, such as one with a NUL."""
    for name, path in paths.items():
        if not storage.can_be_path(path, name != "data"):
            yield Problem(name, path[:80],
                          f"a text of {len(path)} characters that no file system takes for a path",
                          "names of at most 250 bytes, in UTF-8", Setting(name, "/tmp/digits"))
    if paths["data"] and paths["data"] == paths["output"]:
        yield Problem("output", paths["output"], beside=Setting("data", paths["data"]),
                      expected="another file", example=Setting("output", "predictions.jsonl"))


def refuse_prediction(command: str, data: str, with_inputs: bool, is_all: bool,
                      share: str = "") -> None:
    """Raises ConfigError if settings of `predict` are passed to another command."""
    settings = {"data": data, "with_inputs": with_inputs, "all": is_all, "share": share}
    name, value = next(((name, value) for name, value in settings.items() if value), ("", ""))
    if name and command != "predict":
        param = "eval_dir" if os.path.isdir(os.path.expanduser(data)) else "eval_files"
        raise ConfigError(Problem(
            name, value, f"which only `predict` takes, and the command is `{command}`",
            example=f"estimator-trainer evaluate {Param(param, data)}" if (
                command == "evaluate" and name == "data") else
            "estimator-trainer predict --data=new.csv"))


def refuse_watching(command: str, checkpoint: str) -> None:
    """Raises ConfigError if `watch` is set for another command, or beside a checkpoint."""
    example = f"estimator-trainer evaluate {Setting('watch', True)}"
    if command != "evaluate":
        raise ConfigError(Problem(
            "watch", Words("set"), f"which only `evaluate` takes, and the command is `{command}`",
            example=example))
    if checkpoint != "latest":
        raise ConfigError(Problem(
            "checkpoint", checkpoint, beside=Setting("watch", True),
            why="which evaluates each new checkpoint", expected="one of them", example=example))


def of_exports(exporters: Sequence[str], serving_input: str,
               serving_input_fn: str) -> Iterator[Problem]:
    """Yields unknown exporters and inputs of exports, and two settings that decide the same."""
    unknown = [e for e in exporters if e not in EXPORTERS and e != "none"]
    if unknown:
        yield Problem("exporters", ",".join(exporters),
                      expected=f"some of {', '.join(EXPORTERS)}, or none",
                      advice=near_match(unknown[0], EXPORTERS),
                      example=Setting("exporters", ("final", "best")))
    if "none" in exporters and len(exporters) > 1:
        yield Problem("exporters", ",".join(exporters), "in which `none` stands alone",
                      example=Setting("exporters", ("none",)))
    kinds = serving_input.split(",")
    unknown = [each for each in kinds if each not in SERVING_INPUTS]
    if unknown or len(kinds) > len(set(kinds)):
        yield Problem("serving_input", serving_input,
                      expected=f"some of {', '.join(SERVING_INPUTS)}, each once",
                      advice=near_match(unknown[0], SERVING_INPUTS) if unknown else "",
                      example=Setting("serving_input", "raw,example"))
    elif serving_input_fn and serving_input != "raw":
        yield Problem("serving_input", serving_input,
                      beside=Setting("serving_input_fn", serving_input_fn),
                      why="which decides what exports take", expected="one of them",
                      example=Setting("serving_input", "raw"))


def of_checkpoints(checkpoint: str, steps: int, secs: int, eval_every_steps: int,
                   is_collective: bool) -> Iterator[Problem]:
    """Yields an unknown choice of a checkpoint, and settings that save at different times."""
    if not _CHECKPOINT.fullmatch(checkpoint):
        yield Problem("checkpoint", checkpoint, expected="latest, best, average, all or step=N",
                      example=Setting("checkpoint", "step=1000"))
    if steps and secs:
        yield Problem("save_checkpoints_steps", steps,
                      beside=Setting("save_checkpoints_secs", secs), expected="one of them",
                      example=Setting("save_checkpoints_steps", 500))
    if secs and is_collective:
        yield Problem("save_checkpoints_secs", secs,
                      "and the workers of multi_worker_mirrored must save at the same step, not by"
                      " their own clocks", example=Setting("save_checkpoints_steps", 1000))
    if eval_every_steps and (secs or steps not in (0, eval_every_steps)):
        name = "save_checkpoints_secs" if secs else "save_checkpoints_steps"
        yield Problem("eval_every_steps", eval_every_steps, beside=Setting(name, secs or steps),
                      why="but each evaluation needs a checkpoint of its step",
                      expected="one of them", example=Setting("eval_every_steps", eval_every_steps))


def of_variables(train_distribute: str, freeze: str, warm_start_from: str, warm_start_vars: str,
                 warm_start_rename: Sequence[str], warm_start_missing: bool) -> Iterator[Problem]:
    """Yields patterns and renames that cannot be read, and those of a warm start without one."""
    found = [_pattern_problem("warm_start_vars", warm_start_vars),
             _pattern_problem("freeze", freeze), _rename_problem(warm_start_rename)]
    yield from filter(None, found)
    for name, value in (("warm_start_rename", warm_start_rename),
                        ("warm_start_missing", warm_start_missing)):
        if value and not warm_start_from:
            yield Problem(name, value, "and warm_start_from is missing: nothing is warm-started",
                          example=Setting("warm_start_from", "/tmp/digits"))
    if warm_start_from and train_distribute == "central_storage":
        # TensorFlow sets the initial values of another object than the one it initializes.
        yield Problem("warm_start_from", warm_start_from,
                      beside=Setting("train_distribute", train_distribute),
                      why="with which TensorFlow takes nothing from a checkpoint",
                      example=Setting("train_distribute", "mirrored"))


def of_devices(device: str, train_distribute: str, profile_steps: str) -> Iterator[Problem]:
    """Yields a device, or a range of steps, that cannot be read, and a device beside a strategy."""
    if device and not _DEVICE.fullmatch(device):
        yield Problem("device", device, expected="cpu:N or gpu:N",
                      example=Setting("device", "gpu:0"))
    elif device and train_distribute not in ("none", "parameter_server"):
        yield Problem("device", device,
                      beside=Setting("train_distribute", train_distribute),
                      why="which chooses the devices by itself", example=Setting("num_replicas", 1))
    steps = _RANGE.fullmatch(profile_steps)
    if profile_steps and not (steps and 0 < int(steps[1]) <= int(steps[2])):
        yield Problem("profile_steps", profile_steps,
                      expected="the first and the last step, from 1",
                      example=Setting("profile_steps", "100,110"))


def of_counts(epochs_of: str, train_epochs: int, sync_replicas: int, sync_tokens: int,
              steps_per_loop: int, num_evaluators: int) -> Iterator[Problem]:
    """Yields numbers that only count together with another one, or not together with it."""
    if epochs_of == "worker" and not train_epochs:
        yield Problem("epochs_of", "worker", "and train_epochs is 0: no passes are counted",
                      example=Setting("train_epochs", 20))
    if sync_tokens and not sync_replicas:
        yield Problem("sync_tokens", sync_tokens,
                      "and sync_replicas is 0: training is not synchronous by tokens",
                      example=Setting("sync_replicas", 2))
    if steps_per_loop > 1 and sync_replicas:
        yield Problem("steps_per_loop", steps_per_loop,
                      beside=Setting("sync_replicas", sync_replicas),
                      why="a step of which waits for other trainers in queues that a loop cannot"
                      " use", example=Setting("steps_per_loop", 1))
    if num_evaluators > MOST_EVALUATORS:
        yield Problem("num_evaluators", num_evaluators, expected=f"at most {MOST_EVALUATORS}",
                      example=Setting("num_evaluators", 2))


def of_length(train_until: str, train_epochs: int, early_stopping_metric: str,
              stop_at: str) -> Iterator[Problem]:
    """Yields a target that cannot be read, and a second rule beside `no_improvement`."""
    if stop_at and length.target(stop_at) is None:
        yield Problem("stop_at", stop_at,
                      expected="a metric, one of >=, <=, > and <, and a number, in quotes",
                      example=Setting("stop_at", "accuracy>=0.98"))
    if train_until != "no_improvement":
        return
    for name, value in (("train_epochs", train_epochs),
                        ("early_stopping_metric", early_stopping_metric)):
        if value:
            yield Problem(name, value, beside=Setting("train_until", train_until),
                          why="which decides by itself when training ends",
                          expected="one of them", example=Setting("train_until", train_until))


def of_trackers(track: Sequence[str]) -> Iterator[Problem]:
    """Yields each tracker that is neither known by its name nor a function."""
    for name in track:
        if name not in TRACKERS and not _FUNCTION.fullmatch(name):
            near = nearest(name, TRACKERS)
            own = f"{name}:function" if name.endswith(".py") else TRACKERS[0]
            yield Problem("track", name, expected=f"some of {', '.join(TRACKERS)}, FILE.py:function"
                          " and module:function", advice=did_you_mean(near),
                          example=Setting("track", (near or own,)))


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
