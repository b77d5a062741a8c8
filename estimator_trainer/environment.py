"""Reads and writes the process environment; no other module touches `os.environ`.

`RunConfig`, the strategies and TensorFlow's C++ logging read variables of their own, so what they
must see is written back here, before TensorFlow is imported.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import ContextManager, Iterator, Mapping

# Others of these launchers' variables are secrets, such as PMI_SHARED_SECRET.
_RANKS = ("SLURM_", "OMPI_", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_", "MPI_", "PMIX_RANK",
          "PMIX_SIZE", "MV2_COMM_WORLD_", "JSM_NAMESPACE_", "FLUX_TASK_", "FLUX_JOB_", "PALS_",
          "ALPS_APP_PE", "PBS_JOBID", "LSB_JOBID")
_EVENTS = "ESTIMATOR_TRAINER_EVENTS_FD"
# The variables that a run writes for TensorFlow to read.
_WRITTEN = ("TF_CONFIG", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "TF_XLA_FLAGS")


@dataclasses.dataclass(frozen=True)
class Environment:
    """The variables that the program reads of its environment; unset variables are empty strings.

    Attributes:
      tf_config: TF_CONFIG, the task's view of its cluster, as JSON text.
      cluster_spec: CLUSTER_SPEC, Vertex AI's list of worker pools, as JSON text.
      aip_model_dir: AIP_MODEL_DIR, where Vertex AI wants the model.
      trial: CLOUD_ML_TRIAL_ID, the number of the hyperparameter tuning trial on Vertex AI and AI
        Platform, whose TF_CONFIG is unset in a trial of one task.
      legacy_keras: TF_USE_LEGACY_KERAS, which chooses TensorFlow's Keras.
      cuda_visible_devices: CUDA_VISIBLE_DEVICES, the GPUs to use; None if it is not set.
      no_color: NO_COLOR; any value means: no colours (no-color.org).
      ranks: What a launcher such as Slurm or MPI tells of this process's rank, by variable; those
        that are set.
    """

    tf_config: str = ""
    cluster_spec: str = ""
    aip_model_dir: str = ""
    trial: str = ""
    legacy_keras: str = ""
    cuda_visible_devices: str | None = None
    no_color: str = ""
    ranks: Mapping[str, str] = dataclasses.field(default_factory=dict)


def read() -> Environment:
    """Reads the environment of this process."""
    return Environment(
        tf_config=os.environ.get("TF_CONFIG", ""),
        cluster_spec=os.environ.get("CLUSTER_SPEC", ""),
        aip_model_dir=os.environ.get("AIP_MODEL_DIR", ""),
        trial=os.environ.get("CLOUD_ML_TRIAL_ID", ""),
        legacy_keras=os.environ.get("TF_USE_LEGACY_KERAS", ""),
        cuda_visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
        no_color=os.environ.get("NO_COLOR", ""),
        ranks={name: os.environ[name] for name in os.environ if name.startswith(_RANKS)})


def of_task(tf_config: str, threads: int, gpus: str) -> dict[str, str]:
    """Returns the environment of a task's process that this one starts.

    Args:
      tf_config: TF_CONFIG of the task.
      threads: Threads that share one op, unless the user's environment says how many.
      gpus: CUDA_VISIBLE_DEVICES of the task.
    """
    defaults = {
        "PYTHONUNBUFFERED": "1",
        "TF_NUM_INTRAOP_THREADS": str(threads),
        # With one thread, an op that waits for another task could keep that task waiting.
        "TF_NUM_INTEROP_THREADS": str(max(2, threads)),
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
    """Returns the environment of a task that tells its events to a pipe; see task_events.py."""
    return {**variables, _EVENTS: str(descriptor)}


def take_events_pipe() -> int | None:
    """Removes the file descriptor of the events' pipe from the environment; returns it, or None."""
    descriptor = os.environ.pop(_EVENTS, "")
    return int(descriptor) if descriptor.isdecimal() else None


def replace(variables: Mapping[str, str]) -> None:
    """Makes `variables` the whole environment of this process."""
    os.environ.clear()
    os.environ.update(variables)


def quiet_native_logs() -> None:
    """Leaves only what is fatal of TensorFlow's C++ log, unless the user has set a level.

    To that log a machine without a GPU is an error; what goes wrong in a step reaches Python as
    an exception.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def trust_no_cached_sizes() -> None:
    """Makes TensorFlow ask Cloud Storage for a file's size each time, unless the user has said.

    It would keep an answer for 5 s, and then read a file that grew meanwhile only in part, and
    fail to read one that shrank. TensorFlow reads this when it is imported.
    """
    os.environ.setdefault("GCS_STAT_CACHE_MAX_AGE", "0")


def sets_malloc() -> bool:
    """Returns whether the user has set up the C library's malloc, or put another in its place."""
    return any(name.startswith("MALLOC_") or name in ("GLIBC_TUNABLES", "LD_PRELOAD")
               for name in os.environ)


def set_threads(intra_op: int, inter_op: int) -> None:
    """Sets the sizes of TensorFlow's thread pools; 0 leaves one as it is.

    The Estimator drops the thread counts of a session_config when it starts a server
    (tensorflow/tensorflow#22306); these variables hold for servers and sessions alike.
    """
    for name, count in (("INTRAOP", intra_op), ("INTEROP", inter_op)):
        if count:
            os.environ[f"TF_NUM_{name}_THREADS"] = str(count)


def compile_on_cpus() -> None:
    """Lets XLA, where a session asks for it, compile for CPUs too, not for GPUs alone."""
    os.environ["TF_XLA_FLAGS"] = " ".join(
        filter(None, [os.environ.get("TF_XLA_FLAGS"), "--tf_xla_cpu_global_jit"]))


def choose_legacy_keras() -> None:
    """Makes `tf.keras` Keras 2 in a TensorFlow that is imported from now on."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"


def write_tf_config(text: str) -> None:
    """Sets the TF_CONFIG that `RunConfig` and the strategies will read; "" unsets it."""
    os.environ.pop("TF_CONFIG", None)
    if text:
        os.environ["TF_CONFIG"] = text


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Sets the variables that a run writes back, at the end of the context, to what they were."""
    saved = {name: os.environ.get(name) for name in _WRITTEN}
    try:
        yield
    finally:
        for name, value in saved.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def tf_config(text: str) -> Iterator[None]:
    """Sets TF_CONFIG within the context, for what TensorFlow reads there; "" unsets it."""
    with as_before():
        write_tf_config(text)
        yield


def no_cluster() -> ContextManager[None]:
    """Unsets TF_CONFIG within the context: what is built there believes that it runs alone."""
    return tf_config("")
