"""Checks the processes of a job against the promises of docs/job_ends.md; files: model_dir.py."""

from __future__ import annotations

import pathlib
import re
import signal

from benchmarks.chaos import job as job_lib, model_dir, schedules
from estimator_trainer import result

_BEFORE_ITS_WORK = "SIGTERM: ends before the work began"
_STACKS = "(most recent call first):"
_LAST_LINE = re.compile(r'role=(\S+) status=(\w+) step=(\d+) reason=([A-Za-z_]\w*|".*")')


def broken(ended: job_lib.Ended, silent: str = "", is_order_checked: bool = True,
           has_events: bool = True) -> list[str]:
    """Returns a sentence for each broken promise: what was promised, and what happened.

    Args:
      ended: The job.
      silent: Name of a task whose log could not be written.
      is_order_checked: Whether the logs cover all training in model_dir, so that they show the
        order of the batches.
      has_events: Whether the events of all evaluations must exist.
    """
    if ended.hung:
        return [f"every job ends; after {ended.secs:.0f} s {', '.join(ended.hung)} ran"]
    failed = [f"a fault ends a task with 142 or 143, or not at all; {process.task} ended with"
              f" {process.running.code}: {process.running.last_line[:300]}"
              for process in ended.processes
              if process.running.code not in (0, *job_lib.RESTARTED)]
    readable = [process for process in ended.processes if process.task != silent]
    left = [f"nothing is left running; processes of {task} are" for task in ended.left]
    problems = [*failed, *of_processes(readable), *left]
    if failed:
        return problems
    found = of_files(ended, has_events)
    if is_order_checked and not (found or silent) and schedules.SHAPES[
            ended.schedule.shape].is_ordered:
        found = _order(ended)
    return problems + found


def of_files(ended: job_lib.Ended, has_events: bool = True) -> list[str]:
    """Returns a sentence for each promise that a job's files break."""
    schedule = ended.schedule
    return model_dir.broken(ended.model_dir, model_dir.Expected(
        steps(schedule), schedule.exporters, schedule.keep_checkpoint_max, has_events))


def steps(schedule: schedules.Schedule) -> range:
    """Returns the steps that may be the last one."""
    shape = schedules.SHAPES[schedule.shape]
    most = schedule.steps + (0 if shape.is_exact else shape.num_trainers)
    return range(schedule.steps, most + 1)


def of_processes(processes: list[job_lib.Process]) -> list[str]:
    """Returns a sentence for each process whose log or exit code is not as promised."""
    problems = []
    for process in processes:
        if process.is_killed:
            continue
        log, code = process.running.log, process.running.code
        if "Traceback (most recent call last)" in log:
            problems.append(f"no traceback is shown; {process.task} showed one"
                            f" ({process.running.log_path})")
        is_early = code == -signal.SIGTERM and not log.strip()
        if is_early or code == 143 and log.rstrip().endswith(_BEFORE_ITS_WORK):
            continue  # The program had not begun its role.
        if code == -signal.SIGALRM:
            if _STACKS not in log:
                problems.append(f"stacks are shown before SIGALRM; {process.task} showed none")
            continue
        if code == 2 and process.running.last_line.startswith("estimator-trainer: "):
            continue  # A mistake found before the role ends with its sentence.
        found = _LAST_LINE.fullmatch(process.running.last_line)
        # The process of a job without TF_CONFIG is "local".
        if not found or found[1] != process.task:
            problems.append(f"the last line of a process is role=... status=...; that of"
                            f" {process.task}, which ended with {code}, is"
                            f" {process.running.last_line[:200]!r}")
        elif result.exit_code(found[2], found[4].strip('"')) != code:
            problems.append(f"the exit code is that of the status; {process.task} ended with"
                            f" {code} and {found[0]}")
    return problems


def _order(ended: job_lib.Ended) -> list[str]:
    """Compares the digest of all steps with the one expected after these restores."""
    last = ended.schedule.steps
    logs = [process.running.log for process in ended.processes
            if process.task in ("local", "chief:0")]
    starts = [int(step) for log in logs
              for step in re.findall(r"training from step (\d+)", log)]
    trainers = schedules.SHAPES[ended.schedule.shape].num_trainers
    expected = expected_digest(starts, last, trainers)
    seen = model_dir.variable(ended.model_dir, "digest")
    if expected is None:
        return [f"each run restores a step that was trained; they restored {starts}"]
    return [] if seen == expected else [
        f"each step sees the batch that follows its restore; runs from steps {starts} to {last}"
        f" leave {expected}, the checkpoint has {seen}"]


def expected_digest(starts: list[int], last: int, trainers: int) -> int | None:
    """Returns the model's digest after runs that began at these steps, each from its first batch.

    Returns:
      The digest; None if a run began at a step that no earlier run had reached.
    """
    from benchmarks.chaos import model
    digests = {0: 0}
    for start in starts:
        if start not in digests:
            return None
        value = digests[start]
        for count in range(last - start):
            value = sum((3 * value + trainers * count + index) % model.PRIME
                        for index in range(trainers))
            digests[start + count + 1] = value
    return digests.get(last)


def history(processes: list[job_lib.Process], folder: pathlib.Path) -> None:
    """Writes the events of each process into the folder of its job."""
    text = "".join(f"{process}  {process.running.last_line[:200]}\n" for process in processes)
    (folder / "processes.txt").write_text(text, encoding="utf-8")
