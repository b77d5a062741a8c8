"""Ranks from the launcher that started this process: Slurm, or one of MPI's.

The variables of `mpirun`, `flux run` and `jsrun` hold each task's rank, but no hosts.

Open MPI: https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html
MPICH, Intel MPI, Cray (PMI): https://github.com/pmodels/mpich/tree/main/src/pm/hydra
MVAPICH2: MV2_COMM_WORLD_* in https://mvapich.cse.ohio-state.edu/userguide/
IBM's jsrun: https://lightning.ai/docs/pytorch/stable/api/ (LSFEnvironment)
Flux: https://github.com/flux-framework/flux-core/blob/master/src/shell/task.c
Cray PALS and PMI: https://github.com/SchedMD/slurm/tree/master/src/plugins/mpi/cray_shasta
"""

from typing import Mapping, NamedTuple, Sequence

from estimator_trainer.cluster import ranks as ranks_lib, slurm
from estimator_trainer.errors import ConfigError, Problem, Setting, Words


class _Launcher(NamedTuple):
    """The variables of a launcher; "" or () where it has none."""

    name: str  # For messages, such as "Open MPI's mpirun".
    rank: str
    size: str = ""  # The number of ranks.
    local_rank: tuple[str, ...] = ()  # The rank on its host, in one of these.
    local_size: tuple[str, ...] = ()  # The number of ranks on this host.
    nodes: str = ""  # The number of hosts.


# jsrun sets Open MPI's variables too, and `flux run` PMI's: the first launcher that is set counts.
_LAUNCHERS = (
    _Launcher("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
              ("OMPI_COMM_WORLD_LOCAL_RANK",), ("OMPI_COMM_WORLD_LOCAL_SIZE",)),
    _Launcher("jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE",
              ("JSM_NAMESPACE_LOCAL_RANK",), ("JSM_NAMESPACE_LOCAL_SIZE",)),
    _Launcher("flux run", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", ("FLUX_TASK_LOCAL_ID",),
              nodes="FLUX_JOB_NNODES"),
    _Launcher("MVAPICH2's mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
              ("MV2_COMM_WORLD_LOCAL_RANK",), ("MV2_COMM_WORLD_LOCAL_SIZE",)),
    _Launcher("MPI's mpirun", "PMI_RANK", "PMI_SIZE",
              ("MPI_LOCALRANKID", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID"),
              ("MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE")),
    # PMIx itself has no variable for the size; some launchers set one.
    _Launcher("PMIx", "PMIX_RANK", "PMIX_SIZE"),
    _Launcher("Cray's PALS", "PALS_RANKID", "", ("PALS_LOCAL_RANKID",)),
    _Launcher("Cray's aprun", "ALPS_APP_PE"),
)
# A Slurm batch script is rank 0 without a step.
_STEP = _Launcher("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", ("SLURM_LOCALID",))
# The number of a job, from Open MPI or from the batch system (PBS, LSF) around MPI.
_JOBS = ("OMPI_MCA_ess_base_jobid", "PBS_JOBID", "LSB_JOBID")
VARIABLES = tuple(filter(None, (*slurm.VARIABLES, *_JOBS, *(
    name for each in _LAUNCHERS
    for name in (each.rank, each.size, *each.local_rank, *each.local_size, each.nodes)))))
_MOST_RANKS = 1 << 16


def ranks(variables: Mapping[str, str], rank_hosts: Sequence[str] = (),
          first_port: int = 0) -> ranks_lib.Ranks | None:
    """Returns the ranks of the launcher that started this process, or None.

    Within a Slurm job, mpirun starts its daemons by srun, so Slurm's ranks are the daemons' and
    MPI's variables come first. But `srun --mpi=pmi2` and its other kinds set MPI's variables
    themselves, and Slurm knows the hosts too.

    Args:
      variables: The variables among VARIABLES that are set.
      rank_hosts: HOST or HOST:RANKS, in the order of the ranks, or ().
      first_port: The port of rank 0, or 0.

    Raises:
      ConfigError: if the number of ranks or their hosts are not known.
    """
    own = variables.get("SLURM_PROCID", ""), variables.get("SLURM_STEP_NUM_TASKS", "")
    is_slurms = any((variables.get(f"{name}_RANK"), variables.get(f"{name}_SIZE")) == own
                    for name in ("PMI", "PMIX"))
    sources = (slurm.ranks, _mpi_ranks) if is_slurms else (_mpi_ranks, slurm.ranks)
    found = (source(variables, rank_hosts, first_port) for source in sources)
    return next(filter(None, found), None) or _ranks_of_unknown_size(
        variables, rank_hosts, first_port)


def place(variables: Mapping[str, str]) -> tuple[int, int]:
    """Returns the rank of this process and the number of ranks; (0, 1) without a launcher.

    Raises:
      ConfigError: if the number of ranks is not known.
    """
    for launcher in (*_LAUNCHERS, _STEP):
        if (found := _rank_and_size(launcher, variables)) and found[1] > 1:
            return found
    _ranks_of_unknown_size(variables, (), 0)
    return 0, 1


def refuse_roles(num_ps: int, num_evaluators: int, num_data_workers: int = 0) -> None:
    """Raises ConfigError if ranks are to have roles, and there are no ranks."""
    for role, name, count in (("ps", "num_ps", num_ps),
                              ("evaluator", "num_evaluators", num_evaluators),
                              ("data_worker", "num_data_workers", num_data_workers)):
        if count:
            raise ConfigError(Problem(
                name, count, "and neither TF_CONFIG nor Slurm nor MPI has several tasks",
                "the command behind srun or mpirun, or on one machine:"
                f" estimator-trainer launch --{role}={count} -- FLAGS",
                f"srun --ntasks=4 estimator-trainer --{name}={count}"))


def notes(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a line if a batch script has several tasks and started this one without srun."""
    count = variables.get("SLURM_NTASKS", "1")
    if count == "1" or variables.get("SLURM_STEP_NUM_TASKS"):
        return ()
    return (f"SLURM_NTASKS is {count}, and this process was not started by srun: it trains alone",)


def _mpi_ranks(variables: Mapping[str, str], rank_hosts: Sequence[str],
               first_port: int) -> ranks_lib.Ranks | None:
    """Returns the processes of a launcher with a known number of them; None where there is one.

    If all ranks are on this host, `rank_hosts` may be empty.
    """
    for launcher in _LAUNCHERS:
        rank, size = _rank_and_size(launcher, variables) or (0, 1)
        if size > 1:
            return _found(launcher, variables, rank_hosts, first_port, rank, size)
    return None


def _rank_and_size(launcher: _Launcher, variables: Mapping[str, str]) -> tuple[int, int] | None:
    """Returns the rank and the number of ranks, if the launcher has set both."""
    rank, size = (_first(variables, name) for name in (launcher.rank, launcher.size))
    if rank is None or size is None:
        return None
    if not rank < size <= _MOST_RANKS:
        raise ConfigError(Problem(launcher.rank, rank, f"and {launcher.size} is {size}",
                                  f"a rank below the size, and {_MOST_RANKS} ranks at most",
                                  source="the environment", advice=ranks_lib.ALONE))
    return rank, size


def _ranks_of_unknown_size(variables: Mapping[str, str], rank_hosts: Sequence[str],
                           first_port: int) -> ranks_lib.Ranks | None:
    """Returns the processes of a launcher that sets a rank alone; None if this one is alone."""
    is_alone = any(_first(variables, each.size) == 1 for each in (*_LAUNCHERS, _STEP) if each.size)
    for launcher in (*_LAUNCHERS, _STEP):
        text = variables.get(launcher.rank, "")
        rank = _first(variables, launcher.rank)
        if not text or rank == 0 and (launcher is _STEP or is_alone):
            continue
        if rank is not None and _first(variables, launcher.size) is not None:
            continue
        if rank is None:
            raise ConfigError(Problem(launcher.rank, text, source="the environment",
                                      expected="a rank, a whole number", advice=ranks_lib.ALONE))
        if rank_hosts and launcher is not _STEP:
            return _found(launcher, variables, rank_hosts, first_port, rank, None)
        size = launcher.size or "a variable"
        raise ConfigError(Problem(
            launcher.rank, rank, f"and {launcher.name} does not tell how many tasks there are (no"
            f" {size}): each would train by itself, all in one model_dir",
            "the hosts of all tasks, in the order of the ranks", ranks_lib.HOSTS, "the environment",
            advice=f"{ranks_lib.ALONE}."))
    return None


def _found(launcher: _Launcher, variables: Mapping[str, str], rank_hosts: Sequence[str],
           first_port: int, rank: int, size: int | None) -> ranks_lib.Ranks:
    hosts = _hosts(launcher, variables, rank_hosts, rank, size)
    return ranks_lib.Ranks(rank,
                           ranks_lib.addresses(hosts, first_port, _first(variables, *_JOBS) or 0),
                           launcher.name, launcher.size if size else str(Setting("rank_hosts")))


def _hosts(launcher: _Launcher, variables: Mapping[str, str], rank_hosts: Sequence[str],
           rank: int, size: int | None) -> list[str]:
    """Returns the host of each rank."""
    local_rank = _first(variables, *launcher.local_rank)
    if not rank_hosts and size:
        if _first(variables, *launcher.local_size) == size or (
                _first(variables, launcher.nodes) == 1):
            return ["localhost"] * size
        raise ConfigError(Problem(
            "rank_hosts", why=f"and {launcher.size} is {size}: {launcher.name} does not tell its"
            " tasks where the others are", example=ranks_lib.HOSTS, advice=f"{ranks_lib.ALONE}.",
            expected="the hosts as the launcher got them, in the order of the ranks"))
    hosts = ranks_lib.hosts_of(rank_hosts, size, launcher.size)
    if rank >= len(hosts):
        raise ConfigError(Problem(
            "rank_hosts", Words(f"places for {len(hosts)} tasks"), f"and {launcher.rank} is {rank}",
            "the hosts of all tasks, in the order of the ranks", ranks_lib.HOSTS, verb="has"))
    expected = hosts[:rank].count(hosts[rank])
    if local_rank not in (None, expected):
        raise ConfigError(Problem(
            "rank_hosts", Words(f"rank {rank} as task {expected} of {hosts[rank]!r}"),
            f"and it is task {local_rank} there",
            "the hosts in the order of the ranks, as with mpirun --map-by slot", ranks_lib.HOSTS,
            verb="has"))
    return hosts


def _first(variables: Mapping[str, str], *names: str) -> int | None:
    """Returns the number at the start of the first variable that has one, as in PBS's "12.host"."""
    texts = (variables.get(name, "").strip().partition(".")[0] for name in names)
    return next((int(text) for text in texts
                 if text.isascii() and text.isdecimal() and len(text) < 12), None)
