"""Finds what on this machine may keep a job from running, in seconds and without TensorFlow."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

from estimator_trainer import deadlines, machine
from estimator_trainer.checks.plan import Findings, Plan
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.environment import Environment
from estimator_trainer.errors import Problem, Setting
from estimator_trainer.plugins import source_files

_GIB = 1 << 30
_LEAST_FREE_BYTES = 2 * _GIB
# A new checkpoint is written before an old one goes, and the best one is kept twice.
_LEAST_FREE_CHECKPOINTS = 3


def examine(plan: Plan, environment: Environment, is_probing: bool = False) -> Findings:
    """Checks the plug-ins' imports, model_dir, GPUs and host names; with `is_probing` peers too."""
    found = Findings([each for plugin in plan.plugins for each in source_files.problems(plugin)])
    found += _model_dir(plan.config.model_dir) + _gpus(
        plan.config.device, environment.cuda_visible_devices)
    if plan.task.cluster:
        found += _hosts(plan.task) + (_peers(plan.task) if is_probing else Findings())
    return found


def _hosts(task: TaskConfig) -> Findings:
    """Looks up every host, and only warns: a pod of Kubernetes has a name only once it runs."""
    found = Findings()
    hosts = sorted({address.rpartition(":")[0].strip("[]")
                    for group in task.servers.values() for address in group})
    answers = peers.in_parallel(_fault_of_name, hosts)
    for host in hosts:
        if fault := answers.get(host, f"no answer in {deadlines.CHECK_SECS:.0f} s"):
            found.warnings.append(
                f"host {host!r} (from {task.source}) does not resolve here: {fault}. Wait until"
                f" that task is started, or correct the name. To look: getent hosts {host}")
    return found


def _fault_of_name(host: str) -> str:
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def _peers(task: TaskConfig) -> Findings:
    addresses = {task.name_of(role, i): address for role, hosts in task.servers.items()
                 for i, address in enumerate(hosts) if (role, i) != (task.role, task.index)}
    states = peers.in_parallel(peers.state, set(addresses.values()))
    found = Findings()
    for name, address in addresses.items():
        state = states.get(address, "silent")
        found.facts[f"peer {name}"] = f"{state} at {address}"
        if state == "down":
            found.warnings.append(f"{name} does not answer at {address}: nothing listens there."
                                  " Start that task; if it runs, compare its host and port with"
                                  " this address, and open the port in the firewall.")
        elif state == "silent":
            found.warnings.append(f"{name} at {address} takes connections, or loses them, and does"
                                  " not answer. Check whether its process is stopped or hangs, and"
                                  " whether a firewall drops packets to this port.")
    return found


def _model_dir(model_dir: str) -> Findings:
    """Checks a local model_dir; only TensorFlow can open a remote one."""
    found, existing = Findings(), _existing(model_dir)
    if not existing or not existing.is_dir():  # The plan names the problem of a file.
        return found
    if not os.access(existing, os.W_OK | os.X_OK):
        found.problems.append(Problem(
            "model_dir", model_dir, f"and {existing} cannot be written by this user",
            "a directory of this user's own", advice=f"To look: ls -ld {existing}"))
    free, size = bytes_at(str(existing)), checkpoint_bytes(str(existing))
    found.facts["free disk"] = f"{free / _GIB:.1f} GiB at {existing}"
    needed = max(_LEAST_FREE_BYTES, _LEAST_FREE_CHECKPOINTS * size)
    if free < needed and not problem(model_dir):
        why = (f", and the newest checkpoint takes {size / _GIB:.1f} GiB" if
               needed > _LEAST_FREE_BYTES else "")
        found.warnings.append(
            f"model_dir {model_dir!r} has {free / _GIB:.1f} GiB of free disk{why}; expected at"
            f" least {needed / _GIB:.1f}. Make room there, choose another {Setting('model_dir')},"
            f" or keep fewer checkpoints. For example: {Setting('keep_checkpoint_max', 1)}")
    return found


def _gpus(device: str, visible: str | None) -> Findings:
    found = Findings()
    kind, _, number = device.partition(":")
    if kind == "gpu" and int(number) >= len(machine.visible_gpus(visible)):
        found.warnings.append(str(Problem(
            "device", device, "and nvidia-smi and CUDA_VISIBLE_DEVICES show no such GPU; without"
            " one, train refuses to begin", example=Setting("device", "cpu:0"))))
    try:
        listed = [line.partition(" (UUID")[0] for line in machine.listed_gpus(deadlines.CHECK_SECS)]
        found.facts["gpus"] = listed or "none, says nvidia-smi"
    except FileNotFoundError as error:
        found.facts["gpus"] = str(error)
    except (OSError, subprocess.TimeoutExpired) as error:
        found.facts["gpus"] = f"nvidia-smi -L fails: {error}"
    if visible is not None:
        found.facts["CUDA_VISIBLE_DEVICES"] = repr(visible)
    return found


_MIB = 1 << 20
_FLOOR_BYTES = 100 * _MIB
_CHECKPOINT = re.compile(r"model\.ckpt-(\d+)\.")


def problem(model_dir: str, source: str = "") -> Problem | None:
    """Returns why a job in this directory would lose its next checkpoint, or None."""
    existing = _existing(model_dir)
    if not existing:
        return None
    free, size = bytes_at(str(existing)), checkpoint_bytes(str(existing))
    needed = max(_FLOOR_BYTES, size)
    if free >= needed:
        return None
    why = f", and a checkpoint takes {size / _MIB:.0f} MiB" if size > _FLOOR_BYTES else ""
    return Problem(
        "model_dir", model_dir, f"and {existing} has {free / _MIB:.0f} MiB of free disk{why}",
        f"at least {needed / _MIB:.0f} MiB", source=source,
        advice="Make room there, or choose another directory. To look: df -h")


def _existing(model_dir: str) -> pathlib.Path | None:
    """Returns the deepest folder of a local path that is there; None for a remote path."""
    if not model_dir or "://" in model_dir:
        return None
    folder = pathlib.Path(model_dir).absolute()
    return next(path for path in (folder, *folder.parents) if path.exists())


def bytes_at(folder: str) -> int:
    """Returns the free bytes of the disk that a folder is on."""
    usage = shutil.disk_usage(folder)
    # Some file systems, such as /proc, count no bytes at all.
    return usage.free if usage.total else sys.maxsize


def checkpoint_bytes(folder: str) -> int:
    """Returns the size of the newest checkpoint in a folder; 0 if there is none."""
    sizes: dict[int, int] = {}
    for path in pathlib.Path(folder).glob("model.ckpt-*"):
        if match := _CHECKPOINT.match(path.name):
            with contextlib.suppress(FileNotFoundError):  # A training removed it meanwhile.
                size, step = path.stat().st_size, int(match[1])
                sizes[step] = sizes.get(step, 0) + size
    return sizes[max(sizes)] if sizes else 0
