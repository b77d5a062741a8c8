"""A JobConfig describes a whole job, for `launch` on this machine or for a scheduler."""

import dataclasses
import re

from estimator_trainer.cluster.declared_cluster import MOST_EVALUATORS
from estimator_trainer.errors import ConfigError, Problem, refuse, Setting
from estimator_trainer.settings.setting import out_of_range, put_home_in_paths, setting

ROLES = ("chief", "worker", "ps", "evaluator", "data_worker")
PLATFORMS = ("tfjob", "kubernetes", "jobset", "vertex", "ai-platform", "slurm")
# Vertex AI's MachineSpec.acceleratorType has these GPUs; AI Platform has those up to the A100.
GPU_TYPES = ("NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100", "NVIDIA_TESLA_P4",
             "NVIDIA_TESLA_T4", "NVIDIA_TESLA_A100", "NVIDIA_A100_80GB", "NVIDIA_L4",
             "NVIDIA_H100_80GB", "NVIDIA_H100_MEGA_80GB", "NVIDIA_H200_141GB", "NVIDIA_B200")
MOST_GPUS = 1024
# The first of the words after `--` if the tasks predict, each its share of the files.
PREDICT = "predict"
# These settings are a number, or the least and the most: 2:8.
RANGES = ("worker",)
# --help lists the flags in these groups.
THE_JOB = "The job, for `launch` and `manifest`, before `--`"
LAUNCH = "Launch"
MANIFEST = "Manifest"


class NumWorkers(int):
    """The number of workers at the start.

    Attributes:
      most: The largest number of workers that the job may have while it runs.
    """

    most: int

    def __new__(cls, least: int, most: int) -> "NumWorkers":
        number = super().__new__(cls, least)
        number.most = most
        return number


def _num_workers(value: int | str) -> NumWorkers:
    """Returns the numbers of `2`, or of `2:8`; ConfigError if there are none."""
    if isinstance(value, NumWorkers):
        return value
    found = re.fullmatch(r"(\d{1,6})(?::(\d{1,6}))?", str(value))
    least, most = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
    if least > most or found and found[2] and not least:
        raise ConfigError(Problem(
            "worker", value, expected="a number of workers, or the least, at least 1, and the most"
            " of a job whose workers join and leave", example=Setting("worker", "2:8")))
    return NumWorkers(least, most)


@dataclasses.dataclass(frozen=True)
class JobConfig:
    """Number of a job's tasks, and how they run.

    Raises:
      ConfigError: for values out of their range, all at once.
    """

    chief: int = setting(
        THE_JOB, 1, "Number of chiefs: 1, or 0 if worker:0 is to be the chief.", minimum=0)
    worker: int = setting(
        THE_JOB, 0, "Number of workers; LEAST:MOST, as in 2:8, for a job whose workers join and"
        " leave while it trains.", minimum=0)
    ps: int = setting(THE_JOB, 0, "Number of parameter servers.", minimum=0)
    evaluator: int = setting(
        THE_JOB, 0, "Number of evaluators, which share out the checkpoints; 0: the chief"
        " evaluates.", minimum=0)
    data_worker: int = setting(
        THE_JOB, 0, "Number of data workers, which prepare the input for the trainers.", minimum=0)
    max_restarts: int = setting(
        THE_JOB, 3, "Restarts of a task that was killed, or ended with 142 or 143.", minimum=0)

    chief_name: str = setting(
        THE_JOB, "chief", "Name of the chief in TF_CONFIG; a master evaluates at every checkpoint"
        " itself. `manifest` takes master for AI Platform only.", choices=("chief", "master"))

    tensorboard: bool = setting(
        THE_JOB, False, "Run TensorBoard on model_dir: `launch` beside the tasks, until they end;"
        " Kubernetes as a Deployment, which stays.")

    log_dir: str = setting(
        LAUNCH, "", "Directory of the tasks' logs. Default: MODEL_DIR/logs, on this machine.",
        is_path=True)
    share_import: bool = setting(
        LAUNCH, True, "Let one process import TensorFlow and fork into the tasks, on Linux and"
        " without GPUs; --noshare_import starts each by itself.")
    host: str = setting(
        LAUNCH, "127.0.0.1", "Address of this machine at which the tasks reach each other.")

    platform: str = setting(MANIFEST, "kubernetes", "Scheduler to write for.", choices=PLATFORMS)
    name: str = setting(MANIFEST, "estimator-trainer",
                        "The job's name: lower-case letters, digits and `-`.")
    image: str = setting(MANIFEST, "", "Container image to build from the Dockerfile that"
                         " `manifest` writes; Vertex AI needs none.")
    output_dir: str = setting(
        MANIFEST, "manifest", "Directory to write the job, the Dockerfile and the source to.",
        is_path=True)
    namespace: str = setting(MANIFEST, "default", "Kubernetes: the namespace.")
    volume: str = setting(MANIFEST, "", "Kubernetes: CLAIM:PATH, a PersistentVolumeClaim that every"
                          " task mounts at PATH, for a --model_dir below it.")
    nodes: int = setting(
        MANIFEST, 0, "Slurm: number of nodes; 0 = as few as the tasks need.", minimum=0)
    cpus: int = setting(MANIFEST, 2, "Kubernetes, Slurm: CPUs of a task.", minimum=1)
    memory_gib: int = setting(
        MANIFEST, 8, "Kubernetes, Slurm: memory of a task, in GiB.", minimum=1)
    gpus: int = setting(MANIFEST, 0, "GPUs of a chief and of a worker.", minimum=0)
    gpu_type: str = setting(MANIFEST, "NVIDIA_TESLA_T4",
                            "Vertex AI and AI Platform: type of the GPUs.", choices=GPU_TYPES)
    machine_type: str = setting(
        MANIFEST, "", "Vertex AI and AI Platform: type of the machines. Default: n1-standard-4,"
        " or on AI Platform the scale tier STANDARD_1 for a job of its numbers of tasks.")
    resources: tuple[str, ...] = setting(
        MANIFEST, (), "ROLE:key=value,key=value, or FILE.json: CPUs, memory, GPUs, machine, nodes"
        " and image of one role, or of `all`. Repeatable.", is_path=True)
    tune: tuple[str, ...] = setting(
        MANIFEST, (), "A param that a tuning job chooses: NAME=LOW..HIGH, NAME=LOW..HIGH:log or"
        " NAME=A,B,C. Repeatable.")
    trials: int = setting(MANIFEST, 20, "With --tune: number of trials.", minimum=1)
    parallel_trials: int = setting(
        MANIFEST, 2, "With --tune: trials that run at the same time.", minimum=1)
    staging_bucket: str = setting(MANIFEST, "", "Vertex AI without --image: folder of a bucket that"
                                  " the source package is copied to. Default: MODEL_DIR/source.")
    region: str = setting(MANIFEST, "us-central1", "Vertex AI and AI Platform: region of the job.")

    def __post_init__(self) -> None:
        put_home_in_paths(self)
        object.__setattr__(self, "worker", _num_workers(self.worker))
        problems = out_of_range(self)
        if self.most_workers > self.worker and self.worker == 1 and not self.chief:
            problems.append(Problem(
                "worker", f"1:{self.most_workers}", "and worker:0 is the chief, beside which a job"
                " begins with a worker", beside=Setting("chief", 0), expected="at least 2 workers",
                example=Setting("worker", f"2:{max(3, self.most_workers)}")))
        if self.chief > 1:
            problems.append(Problem("chief", self.chief, example=Setting("chief", 1),
                                    expected="0 or 1, because a job has one chief"))
        if self.evaluator > MOST_EVALUATORS:
            problems.append(Problem("evaluator", self.evaluator, example=Setting("evaluator", 2),
                                    expected=f"at most {MOST_EVALUATORS}"))
        if self.gpus > MOST_GPUS:
            problems.append(Problem("gpus", self.gpus, example=Setting("gpus", 8),
                                    expected=f"at most {MOST_GPUS} for one task"))
        if not self.chief and not self.worker:
            problems.append(Problem("chief", 0, beside=Setting("worker", 0),
                                    expected="a task that trains", example=Setting("chief", 1)))
        refuse(problems)

    @property
    def num_shares(self) -> int:
        """Number of shares of the files to predict: the chief and the workers have one each.

        Raises ConfigError if the job has other tasks.
        """
        if self.most_workers > self.worker:
            raise ConfigError(Problem(
                "worker", f"{self.worker}:{self.most_workers}", "and each worker predicts its share"
                " of the files", "one number", Setting("worker", self.most_workers)))
        refuse(Problem(role, getattr(self, role), "and the tasks that predict are workers",
                       example=(Setting(role, 0), Setting("worker", 3)))
               for role in ("ps", "evaluator", "data_worker") if getattr(self, role))
        return self.chief + self.worker

    @property
    def most_workers(self) -> int:
        """The most workers that the job may have; `worker` is the number at the start."""
        return _num_workers(self.worker).most

    def synchronous_problems(self, sync_replicas: int) -> list[Problem]:
        """Returns a problem if workers are to join and leave a job with --sync_replicas.

        A worker that leaves would take along a token, for which the others wait.
        """
        if not sync_replicas or self.most_workers == self.worker:
            return []
        return [Problem(
            "worker", f"{self.worker}:{self.most_workers}", "and a synchronous step needs the"
            " trainers that the job had at its start", "one number",
            Setting("worker", self.worker), beside=Setting("sync_replicas", sync_replicas))]

    @property
    def of_workers(self) -> "JobConfig":
        """The job with a worker for each share of the files to predict, and no other task."""
        return dataclasses.replace(self, chief=0, worker=self.num_shares)

    @property
    def tasks(self) -> tuple[tuple[str, int], ...]:
        """(role, index) of every task at the start, in the order of ROLES."""
        return tuple((role, i) for role in ROLES for i in range(getattr(self, role)))

    @property
    def all_tasks(self) -> tuple[tuple[str, int], ...]:
        """(role, index) of every task that the job may have, in the order of ROLES."""
        return dataclasses.replace(self, worker=self.most_workers).tasks
