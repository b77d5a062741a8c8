"""The settings of training: its length, strategies, batches, devices."""

import dataclasses

from estimator_trainer.cluster import topology
from estimator_trainer.settings import length
from estimator_trainer.settings.setting import setting


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """The length of training, its strategy, and the devices."""

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
    data_service: bool = setting(
        "Training", False, "Hand out the training set to the trainers while they read it, so that a"
        " slow one reads less; default: fixed shares.")
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
