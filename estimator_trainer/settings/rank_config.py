"""A RankConfig gives roles to the ranks of Slurm or MPI, where TF_CONFIG tells no cluster."""

from __future__ import annotations

import dataclasses

from estimator_trainer.settings.setting import setting

_GROUP = "Ranks of Slurm or MPI, in place of TF_CONFIG"


@dataclasses.dataclass(frozen=True)
class RankConfig:
    """The roles and the addresses of ranks: the first is the chief, the others are workers."""

    num_ps: int = setting(_GROUP, 0, "Number of parameter servers: the last ranks.", minimum=0)
    num_evaluators: int = setting(
        _GROUP, 0, "1: the very last rank is the evaluator; 0: the chief evaluates.", minimum=0)
    rank_hosts: tuple[str, ...] = setting(
        _GROUP, (), "HOST or HOST:RANKS, with commas, in the order of the ranks, as for mpirun"
        " --host. Slurm tells the hosts of its ranks itself.")
    first_port: int = setting(
        _GROUP, 0, "Port of the first rank; each next rank has the next port. 0 = a port that"
        " the number of the job decides.", minimum=0)
