"""The rows of the tables: who trains, with how many ps, and the command of each task."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from typing import Sequence

from benchmarks.sparse.peers import work
from benchmarks.suite import environments

_PEERS = "benchmarks.sparse.peers"
_OWN_LINE = r"  step (?P<step>\d+)/\S+  loss (?P<loss>\S+)"
_ESTIMATOR_LINE = r"loss = (?P<loss>[^\s,]+), step = (?P<step>\d+)"


@dataclasses.dataclass(frozen=True)
class Row:
    """A way to train.

    Attributes:
      label: Its name in the tables.
      module: The name of its program in benchmarks/sparse/peers.
      flags: Flags of that program.
      is_own: Whether this project runs the program.
      is_torch: Whether the program needs PyTorch's environment, and trains without a ps.
      places: Whether the row exists in one process (False), and with several trainers (True).
      line: The pattern of a line of progress.
    """

    label: str
    module: str
    flags: tuple[str, ...] = ()
    is_own: bool = False
    is_torch: bool = False
    places: tuple[bool, ...] = (False, True)
    line: str = _OWN_LINE

    def command(self, todo: work.Work, folder: pathlib.Path, flags: Sequence[str]) -> list[str]:
        """Returns the command of a task.

        Args:
          todo: The work.
          folder: The folder of the benchmarks' environments.
          flags: More flags of this project.
        """
        python = str(environments.python(folder, "torch")) if self.is_torch else sys.executable
        own = ("estimator_trainer", "run", *flags) if self.is_own else ()
        options = [*self.flags, *todo.flags()]
        if own:
            return [python, "-m", *own, f"{_PEERS}.{self.module}", "--", *options]
        return [python, "-m", f"{_PEERS}.{self.module}", *options]

    def counts(self, ps: int) -> dict[str, int]:
        """Returns the number of tasks of each role beside a number of ps; {} for one process.

        There is a chief, and as many workers as ps.
        """
        if not ps:
            return {}
        return {"chief": 1, "worker": ps, **({} if self.is_torch else {"ps": ps})}


ROWS = {
    "plain": Row("plain Estimator", "estimator_script", line=_ESTIMATOR_LINE),
    "ours": Row("this project, the same script", "estimator_script", is_own=True),
    "packs": Row("hand-written graph with packs", "packed_graph", places=(True,)),
    "fused": Row("`tf.function`, one fused table, 50 steps a call", "fused_function",
                 places=(False,)),
    "torch": Row("PyTorch, an `EmbeddingBag` for each column", "torch_bags", is_torch=True),
    "torch_fused": Row("PyTorch, one fused `EmbeddingBag`", "torch_bags", ("--fused",),
                       is_torch=True),
}


def of(ps: int, names: Sequence[str]) -> list[str]:
    """Returns those of some rows that exist with a number of ps."""
    return [name for name in names if (ps > 0) in ROWS[name].places]
