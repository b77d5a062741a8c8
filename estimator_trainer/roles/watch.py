"""`evaluate --watch`: evaluates the checkpoints of a training elsewhere, which takes no part in it.

The training may be any Estimator's. One of this program leaves its end in `record.json`; of others
nothing tells that they have ended.
"""

import contextlib
import json
import posixpath
import time
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, result
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints, lease, shared_files, stop as stop_lib
from estimator_trainer.evaluation import offline
from estimator_trainer.record import record_file
from estimator_trainer.roles import final_evaluation

_TICK_SECS = 0.25


def evaluate(plan: Plan) -> int:
    """Prints a line of JSON for each new checkpoint until training has ended; returns 0, or 143.

    A checkpoint that comes while another one is evaluated is left out once there is a newer one,
    but never the last one.
    """
    stop = stop_lib.Stop()
    limit = plan.config.max_secs or None
    with (stop_lib.stopping_on_signals(
              stop, "local", lambda: checkpoints.latest_step(plan.config.model_dir)),
          stop_lib.calling_after(limit, lambda: stop.request_end(
              "stopped", result.MAX_SECS, "local")),
          offline.evaluating(plan, stop.check) as evaluate_one):
        try:
            _watch(plan, stop, evaluate_one)
        except errors.Interrupted as interruption:
            logging.info("stops watching: %s", interruption.reason)
            return 0 if interruption.reason == result.MAX_SECS else (
                result.EXIT_CODES[interruption.status])
    return 0


def _watch(plan: Plan, stop: stop_lib.Stop,
           evaluate_one: Callable[[str], dict[str, Any]]) -> None:
    model_dir, evaluated, evaluates_at = plan.config.model_dir, "", 0.0
    poll_secs = deadlines.poll_intervals(model_dir).checkpoint_secs
    logging.info("evaluates the checkpoints of %s as they come", model_dir)
    while True:
        stop.check()
        # The order matters: the checkpoint that is the latest after the end is the last.
        ended = _end_of_training(model_dir)
        latest = checkpoints.latest(model_dir, known=evaluated)
        is_new = latest not in ("", evaluated)
        if is_new and (ended or time.monotonic() >= evaluates_at):
            evaluates_at = time.monotonic() + plan.config.eval_throttle_secs
            if _print_evaluation(latest, evaluate_one, is_last=bool(ended)):
                evaluated = latest
        elif ended and not is_new:
            logging.info("training has ended: %s", ended)
            return
        stop.sleep(poll_secs)


def _print_evaluation(path: str, evaluate_one: Callable[[str], dict[str, Any]],
                      is_last: bool) -> bool:
    """Prints the evaluation of a checkpoint; returns False if it is gone, and others follow."""
    with contextlib.nullcontext() if is_last else final_evaluation.unless_gone(path):
        print(json.dumps(evaluate_one(path)), flush=True)
        return True
    return False


def _end_of_training(model_dir: str) -> str:
    """Returns how the training of this program in model_dir has ended for good; "" if it may go on.

    A training that was killed, stopped or lost is about to be started again.
    """
    try:
        if shared_files.read_text(posixpath.join(model_dir, lease.FILE)) is not None:
            return ""
    except tf.errors.OpError:
        return ""  # The next poll tells.
    record = record_file.read_if_whole(model_dir, lambda sentence: None)
    last = record.runs[-1] if record and record.runs else None
    if last is None or last.get("status") not in ("done", "failed"):
        return ""
    return f"{last['status']} at step {last.get('step', 0)}, {last.get('reason', '')}"
