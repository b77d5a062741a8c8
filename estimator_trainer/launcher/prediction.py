"""`launch -- predict`: several processes of this machine predict, each its share of the files."""

from typing import Sequence

from estimator_trainer import environment, errors, machine
from estimator_trainer.checks import model_dir_name, run_plan
from estimator_trainer.checks.plan import Invocation
from estimator_trainer.cluster import share
from estimator_trainer.launcher import launch
from estimator_trainer.launcher.supervisor import Screen, Supervisor, table
from estimator_trainer.launcher.task_process import TaskProcess
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig


def run(job: JobConfig, config: TrainerConfig, flags: Sequence[str],
        variables: environment.Environment, user_set: frozenset[str] | None = None) -> int:
    """Runs every share to its end; returns 0, or the exit code of the first task that failed.

    Args:
      flags: `predict` and its flags, for every task.

    Raises:
      ConfigError: for any problem that is found before a task starts.
    """
    count, whole = job.num_shares, share.of(config.share, variables)
    plan = run_plan.for_one_process(config, variables, Invocation(user_set))
    errors.refuse([*plan.problems, *[model_dir_name.no_tensorboard(
        "and the tasks predict", config.model_dir)] * job.tensorboard])
    names = [f"predict:{index}" for index in range(count)]
    screen = Screen(names, None, is_coloured=not variables.no_color)
    gpus, num_cores = machine.visible_gpus(variables.cuda_visible_devices), machine.num_cores()
    parts = launch.divide([("worker", index) for index in range(count)], gpus, num_cores)
    log_dir = launch.make_log_dir(job, "")
    server = launch.start_fork_server(flags) if launch.can_fork(job, config, gpus) else None
    children = [
        TaskProcess(name, launch.program(), [*flags, f"--share={whole.divided(index, count)}"],
                    environment.of_task("", *parts[index]),
                    log_dir / f"{name.replace(':', '-')}.log",
                    lambda child, text: screen.line(child.name, text), server)
        for index, name in enumerate(names)]
    screen.line("launch", f"{count} tasks on {num_cores} cores and {len(gpus)} GPUs predict; logs"
                f" in {log_dir}")
    supervisor = Supervisor(children, job.max_restarts, screen, "", has_chief=False)
    code = supervisor.run()
    if server:
        server.close()
    for row in table(children):
        screen.line("launch", row)
    if supervisor.first_failure:
        screen.line("launch", f"first failure: {supervisor.first_failure}")
    screen.line("launch", f"exit {code}; the parts are in {config.output}")
    return code
