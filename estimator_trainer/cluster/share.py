"""A share is the part of some files that this process takes, where several processes divide them.

No process waits for another one, so a share needs a number alone, and no addresses.
"""

from __future__ import annotations

import dataclasses
import heapq
import re
from typing import Mapping, Sequence

from estimator_trainer.cluster import rank_source, task_config
from estimator_trainer.environment import Environment
from estimator_trainer.errors import ConfigError, Problem, Setting

_SHARE = re.compile(r"(\d{1,7})/(\d{1,7})")
_ARRAY = "SLURM_ARRAY_TASK_ID"
_INDEX = "JOB_COMPLETION_INDEX"


@dataclasses.dataclass(frozen=True)
class Share:
    """One of `count` shares, from 0; a process without a share has a count of 0."""

    index: int = 0
    count: int = 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def divided(self, index: int, count: int) -> Share:
        """Returns one of `count` shares of this share."""
        return Share(self.index * count + index, self.count * count)

    def of_files(self, sizes: Sequence[int]) -> list[int]:
        """Returns the numbers of this share's files, which all processes divide alike.

        The largest files come first, each to the share that has the fewest bytes.
        """
        if not self.count:
            return []
        loads, own = [(0, share) for share in range(self.count)], []
        for number in sorted(range(len(sizes)), key=lambda number: (-sizes[number], number)):
            load, share = heapq.heappop(loads)
            heapq.heappush(loads, (load + max(1, sizes[number]), share))
            own += [number] * (share == self.index)
        return sorted(own)


def problems(text: str, output: str, is_output_folder: bool) -> list[Problem]:
    """Returns what is wrong with --share: it is not I/N, or the output is not a folder."""
    found = _SHARE.fullmatch(text)
    if text and not (found and int(found[1]) < int(found[2])):
        return [Problem("share", text, example=Setting("share", "3/10"), expected="I/N: the number"
                        " of this share, from 0, and the number of shares")]
    if text and not is_output_folder:
        return [Problem("share", text, beside=Setting("output", output), expected="a folder",
                        why="and several processes write parts into a folder",
                        example=Setting("output", "predicted/"))]
    return []


def of(text: str, variables: Environment) -> Share:
    """Returns this process's share: --share, or by TF_CONFIG, a Slurm array, or ranks.

    The chief and the workers of a cluster have shares. A process that is alone has all.

    Raises:
      ConfigError: if the number of shares is not known, or TF_CONFIG is wrong.
    """
    if text:
        index, _, count = text.partition("/")
        return Share(int(index), int(count))
    if variables.tf_config.strip() or variables.cluster_spec.strip():
        task = task_config.parse(variables.tf_config, variables.cluster_spec)
        if not task.is_trainer:
            return Share(0, 0)
        return Share(task.input_pipeline_id, task.num_input_pipelines)
    if variables.completion_index:
        raise ConfigError(Problem(
            _INDEX, variables.completion_index, "and no variable has the number of the Job's pods",
            "a share", Setting("share", "$(JOB_COMPLETION_INDEX)/10"), "the environment",
            advice="Kubernetes fills in the index."))
    try:
        place = rank_source.place(variables.ranks)
    except ConfigError as error:
        raise ConfigError(*(dataclasses.replace(
            problem, why="and the number of ranks is not known", expected="a share", advice="",
            example=Setting("share", "3/10")) for problem in error.problems
            if isinstance(problem, Problem))) from error
    return _of_array(variables.ranks).divided(*place)


def _of_array(variables: Mapping[str, str]) -> Share:
    """Returns the share of a task of a Slurm array, whose numbers have equal distances."""
    texts = [variables.get(f"SLURM_ARRAY_TASK_{name}", default)
             for name, default in (("ID", ""), ("COUNT", ""), ("MIN", "0"), ("STEP", "1"))]
    if not texts[0]:
        return Share()
    if all(re.fullmatch(r"\d{1,9}", each) for each in texts) and int(texts[3]):
        number, count, least, step = map(int, texts)
        index, rest = divmod(number - least, step)
        if not rest and 0 <= index < count:
            return Share(index, count)
    raise ConfigError(Problem(
        _ARRAY, texts[0], f"and of COUNT, MIN and STEP of the array, {', '.join(texts[1:])}, it is"
        " no number", "an array of equal distances, or a share",
        "sbatch --array=0-9", "the environment"))
