"""The keywords of the functions in `api.py`, for type checkers and editors.

`python -m docs.site.keywords --write` makes this file.
"""

import os
from typing import Any, Literal, Sequence, TypedDict


class _Task(TypedDict, total=False):
    """Keywords of every function."""

    eval_input_fn: Any
    params_file: str | os.PathLike[str]
    plugin_flag: Sequence[str]
    allow_changed: Sequence[str]
    global_batch_size: int
    intra_op_threads: int
    inter_op_threads: int
    seed: int
    device: str
    soft_placement: bool
    log_device_placement: bool
    mixed_precision: Literal["none", "bfloat16", "float16"]
    xla: bool
    verbose: bool
    best_metric: str
    best_mode: Literal["min", "max"]


class Train(_Task, total=False):
    """Keywords of `estimator_trainer.train`."""

    train_input_fn: Any
    serving_input_fn: Any
    train_steps: int
    train_epochs: int
    train_until: Literal["", "train_steps", "no_improvement"]
    epochs_of: Literal["job", "worker"]
    data_service: bool
    train_distribute: Literal[
        "none", "one_device", "mirrored", "central_storage", "multi_worker_mirrored",
        "parameter_server"]
    num_replicas: int
    collective: Literal["auto", "ring", "nccl"]
    all_reduce_pack_mb: int
    all_reduce_dtype: Literal["float32", "bfloat16", "float16"]
    steps_per_loop: int
    sync_replicas: int
    sync_tokens: int
    partition_mb: int
    warm_start_from: str | os.PathLike[str]
    warm_start_vars: str | Sequence[str]
    warm_start_rename: Sequence[str]
    warm_start_missing: bool
    freeze: str | Sequence[str]
    profile_steps: str
    save_checkpoints_steps: int
    save_checkpoints_secs: int
    force: bool
    keep_checkpoint_max: int
    keep_checkpoint_every_n_hours: float
    save_summary_steps: int
    worker_events: bool
    log_every_steps: int
    check_numerics: bool
    report: bool
    column_importance: bool
    track: Sequence[str]
    early_stopping_metric: str
    early_stopping_mode: Literal["min", "max"]
    early_stopping_steps: int
    stop_at: str
    max_secs: int
    peer_timeout_secs: int
    stall_timeout_secs: int
    eval_distribute: Literal["none", "one_device", "mirrored", "central_storage"]
    eval_steps: int
    eval_set: Sequence[str]
    eval_every_steps: int
    num_evaluations: int
    eval_throttle_secs: int
    trial_metric: str
    checkpoint: str
    exporters: Sequence[str]
    exports_to_keep: int
    serving_input: str | Sequence[str]
    forward_key: str
    export_dir: str | os.PathLike[str]
    with_inputs: bool
    all: bool
    output: str | os.PathLike[str]
    num_ps: int
    num_evaluators: int
    num_data_workers: int
    rank_hosts: Sequence[str]
    first_port: int


class Evaluate(_Task, total=False):
    """Keywords of `estimator_trainer.evaluate`."""

    num_replicas: int
    max_secs: int
    eval_distribute: Literal["none", "one_device", "mirrored", "central_storage"]
    eval_steps: int
    eval_set: Sequence[str]
    eval_throttle_secs: int
    checkpoint: str


class Average(_Task, total=False):
    """Keywords of `estimator_trainer.average`."""

    num_replicas: int
    max_secs: int
    eval_distribute: Literal["none", "one_device", "mirrored", "central_storage"]
    eval_steps: int
    eval_set: Sequence[str]
    eval_throttle_secs: int


class Predict(_Task, total=False):
    """Keywords of `estimator_trainer.predict`."""

    checkpoint: str
    forward_key: str
    export_dir: str | os.PathLike[str]
    with_inputs: bool
    all: bool
    output: str | os.PathLike[str]


class Export(_Task, total=False):
    """Keywords of `estimator_trainer.export`."""

    serving_input_fn: Any
    checkpoint: str
    serving_input: str | Sequence[str]
    forward_key: str


class Check(Train, total=False):
    """Keywords of `estimator_trainer.check`."""


class Launch(Train, total=False):
    """Keywords of `estimator_trainer.launch`."""

    chief: int
    worker: int | str
    ps: int
    evaluator: int
    data_worker: int
    max_restarts: int
    chief_name: Literal["chief", "master"]
    tensorboard: bool
    log_dir: str | os.PathLike[str]
    share_import: bool
    host: str
