"""A TrainerConfig holds every setting of a run; it is made and checked once, and frozen.

A setting is one field: its name is the flag's name, its default and help are the flag's.
Standard library only, so a mistake is reported before TensorFlow is imported.
"""

import dataclasses
from typing import Any, NamedTuple

from estimator_trainer import deadlines, storage
from estimator_trainer.cluster import topology
from estimator_trainer.errors import did_you_mean, nearest, Problem, refuse, Setting
from estimator_trainer.settings import conflicts, intervals, length


def setting(group: str, default: Any, help_text: str, choices: tuple[str, ...] = (),
            minimum: float | None = None, is_path: bool = False) -> Any:
    """Returns a field that defines a flag of its name, default and help.

    Args:
      group: The heading in --help.
      default: The default value; the flag has its type.
      help_text: One sentence.
      choices: The values allowed; empty for any value.
      minimum: The smallest number allowed, or None.
      is_path: Whether the value is a path, or several with commas.
    """
    metadata = {"group": group, "help": help_text, "choices": choices, "minimum": minimum,
                "is_path": is_path}
    return dataclasses.field(default=default, metadata=metadata)


def put_home_in_paths(config: Any) -> None:
    """Replaces `~/` in the paths of a dataclass that is being made, which may be frozen."""
    for field in dataclasses.fields(config):
        if field.metadata["is_path"]:
            value = getattr(config, field.name)
            object.__setattr__(config, field.name, storage.with_home(value) if isinstance(
                value, str) else tuple(map(storage.with_home, value)))


def out_of_range(config: Any) -> list[Problem]:
    """Returns a problem for each setting of a dataclass that is out of its range."""
    found = []
    for field in dataclasses.fields(config):
        name, value, choices = field.name, getattr(config, field.name), field.metadata["choices"]
        minimum = field.metadata["minimum"]
        if choices and value not in choices:
            named = sorted(filter(None, choices))
            near = nearest(value, named)
            found.append(Problem(name, value, expected=f"one of {', '.join(named)}",
                                 advice=did_you_mean(near) or field.metadata["help"],
                                 example=Setting(name, near or field.default or named[0])))
        elif minimum is not None and value < minimum:
            found.append(Problem(name, value, expected=f"a number of at least {minimum}",
                                 advice=field.metadata["help"],
                                 example=Setting(name, field.default)))
    return found


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
        _GROUP, 0, "1: the very last rank is the evaluator; 0: the chief evaluates.", minimum=0)
    rank_hosts: tuple[str, ...] = setting(
        _GROUP, (), "HOST or HOST:RANKS, with commas, in the order of the ranks, as for mpirun"
        " --host. Slurm has the hosts of its ranks.")
    first_port: int = setting(_GROUP, 0, "Port of the first rank; each next rank has the next port."
                              " 0 = a port that the number of the job decides.", minimum=0)


@dataclasses.dataclass(frozen=True)
class TrainerConfig(RankConfig):
    """The settings of one run.

    Raises:
      ConfigError: if a value is out of its range, naming every such value.
    """

    model_fn: str = setting("What to train", "cnn", "model_fn plug-in: a name in model_fns/, a"
                            " dotted module or a file; `:NAME` after it picks another function.")
    input_fn: str = setting("What to train", "digits", "input_fn plug-in, named the same way.")
    train_input_fn: str = setting(
        "What to train", "", "input_fn plug-in of training alone, in place of --input_fn.")
    eval_input_fn: str = setting(
        "What to train", "", "input_fn plug-in of evaluation and `predict` alone.")
    serving_input_fn: str = setting(
        "What to train", "", "Plug-in whose function returns the ServingInputReceiver of exports;"
        " default: the input_fn module's own, else derived from its data.")
    param: tuple[str, ...] = setting(
        "What to train", (), "A plug-in's param, as key=value. Repeatable; `list` shows them all.")
    params_file: str = setting("What to train", "", "JSON object of params. --param wins over it.",
                               is_path=True)
    plugin_flag: tuple[str, ...] = setting(
        "What to train", (), "An absl flag that a plug-in's module defines, as name=value."
        " Repeatable; or all of them after `--`: -- --name=value")
    model_dir: str = setting(
        "What to train", "",
        "Directory of checkpoints, evaluations and exports, shared by all tasks. Default:"
        " --job_dir, then $AIP_MODEL_DIR, then (in one process only) a new temporary directory.",
        is_path=True)
    tf1: bool = setting("What to train", False, "Give the plug-ins TensorFlow 1's names and"
                        " behaviour, and tf.contrib, by `import tensorflow`.")
    tf1_op_seeds: bool = setting(
        "What to train", True, "With --tf1: an op without a seed of its own takes it from the"
        " number of operations before it, as in TensorFlow 1.15; false: from the number of random"
        " ops, as in later versions.")
    allow_changed: tuple[str, ...] = setting(
        "What to train", (), "Params and settings, with commas, in which a resumed training may"
        " differ from record.json in model_dir, even where that changes its model or its data.")

    train_steps: int = setting(
        "Training", 1000, "Global step at which training ends; 0 = at the end of the input."
        " With --train_epochs the default is 0.", minimum=0)
    train_epochs: int = setting("Training", 0, "Passes over the training input after which a run"
                                " ends; 0 = as many as --train_steps takes.", minimum=0)
    train_until: str = setting(
        "Training", "", "What ends training. no_improvement: --best_metric gets no better, and the"
        " best checkpoint is the model; --train_steps is then the most. train_steps: --train_steps"
        " or --train_epochs alone. Default: as the input_fn declares, in one process and without"
        " these two; else train_steps.", choices=("", *length.RULES))
    epochs_of: str = setting("Training", "job", "What --train_epochs counts. job: passes of all"
                             " trainers together. worker: passes of each trainer; N trainers then"
                             " make N times as many passes together.", choices=("job", "worker"))
    global_batch_size: int = setting(
        "Training", 0, "Examples of one global step, all synchronous replicas together, from any"
        " input_fn; 0 = the input_fn's own.", minimum=0)
    train_distribute: str = setting(
        "Training", "none", "Strategy for training.", choices=topology.STRATEGIES)
    num_replicas: int = setting("Training", 0, "Replicas in one process for `mirrored` and"
                                " `central_storage`: GPUs, or logical CPUs where there is no GPU; 0"
                                " = every GPU, else one CPU.", minimum=0)
    collective: str = setting(
        "Training", "auto", "Implementation of the all-reduce of `multi_worker_mirrored`.",
        choices=("auto", "ring", "nccl"))
    all_reduce_pack_mb: int = setting(
        "Training", 0, "Megabytes of gradients that `multi_worker_mirrored` sends together, while"
        " it computes others; 0 = 4 on CPUs, where a larger one is split, all on GPUs.", minimum=0)
    all_reduce_dtype: str = setting(
        "Training", "float32", "Type of the gradients that `multi_worker_mirrored` sends; 16 bits"
        " are faster from about 10 MB of gradients on.", choices=("float32", "bfloat16", "float16"))
    steps_per_loop: int = setting(
        "Training", 0, "Training steps in one session run, at most; 0 = as many as fit into 0.1 s,"
        " of an all-reduce 0.25 s; 1 where the model or the cluster allows no more.", minimum=0)
    sync_replicas: int = setting(
        "Training", 0, "Gradients that a step of ps training waits for; where there are more"
        " trainers, the slowest gradients of a step are dropped; 0 = asynchronous.", minimum=0)
    sync_tokens: int = setting(
        "Training", 0, "With --sync_replicas: number of steps that the trainers may begin before"
        " the first update, as SyncReplicasOptimizer's num_tokens.", minimum=0)
    partition_mb: int = setting(
        "Training", 0, "Megabytes above which a table of a job with several ps is divided among"
        " them; 0 = as the program says.", minimum=0)
    intra_op_threads: int = setting(
        "Training", 0, "Threads that share one op; 0 = one per core. In servers too.", minimum=0)
    inter_op_threads: int = setting(
        "Training", 0, "Threads that run ops side by side; 0 = one per core. In servers too.",
        minimum=0)
    seed: int = setting(
        "Training", 0, "Graph-level random seed; 0 = a different one each run.", minimum=0)
    warm_start_from: str = setting(
        "Training", "", "Checkpoint, directory or export whose variables a fresh run starts from:"
        " all of the model, statistics of batch norm too; the optimizer's start fresh.",
        is_path=True)
    warm_start_vars: str = setting(
        "Training", ".*", "Variables to warm-start: names or regular expressions, with commas.")
    warm_start_rename: tuple[str, ...] = setting(
        "Training", (), "Variables of other names in that checkpoint: OLD=NEW, with commas;"
        " OLD/=NEW/ for all below a scope.")
    warm_start_missing: bool = setting("Training", False, "Let trainable variables that the"
                                       " checkpoint lacks start from their initial values.")
    freeze: str = setting("Training", "", "Trainable variables that are not trained: names or"
                          " regular expressions, with commas.")

    device: str = setting("Devices", "", "Device that the model computes on, such as cpu:0 or"
                          " gpu:1; default: TensorFlow's choice.")
    soft_placement: bool = setting(
        "Devices", True, "Run an op on another device where the chosen one cannot run it.")
    log_device_placement: bool = setting("Devices", False, "Log the device of every op.")
    mixed_precision: str = setting(
        "Devices", "none", "Compute in 16 bits where the model allows it, and keep variables in"
        " 32 bits: bfloat16 on CPUs, float16 on GPUs.", choices=("none", "bfloat16", "float16"))
    xla: bool = setting("Devices", False, "Compile with XLA the parts of the graph that it can.")
    profile_steps: str = setting(
        "Devices", "", "FROM,TO: profile these global steps into model_dir, for TensorBoard.")

    save_checkpoints_steps: int = setting(
        "Checkpoints and logs", 0, "Steps between checkpoints; 0 = as --num_evaluations says, and"
        " at least every 600 seconds.", minimum=0)
    save_checkpoints_secs: int = setting("Checkpoints and logs", 0, "Seconds between checkpoints; 0"
                                         " = by steps. `multi_worker_mirrored` saves by steps only,"
                                         " every 1000 at most by default.", minimum=0)
    force: bool = setting(
        "Checkpoints and logs", False, "Train in a model_dir where another training goes on. That"
        " training ends, and this one goes on from its last checkpoint.")
    keep_checkpoint_max: int = setting(
        "Checkpoints and logs", 5, "Checkpoints to keep; 0 = all.", minimum=0)
    save_summary_steps: int = setting(
        "Checkpoints and logs", 0, "Steps between TensorBoard summaries; 0 = at least 20 summaries"
        " in a run, and one every 100 steps.", minimum=0)
    worker_events: bool = setting(
        "Checkpoints and logs", False, "Write the TensorBoard summaries of each worker beside ps,"
        " not of the chief alone: into MODEL_DIR/worker_0, and so on.")
    log_every_steps: int = setting(
        "Checkpoints and logs", 0, "Steps between two lines of progress, in the log and in"
        " history.jsonl; 0 = 100 in the log, and at least 20 lines of a run in history.jsonl.",
        minimum=0)
    check_numerics: bool = setting(
        "Checkpoints and logs", True, "Look, before each checkpoint, whether a trainable variable"
        " is NaN or infinite; that ends training of plug-ins, and a script is warned.")
    report: bool = setting("Checkpoints and logs", True, "Write MODEL_DIR/report.html at the end,"
                           " the page of the run, with charts of the final evaluation.")
    column_importance: bool = setting(
        "Checkpoints and logs", True, "Find out for this page which columns matter to the model: in"
        " the final evaluation, for 10 s at most.")
    verbose: bool = setting(
        "Checkpoints and logs", False, "Show all that TensorFlow logs, deprecations included.")

    early_stopping_metric: str = setting(
        "Ending", "", "Training ends when this metric improves no more; default: none.")
    early_stopping_mode: str = setting(
        "Ending", "min", "Whether lower (min) or higher (max) is better.", choices=("min", "max"))
    early_stopping_steps: int = setting(
        "Ending", 1000, "Steps without improvement after which training ends.", minimum=1)
    peer_timeout_secs: int = setting("Ending", deadlines.PEER_TIMEOUT_SECS, "Seconds after which a"
                                     " task that has answered, and no longer does, is lost; those"
                                     " that need it exit with 142.", minimum=1)
    stall_timeout_secs: int = setting("Ending", deadlines.STALL_TIMEOUT_SECS, "Seconds without any"
                                      " progress, at the start too, before a task prints its stacks"
                                      " and exits with 142.", minimum=1)

    eval_distribute: str = setting(
        "Evaluation", "none", "Strategy for evaluation, which runs in one process.",
        choices=topology.ONE_PROCESS)
    eval_steps: int = setting(
        "Evaluation", 0, "Batches an evaluation takes; 0 = the whole set.", minimum=0)
    eval_every_steps: int = setting(
        "Evaluation", 0,
        "Steps between evaluations (and so checkpoints); 0 = at every checkpoint.", minimum=0)
    num_evaluations: int = setting(
        "Evaluation", 10, "Checkpoints, and so evaluations, that are spread over --train_steps"
        " where nothing else says when to save; 0 = by time alone.", minimum=0)
    eval_throttle_secs: int = setting(
        "Evaluation", 0, "Least seconds from one evaluation's start to the next.", minimum=0)
    checkpoint: str = setting("Evaluation", "latest", "Checkpoint for `evaluate`, `predict` and"
                              " `export`: latest, best, all (evaluate only) or step=N.")

    exporters: tuple[str, ...] = setting(
        "Export and prediction", ("final",),
        "Comma-separated exporters: final, latest, best; or `none`.")
    exports_to_keep: int = setting(
        "Export and prediction", 5, "Exports that `latest` and `best` keep.", minimum=1)
    best_metric: str = setting(
        "Export and prediction", "loss", "Metric that decides which checkpoint is best.")
    best_mode: str = setting(
        "Export and prediction", "min", "Whether the lowest (min) or the highest (max) is best.",
        choices=("min", "max"))
    serving_input: str = setting(
        "Export and prediction", "raw",
        "What the exported signature takes: raw, the features as tensors, or as JSON over REST; or"
        " example, serialized tf.Example protos.",
        choices=("raw", "example"))
    forward_key: str = setting(
        "Export and prediction", "",
        "Feature, or column that is no feature, such as customer_id: copied unchanged into"
        " predictions and exports, to tell instances apart.")
    export_dir: str = setting(
        "Export and prediction", "",
        "For `predict`: a SavedModel to predict with instead of a checkpoint.", is_path=True)
    data: str = setting(
        "Export and prediction", "", "For `predict`: the data to predict: files, a folder, or `-`"
        " for JSON lines on standard input; default: the input_fn's evaluation data.", is_path=True)
    with_inputs: bool = setting(
        "Export and prediction", False,
        "For `predict`: write texts, numbers and file names of the input beside the predictions.")
    all: bool = setting(
        "Export and prediction", False,
        "For `predict`: write everything that the model predicts, such as logits; without it, of a"
        " canned Estimator, the class, the probabilities, or the number.")
    output: str = setting(
        "Export and prediction", "", "For `predict`: the file to write, whose ending decides: .csv,"
        " .parquet, .feather or .jsonl; another one: the kind of --data. Default: JSON lines on"
        " standard output.", is_path=True)

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
            *conflicts.of_length(self.train_until, self.train_epochs, self.early_stopping_metric)])

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
    def max_steps(self) -> int | None:
        """The Estimator's `max_steps`: a total over all runs in model_dir; None = no limit."""
        return self.train_steps or None
