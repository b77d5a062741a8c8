"""Finds settings that do not go together, or have no known form.

Standard library only, so a mistake is reported before TensorFlow is imported.
"""

from __future__ import annotations

import re
from typing import Any

from estimator_trainer import errors, storage
from estimator_trainer.settings import name_patterns

EXPORTERS = ("final", "latest", "best")
_CHECKPOINT = re.compile(r"latest|best|all|step=\d+")
_DEVICE = re.compile(r"(cpu|gpu):\d+")
_MOST_SHOWN = 80
_RANGE = re.compile(r"\d+,\d+")


def problems(config: Any) -> list[str]:
    """Returns what is wrong with a TrainerConfig, one sentence each."""
    return (_path_problems(config) + _cross_problems(config) + _variable_problems(config) +
            _prediction_problems(config) + _device_problems(config) + _rank_problems(config))


def _path_problems(config: Any) -> list[str]:
    """Returns a sentence for each path that no file system takes, such as one with a NUL."""
    paths = {**config.paths, "params_file": config.params_file}
    return [f"{name} is {path[:_MOST_SHOWN]!r} (from --{name}), a text of {len(path)} characters"
            " that no file system takes for a path; expected names of at most 250 bytes, in UTF-8."
            f" For example: --{name}=/tmp/digits"
            for name, path in paths.items() if not storage.can_be_path(path, name != "data")]


def refuse_prediction(command: str, config: Any) -> None:
    """Raises ConfigError if settings of `predict` are given to another command."""
    given = [name for name in ("data", "with_inputs") if getattr(config, name)]
    if given and command != "predict":
        raise errors.ConfigError(
            f"{given[0]} is {getattr(config, given[0])!r} (from --{given[0]}), which only `predict`"
            f" takes, and the command is `{command}`. For example: estimator-trainer predict"
            " --data=new.csv")


def _cross_problems(config: Any) -> list[str]:
    problems = []
    unknown = [e for e in config.exporters if e not in EXPORTERS and e != "none"]
    if unknown:
        problems.append(
            f"exporters is {','.join(config.exporters)!r} (from --exporters); expected some of"
            f" {', '.join(EXPORTERS)}, or none.{errors.near_match(unknown[0], EXPORTERS)}"
            " For example: --exporters=final,best")
    if "none" in config.exporters and len(config.exporters) > 1:
        problems.append(
            f"exporters is {','.join(config.exporters)!r} (from --exporters); `none` stands"
            " alone. For example: --exporters=none")
    if not _CHECKPOINT.fullmatch(config.checkpoint):
        problems.append(
            f"checkpoint is {config.checkpoint!r} (from --checkpoint); expected latest, best,"
            " all or step=N. For example: --checkpoint=step=1000")
    if config.serving_input_fn and config.serving_input != "raw":
        problems.append(
            f"serving_input is {config.serving_input!r} (from --serving_input), and"
            f" {config.serving_input_fn!r} (from --serving_input_fn) decides what exports take."
            " Leave out one of them. For example: --serving_input=raw")
    if config.save_checkpoints_steps and config.save_checkpoints_secs:
        problems.append(
            "save_checkpoints_steps and save_checkpoints_secs are both set (from the flags of"
            " these names); expected one of them. For example: --save_checkpoints_steps=500")
    if config.save_checkpoints_secs and config.is_collective:
        problems.append(
            f"save_checkpoints_secs is {config.save_checkpoints_secs} (from"
            " --save_checkpoints_secs), and the workers of multi_worker_mirrored must save at the"
            " same step, not by their own clocks. For example: --save_checkpoints_steps=1000")
    if config.eval_every_steps and (config.save_checkpoints_secs or
                                    config.save_checkpoints_steps not in
                                    (0, config.eval_every_steps)):
        problems.append(
            f"eval_every_steps is {config.eval_every_steps} (from --eval_every_steps), and an"
            " evaluation needs a checkpoint of its step; leave out --save_checkpoints_steps and"
            f" --save_checkpoints_secs. For example: --eval_every_steps={config.eval_every_steps}")
    return problems


def _variable_problems(config: Any) -> list[str]:
    problems = [name_patterns.problem(name, getattr(config, name))
                for name in ("warm_start_vars", "freeze") if getattr(config, name)]
    if config.warm_start_rename:
        problems.append(name_patterns.rename_problem(config.warm_start_rename))
    for name in ("warm_start_rename", "warm_start_missing"):
        if getattr(config, name) and not config.warm_start_from:
            problems.append(
                f"{name} is {getattr(config, name)!r} (from --{name}), and warm_start_from is"
                " missing: nothing is warm-started. For example: --warm_start_from=/tmp/digits")
    if config.warm_start_from and config.train_distribute == "central_storage":
        # TensorFlow sets the initial values of another object than the one it initializes.
        problems.append(
            f"warm_start_from is {config.warm_start_from!r} (from --warm_start_from), and"
            " train_distribute is 'central_storage' (from --train_distribute), with which"
            " TensorFlow takes nothing from a checkpoint. For example: --train_distribute=mirrored")
    return [problem for problem in problems if problem]


def _rank_problems(config: Any) -> list[str]:
    if config.num_evaluators <= 1:
        return []
    return [f"num_evaluators is {config.num_evaluators} (from --num_evaluators); expected 0 or 1,"
            " because a job has one evaluator. For example: --num_evaluators=1"]


def _prediction_problems(config: Any) -> list[str]:
    if not config.data or config.data != config.output:
        return []
    return [f"output is {config.output!r} (from --output), which is the data to predict (from"
            " --data) too; expected another file. For example: --output=predictions.jsonl"]


def _device_problems(config: Any) -> list[str]:
    problems = []
    if config.device and not _DEVICE.fullmatch(config.device):
        problems.append(f"device is {config.device!r} (from --device); expected cpu:N or gpu:N."
                        " For example: --device=gpu:0")
    elif config.device and config.train_distribute not in ("none", "parameter_server"):
        problems.append(
            f"device is {config.device!r} (from --device), and {config.train_distribute} (from"
            " --train_distribute) chooses the devices by itself. For example: --num_replicas=1")
    if config.epochs_of == "worker" and not config.train_epochs:
        problems.append(
            "epochs_of is 'worker' (from --epochs_of), and train_epochs is 0: no passes are"
            " counted. For example: --train_epochs=20")
    if config.sync_tokens and not config.sync_replicas:
        problems.append(
            f"sync_tokens is {config.sync_tokens} (from --sync_tokens), and sync_replicas is 0:"
            " training is not synchronous by tokens. For example: --sync_replicas=2")
    if config.steps_per_loop > 1 and config.sync_replicas:
        problems.append(
            f"steps_per_loop is {config.steps_per_loop} (from --steps_per_loop), and a step of"
            " sync_replicas waits for other trainers in queues that a loop cannot use. For"
            " example: --steps_per_loop=1")
    if config.profile_steps and not (
            _RANGE.fullmatch(config.profile_steps) and
            0 < config.profiled_steps[0] <= config.profiled_steps[1]):
        problems.append(
            f"profile_steps is {config.profile_steps!r} (from --profile_steps); expected the first"
            " and the last step, from 1. For example: --profile_steps=100,110")
    return problems
