"""A node list is Slurm's short form of many names: `gpu-[01-03,7],login1`.

https://slurm.schedmd.com/scontrol.html#OPT_hostnames tells the form; `scontrol show hostnames`
expands it too, but need not be there in a container.
"""

from __future__ import annotations

import itertools
import re

_NAME = re.compile(r"(?:[^\[\],]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[[^\[\]]*\]|[^\[\]]+")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")
# No cluster has more nodes, and a range that was mistyped is not to fill the memory.
_MOST = 1 << 20


def expanded(text: str) -> list[str]:
    """Returns the names that a node list stands for, in its order.

    Numbers keep their leading zeros. A name may have several brackets, the last of which counts
    fastest.

    Raises:
      ValueError: if it is no node list.
    """
    names = _NAME.findall(text)
    if not names or ",".join(names) != text:
        raise ValueError(f"{text!r} is no node list")
    return [name for each in names for name in _expanded_name(each)]


def counts(text: str) -> list[int]:
    """Returns the numbers that a list such as `4(x2),1`, the tasks of each node, stands for.

    Raises:
      ValueError: if it is no such list.
    """
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
