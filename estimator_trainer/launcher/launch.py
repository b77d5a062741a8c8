"""The command `launch`: a whole cluster on this machine, one process for each task."""

import contextlib
import dataclasses
import functools
import importlib.util
import json
import os.path
import pathlib
import re
import socket
import sys
import tempfile
import time
from typing import Callable, Iterator, Mapping, Sequence

from estimator_trainer import deadlines, environment, errors, machine, redaction, result
from estimator_trainer.checks import model_dir_name, run_plan
from estimator_trainer.checks.plan import Invocation, Plan
from estimator_trainer.cluster import task_config
from estimator_trainer.launcher.fork_server import ForkServer
from estimator_trainer.launcher.supervisor import Environments, Screen, Supervisor, table
from estimator_trainer.launcher.task_process import describe, TaskProcess
from estimator_trainer.launcher.wanted_workers import WantedWorkers
from estimator_trainer.plugins.source_files import Script
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_POLL_SECS = 0.05
# The line with the address of TensorBoard, or the one on why it has none.
_OF_TENSORBOARD = re.compile(r"http://\S+:\d+/\S*|^(\w*Error|ERROR)\b.*")


def run(job: JobConfig, config: TrainerConfig, flags: Sequence[str],
        variables: environment.Environment, script: Script | None = None,
        user_set: frozenset[str] | None = None, command: Sequence[str] = ()) -> int:
    """Runs a job to its end and prints a summary.

    Args:
      config: The settings that `flags` make.
      flags: The flags of every task; for a script, `run` and all that follows.
      user_set: The names of the settings in `flags`; None: the settings not at their defaults.
      command: The words that the user typed, for the record.

    Returns:
      The exit code of the job: 0 if it is done, 143 if a signal stopped it, else the code of the
      task that ended it (128 + N for a task that signal N killed).

    Raises:
      ConfigError: for any problem that is found before a task starts.
    """
    folder, model_dir = ("", "") if script else _folders(config, variables)
    tasks = named_tasks(job, job.all_tasks)
    names = [f"{role}:{index}" for role, index in tasks]
    screen = Screen(names, config.max_steps, is_coloured=not variables.no_color)
    with reserved(job.host, tasks) as cluster:
        texts = tf_configs(tasks, cluster, job.worker)
        first = environment.Environment(tf_config=texts[0])  # All find the same problems.
        plan = run_plan.for_script(script, config, first) if script else run_plan.for_training(
            dataclasses.replace(config, model_dir=model_dir), first, Invocation(user_set))
        errors.refuse([*map(_of_task_flags, plan.problems), *_own_problems(job, config, model_dir)])
        log_dir = make_log_dir(job, model_dir)
        gpus, num_cores = machine.visible_gpus(variables.cuda_visible_devices), machine.num_cores()
        shares = divide(job.all_tasks, gpus, num_cores)
        args = list(flags) if script else ["train", *flags, f"--model_dir={folder}"]
        fork_server = start_fork_server(args) if can_fork(job, config, gpus) else None
        children = [
            TaskProcess(name, program(), args, _environment(tf_config, share, command),
                        log_dir / f"{name.replace(':', '-')}.log",
                        lambda child, text: screen.line(child.name, text), fork_server)
            for name, tf_config, share in zip(names, texts, shares)]
        screen.line("launch", f"{len(job.tasks)} tasks on {num_cores} cores and {len(gpus)} GPUs,"
                    f" each with {shares[0][0]} threads an op; logs in {log_dir}")
        if is_shown := config.report and bool(model_dir):
            screen.line("launch", model_dir_name.while_it_runs(model_dir))
        supervisor = _supervisor(
            job, children, screen, log_dir, model_dir,
            functools.partial(_batch_problem, plan, cluster, variables.cuda_visible_devices),
            functools.partial(_environments, job, cluster, command, gpus))
        with running_tensorboard(screen, log_dir, model_dir if job.tensorboard else ""):
            code = supervisor.run()
        if is_shown and code != errors.ConfigError.exit_code:
            _write_page(screen, fork_server, log_dir, model_dir)
        if fork_server:
            fork_server.close()
    _summarize(screen, children, supervisor.first_failure, code, model_dir)
    return code


def _folders(config: TrainerConfig, variables: environment.Environment) -> tuple[str, str]:
    """Returns the model_dir that the tasks get, and the one of this trial below it."""
    folder = config.model_dir or variables.aip_model_dir or model_dir_name.make_scratch()
    return folder, model_dir_name.of_trial(folder, variables.trial, variables.aip_model_dir)


def _supervisor(job: JobConfig, children: Sequence[TaskProcess], screen: Screen,
                log_dir: pathlib.Path, model_dir: str, problem: Callable[[int], str],
                environments: Environments) -> Supervisor:
    supervisor = Supervisor(children, job.max_restarts, screen, model_dir)
    if job.most_workers > job.worker:
        wanted = WantedWorkers(log_dir, job.worker, job.most_workers,
                               lambda text: screen.line("launch", text), problem)
        screen.line("launch", f"{job.worker} to {job.most_workers} workers, as many as are in"
                    f" {wanted.path}")
        supervisor.follow(wanted, [child for child, task in zip(children, job.all_tasks)
                                   if task not in job.tasks], None if job.ps else environments)
    return supervisor


def tf_configs(tasks: Sequence[tuple[str, int]], cluster: Mapping[str, list[str]],
               num_workers: int) -> list[str]:
    """Returns TF_CONFIG of each task (role, index), in a job of that many workers at the start.

    A ps fetches tensors from workers, so it has the addresses of those that may come later, too.
    """
    at_start = {role: hosts[:num_workers] if role == "worker" else hosts
                for role, hosts in cluster.items() if role != "worker" or num_workers}
    return [json.dumps({
        "cluster": cluster if role == "ps" or role == "worker" and index >= num_workers
        else at_start, "task": {"type": role, "index": index}}) for role, index in tasks]


def _environments(job: JobConfig, cluster: Mapping[str, list[str]], command: Sequence[str],
                  gpus: Sequence[str], num_workers: int) -> dict[str, dict[str, str]]:
    """Returns the environment of each task, by name, in a job without ps of that many workers."""
    now = dataclasses.replace(job, worker=num_workers)
    tasks = named_tasks(now, now.tasks)
    shares = divide(now.tasks, gpus, machine.num_cores())
    return {f"{role}:{index}": _environment(text, share, command) for (role, index), text, share in
            zip(tasks, tf_configs(tasks, cluster, num_workers), shares)}


def named_tasks(job: JobConfig, tasks: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Returns (role, index) of the tasks, with the chief's name in this job."""
    return [(job.chief_name if role == "chief" else role, index) for role, index in tasks]


def _batch_problem(plan: Plan, cluster: Mapping[str, list[str]],
                   cuda_visible_devices: str | None, num_workers: int) -> str:
    """Returns a sentence on a global batch that so many workers and a chief cannot share, or ""."""
    data = plan.train_data or plan.data
    if data is None or plan.params is None:
        return ""  # Only the script knows its batches.
    tf_config, = tf_configs([(next(iter(cluster)), 0)], cluster, num_workers)
    replicas = run_plan.count_replicas(
        plan.config, task_config.parse(tf_config), cuda_visible_devices)
    _, _, problem = run_plan.share_batch(
        plan.config.global_batch_size, data, plan.params, replicas)
    return f"{problem}." if problem else ""


def _own_problems(job: JobConfig, config: TrainerConfig,
                  model_dir: str) -> list[errors.Problem]:
    if problems := job.synchronous_problems(config.sync_replicas):
        return problems
    if not job.tensorboard:
        return []
    if not model_dir:
        return [model_dir_name.no_tensorboard("and the script chooses its model_dir", "")]
    if importlib.util.find_spec("tensorboard") is None:
        return [errors.Problem("tensorboard", True, "and TensorBoard is not installed here",
                               "an installed one", "pip install tensorboard")]
    return []


@contextlib.contextmanager
def running_tensorboard(screen: Screen, log_dir: pathlib.Path, model_dir: str) -> Iterator[None]:
    """Runs TensorBoard on model_dir, if any, and prints its address, or why it has none.

    TensorBoard ends with the context. It listens on localhost alone, at port 6006 or the next free
    one.
    """
    def on_line(child: TaskProcess, text: str) -> None:
        if found := _OF_TENSORBOARD.search(text):
            screen.line("launch", f"TensorBoard: {found[0]}")

    child = TaskProcess("tensorboard", [sys.executable, "-m", "tensorboard.main"],
                        [f"--logdir={model_dir}"], environment.of_fork_server(),
                        log_dir / "tensorboard.log", on_line)
    if not model_dir:
        yield
        return
    child.start()
    try:
        yield
    finally:
        if (code := child.poll()) is not None:
            screen.line("launch", f"TensorBoard ended before the job, {describe(code)}: see"
                        f" {child.log_path}")
        child.kill()


def _environment(tf_config: str, share: tuple[int, str], command: Sequence[str]) -> dict[str, str]:
    """Returns the environment of a task, with the words that the user typed."""
    return environment.with_command(environment.of_task(tf_config, *share),
                                    redaction.masked_words(command))


def _of_task_flags(problem: errors.Problem | str) -> errors.Problem | str:
    """Returns the problem with an example that shows where the flags of every task go."""
    if isinstance(problem, str) or not isinstance(problem.example, (errors.Setting, errors.Param)):
        return problem
    return dataclasses.replace(problem, example=errors.worded(
        f"estimator-trainer launch ... -- {problem.example}", str(problem.example)))


def _write_page(screen: Screen, server: ForkServer | None, log_dir: pathlib.Path,
                model_dir: str) -> None:
    """Writes the page of the job in another process, which imports TensorFlow."""
    child = TaskProcess("report", program(), ["report", f"--model_dir={model_dir}"],
                        environment.of_fork_server(), log_dir / "report.log",
                        lambda child, text: None, server)
    child.start()
    deadline = time.monotonic() + deadlines.PAGE_SECS
    while (code := child.poll()) is None and time.monotonic() < deadline:
        time.sleep(_POLL_SECS)
    child.kill()
    page = os.path.join(model_dir, model_dir_name.PAGE)
    screen.line("launch", f"report: {page}" if code == 0 else
                f"no report could be written: see {child.log_path}")
    screen.line("launch", model_dir_name.tensorboard(model_dir))


def make_log_dir(job: JobConfig, model_dir: str) -> pathlib.Path:
    """Returns the directory of the tasks' logs, which exists; ConfigError if it cannot be made."""
    is_elsewhere = "://" in model_dir or not model_dir
    folder = job.log_dir or (tempfile.mkdtemp(prefix="estimator_trainer-logs-") if is_elsewhere
                             else os.path.join(model_dir, "logs"))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise errors.ConfigError(errors.Problem(
            "log_dir", folder, f"which cannot be made ({error.strerror})",
            "a directory that this user may write", errors.Setting("log_dir", "/tmp/logs"),
            errors.Setting("log_dir" if job.log_dir else "model_dir"))) from error
    return pathlib.Path(folder)


def can_fork(job: JobConfig, config: TrainerConfig, gpus: Sequence[str]) -> bool:
    """Returns whether tasks may be forks of one process that has imported TensorFlow.

    CUDA does not support forks, and some flags are read when TensorFlow's libraries are loaded.
    """
    is_read_at_import = config.verbose or config.xla or config.log_device_placement
    return job.share_import and sys.platform == "linux" and not gpus and not is_read_at_import


def start_fork_server(args: Sequence[str]) -> ForkServer | None:
    """Returns a process that forks into tasks with these words; None where that is impossible."""
    try:
        return ForkServer(environment.of_fork_server(), redaction.masked_words(args))
    except OSError:
        return None  # This kernel or sandbox does not let a process adopt orphans.


def program() -> list[str]:
    """Returns the words that start this program."""
    is_entry_point = os.path.basename(sys.argv[0]).startswith("estimator-trainer")
    return [sys.executable, *([sys.argv[0]] if is_entry_point else ["-m", "estimator_trainer"])]


def _summarize(screen: Screen, children: Sequence[TaskProcess], first_failure: str, code: int,
               model_dir: str) -> None:
    for row in table(children):
        screen.line("launch", row)
    if first_failure:
        screen.line("launch", f"first failure: {first_failure}")
    where = "no task of the script trained an Estimator"
    if model_dir:
        where = f"result: {os.path.join(model_dir, 'result.json')}"
    elif any(child.has_result for child in children):
        where = "result: result.json in the script's model_dir"
    if model_dir_name.is_scratch(model_dir):
        screen.line("launch", model_dir_name.scratch_notice(model_dir))
    is_at_limit = any(child.reason == result.MAX_SECS for child in children)
    status = {0: "stopped" if is_at_limit else "done", 143: "stopped"}.get(code, "failed")
    screen.line("launch", f"job {status}, exit {code}; {where}")


@contextlib.contextmanager
def reserved(host: str, tasks: Sequence[tuple[str, int]]) -> Iterator[dict[str, list[str]]]:
    """Reserves a port at `host` for each task (role, index), within the context.

    A port that was free a moment ago may be taken before a server binds to it. Here each port stays
    bound within the context, without listening: the kernel does not choose it for another process,
    and lets a process listen there that binds to the number with SO_REUSEADDR, like gRPC.

    Yields:
      The `cluster` of TF_CONFIG: the addresses by role.

    Raises:
      ConfigError: if the host is not an address of this machine.
    """
    cluster: dict[str, list[str]] = {}
    family, shown = _family(host), f"[{host}]" if ":" in host else host
    with contextlib.ExitStack() as stack:
        for role, _ in tasks:
            holder = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("", 0))
            cluster.setdefault(role, []).append(f"{shown}:{holder.getsockname()[1]}")
        yield cluster


def _family(host: str) -> socket.AddressFamily:
    """Returns the host's address family, if tasks of this machine can listen at the host."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
        return family
    except OSError as error:
        raise errors.ConfigError(
            errors.Problem("host", host, f"which is not an address of this machine ({error})",
                           "one that is", errors.Setting("host", "127.0.0.1"))) from error


def divide(tasks: Sequence[tuple[str, int]], gpus: Sequence[str],
           num_cores: int) -> list[tuple[int, str]]:
    """Returns the share of each task (role, index): its threads for an op, CUDA_VISIBLE_DEVICES.

    All tasks together have about one thread a core. A ps and the evaluator compute on CPUs: a ps
    only adds, and an evaluator, unless there are GPUs to spare, would occupy a whole GPU for little
    work.
    """
    threads = max(1, num_cores // len(tasks))
    trainers = [task for task in tasks if task[0] in ("chief", "worker")]
    users = trainers + [task for task in tasks if task[0] == "evaluator"
                        and len(gpus) > len(trainers)]
    return [(threads, ",".join(_gpus_of(users.index(task), len(users), gpus))
             if task in users and gpus else machine.NO_GPU) for task in tasks]


def _gpus_of(position: int, num_users: int, gpus: Sequence[str]) -> Sequence[str]:
    """Returns the GPUs of one user: a part of the list, or one in turn if there are too few."""
    if len(gpus) < num_users:
        return [gpus[position % len(gpus)]]
    return gpus[position * len(gpus) // num_users:(position + 1) * len(gpus) // num_users]
