"""A TrainerConfig holds every setting of a run; it is made and checked once, and frozen.

Its fields stand in the modules beside this one, by what they decide.
"""

import dataclasses
import os.path
from typing import NamedTuple

from estimator_trainer.cluster import share
from estimator_trainer.errors import refuse
from estimator_trainer.settings import conflicts, intervals, length
from estimator_trainer.settings.checkpoint_config import CheckpointConfig
from estimator_trainer.settings.evaluation_config import EvaluationConfig
from estimator_trainer.settings.model_config import ModelConfig
from estimator_trainer.settings.setting import out_of_range, put_home_in_paths, setting
from estimator_trainer.settings.training_config import TrainingConfig


class CheckpointClock(NamedTuple):
    """Between two checkpoints: the number of steps or seconds; None where they do not matter."""

    every_steps: int | None
    every_secs: int | None


# The Estimator's own default.
_SECS = 600
# Workers that save by their own clocks deadlock in a collective, so the Estimator turns seconds
# into this many steps there; this program does so in the open.
_COLLECTIVE_STEPS = 1000
_GROUP = "Ranks of Slurm or MPI, in place of TF_CONFIG"


@dataclasses.dataclass(frozen=True)
class RankConfig:
    """The roles and the addresses of ranks: the first is the chief, the others are workers."""

    num_ps: int = setting(_GROUP, 0, "Number of parameter servers: the last ranks.", minimum=0)
    num_evaluators: int = setting(
        _GROUP, 0, "Number of evaluators, the ranks after the ps; 0: the chief evaluates.",
        minimum=0)
    num_data_workers: int = setting(
        _GROUP, 0, "Number of data workers, which prepare the input: the very last ranks.",
        minimum=0)
    rank_hosts: tuple[str, ...] = setting(
        _GROUP, (), "HOST or HOST:RANKS, with commas, in the order of the ranks, as for mpirun"
        " --host. Slurm has the hosts of its ranks.")
    first_port: int = setting(_GROUP, 0, "Port of the first rank; each next rank has the next port."
                              " 0 = a port that the number of the job decides.", minimum=0)


@dataclasses.dataclass(frozen=True)
class TrainerConfig(EvaluationConfig, CheckpointConfig, TrainingConfig, ModelConfig, RankConfig):
    """The settings of one run.

    Raises:
      ConfigError: if a value is out of its range, naming every such value.
    """

    def __post_init__(self) -> None:
        put_home_in_paths(self)
        refuse([
            *out_of_range(self),
            *conflicts.of_paths({**self.paths, "params_file": self.params_file}),
            *conflicts.of_exports(self.exporters, self.serving_input, self.serving_input_fn),
            *conflicts.of_checkpoints(
                self.checkpoint, self.save_checkpoints_steps, self.save_checkpoints_secs,
                self.eval_every_steps, self.is_collective),
            *conflicts.of_variables(
                self.train_distribute, self.freeze, self.warm_start_from, self.warm_start_vars,
                self.warm_start_rename, self.warm_start_missing),
            *conflicts.of_devices(self.device, self.train_distribute, self.profile_steps),
            *conflicts.of_counts(
                self.epochs_of, self.train_epochs, self.sync_replicas, self.sync_tokens,
                self.steps_per_loop, self.num_evaluators),
            *share.problems(self.share, self.output, self.is_output_folder),
            *conflicts.of_trackers(self.track),
            *conflicts.of_length(self.train_until, self.train_epochs, self.early_stopping_metric,
                                 self.stop_at)])

    @property
    def is_collective(self) -> bool:
        """Whether the training strategy is made of collectives, even in one process."""
        return self.train_distribute == "multi_worker_mirrored"

    @property
    def is_until_no_improvement(self) -> bool:
        """Whether training goes on until evaluations get no better, and the best is the model."""
        return self.train_until == length.NO_IMPROVEMENT

    @property
    def checkpoints(self) -> CheckpointClock:
        """When a checkpoint is due.

        Without a setting, evaluations are spread over the steps of training, so that a short run
        has a curve of them; a long one loses no more than 600 s of work.
        """
        if steps := self.eval_every_steps or self.save_checkpoints_steps:
            return CheckpointClock(steps, None)
        if self.save_checkpoints_secs:
            return CheckpointClock(None, self.save_checkpoints_secs)
        spread = -(-self.train_steps // self.num_evaluations) if self.num_evaluations else 0
        if self.is_collective:
            return CheckpointClock(min(spread or _COLLECTIVE_STEPS, _COLLECTIVE_STEPS), None)
        return CheckpointClock(spread or None, _SECS)

    @property
    def log_steps(self) -> int:
        """Steps between two lines of the log."""
        return self.log_every_steps or intervals.LOG_STEPS

    @property
    def point_steps(self) -> int:
        """Steps between two lines of the history; 0: few at first, and more later."""
        return self.log_every_steps or self._steps_by_length

    @property
    def summary_steps(self) -> int:
        """Steps between two summaries."""
        return self.save_summary_steps or self._steps_by_length or intervals.LOG_STEPS

    @property
    def _steps_by_length(self) -> int:
        evaluation_steps = self.checkpoints.every_steps if self.is_until_no_improvement else 0
        return intervals.by_length(self.train_steps, evaluation_steps or 0)

    @property
    def profiled_steps(self) -> tuple[int, int] | None:
        """First and last global step to profile, or None."""
        first, _, last = self.profile_steps.partition(",")
        return (int(first), int(last)) if first else None

    @property
    def paths(self) -> dict[str, str]:
        """The settings that are paths of TensorFlow's file systems, by name."""
        return {"model_dir": self.model_dir, "warm_start_from": self.warm_start_from,
                "export_dir": self.export_dir, "output": self.output, "data": self.data}

    @property
    def is_data_json(self) -> bool:
        """Whether `data` is JSON lines, which need no input_fn."""
        return self.data == "-" or self.data.endswith((".jsonl", ".json"))

    @property
    def is_output_folder(self) -> bool:
        """Whether `output` is a folder of parts: `DIR/`, `DIR/*.csv`, or an existing folder."""
        name = self.output.rpartition("/")[2]
        return self.output.endswith("/") or name.startswith("*.") or os.path.isdir(self.output)

    @property
    def max_steps(self) -> int | None:
        """The Estimator's `max_steps`: a total over all runs in model_dir; None = no limit."""
        return self.train_steps or None
