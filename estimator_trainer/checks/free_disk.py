"""The free disk of a local model_dir, and whether it holds even one more checkpoint."""

from __future__ import annotations

import contextlib
import pathlib
import re
import shutil
import sys

_MIB = 1 << 20
_FLOOR_BYTES = 100 * _MIB
_CHECKPOINT = re.compile(r"model\.ckpt-(\d+)\.")


def problem(model_dir: str) -> str:
    """Returns why a job in this directory would lose its next checkpoint, or ""."""
    if not model_dir or "://" in model_dir:
        return ""
    folder = pathlib.Path(model_dir).absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free, size = bytes_at(str(existing)), checkpoint_bytes(str(existing))
    needed = max(_FLOOR_BYTES, size)
    if free >= needed:
        return ""
    why = f", and a checkpoint takes {size / _MIB:.0f} MiB" if size > _FLOOR_BYTES else ""
    return (f"model_dir is {model_dir!r} (from --model_dir), and {existing} has {free / _MIB:.0f}"
            f" MiB of free disk{why}; expected at least {needed / _MIB:.0f} MiB. Make room there,"
            " or choose another directory. To look: df -h")


def bytes_at(folder: str) -> int:
    """Returns the free bytes of the disk that a folder is on."""
    usage = shutil.disk_usage(folder)
    # Some file systems, such as /proc, count no bytes at all.
    return usage.free if usage.total else sys.maxsize


def checkpoint_bytes(folder: str) -> int:
    """Returns the size of the newest checkpoint in a folder; 0 if there is none."""
    sizes: dict[int, int] = {}
    for path in pathlib.Path(folder).glob("model.ckpt-*"):
        match = _CHECKPOINT.match(path.name)
        if match:
            with contextlib.suppress(FileNotFoundError):  # A training removed it meanwhile.
                size, step = path.stat().st_size, int(match[1])
                sizes[step] = sizes.get(step, 0) + size
    return sizes[max(sizes)] if sizes else 0
