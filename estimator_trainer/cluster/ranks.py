"""Ranks are the numbered tasks that a launcher such as Slurm or MPI started.

    rank    0      1 ...
    role    chief  the workers  the ps, if any  the evaluators, if any  the data workers, if any
"""

import dataclasses
import json
from typing import Sequence

from estimator_trainer.errors import ConfigError, Problem, Setting, Words

# Registered services have lower ports, and clients on Linux get higher ones.
_LOWEST_PORT, _BLOCK, _NUM_BLOCKS = 12000, 64, 300
ALONE = "To train alone, without the others: TF_CONFIG='{}'"
# An example of the hosts of ranks.
HOSTS = Setting("rank_hosts", ("node1:2", "node2"))


@dataclasses.dataclass(frozen=True)
class Ranks:
    """All ranks of one start of a program."""

    rank: int  # The rank of this process.
    addresses: tuple[str, ...]  # host:port of each rank.
    launcher: str  # The launcher and its job, such as "Slurm's step 12.0".
    size_name: str  # The variable that has the number of ranks.

    @property
    def note(self) -> str:
        """A line about where the cluster comes from."""
        return (f"TF_CONFIG is not set: the cluster is that of {self.launcher}, in which this is"
                f" rank {self.rank} of {len(self.addresses)}")

    def tf_config(self, num_ps: int, num_evaluators: int, num_data_workers: int = 0) -> str:
        """Returns the TF_CONFIG of this process.

        Raises:
          ConfigError: if no chief is left beside the ps and the evaluators.
        """
        num_others = num_ps + num_evaluators + num_data_workers
        num_workers = len(self.addresses) - 1 - num_others
        if num_workers < 0:
            raise ConfigError(Problem(
                "num_ps", num_ps, beside=Setting("num_evaluators", num_evaluators) if (
                    num_evaluators or not num_data_workers) else Setting(
                        "num_data_workers", num_data_workers),
                why=f"of {len(self.addresses)} tasks (from {self.size_name})",
                expected=f"a chief beside them, and so {1 + num_others} tasks or more",
                example=f"--ntasks={2 + num_others} of srun, -n of mpirun"))
        roles = (["chief"] + ["worker"] * num_workers + ["ps"] * num_ps +
                 ["evaluator"] * num_evaluators + ["data_worker"] * num_data_workers)
        cluster: dict[str, list[str]] = {}
        for role, address in zip(roles, self.addresses):
            cluster.setdefault(role, []).append(address)
        role = roles[self.rank]
        return json.dumps({"cluster": cluster, "task": {
            "type": role, "index": roles[:self.rank].count(role)}})


def addresses(hosts: Sequence[str], first_port: int, job: int) -> tuple[str, ...]:
    """Returns host:port of each rank, whose port is the first one plus the rank.

    Without a `first_port`, the number of the job decides, so that two jobs on one host get
    different ports. If the last port would be above 65535, raises ConfigError.
    """
    first = first_port or _LOWEST_PORT + _BLOCK * (job % _NUM_BLOCKS)
    if first + len(hosts) > 1 << 16:
        raise ConfigError(Problem(
            "first_port", first_port, f"and there are {len(hosts)} tasks",
            f"{(1 << 16) - len(hosts)} at most", Setting("first_port", _LOWEST_PORT)))
    return tuple(f"{host}:{first + rank}" for rank, host in enumerate(hosts))


def hosts_of(rank_hosts: Sequence[str], size: int | None, size_name: str) -> list[str]:
    """Returns the host of each rank, or raises ConfigError if the list has another number of ranks.

    Args:
      rank_hosts: HOST or HOST:RANKS, in the order of the ranks.
      size: The number of ranks; None = as many as the list has.
      size_name: The variable that has this number.
    """
    hosts: list[str] = []
    for each in rank_hosts:
        host, colon, text = each.partition(":")
        if not host or colon and not (text.isdecimal() and len(text) < 7 and int(text)):
            raise ConfigError(Problem("rank_hosts", each, verb="has", example=HOSTS,
                                      expected="HOST or HOST:RANKS"))
        hosts += [host] * int(text or 1)
    if size is not None and len(hosts) != size:
        raise ConfigError(Problem(
            "rank_hosts", Words(f"places for {len(hosts)} tasks"), verb="has", example=HOSTS,
            expected=f"{size}, as {size_name} says, in the order of the ranks"))
    return hosts
