"""Ranks from Slurm: under `srun`, variables hold each task's rank and where all of them run.

https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

import itertools
import re
from typing import Callable, Mapping, Sequence, TypeVar

from estimator_trainer.cluster import ranks as ranks_lib
from estimator_trainer.errors import ConfigError, Problem, Setting

T = TypeVar("T")
VARIABLES = ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS",
             "SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_RESV_PORTS", "SLURM_PROCID", "SLURM_NODEID",
             "SLURM_LOCALID", "SLURM_DISTRIBUTION", "SLURM_DIST_PLANESIZE")
_SIZE = "SLURM_STEP_NUM_TASKS"
# Two steps of one job on a node get different ports, as two jobs do.
_STEP_STRIDE = 151


def ranks(variables: Mapping[str, str], rank_hosts: Sequence[str],
          first_port: int) -> ranks_lib.Ranks | None:
    """Returns the tasks of this process's step; None outside of a step, or in one of one task.

    The user's `rank_hosts`, if any, replace the nodes' names.
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
    return ranks_lib.Ranks(rank, addresses, f"Slurm's step {job}.{step}", _SIZE)


def _reserved(variables: Mapping[str, str], hosts: Sequence[str], kept: str) -> tuple[str, ...]:
    """Returns the addresses with the ports that `srun --resv-ports` reserves on each node."""
    ports = _parsed(expanded_names, variables, "SLURM_STEP_RESV_PORTS", f"[{kept}]")
    places = [hosts[:rank].count(host) for rank, host in enumerate(hosts)]
    if max(places) >= len(ports):
        raise ConfigError(Problem(
            "SLURM_STEP_RESV_PORTS", kept, f"and a node has {max(places) + 1} tasks",
            "as many ports", f"srun --resv-ports={max(places) + 1}, or"
            f" {Setting('first_port', 12000)}", "the environment"))
    return tuple(f"{host}:{ports[place]}" for host, place in zip(hosts, places))


def _hosts(variables: Mapping[str, str], size: int, rank: int) -> list[str]:
    """Returns the node of each rank."""
    nodes = _parsed(expanded_names, variables, "SLURM_STEP_NODELIST")
    counts = _parsed(expanded_counts, variables, "SLURM_STEP_TASKS_PER_NODE")
    distribution = variables.get("SLURM_DISTRIBUTION") or "block"
    places = _places(distribution.lower(), counts, _number(variables, "SLURM_DIST_PLANESIZE", 1))
    own = tuple(_number(variables, name) for name in ("SLURM_NODEID", "SLURM_LOCALID"))
    is_known = (distribution.lower().startswith(("block", "cyclic", "plane")) and
                len(nodes) == len(counts) and len(places) == size and rank < size)
    if not is_known or (places[rank], places[:rank].count(places[rank])) != own:
        raise ConfigError(Problem(
            "SLURM_DISTRIBUTION", distribution, "and SLURM_STEP_TASKS_PER_NODE is"
            f" {variables.get('SLURM_STEP_TASKS_PER_NODE')!r} on the nodes"
            f" {variables.get('SLURM_STEP_NODELIST')!r}, which does not show where the {size} tasks"
            f" are: rank {rank} is task {own[1]} of node {own[0]}",
            "the distribution block, cyclic or plane, or the hosts",
            f"srun --distribution=block, or {ranks_lib.HOSTS}", "the environment"))
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
    raise _unlike(name, text, "a whole number")


def _parsed(parse: Callable[[str], list[T]], variables: Mapping[str, str], name: str,
            text: str = "") -> list[T]:
    text = text or variables.get(name, "")
    try:
        return parse(text)
    except ValueError as error:
        raise _unlike(name, text, "a list in Slurm's form") from error


def _unlike(name: str, text: str, expected: str) -> ConfigError:
    return ConfigError(Problem(
        name, text, f"and {_SIZE} says that this is a task of Slurm's",
        f"{expected}, as srun sets it", source="the environment", advice=ranks_lib.ALONE))


_NAME = re.compile(r"(?:[^\[\],]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[[^\[\]]*\]|[^\[\]]+")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")
# More nodes than any cluster has: a mistyped range must not fill the memory.
_MOST = 1 << 20


def expanded_names(text: str) -> list[str]:
    """Returns the names that a node list stands for, in its order, or raises ValueError.

    Numbers keep their leading zeros. Of several brackets in a name, the last counts fastest.
    """
    names = _NAME.findall(text)
    if not names or ",".join(names) != text:
        raise ValueError(f"{text!r} is no node list")
    return [name for each in names for name in _expanded_name(each)]


def expanded_counts(text: str) -> list[int]:
    """Returns the numbers that a list such as `4(x2),1`, the tasks of each node, stands for."""
    found: list[int] = []
    for each in text.split(","):
        match = _COUNT.fullmatch(each)
        if not match or int(match[2] or 1) > _MOST:
            raise ValueError(f"{text!r} is no list of counts")
        found += [int(match[1])] * int(match[2] or 1)
    return found


def _expanded_name(name: str) -> list[str]:
    parts = [_expanded_range(match[0][1:-1]) if match[0].startswith("[") else [match[0]]
             for match in _PART.finditer(name)]
    return ["".join(each) for each in itertools.product(*parts)]


def _expanded_range(text: str) -> list[str]:
    found: list[str] = []
    for each in text.split(","):
        match = _RANGE.fullmatch(each)
        if not match or int(match[2] or match[1]) - int(match[1]) not in range(_MOST):
            raise ValueError(f"{text!r} is no range of numbers")
        first, last = int(match[1]), int(match[2] or match[1])
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found
