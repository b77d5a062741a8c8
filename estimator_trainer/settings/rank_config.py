"""A RankConfig gives roles to the ranks of Slurm or MPI, where TF_CONFIG tells no cluster."""

from __future__ import annotations

import dataclasses

from estimator_trainer.settings.setting import setting

_GROUP = "Ranks of Slurm or MPI, in place of TF_CONFIG"


@dataclasses.dataclass(frozen=True)
class RankConfig:
    """The roles and the addresses of ranks: the first is the chief, the others are workers."""

    num_ps: int = setting(_GROUP, 0, "Parameter servers, the last ranks.", minimum=0)
    num_evaluators: int = setting(
        _GROUP, 0, "1: the very last rank is the evaluator; 0: the chief evaluates.", minimum=0)
    rank_hosts: tuple[str, ...] = setting(
        _GROUP, (), "HOST or HOST:RANKS, with commas, in the order of the ranks, as mpirun --host"
        " has them; Slurm's nodes need none.")
    first_port: int = setting(
        _GROUP, 0, "Port of the first rank, those of the others follow; 0 = by the number of"
        " the job.", minimum=0)
