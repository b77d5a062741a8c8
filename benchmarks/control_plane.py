"""Runs etcd and kube-apiserver on loopback, in a folder of their own, for as long as they are used.

Objects are validated, completed and stored. kube-controller-manager may run too, and makes a Job's
pods; no node runs, so no pod starts.
https://kubernetes.io/docs/reference/command-line-tools-reference/
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import secrets
import shutil
import socket
import ssl
import subprocess
import time
from typing import Any, Iterator, Sequence
import urllib.error
import urllib.request

from estimator_trainer.launcher import fork_server

_START_SECS = 120.0
_REQUEST_SECS = 60.0
_STRICT = "fieldValidation=Strict"


class Refused(Exception):
    """The server refused a request; `code` is HTTP's."""

    def __init__(self, code: int, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


class DidNotStart(Exception):
    """One of the programs ended, or did not answer in time."""


@dataclasses.dataclass(frozen=True)
class ApiServer:
    """A running API server, and how to talk to it.

    Attributes:
      url: Where the server listens.
      token: Token of its only user, who may do anything.
      certificate: The file of the server's own certificate.
    """

    url: str
    token: str
    certificate: pathlib.Path

    def get(self, path: str) -> Any:
        """Returns what the server has at a path."""
        return self._request_end("GET", path)

    def version(self) -> str:
        """Returns the server's version, such as v1.33.1."""
        return str(self.get("/version")["gitVersion"])

    def create(self, text: str, folder: str, dry_run: bool = False) -> dict[str, Any]:
        """Sends an object's YAML as it stands, and returns the object as the server completed it.

        Args:
          text: One document.
          folder: The path of the objects of its kind: see `folder`.
          dry_run: Whether to do all but store it.

        Raises:
          Refused: if an object is wrong, or has a field that the server does not know.
        """
        query = _STRICT + ("&dryRun=All" if dry_run else "")
        answer: dict[str, Any] = self._request_end("POST", f"{folder}?{query}", text.encode())
        return answer

    def create_namespace(self, name: str) -> None:
        """Creates a namespace."""
        self.create(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}",
                    "/api/v1/namespaces")

    def patch_status(self, path: str, status: dict[str, Any]) -> None:
        """Sets parts of an object's status, as what runs it would."""
        self._request_end("PATCH", f"{path}/status", json.dumps({"status": status}).encode(),
                          "application/merge-patch+json")

    def delete(self, path: str) -> None:
        """Deletes an object, and then what was made for it, as `kubectl delete` does."""
        self._request_end("DELETE", f"{path}?propagationPolicy=Background")

    def folder(self, value: dict[str, Any]) -> str:
        """Returns the path of the objects of a kind in a namespace.

        Raises:
          LookupError: if the server does not know the kind.
        """
        version = value["apiVersion"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            known = self.get(root)["resources"]
        except Refused as error:
            raise LookupError(version) from error
        for each in known:
            if each["kind"] == value["kind"] and "/" not in each["name"]:
                scope = (f"/namespaces/{value['metadata']['namespace']}" if each["namespaced"]
                         else "")
                return f"{root}{scope}/{each['name']}"
        raise LookupError(f"{version} {value['kind']}")

    def _request_end(self, method: str, path: str, body: bytes | None = None,
                     content_type: str = "application/yaml") -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with _opener(self.certificate).open(request, timeout=_REQUEST_SECS) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            with contextlib.suppress(ValueError, KeyError, TypeError):
                text = json.loads(text)["message"]
            raise Refused(error.code, text) from error


@contextlib.contextmanager
def running(apiserver: str, etcd: str, controller_manager: str,
            folder: pathlib.Path) -> Iterator[ApiServer]:
    """Runs them, and ends them.

    Args:
      apiserver: The program kube-apiserver, from --apiserver.
      etcd: The program etcd, from --etcd.
      controller_manager: The program kube-controller-manager, from --controller_manager; or "".
      folder: An empty folder, for logs, keys and what is stored.

    Raises:
      DidNotStart: if one is missing, ends, or does not answer in time; the message has the end of
        its log.
    """
    apiserver = _program("apiserver", apiserver, "kube-apiserver")
    etcd = _program("etcd", etcd, "etcd")
    if controller_manager:
        controller_manager = _program("controller_manager", controller_manager,
                                      "kube-controller-manager")
    client, port = _free_ports(2)
    token = secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        start = functools.partial(_started, stack, folder)
        processes = {"etcd": start("etcd", [
            etcd, f"--data-dir={folder}/data", f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            "--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync"])}
        processes["kube-apiserver"] = start("kube-apiserver", [
            apiserver, f"--etcd-servers=http://127.0.0.1:{client}", f"--secure-port={port}",
            *_apiserver_flags(folder, token)])
        server = ApiServer(f"https://127.0.0.1:{port}", token, folder / "apiserver.crt")
        _wait_until_ready(server, processes, folder)
        if controller_manager:
            start("kube-controller-manager", [
                controller_manager, *_controller_flags(server, folder)])
        yield server


def _program(flag: str, value: str, program: str) -> str:
    found = shutil.which(value)
    if not found:
        raise DidNotStart(f"{flag} is {value!r} (from --{flag}); expected a program. For example:"
                          f" --{flag}=bin/{program}")
    return os.path.abspath(found)


def _apiserver_flags(folder: pathlib.Path, token: str) -> list[str]:
    users, key = folder / "users.csv", folder / "account.key"
    users.touch(mode=0o600)
    users.write_text(f"{token},admin,admin,system:masters\n")
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True,
                   capture_output=True, timeout=_START_SECS)
    return ["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--cert-dir={folder}",
            # The endpoints would contain the server's address, which must not be a loopback one.
            "--endpoint-reconciler-type=none",
            "--anonymous-auth=false", f"--token-auth-file={users}", "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24"]


def _controller_flags(server: ApiServer, folder: pathlib.Path) -> list[str]:
    config = folder / "admin.conf"
    config.touch(mode=0o600)
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {
            "server": server.url, "certificate-authority": str(server.certificate)}}],
        "users": [{"name": "it", "user": {"token": server.token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
    # A pod needs its namespace's service account; endpoint slices are what a name server reads.
    controllers = "job,serviceaccount,garbagecollector,endpointslice"
    return [f"--kubeconfig={config}", f"--controllers={controllers}", "--leader-elect=false",
            "--bind-address=127.0.0.1", "--secure-port=0"]


def _started(stack: contextlib.ExitStack, folder: pathlib.Path, name: str,
             command: Sequence[str]) -> subprocess.Popen[bytes]:
    log = stack.enter_context((folder / f"{name}.log").open("wb"))
    # The kernel ends it, should this process be killed.
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
        preexec_fn=functools.partial(fork_server.die_with_parent, os.getpid()))
    stack.callback(process.wait)
    stack.callback(process.kill)  # Runs before the wait.
    return process


def _wait_until_ready(server: ApiServer, processes: dict[str, subprocess.Popen[bytes]],
                      folder: pathlib.Path) -> None:
    end = time.monotonic() + _START_SECS
    while True:
        for name, process in processes.items():
            if process.poll() is not None or time.monotonic() > end:
                log = (folder / f"{name}.log").read_text(errors="replace")
                what = ("does not answer" if process.poll() is None
                        else f"ended with {process.poll()}")
                raise DidNotStart(f"{name} {what}:\n{log[-3000:]}")
        with contextlib.suppress(Refused, OSError):
            server.get("/api/v1/namespaces/default")  # The server itself makes it, last of all.
            return
        time.sleep(0.2)


@functools.cache
def _opener(certificate: pathlib.Path) -> urllib.request.OpenerDirector:
    context = ssl.create_default_context(cafile=str(certificate))
    # The certificate has no key identifier, which Python 3.13 asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
