"""The process environment; no other module uses `os.environ`.

Variables for `RunConfig`, the strategies and TensorFlow's C++ libraries are written here, before
TensorFlow is imported.
"""

import contextlib
import dataclasses
import json
import os
from typing import ContextManager, Iterator, Mapping, Sequence

# Other variables of these launchers are secrets, such as PMI_SHARED_SECRET.
_RANKS = ("SLURM_", "OMPI_", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_", "MPI_", "PMIX_RANK",
          "PMIX_SIZE", "MV2_COMM_WORLD_", "JSM_NAMESPACE_", "FLUX_TASK_", "FLUX_JOB_", "PALS_",
          "ALPS_APP_PE", "PBS_JOBID", "LSB_JOBID")
_EVENTS = "ESTIMATOR_TRAINER_EVENTS_FD"
# The command line of `launch`, as JSON; its tasks record it in place of their own.
_COMMAND = "ESTIMATOR_TRAINER_COMMAND"
# The variables that a run writes for TensorFlow to read.
_WRITTEN = ("TF_CONFIG", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "TF_XLA_FLAGS")


@dataclasses.dataclass(frozen=True)
class Environment:
    """The variables that the program reads; an unset variable is an empty string."""

    tf_config: str = ""
    cluster_spec: str = ""  # Vertex AI's list of worker pools, as JSON text.
    # The model's directory on Vertex AI; without one, that of its checkpoints.
    aip_model_dir: str = ""
    # The number of the hyperparameter tuning trial on Vertex AI and AI Platform, where a trial of
    # one task has no TF_CONFIG.
    trial: str = ""
    tensorboard_dir: str = ""  # The directory of events that Vertex AI's TensorBoard reads.
    has_tensorboard: bool = False  # Whether the job has such a TensorBoard.
    metric_file: str = ""  # Where a tuning service reads the metric of a trial.
    completion_index: str = ""  # The number of a pod in an Indexed Job of Kubernetes.
    legacy_keras: str = ""
    cuda_visible_devices: str | None = None
    no_color: str = ""  # Any value turns colours off (no-color.org).
    # The set variables of a launcher, such as Slurm or MPI, about this process's rank.
    ranks: Mapping[str, str] = dataclasses.field(default_factory=dict)


def read() -> Environment:
    """Returns the variables of this process."""
    get = os.environ.get
    return Environment(
        tf_config=get("TF_CONFIG", ""), cluster_spec=get("CLUSTER_SPEC", ""),
        aip_model_dir=get("AIP_MODEL_DIR") or get("AIP_CHECKPOINT_DIR", ""),
        tensorboard_dir=get("AIP_TENSORBOARD_LOG_DIR", ""),
        has_tensorboard=bool(get("AIP_TENSORBOARD_RESOURCE_NAME")),
        trial=get("CLOUD_ML_TRIAL_ID", ""), metric_file=get("CLOUD_ML_HP_METRIC_FILE", ""),
        completion_index=get("JOB_COMPLETION_INDEX", ""),
        legacy_keras=get("TF_USE_LEGACY_KERAS", ""), no_color=get("NO_COLOR", ""),
        cuda_visible_devices=get("CUDA_VISIBLE_DEVICES"),
        ranks={name: os.environ[name] for name in os.environ if name.startswith(_RANKS)})


def trial() -> str:
    """Returns the number of the tuning trial that this process belongs to, or "".

    A TF_CONFIG that cannot be read names none here; the plan of a run says what is wrong with it.
    """
    number = os.environ.get("CLOUD_ML_TRIAL_ID", "")
    with contextlib.suppress(ValueError, AttributeError):
        task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task") or {}
        number = str(task.get("trial") or "") or number
    return number


def names_tpu() -> bool:
    """Returns whether Google's machines have named their TPU to this process."""
    return any(name in os.environ for name in (
        "TPU_CONFIG", "TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"))


def of_task(tf_config: str, threads: int, gpus: str) -> dict[str, str]:
    """Returns the environment of a task, in which the user may have set the threads."""
    defaults = {
        "PYTHONUNBUFFERED": "1",
        "TF_NUM_INTRAOP_THREADS": str(threads),
        # With one thread, an op that waits for another task could keep that task waiting.
        "TF_NUM_INTEROP_THREADS": str(max(2, threads)),
        # TensorFlow's 64 queues for answers of other tasks are as many threads, in each task.
        "TF_GRPC_WORKER_CACHE_QUEUES": str(max(4, threads)),
        # Two tasks may have to share a GPU.
        "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
    kept = {name: value for name, value in os.environ.items() if name != "CLUSTER_SPEC"}
    return {**defaults, **kept, "TF_CONFIG": tf_config, "CUDA_VISIBLE_DEVICES": gpus}


def of_fork_server() -> dict[str, str]:
    """Returns the environment of a fork server; each of its forks gets its own."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("CLUSTER_SPEC", "TF_CONFIG")}
    return {**kept, "PYTHONUNBUFFERED": "1", "CUDA_VISIBLE_DEVICES": "-1"}


def with_events_pipe(variables: Mapping[str, str], descriptor: int) -> dict[str, str]:
    """Returns the environment of a task that writes its events to a pipe; see task_events.py."""
    return {**variables, _EVENTS: str(descriptor)}


def take_events_pipe() -> int | None:
    """Removes the events' pipe from the environment, and returns its file descriptor, or None."""
    descriptor = os.environ.pop(_EVENTS, "")
    return int(descriptor) if descriptor.isdecimal() else None


def with_command(variables: Mapping[str, str], words: Sequence[str]) -> dict[str, str]:
    """Returns the environment of a task that records these words as its command."""
    return {**variables, _COMMAND: json.dumps(list(words))}


def take_command() -> tuple[str, ...]:
    """Removes the words from the environment, and returns them; () if no launcher passed any."""
    try:
        words = json.loads(os.environ.pop(_COMMAND, "[]"))
    except ValueError:
        return ()
    return tuple(map(str, words)) if isinstance(words, list) else ()


def replace(variables: Mapping[str, str]) -> None:
    """Makes `variables` the whole environment of this process."""
    os.environ.clear()
    os.environ.update(variables)


def quiet_native_logs() -> None:
    """Limits TensorFlow's C++ log to fatal messages, unless the user has set a level.

    The log has an error for a machine without a GPU; failures in a step become Python exceptions.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def trust_no_cached_sizes() -> None:
    """Makes TensorFlow request file sizes from Cloud Storage each time, unless the user set this.

    With a size cached for 5 s, TensorFlow reads only a part of a file that grew, and cannot read a
    file that shrank. TensorFlow reads the variable when it is imported.
    """
    os.environ.setdefault("GCS_STAT_CACHE_MAX_AGE", "0")


def sets_malloc() -> bool:
    """Returns whether the user has set up or replaced the C library's malloc."""
    return any(name.startswith("MALLOC_") or name in ("GLIBC_TUNABLES", "LD_PRELOAD")
               for name in os.environ)


def set_threads(intra_op: int, inter_op: int) -> None:
    """Sets the sizes of TensorFlow's thread pools; 0 leaves a size as it is.

    The Estimator ignores the thread counts of a session_config when it starts a server
    (tensorflow/tensorflow#22306); these variables apply to servers and sessions.
    """
    for name, count in (("INTRAOP", intra_op), ("INTEROP", inter_op)):
        if count:
            os.environ[f"TF_NUM_{name}_THREADS"] = str(count)


def compile_on_cpus() -> None:
    """Makes XLA, in sessions that use it, compile for CPUs as well as for GPUs."""
    os.environ["TF_XLA_FLAGS"] = " ".join(
        filter(None, [os.environ.get("TF_XLA_FLAGS"), "--tf_xla_cpu_global_jit"]))


def choose_legacy_keras() -> None:
    """Makes `tf.keras` Keras 2 in a TensorFlow that is imported from now on."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"


def write_tf_config(text: str) -> None:
    """Sets TF_CONFIG for `RunConfig` and the strategies; "" unsets it."""
    os.environ.pop("TF_CONFIG", None)
    if text:
        os.environ["TF_CONFIG"] = text


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Restores the variables that a run writes, at the end of the context."""
    saved = {name: os.environ.get(name) for name in _WRITTEN}
    try:
        yield
    finally:
        for name in saved:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in saved.items() if value is not None})


@contextlib.contextmanager
def tf_config(text: str) -> Iterator[None]:
    """Sets TF_CONFIG within the context; "" unsets it."""
    with as_before():
        write_tf_config(text)
        yield


def no_cluster() -> ContextManager[None]:
    """Unsets TF_CONFIG within the context, so that what is built there runs without a cluster."""
    return tf_config("")
