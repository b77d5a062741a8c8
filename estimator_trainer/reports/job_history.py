"""The history of a task's process, from its start to its end; the page of the job after that."""

import contextlib
import sys
from typing import Any, Callable, Iterator

from absl import logging

from estimator_trainer import errors, task_events
from estimator_trainer.checks import model_dir_name
from estimator_trainer.checks.plan import Plan
from estimator_trainer.reports import page, tracking
from estimator_trainer.reports.history import HistoryWriter
from estimator_trainer.result import Result


@contextlib.contextmanager
def kept(plan: Plan) -> Iterator[Callable[[Result], None]]:
    """Keeps the history of this task within a `with` statement, and writes the page at its end.

    A script, which may train many times, has its page written at its own end. Yields the function
    that records how the task ends; an error that leaves the context records itself.
    """
    trackers = tracking.Tracking(plan)
    writer = HistoryWriter(plan.config.model_dir, plan.task.name, plan.task.is_chief,
                           sum(plan.task.counts.values()))
    status = ""

    def add(kind: str, values: dict[str, Any]) -> None:
        # The line of the end has an error in short, and another evaluator's file its evaluations.
        if kind not in ("error", "result"):
            writer.add(kind, **values)

    def end(ended: Result) -> None:
        nonlocal status
        status = ended.status
        writer.add("end", status=ended.status, step=int(ended.step), reason=ended.reason,
                   exit_code=ended.exit_code)

    try:
        with task_events.received_by(add):
            yield end
    except Exception as error:
        writer.add("end", status="failed", reason=errors.in_short(error),
                   exit_code=getattr(error, "exit_code", 1))
        raise
    finally:
        writer.close()
        has_page = writer.has_begun and plan.script is None and write_page(plan)
        trackers.end(status in ("stopped", "lost"), lacks_page=writer.has_begun and not has_page)


def announce_page(plan: Plan) -> None:
    """Logs where the page will be, and how to see it before; a script may train many times."""
    if _writes_page(plan):
        logging.log_first_n(logging.INFO, "%s", 1 if plan.script else sys.maxsize,
                            model_dir_name.while_it_runs(plan.config.model_dir))


def write_page(plan: Plan) -> bool:
    """Writes the page, if this task is to do it, and logs how to look at the run.

    Returns whether this task is to do it.
    """
    if not _writes_page(plan):
        return False
    page.write_if_possible(plan.config.model_dir)
    logging.info("%s", model_dir_name.tensorboard(plan.config.model_dir))
    return True


def _writes_page(plan: Plan) -> bool:
    # A launcher writes the page after the ends of all tasks, unless only the script has a
    # model_dir.
    is_mine = plan.script is not None or not task_events.has_launcher()
    return plan.config.report and plan.task.is_chief and is_mine
