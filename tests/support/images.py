"""Builds a manifest's image with Debian's buildah, which needs no daemon and no registry.

The base is a Debian like this one, by debootstrap, with the Python that runs the tests in
/usr/local: what python:3.X-slim is, under its name.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

# Libraries of the interpreter of python:3.X-slim, and certificates for pip.
_LIBRARIES = ("ca-certificates", "libbz2-1.0", "libexpat1", "libffi8", "liblzma5", "libsqlite3-0",
              "libssl3", "libuuid1", "netbase", "zlib1g")
# Files that are not in that image, or belong to this machine.
_UNWANTED = ("site-packages", "test", "tests", "idlelib", "tkinter", "__pycache__", "pip", "pip3*",
             "*.a")
_TOOLS = ("buildah", "debootstrap", "ip", "setpriv", "unshare")
# Three copies of the image, in bytes: its layer, its build, and the root of what runs.
_DISK = 12e9
# All of a build; half of it is the work of two quiet cores.
_BUILD_SECS = 600
# Processes and mounts of a step end with it, and the step with the tests.
_CONTAINED = ("setpriv", "--pdeathsig=KILL", "unshare", "--pid", "--mount-proc", "--fork",
              "--kill-child")


def missing() -> str:
    """Returns why no image can be built here, or ""."""
    absent = [name for name in _TOOLS if not shutil.which(name)]
    if absent:
        return f"no {', '.join(absent)} here: apt-get install buildah debootstrap"
    if os.getuid():
        return "debootstrap and mounts want root"
    if not pathlib.Path("/etc/debian_version").exists() or sys.base_prefix == "/usr":
        return "the base image is made of a Debian, and of a Python outside /usr"
    if shutil.disk_usage("/tmp").free < _DISK:
        return f"an image takes {_DISK / 1e9:.0f} GB in /tmp while it is built"
    return ""


@dataclasses.dataclass(frozen=True)
class Image:
    """A built image.

    Attributes:
      size: Bytes of its files, those of its base among them.
      base_size: Bytes of its base's files.
      config: Settings of a process that runs in it: its Env, User, WorkingDir, Entrypoint.
      root: Its files, unpacked.
    """

    size: int
    base_size: int
    config: dict[str, object]
    root: pathlib.Path


def build(context: pathlib.Path, folder: pathlib.Path) -> Image:
    """Builds a Dockerfile as it is; everything is in `folder`, and nothing is left but that.

    Args:
      context: The folder of the Dockerfile, which is built with it.
      folder: An empty folder of several GB.

    Raises:
      AssertionError: A step failed.
      subprocess.TimeoutExpired: It all took longer than it may; no process is left.
    """
    store = _Store(folder)
    base = re.findall("^FROM (.*)$", (context / "Dockerfile").read_text(), re.MULTILINE)
    store.make_base(*base)
    store.buildah("bud", "--isolation=chroot", "--pull-never", *store.pip_volumes(),
                  "--tag=made", str(context))
    found = json.loads(store.buildah("inspect", "--type=image", "made"))
    root = store.buildah("mount", store.buildah("from", "--pull-never", "made"))
    return Image(store.size("made"), store.size(*base), found["OCIv1"]["config"],
                 pathlib.Path(root))


class _Store:
    """buildah with its images in a folder of their own."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._deadline = time.monotonic() + _BUILD_SECS
        self._options = (f"--root={folder}/storage", f"--runroot={folder}/run",
                         "--storage-driver=vfs")

    def buildah(self, *words: str) -> str:
        command, *rest = words
        return self._run("buildah", *self._options, command, *rest)

    def make_base(self, name: str) -> None:
        container = self.buildah("from", "scratch")
        root = pathlib.Path(self.buildah("mount", container))
        release = re.findall(r"^VERSION_CODENAME=(\w+)",
                             pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
        self._run("debootstrap", "--variant=minbase", f"--include={','.join(_LIBRARIES)}",
                  *release, str(root))
        for rest in ("var/cache/apt", "var/lib/apt/lists"):
            shutil.rmtree(root / rest)
        for part in ("bin", "lib"):
            shutil.copytree(f"{sys.base_prefix}/{part}", root / "usr/local" / part, symlinks=True,
                            ignore=shutil.ignore_patterns(*_UNWANTED), dirs_exist_ok=True)
        self._run("chroot", str(root), "ldconfig")
        self._run("chroot", str(root), "/usr/local/bin/python3", "-m", "ensurepip", "--default-pip")
        self.buildah("config", "--env=PATH=/usr/local/bin:/usr/bin:/bin", container)
        self.buildah("commit", "--rm", container, name)

    def size(self, name: str) -> int:
        """Returns the bytes of an image's layers, as they are when they are unpacked."""
        [found] = json.loads(self.buildah("images", "--json", name))
        number, unit = found["size"].split()
        return int(float(number) * {"MB": 1e6, "GB": 1e9}[unit])

    def pip_volumes(self) -> list[str]:
        """Returns the options that give a build this machine's package index, from outside."""
        options: dict[str, str] = {}
        listed = self._run(sys.executable, "-m", "pip", "config", "list")
        for key, value in re.findall(r"^(?:global|:env:)\.([\w-]+)=(.*)$", listed, re.MULTILINE):
            [options[key]] = shlex.split(value)
        settings = self._folder / "pip.conf"
        settings.write_text("\n".join(["[global]", *(f"{k} = {v}" for k, v in options.items())]))
        volumes = [f"--volume={settings}:/etc/pip.conf:ro"]
        words = " ".join(options.values()).split()
        for path in map(pathlib.Path, sorted({word.removeprefix("file://") for word in words})):
            if path.is_absolute() and path.exists():
                # An index on this disk has its files beside it.
                place = path if path.is_file() else pathlib.Path(*path.parts[:3])
                volumes.append(f"--volume={place}:{place}:ro")
        return volumes

    def _run(self, *words: str) -> str:
        done = subprocess.run(_CONTAINED + words, capture_output=True, text=True, check=False,
                              timeout=max(1.0, self._deadline - time.monotonic()))
        output = done.stdout[-4000:] + done.stderr[-4000:]
        assert not done.returncode, f"{shlex.join(words)}\n{output}"
        return done.stdout.strip()
