"""The cores, the GPUs and the memory of this machine, without TensorFlow."""

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import resource
import shutil
import subprocess
import sys
from typing import Callable

from estimator_trainer import deadlines, environment

# With this CUDA_VISIBLE_DEVICES a process uses no GPU.
NO_GPU = "-1"
_MOST_FILES = 65_536


def listed_gpus(limit_secs: float) -> list[str]:
    """Returns a line for each GPU, such as "GPU 0: NVIDIA H100 80GB HBM3 (UUID: ...)".

    Raises:
      FileNotFoundError: if there is no nvidia-smi.
      OSError, TimeoutExpired: if nvidia-smi fails.
    """
    if (program := shutil.which("nvidia-smi")) is None:
        raise FileNotFoundError("no nvidia-smi on this machine")
    ran = subprocess.run([program, "-L"], capture_output=True, text=True, check=False,
                         timeout=limit_secs)
    return [line for line in ran.stdout.splitlines() if line.startswith("GPU ")]


def visible_gpus(cuda_visible_devices: str | None) -> list[str]:
    """Returns the ids of the GPUs that this process may use."""
    if cuda_visible_devices is not None:
        ids = [part.strip() for part in cuda_visible_devices.split(",")]
        # CUDA ignores all ids after an invalid one (CUDA C++ Programming Guide, J.2).
        invalid = next((i for i, part in enumerate(ids) if part in ("", NO_GPU)), len(ids))
        return ids[:invalid]
    try:
        return [str(i) for i in range(len(listed_gpus(deadlines.LIST_GPUS_SECS)))]
    except (OSError, subprocess.TimeoutExpired):
        return []


def num_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bfloat16_instructions() -> str:
    """Returns the name of the CPU's bfloat16 instructions; "" for none, or if unknown."""
    try:
        flags = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    except OSError:
        return ""
    return next((name for name in ("amx_bf16", "avx512_bf16") if name in flags), "")


def memory_mb() -> float:
    """Returns the memory of this process in megabytes; without /proc, the most so far."""
    try:
        pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return round(pages * resource.getpagesize() / 1e6, 1)
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # macOS counts bytes, others kilobytes.
        return round(most / (1e6 if sys.platform == "darwin" else 1e3), 1)


@dataclasses.dataclass(frozen=True)
class Memory:
    """The memory that a process may use, in bytes: all of it, and what is free or its own.

    `is_limited` is whether the limit is the process's own, and not the machine's.
    """

    total: int
    available: int
    is_limited: bool = False


def text_of(path: str) -> str:
    """Returns the text of a file of this machine; "" if there is none."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def memory(read: Callable[[str], str]) -> Memory | None:
    """Returns the memory that a process may use, swap included; None if it is unknown.

    `read` returns the text of a file as that process sees it, as `text_of` does for this process.
    """
    lines = (line.split() for line in read("/proc/meminfo").splitlines())
    kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
    if not {"MemTotal", "MemAvailable"} <= kilobytes.keys():
        return None
    own = read("/proc/self/statm").split()
    own_bytes = int(own[1]) * resource.getpagesize() if len(own) > 1 else 0
    swap = 1024 * kilobytes.get("SwapTotal", 0)
    installed = 1024 * kilobytes["MemTotal"]
    limit = min([installed, *_group_limits(read)])
    free = 1024 * (kilobytes["MemAvailable"] + kilobytes.get("SwapFree", 0))
    return Memory(limit + swap, min(limit + swap, free + own_bytes), limit < installed)


def _group_limits(read: Callable[[str], str]) -> list[int]:
    """Returns the limits of a process's control group, in bytes (man 7 cgroups, versions 1, 2)."""
    found = []
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            folder, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        elif not controllers:
            folder, name = "/sys/fs/cgroup", "memory.max"
        else:
            continue
        # In a container the group is the root of what it sees.
        texts = (read(f"{folder}{group}/{name}").strip() for group in {"", path.rstrip("/")})
        found += [int(text) for text in texts if text.isdigit()]
    return found


def allow_open_files() -> None:
    """Raises this process's limit of open files to what the system allows, up to 65,536.

    Many systems set 1,024, and a ps has two connections to each trainer.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        # macOS has a lower limit of its own.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


# Numbers of malloc.h (man 3 mallopt). glibc accepts no threshold above half of a heap.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_LARGEST_IN_HEAP_BYTES = 32 * 2**20
# With less, a thread's arena returns its last heap as soon as it is empty.
_HEAP_BYTES = 64 * 2**20
_NEVER_BYTES = 2**31 - 1


def keep_freed_memory() -> None:
    """Makes glibc keep freed memory below 32 MB, unless the user's environment sets up malloc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or environment.sets_malloc():
        return
    for option, value in ((_MMAP_THRESHOLD, _LARGEST_IN_HEAP_BYTES),
                          (_TRIM_THRESHOLD, _NEVER_BYTES), (_TOP_PAD, _HEAP_BYTES)):
        mallopt(option, value)
