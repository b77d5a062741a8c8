"""Jobs for Slurm: a batch script, whose tasks derive their roles from their ranks.

https://slurm.schedmd.com/sbatch.html, https://slurm.schedmd.com/heterogeneous_jobs.html
"""

import itertools
import pathlib
import shlex
import sys
from typing import Sequence

from estimator_trainer import deadlines, redaction
from estimator_trainer.errors import Problem
from estimator_trainer.manifest import platform, role_resources
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.manifest.role_resources import Resources
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_NAME = "job.sbatch"
_TEXT = """\
#!/bin/bash
# Written by `estimator-trainer manifest` for Slurm: sbatch {name}
# Exit codes 1 (failed) and 2 (configuration) end the job; 142 (a task was lost), 143 (stopped
# after saving a checkpoint) and a kill put it into the queue again, {max_restarts} times at most.
# SIGTERM comes {signal_secs} s or more before the time limit, for a checkpoint. After a preemption
# or a failure of a node Slurm itself puts the job into the queue again.
{directives}
# Add the options that your cluster requires, here or to sbatch: --partition, --account, --time.

# Add the commands that provide the program, such as `module load` or `source VENV/bin/activate`. A
# container's command, such as `apptainer exec IMAGE`, goes before the program below.

task=(
    {command}
)
# No task ends the others: each reads in the job's files that it has to end.
srun {steps}
code=$?
if [ "$code" -ge 128 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {max_restarts} ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
"""

_ARRAY = """\
#!/bin/bash
# Written by `estimator-trainer manifest` for Slurm: sbatch {name}
# Each task of the array predicts its share of the files; submitted again, the array goes on where
# it stopped. Exit codes 1 (failed) and 2 (configuration) end a task; a kill puts it into the queue
# again, {max_restarts} times at most.
{directives}
#SBATCH --array=0-{last}
# Add the options that your cluster requires, here or to sbatch: --partition, --account, --time.

# Add the commands that provide the program, such as `module load` or `source VENV/bin/activate`. A
# container's command, such as `apptainer exec IMAGE`, goes before the program below.

task=(
    {command}
)
srun --ntasks=1 --cpus-per-task={cpus} "${{task[@]}}"
code=$?
if [ "$code" -ge 128 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {max_restarts} ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
"""


def _problems(job: JobConfig, config: TrainerConfig) -> list[Problem]:
    found = []
    folder = str(pathlib.Path.cwd())
    if not folder.isprintable():
        # A line break would end the directive, and begin a command.
        found.append(Problem(
            "the working directory", folder, f"and a line of {_NAME} cannot hold its name",
            "a name without control characters", "cd /tmp", "the shell"))
    if job.image:
        found.append(Problem(
            "image", job.image, "which Slurm does not run by itself",
            f"none, and your container's command in {_NAME}", "apptainer exec IMAGE"))
    return found


def _array(job: JobConfig, flags: Sequence[str]) -> dict[str, bytes]:
    """Returns the batch script of an array of tasks that predict."""
    [(own, count)] = _components(job)
    directives = _directives(job, 0, own, 1).replace(f"{job.name}-%j.log", f"{job.name}-%A-%a.log")
    text = _ARRAY.format(
        name=_NAME, max_restarts=job.max_restarts, directives=directives, last=count - 1,
        command="\n    ".join(map(_quoted, (_program(), *flags))), cpus=own.cpus)
    return {_NAME: text.encode()}


def _files(job: JobConfig, config: TrainerConfig, flags: Sequence[str]) -> dict[str, bytes]:
    if platform.does_predict(flags):
        return _array(job, flags)
    # Without a distribution, SLURM_DISTRIBUTION is the last component's for all of them.
    options = ["--kill-on-bad-exit=0", "--wait=0", "--distribution=block", "--open-mode=append",
               f"--output={job.name}-%j-%t.log"]
    components = _components(job)
    steps = [" ".join([*options, f"--cpus-per-task={own.cpus}",
                       *[f"--het-group={number}"] * (len(components) > 1), '"${task[@]}"'])
             for number, (own, _) in enumerate(components)]
    place = 1 if "run" in flags[:1] else 0
    words = [*flags[:place], *[f"--num_ps={job.ps}"] * bool(job.ps),
             *[f"--num_evaluators={job.evaluator}"] * bool(job.evaluator),
             *[f"--num_data_workers={job.data_worker}"] * bool(job.data_worker), *flags[place:]]
    text = _TEXT.format(
        name=_NAME, max_restarts=job.max_restarts, signal_secs=deadlines.POD_GRACE_SECS,
        directives="\n#SBATCH hetjob\n".join(
            _directives(job, number, *each) for number, each in enumerate(components)),
        steps=" : \\\n    ".join(steps),
        command="\n    ".join(map(_quoted, (_program(), *words))))
    return {_NAME: text.encode()}


def _quoted(word: str) -> str:
    """Returns a word quoted for bash, with control characters and line breaks escaped.

    The escapes are of bytes, because bash does not expand `\\u202e` in the locale C.
    """
    if not redaction.CONTROL_CHARACTERS.search(word) and "\n" not in word:
        return shlex.quote(word)
    shown = (f"\\{each}" if each in "'\\" else each if not (
        each == "\n" or redaction.CONTROL_CHARACTERS.match(each)) else "".join(
            f"\\x{byte:02x}" for byte in each.encode("utf-8", "surrogateescape")) for each in word)
    return f"$'{''.join(shown)}'"


def _components(job: JobConfig) -> list[tuple[Resources, int]]:
    """Returns what a task gets, and the number of tasks, of each component of the job.

    The ranks count through the components, so that roles that get the same, and whose ranks
    follow each other, are one component.
    """
    each = [(own, getattr(job, role)) for role, own in role_resources.of_roles(job).items()]
    return [(own, sum(count for _, count in group))
            for own, group in itertools.groupby(each, lambda pair: pair[0])]


def _directives(job: JobConfig, number: int, own: Resources, count: int) -> str:
    """Returns the lines that request one component, of `count` tasks."""
    first = [f"--job-name={job.name}", f"--chdir={shlex.quote(str(pathlib.Path.cwd()))}",
             f"--output={job.name}-%j.log", "--open-mode=append",
             *[f"--nodes={job.nodes}"] * bool(job.nodes)]
    options = [*first * (number == 0), f"--ntasks={count}",
               *[f"--gpus-per-task={own.gpus}"] * bool(own.gpus),
               *[f"--partition={own.partition}"] * bool(own.partition),
               f"--cpus-per-task={own.cpus}",
               f"--mem-per-cpu={own.memory_gib * 1024 // own.cpus}M",
               "--requeue", f"--signal=TERM@{deadlines.POD_GRACE_SECS}"]
    return "\n".join(f"#SBATCH {option}" for option in options)


def _program() -> str:
    """Returns the program's path, which is valid on every node if its disk is shared."""
    path = pathlib.Path(sys.executable).parent / "estimator-trainer"
    return str(path) if path.exists() else "estimator-trainer"


def _commands(job: JobConfig, config: TrainerConfig, folder: str) -> list[str]:
    if config.is_output_folder:
        return [f"sbatch {folder}/{_NAME}",
                f"tail -F {job.name}-JOBID-0.log   # of the first share",
                f"scancel --name={job.name}   # another sbatch goes on after the last whole file"]
    return [f"sbatch {folder}/{_NAME}",
            f"tail -F {job.name}-JOBID-0.log   # the chief's; the others' end in their ranks",
            f"scancel --name={job.name}   # saves a checkpoint"]


SLURM = Platform(_problems, _files, _commands, ("cpus", "memory_gib", "gpus", "partition"),
                 shares_disk=True)
