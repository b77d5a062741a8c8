"""Named jobs, each with one fault that random schedules lack: of disk, clock, memory, network.

A case is a function of a folder that returns a sentence for each broken promise. Cases of disks are
in damage.py.
"""

from __future__ import annotations

import functools
import pathlib
import shutil
import signal
import time
from typing import Any, Callable, Sequence

from benchmarks.chaos import (damage, job as job_lib, memory, model_dir, moments,
                              network as network_lib, promises, schedules)
from benchmarks.chaos.skipped import Skipped
from tests.support import jobs

Case = Callable[[pathlib.Path], list[str]]
_FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
# libfaketime does not support the system call with which Python sleeps.
_SLEEP = "import select, time\ntime.sleep = lambda secs: select.select([], [], [], secs) and None\n"
_QUALITIES = {"20 ms late": network_lib.Quality(delay_secs=0.02),
              "1% lost": network_lib.Quality(loss=0.01)}
# A thousandth of a data centre's network; a step of the model takes 10 kB.
_SLOW_BYTES_PER_SEC = 200e3
# A task may be cut off for a minute, and processes are not forked.
_NETWORK_LIMIT_SECS = 300.0
# Without Python in the dataset, so that each trainer has a data worker.
_DATA_SERVICE = ("--data_service", "--param=step_secs=0")
_ROLES = ("chief:0", "worker:0", "ps:0", "evaluator:0")
_NO_FAULT = "the fault of this case happens; its moment did not come"
_OUTPUTS = {"stdout closed": "1>&-", "stderr closed": "2>&-", "both closed": "1>&- 2>&-",
            "stdout full": "1>/dev/full", "stderr full": "2>/dev/full"}


def main(names: str, work: pathlib.Path, keep: bool = False) -> int:
    """Runs cases, and prints a line for each; returns the exit code.

    Args:
      names: Names, or their beginnings, separated by commas; all if empty.
      work: The folder of logs.
      keep: Whether folders of right cases stay.
    """
    damage.enter_namespace()
    model_dir.quiet_tensorflow()
    chosen = {name: case for name, case in all_cases().items()
              if not names or any(name.startswith(each) for each in names.split(","))}
    wrong = 0
    for count, (name, case) in enumerate(chosen.items(), 1):
        start = time.monotonic()
        problems, note = attempt(name, case, work, keep)
        wrong += bool(problems)
        state = note or ("WRONG" if problems else "right")
        print(f"{count}/{len(chosen)}  {time.monotonic() - start:5.1f} s  {name}: {state}",
              flush=True)
        for problem in problems:
            print(f"      promised: {problem}", flush=True)
        if problems:
            print(f"      logs: {work / _folder(name)}", flush=True)
    print(f"{len(chosen)} cases, {wrong} wrong")
    jobs.end_fork_server()
    return 1 if wrong else 0


def attempt(name: str, case: Case, work: pathlib.Path, keep: bool) -> tuple[list[str], str]:
    """Runs a case; returns its broken promises, and why it was skipped, or ""."""
    folder = work / _folder(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        problems = case(folder)
    except Skipped as error:
        return [], f"left out: {error}"
    if not problems and not keep:
        shutil.rmtree(folder)
    return problems, ""


def all_cases() -> dict[str, Case]:
    """Returns every case by its name."""
    cases: dict[str, Case] = {}
    for shape in ("local", "asynchronous"):
        for kind in damage.KINDS:
            for moment in schedules.MOMENTS:
                cases[f"disk: {kind} at {moment} ({shape})"] = functools.partial(
                    damage.run, shape, kind, moment)
    for shape in schedules.SHAPES:
        cases[f"done job again ({shape})"] = functools.partial(_done_job_again, shape)
    for role in _ROLES:
        for hours in ("+1h", "-1h"):
            cases[f"clock: {role} {hours}"] = functools.partial(_clock, role, hours)
    for role in ("local", *_ROLES):
        cases[f"memory: {role}"] = functools.partial(_out_of_memory, role)
    for shape in ("asynchronous", "synchronous", "parameter_server"):
        cases[f"ps stopped for 20 s: {shape}"] = functools.partial(_stopped_ps, shape)
    cases["worker killed five times"] = _five_restarts
    for secs in (15, 90):
        cases[f"evaluator {secs} s late"] = functools.partial(_late_evaluator, secs)
    cases["evaluator 30 s early"] = _early_evaluator
    cases.update(_network_cases())
    for role in ("local", "chief:0", "worker:0", "ps:0", "evaluator:0"):
        for output in _OUTPUTS:
            cases[f"output: {output} ({role})"] = functools.partial(_output, role, output)
    return cases


def _done_job_again(shape: str, folder: pathlib.Path) -> list[str]:
    """A finished job evaluates and exports nothing when it is started again."""
    planned = damage.schedule(shape)
    first = damage.once(planned, folder / "first", folder / "model", lambda job: None)
    return first or damage.again(planned, folder / "again", folder / "model")


def _clock(role: str, hours: str, folder: pathlib.Path) -> list[str]:
    """A job ends correctly although the clock of one task is wrong."""
    if not _FAKETIME.exists():
        raise Skipped(f"{_FAKETIME} is not there; `apt-get install faketime` installs it")
    shim = folder / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text(_SLEEP, encoding="utf-8")
    # A wrong clock does not change durations.
    way = {"is_forked": False, "LD_PRELOAD": str(_FAKETIME), "FAKETIME": hours,
           "FAKETIME_DONT_FAKE_MONOTONIC": "1", "PYTHONPATH": f"{shim}:{jobs.REPO}"}
    return _run(folder, damage.schedule("asynchronous"), ways={role: way})


def _out_of_memory(role: str, folder: pathlib.Path) -> list[str]:
    """The kernel kills a training task that is out of memory; a scheduler restarts it."""
    shape = "local" if role == "local" else "asynchronous"

    def turn(job: job_lib.Job) -> bool:
        process = job.running(role)
        if process and _step(job) >= 40:
            memory.exhaust(process.running.process.pid)
            return True
        return False

    with memory.limit():
        return _run(folder, damage.schedule(shape), once=turn)


def _stopped_ps(shape: str, folder: pathlib.Path) -> list[str]:
    """A ps that is stopped for less than --peer_timeout_secs costs only time."""
    stopped: list[float] = []

    def turn(job: job_lib.Job) -> bool:
        process = job.running("ps:0")
        if process and not stopped and _step(job) >= 40:
            job.send(process, signal.SIGSTOP)
            stopped.append(job.secs)
        elif process and stopped and job.secs > stopped[0] + 20:
            job.send(process, signal.SIGCONT)
            return True
        return False

    return _run(folder, damage.schedule(shape), once=turn, num_processes=4,
                flags=["--peer_timeout_secs=60", "--stall_timeout_secs=90"])


def _five_restarts(folder: pathlib.Path) -> list[str]:
    """A worker is killed five times, each time after training; no other task ends."""
    killed: list[int] = []

    def turn(job: job_lib.Job) -> bool:
        process = job.running("worker:0")
        if process and process.running.losses and process.running.process.pid not in killed:
            job.send(process, signal.SIGKILL)
            killed.append(process.running.process.pid)
        return len(killed) == 5

    return _run(folder, damage.schedule("asynchronous", steps=3000), once=turn, num_processes=9)


def _late_evaluator(secs: float, folder: pathlib.Path) -> list[str]:
    """An evaluator that starts after training finds the job done, or does its part."""
    return _run(folder, damage.schedule("asynchronous"), delays={"evaluator:0": secs})


def _early_evaluator(folder: pathlib.Path) -> list[str]:
    """An evaluator waits for a job that starts later."""
    return _run(folder, damage.schedule("asynchronous"), num_processes=4,
                flags=["--stall_timeout_secs=90", "--peer_timeout_secs=60"],
                delays={task: 30.0 for task in ("chief:0", "worker:0", "ps:0")})


def _network_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for shape in ("asynchronous", "synchronous", "parameter_server", "all-reduce"):
        for name, quality in _QUALITIES.items():
            cases[f"network: {name} ({shape})"] = functools.partial(_bad_network, shape, quality)
        roles = ("chief:0", "worker:0") if shape == "all-reduce" else _ROLES[:-1]
        for role in roles:
            for secs in (5, 60):
                cases[f"network: {role} cut off for {secs} s ({shape})"] = functools.partial(
                    _partition, shape, role, secs)
        if "ps:0" in roles:
            cases[f"network: slow ps ({shape})"] = functools.partial(_slow_ps, shape)
    for name, quality in _QUALITIES.items():
        cases[f"network: {name} (data service)"] = functools.partial(
            _bad_network, "asynchronous", quality, flags=_DATA_SERVICE)
    for role in _ROLES[:-1]:
        for secs in (5, 60):
            cases[f"network: {role} cut off for {secs} s (data service)"] = functools.partial(
                _partition, "asynchronous", role, secs, flags=_DATA_SERVICE)
    return cases


def _bad_network(shape: str, quality: network_lib.Quality, folder: pathlib.Path,
                 flags: Sequence[str] = ()) -> list[str]:
    """A slow network, or one that loses packets, costs only time."""
    planned = damage.schedule(shape)
    with network_lib.network(planned.tasks, quality) as network:
        return _run(folder, planned, flags, network=network, num_processes=len(planned.tasks))


def _slow_ps(shape: str, folder: pathlib.Path) -> list[str]:
    """A ps with a bad link costs only time."""
    planned = damage.schedule(shape)
    with network_lib.network(planned.tasks) as network:
        network.slow("ps:0", _SLOW_BYTES_PER_SEC)
        return _run(folder, planned, network=network, num_processes=len(planned.tasks))


def _partition(shape: str, role: str, secs: float, folder: pathlib.Path,
               flags: Sequence[str] = ()) -> list[str]:
    """A task that is cut off for less than --peer_timeout_secs costs only time, else restarts.

    TensorFlow may break an all-reduce sooner.
    """
    planned = damage.schedule(shape, 2000 if flags else 150)
    is_short = secs < 10 and shape != "all-reduce"

    def turn(job: job_lib.Job) -> bool:
        is_due = _step(job) >= 40
        if is_due:
            network.cut(role, secs)
        return is_due

    with network_lib.network(planned.tasks) as network:
        return _run(folder, planned, flags, once=turn, network=network,
                    num_processes=len(planned.tasks) if is_short else 0)


def _output(role: str, output: str, folder: pathlib.Path) -> list[str]:
    """A job ends correctly although the output of one task cannot be read."""
    way = {"is_forked": False, "prefix": ("sh", "-c", f'exec "$@" {_OUTPUTS[output]}', "sh")}
    shape = "local" if role == "local" else "asynchronous"
    # A process that is not forked starts seconds later, and an evaluator would be too late.
    return _run(folder, damage.schedule(shape, steps=1500), ways={role: way},
                silent=role if output != "stdout closed" and output != "stdout full" else "")


def _run(folder: pathlib.Path, schedule: schedules.Schedule, flags: Sequence[str] = (),
         ways: dict[str, dict[str, Any]] | None = None,
         once: Callable[[job_lib.Job], bool] | None = None,
         delays: dict[str, float] | None = None, network: network_lib.Network | None = None,
         **expected: Any) -> list[str]:
    """Runs a job to its end; returns its broken promises.

    Args:
      folder: The folder of logs and model_dir.
      schedule: The job.
      flags: More flags.
      ways: How a task's processes are started, by its name; see `job.Job.ways`.
      once: Called often, until it returns True.
      delays: Seconds to a task's first start, by its name.
      network: The network of the tasks; None for the loopback interface.
      **expected: See `_broken`.
    """
    hosts, ways = (network.hosts, network.ways) if network else (None, ways or {})
    job = job_lib.Job(schedule, folder, [*flags], hosts=hosts)
    job.ways.update(ways)
    waiting = {task: (delays or {}).get(task, 0.0) for task in schedule.tasks}
    is_over = [once is None]

    def turn() -> None:
        for task, secs in list(waiting.items()):
            if job.secs >= secs:
                del waiting[task]
                job.start(task)
        if not is_over[0] and once:
            is_over[0] = once(job)

    try:
        turn()
        hung = job.run(turn, _NETWORK_LIMIT_SECS if network else job_lib.LIMIT_SECS)
        ended = job.ended(hung)
    finally:
        job.close()
        jobs.release_ports()
    promises.history(job.processes, folder)
    return ([] if is_over[0] else [_NO_FAULT]) + _broken(ended, **expected)


def _broken(ended: job_lib.Ended, num_processes: int = 0, silent: str = "") -> list[str]:
    """Returns the broken promises of a job.

    Args:
      ended: The job.
      num_processes: The expected number of processes; 0 for any.
      silent: Name of a task whose log is empty.
    """
    problems = promises.broken(ended, silent)
    if num_processes and len(ended.processes) != num_processes:
        seen = "; ".join(map(str, ended.processes))
        problems.append(f"the job takes {num_processes} processes; it took {seen}")
    return problems


def _step(job: job_lib.Job) -> int:
    return moments.last_step(job.trainer_logs())


def _folder(name: str) -> str:
    return "case-" + "".join(c if c.isalnum() else "-" for c in name)
