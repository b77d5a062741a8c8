"""The launcher that gave this process its rank: Slurm, MPI or another."""

from __future__ import annotations

from typing import Mapping, Sequence

from estimator_trainer.cluster import mpi, slurm
from estimator_trainer.cluster.ranks import Ranks
from estimator_trainer.errors import ConfigError, Problem

VARIABLES = (*slurm.VARIABLES, *mpi.VARIABLES)


def ranks(variables: Mapping[str, str], rank_hosts: Sequence[str] = (),
          first_port: int = 0) -> Ranks | None:
    """Returns the ranks of the launcher that started this process, or None.

    Within a Slurm job, mpirun starts its daemons by srun, so Slurm's ranks are the daemons' and
    MPI's variables come first. But `srun --mpi=pmi2` sets MPI's variables itself, and Slurm knows
    the hosts too.

    Args:
      variables: The variables among VARIABLES that are set.
      rank_hosts: The hosts of the ranks that the user gives, or ().
      first_port: The port of rank 0, or 0.

    Raises:
      ConfigError: if the number of ranks or their hosts are not known.
    """
    is_slurms = mpi.is_of(variables, variables.get("SLURM_PROCID", ""),
                          variables.get("SLURM_STEP_NUM_TASKS", ""))
    sources = (slurm, mpi) if is_slurms else (mpi, slurm)
    found = (source.ranks(variables, rank_hosts, first_port) for source in sources)
    return next(filter(None, found), None) or mpi.ranks_of_unknown_size(
        variables, rank_hosts, first_port)


def refuse_roles(num_ps: int, num_evaluators: int) -> None:
    """Raises ConfigError if ranks are to have roles, and there are no ranks."""
    given = {"num_ps": num_ps, "num_evaluators": num_evaluators}
    name = next((name for name, count in given.items() if count), "")
    if name:
        role = "ps" if name == "num_ps" else "evaluator"
        raise ConfigError(Problem(
            name, given[name], "and neither TF_CONFIG nor Slurm nor MPI has several tasks",
            "the command behind srun or mpirun, or on one machine:"
            f" estimator-trainer launch --{role}={given[name]} -- FLAGS",
            f"srun --ntasks=4 estimator-trainer --{name}={given[name]}"))


def notes(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a line if a batch script has several tasks and started this one without srun."""
    count = variables.get("SLURM_NTASKS", "1")
    if count == "1" or variables.get("SLURM_STEP_NUM_TASKS"):
        return ()
    return (f"SLURM_NTASKS is {count}, and this process was not started by srun: it trains alone",)
