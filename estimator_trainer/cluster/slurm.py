"""Under `srun` Slurm's variables tell each task its rank and where all of them run.

https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from __future__ import annotations

from typing import Callable, Mapping, Sequence, TypeVar

from estimator_trainer import errors
from estimator_trainer.cluster import node_list
from estimator_trainer.cluster import ranks as ranks_lib
from estimator_trainer.cluster.ranks import Ranks

T = TypeVar("T")
VARIABLES = ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS",
             "SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_RESV_PORTS", "SLURM_PROCID", "SLURM_NODEID",
             "SLURM_LOCALID", "SLURM_DISTRIBUTION", "SLURM_DIST_PLANESIZE")
_SIZE = "SLURM_STEP_NUM_TASKS"
# Steps of one job beside each other on a node get ports of their own, as jobs do.
_STEP_STRIDE = 151


def ranks(variables: Mapping[str, str], rank_hosts: Sequence[str],
          first_port: int) -> Ranks | None:
    """Returns the tasks of this process's step; None outside of a step, or in one of one task.

    A batch script itself, and what it runs without `srun`, is in no step of several tasks.

    Args:
      variables: The variables among VARIABLES that are set.
      rank_hosts: The hosts that the user gives in place of the nodes' names, if any.
      first_port: The port of rank 0, or 0.

    Raises:
      ConfigError: if the variables do not tell where the ranks are.
    """
    size = _number(variables, _SIZE, 1)
    if size < 2:
        return None
    rank, job = _number(variables, "SLURM_PROCID"), _number(variables, "SLURM_JOB_ID")
    step = _number(variables, "SLURM_STEP_ID", 0)
    hosts = (ranks_lib.hosts_of(rank_hosts, size, _SIZE) if rank_hosts else
             _hosts(variables, size, rank))
    kept = variables.get("SLURM_STEP_RESV_PORTS", "")
    addresses = (_reserved(variables, hosts, kept) if kept and not first_port else
                 ranks_lib.addresses(hosts, first_port, job + _STEP_STRIDE * step))
    return Ranks(rank, addresses, f"Slurm's step {job}.{step}", _SIZE)


def _reserved(variables: Mapping[str, str], hosts: Sequence[str], kept: str) -> tuple[str, ...]:
    """Returns the addresses with the ports that Slurm keeps for a step, the same on each node.

    It does where its administrator lets it, for `srun --resv-ports`.
    """
    ports = _parsed(node_list.expanded, variables, "SLURM_STEP_RESV_PORTS", f"[{kept}]")
    places = [hosts[:rank].count(host) for rank, host in enumerate(hosts)]
    if max(places) >= len(ports):
        raise errors.ConfigError(
            f"SLURM_STEP_RESV_PORTS is {kept!r}, and a node has {max(places) + 1} tasks; expected"
            f" as many ports. For example: srun --resv-ports={max(places) + 1}, or"
            " --first_port=12000")
    return tuple(f"{host}:{ports[place]}" for host, place in zip(hosts, places))


def _hosts(variables: Mapping[str, str], size: int, rank: int) -> list[str]:
    """Returns the node of each rank."""
    nodes = _parsed(node_list.expanded, variables, "SLURM_STEP_NODELIST")
    counts = _parsed(node_list.counts, variables, "SLURM_STEP_TASKS_PER_NODE")
    distribution = variables.get("SLURM_DISTRIBUTION") or "block"
    places = _places(distribution.lower(), counts, _number(variables, "SLURM_DIST_PLANESIZE", 1))
    own = tuple(_number(variables, name) for name in ("SLURM_NODEID", "SLURM_LOCALID"))
    is_known = (distribution.lower().startswith(("block", "cyclic", "plane")) and
                len(nodes) == len(counts) and len(places) == size and rank < size)
    if not is_known or (places[rank], places[:rank].count(places[rank])) != own:
        raise errors.ConfigError(
            f"SLURM_DISTRIBUTION is {distribution!r} and SLURM_STEP_TASKS_PER_NODE"
            f" {variables.get('SLURM_STEP_TASKS_PER_NODE')!r} on the nodes"
            f" {variables.get('SLURM_STEP_NODELIST')!r}, which does not tell where the {size} tasks"
            f" are: rank {rank} is task {own[1]} of node {own[0]}. Expected the distribution"
            " block, cyclic or plane, or the hosts. For example: srun"
            " --distribution=block, or --rank_hosts=node1:2,node2")
    return [nodes[place] for place in places]


def _places(distribution: str, counts: Sequence[int], plane_size: int) -> list[int]:
    """Returns the number of the node of each rank."""
    if not distribution.startswith(("cyclic", "plane")):
        return [node for node, count in enumerate(counts) for _ in range(count)]
    size = max(plane_size, 1) if distribution.startswith("plane") else 1
    left, places = list(counts), []
    while any(left):
        for node, count in enumerate(left):
            taken = min(size, count)
            places += [node] * taken
            left[node] -= taken
    return places


def _number(variables: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = variables.get(name, "" if default is None else str(default))
    if text.isascii() and text.isdecimal() and len(text) < 12:
        return int(text)
    raise errors.ConfigError(_unlike(name, text, "a whole number"))


def _parsed(parse: Callable[[str], list[T]], variables: Mapping[str, str], name: str,
            text: str = "") -> list[T]:
    text = text or variables.get(name, "")
    try:
        return parse(text)
    except ValueError as error:
        raise errors.ConfigError(_unlike(name, text, "a list in Slurm's form")) from error


def _unlike(name: str, text: str, expected: str) -> str:
    return (f"{name} is {text!r} (from the environment), and {_SIZE} says that this is a task of"
            f" Slurm's; expected {expected}, as srun sets it. To train alone, without the others:"
            " TF_CONFIG='{}'")
