"""Runs a script as `python SCRIPT` does, except for its calls of an Estimator."""

from __future__ import annotations

import functools
import pathlib
import runpy
import sys

from estimator_trainer import environment, errors, logs, redaction, result
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import stop
from estimator_trainer.estimator import strategy, user_estimator
from estimator_trainer.patches import (cluster_patches, estimator_patches, saving_patches,
                                       session_patches)
from estimator_trainer.plugins import importing
from estimator_trainer.plugins.source_files import Script
from estimator_trainer.reports import job_history
from estimator_trainer.script.calls import Calls
from estimator_trainer.training.sync_replicas import SyncReplicasHook


def run(plan: Plan, user_set: frozenset[str]) -> int:
    """Runs the script of a plan to its end.

    The settings that the command line has set (`user_set`, names) win over the script's. Returns
    the exit code of the script; if that is 0, the exit code of the training.
    """
    assert plan.script is not None
    environment.write_tf_config(plan.task.platform_tf_config)
    logs.stay_the_only_handler()
    chosen = strategy.for_training(plan.config, plan.task) if user_set & {
        "train_distribute", "eval_distribute"} else None
    calls = Calls(plan, user_set, chosen)
    waiting = functools.partial(stop.killed_after, plan.config.stall_timeout_secs)
    with (estimator_patches.calling(calls.replacements()),
          cluster_patches.configs_in_any_cluster(lambda: calls.task, user_estimator.of_platform),
          cluster_patches.strategies_reading(lambda: calls.task.strategy_tf_config(), waiting),
          saving_patches.naming_event_files(plan.task.name),
          session_patches.synchronizing_with(SyncReplicasHook)):
        try:
            code = _exit_code(plan.script, calls)
        finally:
            calls.end()
    if code:
        calls.fail(f"exit code {code}")
    if calls.result is None:
        return code
    if calls.has_begun:
        job_history.write_page(calls.plan)
    result.print_last_line(calls.result)
    return code or calls.result.exit_code


def _exit_code(script: Script, calls: Calls) -> int:
    """Runs the script, prints an error that it raises, and returns Python's exit code."""
    try:
        _execute(script)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(redaction.message_for_terminal(str(end.code)), file=sys.stderr)
        return 1
    except Exception as error:
        calls.fail(errors.in_short(error))
        if isinstance(error, errors.TrainerError):
            errors.show(error)
            return error.exit_code
        importing.print_traceback(error)
        return 1


def _execute(script: Script) -> None:
    sys.argv = [script.path, *script.arguments]
    if script.is_file:
        # The script finds its neighbours, as with `python SCRIPT`.
        sys.path.insert(0, str(pathlib.Path(script.path).resolve().parent))
        runpy.run_path(script.path, run_name="__main__")
    else:
        sys.path.insert(0, str(pathlib.Path.cwd()))
        runpy.run_module(script.name, run_name="__main__", alter_sys=True)
