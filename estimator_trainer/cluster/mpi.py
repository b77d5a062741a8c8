"""Under `mpirun` or `mpiexec` MPI's variables tell each process its rank, and no host of another.

Open MPI: https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html
MPICH, Intel MPI, Cray (PMI): https://github.com/pmodels/mpich/tree/main/src/pm/hydra
"""

from __future__ import annotations

from typing import Mapping, NamedTuple, Sequence

from estimator_trainer import errors
from estimator_trainer.cluster import ranks as ranks_lib
from estimator_trainer.cluster.ranks import Ranks


class _Launcher(NamedTuple):
    """The variables of a launcher; of those of a rank on its host, each may be the one set."""

    name: str
    rank: str
    size: str
    local_rank: tuple[str, ...]
    local_size: tuple[str, ...]


_OPEN_MPI = _Launcher("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                      ("OMPI_COMM_WORLD_LOCAL_RANK",), ("OMPI_COMM_WORLD_LOCAL_SIZE",))
_PMI = _Launcher("MPI", "PMI_RANK", "PMI_SIZE", ("MPI_LOCALRANKID", "PMI_LOCAL_RANK"),
                 ("MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"))
# A job's number is Open MPI's, or that of a batch system (PBS, LSF) that MPI is used in.
_JOBS = ("OMPI_MCA_ess_base_jobid", "PBS_JOBID", "LSB_JOBID")
VARIABLES = (*_JOBS, *(name for each in (_OPEN_MPI, _PMI)
                       for name in (each.rank, each.size, *each.local_rank, *each.local_size)))


def ranks(variables: Mapping[str, str], rank_hosts: Sequence[str],
          first_port: int) -> Ranks | None:
    """Returns the processes that MPI started; None outside of MPI, or where there is one.

    Args:
      variables: The variables among VARIABLES that are set.
      rank_hosts: HOST or HOST:RANKS, in the order of the ranks; not needed where all ranks are
        on this host.
      first_port: The port of rank 0, or 0.

    Raises:
      ConfigError: if the hosts are missing, or are not those of the ranks.
    """
    for launcher in (_OPEN_MPI, _PMI):
        rank, size = (_first(variables, name) for name in (launcher.rank, launcher.size))
        if rank is not None and size is not None and rank < size and size > 1:
            hosts = _hosts(launcher, variables, rank_hosts, rank, size)
            job = _first(variables, *_JOBS) or 0
            return Ranks(rank, ranks_lib.addresses(hosts, first_port, job),
                         f"{launcher.name}'s mpirun", launcher.size)
    return None


def is_of(variables: Mapping[str, str], rank: str, size: str) -> bool:
    """Returns whether MPI's rank and size are these, for another launcher sets them too."""
    return (variables.get("PMI_RANK"), variables.get("PMI_SIZE")) == (rank, size)


def _hosts(launcher: _Launcher, variables: Mapping[str, str], rank_hosts: Sequence[str],
           rank: int, size: int) -> list[str]:
    """Returns the host of each rank."""
    local_rank = _first(variables, *launcher.local_rank)
    if not rank_hosts:
        if _first(variables, *launcher.local_size) == size:
            return ["localhost"] * size
        raise errors.ConfigError(
            f"rank_hosts is missing (no --rank_hosts), and {launcher.size} is {size}: MPI does not"
            " tell its processes where the others are. Expected the hosts as mpirun got them, in"
            " the order of the ranks. For example: --rank_hosts=node1:2,node2")
    hosts = ranks_lib.hosts_of(rank_hosts, size, launcher.size)
    expected = hosts[:rank].count(hosts[rank])
    if local_rank not in (None, expected):
        raise errors.ConfigError(
            f"rank_hosts puts rank {rank} on {hosts[rank]!r} as its task {expected} (from"
            f" --rank_hosts), and it is task {local_rank} there; expected the hosts in the order"
            " of the ranks, as with mpirun --map-by slot. For example:"
            " --rank_hosts=node1:2,node2")
    return hosts


def _first(variables: Mapping[str, str], *names: str) -> int | None:
    """Returns the number that the first variable of these begins with, such as PBS's "12.host"."""
    texts = (variables.get(name, "").partition(".")[0] for name in names)
    return next((int(text) for text in texts
                 if text.isascii() and text.isdecimal() and len(text) < 12), None)
