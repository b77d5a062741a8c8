"""The rank source is the launcher that this process has its rank from: Slurm, MPI or another."""

from __future__ import annotations

from typing import Mapping, Sequence

from estimator_trainer import errors
from estimator_trainer.cluster import mpi, slurm
from estimator_trainer.cluster.ranks import Ranks

VARIABLES = (*slurm.VARIABLES, *mpi.VARIABLES)


def ranks(variables: Mapping[str, str], rank_hosts: Sequence[str] = (),
          first_port: int = 0) -> Ranks | None:
    """Returns the ranks of the launcher that started this process, or None.

    An mpirun in a job of Slurm's starts its own daemons by srun, whose ranks are theirs: what MPI
    says holds. But `srun --mpi=pmi2` sets MPI's variables itself, and Slurm knows the hosts too.

    Args:
      variables: The variables among VARIABLES that are set.
      rank_hosts: The hosts of the ranks as the user tells them, or ().
      first_port: The port of rank 0, or 0.

    Raises:
      ConfigError: if the launcher does not tell how many ranks there are, or where.
    """
    is_slurms = mpi.is_of(variables, variables.get("SLURM_PROCID", ""),
                          variables.get("SLURM_STEP_NUM_TASKS", ""))
    sources = (slurm, mpi) if is_slurms else (mpi, slurm)
    found = (source.ranks(variables, rank_hosts, first_port) for source in sources)
    return next(filter(None, found), None) or mpi.ranks_of_unknown_size(
        variables, rank_hosts, first_port)


def refuse_roles(num_ps: int, num_evaluators: int) -> None:
    """Raises ConfigError if roles are given to ranks, and there are none."""
    given = {"num_ps": num_ps, "num_evaluators": num_evaluators}
    name = next((name for name, count in given.items() if count), "")
    if name:
        raise errors.ConfigError(
            f"{name} is {given[name]} (from --{name}), and neither TF_CONFIG nor Slurm nor MPI"
            " tells of several tasks; expected the command behind srun or mpirun, or on one"
            f" machine: estimator-trainer launch --{name.removeprefix('num_').rstrip('s')}"
            f"{'s' * (name == 'num_ps')}={given[name]} -- FLAGS. For example: srun --ntasks=4"
            f" estimator-trainer --{name}={given[name]}")


def notes(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a line where a batch script has several tasks and did not start this by srun."""
    count = variables.get("SLURM_NTASKS", "1")
    if count == "1" or variables.get("SLURM_STEP_NUM_TASKS"):
        return ()
    return (f"SLURM_NTASKS is {count}, and this process is no task of srun's: it trains alone",)
