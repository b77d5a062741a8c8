"""Runs a manifest's pods as a kubelet does, with what Linux itself has for it.

    root   the image's, bound; read-only if the pod says so     /proc, /dev    their own
    /tmp   an emptyDir: a tmpfs                                 /etc/hosts     all pods' names
    claim  a folder of this machine, its group the fsGroup      network        an address of its own
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shlex
import subprocess
from typing import Any, Iterator, Mapping, Sequence

from tests.support.images import Image

_DEVICES = ("full", "null", "random", "urandom", "zero")


@contextlib.contextmanager
def network(hosts: Sequence[str]) -> Iterator[Network]:
    """Yields a network with an address for each host; nothing of it is left."""
    made = Network(hosts)
    try:
        made.make()
        yield made
    finally:
        made.remove()


class Network:
    """A network namespace for each host, and a switch in one more."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._switch = f"image{os.getpid()}"
        self._spaces = {host: f"{self._switch}-{i}" for i, host in enumerate(hosts)}
        self._addresses = {host: f"10.78.0.{i + 1}" for i, host in enumerate(hosts)}

    @property
    def hosts_file(self) -> str:
        """The text of each pod's /etc/hosts."""
        pairs = [("localhost", "127.0.0.1"), *self._addresses.items()]
        return "".join(f"{address} {host}\n" for host, address in pairs)

    def space(self, host: str) -> str:
        return self._spaces[host]

    def make(self) -> None:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "switch", "up")
        for i, (host, space) in enumerate(self._spaces.items()):
            _ip("netns", "add", space)
            _ip("link", "add", "net", "netns", space, "type", "veth", "peer", "name", f"port{i}",
                "netns", self._switch)
            _ip("-n", self._switch, "link", "set", f"port{i}", "master", "switch", "up")
            _ip("-n", space, "addr", "add", f"{self._addresses[host]}/24", "dev", "net")
            for device in ("net", "lo"):
                _ip("-n", space, "link", "set", device, "up")

    def remove(self) -> None:
        for space in (*self._spaces.values(), self._switch):
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


def command(image: Image, pod: Mapping[str, Any], env: Mapping[str, str], claim: pathlib.Path,
            space: str) -> list[str]:
    """Returns the command line that runs a pod's container, and ends with it.

    Args:
      image: The image of the container.
      pod: The pod's spec.
      env: Its environment beside the image's.
      claim: The folder behind its PersistentVolumeClaim, beside which the file `hosts` lies.
      space: The name of its network namespace.
    """
    (container,) = pod["containers"]
    user = pod["securityContext"]
    os.chown(claim, 0, user["fsGroup"])
    claim.chmod(0o2775)
    config: Any = image.config
    variables = [*config["Env"], *(f"{name}={value}" for name, value in env.items())]
    limits = container["securityContext"]
    caps = ["--bounding-set=-all", "--inh-caps=-all"] * (limits["capabilities"]["drop"] == ["ALL"])
    privileges = ["--no-new-privs"] * (not limits["allowPrivilegeEscalation"])
    run = ["exec", "chroot", str(image.root), "setpriv", f"--reuid={user['runAsUser']}",
           f"--regid={user['runAsGroup']}", f"--groups={user['fsGroup']}", *caps, *privileges,
           "env", "-i", "-C", config["WorkingDir"], *variables, *container["command"],
           *container["args"]]
    script = "\n".join(["set -e", *_mounts(image.root, pod, claim), shlex.join(run)])
    return ["setpriv", "--pdeathsig=KILL", "ip", "netns", "exec", space, "unshare", "--mount",
            "--pid", "--fork", "--kill-child", "sh", "-c", script]


def _mounts(root: pathlib.Path, pod: Mapping[str, Any], claim: pathlib.Path) -> list[str]:
    """Returns the lines that mount all that a container sees, in a namespace of its own."""
    (container,) = pod["containers"]
    places = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    lines = [f"mount --bind {root} {root}", f"mount -t proc proc {root}/proc",
             f"mount -t tmpfs -o mode=755 tmpfs {root}/dev", f"mkdir {root}/dev/shm",
             f"mount -t tmpfs -o mode=1777,size=64m tmpfs {root}/dev/shm",
             f"ln -s /proc/self/fd {root}/dev/fd",
             f"mount --bind {claim.parent}/hosts {root}/etc/hosts"]
    for name in _DEVICES:
        lines += [f"touch {root}/dev/{name}", f"mount --bind /dev/{name} {root}/dev/{name}"]
    for volume in pod["volumes"]:
        place = f"{root}{places[volume['name']]}"
        lines += [f"mkdir -p {place}",
                  f"mount -t tmpfs -o mode=1777 tmpfs {place}" if "emptyDir" in volume else
                  f"mount --bind {claim} {place}"]
    if container["securityContext"]["readOnlyRootFilesystem"]:
        lines.append(f"mount -o remount,bind,ro {root}")
    return lines


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
