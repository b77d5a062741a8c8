"""The image of a manifest is built as it is, is small, and trains without root and read-only."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from typing import Any, Iterator

import pytest

from estimator_trainer.manifest import kubernetes
from tests.support import containers, images, manifests
from tests.support.images import Image

pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.timeout(900)]
_CLUSTER_SECS = 120
# TensorFlow 2.21's is 2.17 GB; with its headers it was 2.62.
_MOST_BYTES = 2.25e9


@pytest.fixture(scope="module")
def folder() -> Iterator[pathlib.Path]:
    """A folder of several GB, which pytest would keep."""
    if reason := images.missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="image-") as name:
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def image(folder: pathlib.Path) -> Image:
    """The image that `manifest` writes for the digits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        manifests.write("--platform=kubernetes")
    return images.build(folder / "manifest", folder)


@pytest.fixture
def claim(tmp_path: pathlib.Path) -> pathlib.Path:
    """The folder behind the claim of the pods."""
    path = tmp_path / "claim"
    path.mkdir()
    return path


def _pods(*job_flags: str, flags: list[str]) -> dict[str, dict[str, Any]]:
    """Returns the pod of each role of a job, by its host name."""
    manifests.write("--platform=kubernetes", "--volume=training:/shared", "--name=digits",
                    *job_flags, flags=["--model_dir=/shared/job", *flags])
    jobs = [value for value in manifests.documents() if value["kind"] == "Job"]
    return {f"{job['metadata']['name']}-0.digits": job["spec"]["template"]["spec"] for job in jobs}


def _run(image: Image, found: dict[str, dict[str, Any]], claim: pathlib.Path) -> dict[str, str]:
    """Runs pods to their end; returns what each printed.

    Raises:
      AssertionError: One ended with another code than 0, or not in time.
    """
    with containers.network(list(found)) as network:
        (claim.parent / "hosts").write_text(network.hosts_file)
        started = {}
        for host, pod in found.items():
            env = {value["name"]: manifests.expanded(value.get("value", "0"), {"INDEX": "0"})
                   for value in pod["containers"][0]["env"]}
            started[host] = subprocess.Popen(
                containers.command(image, pod, env, claim, network.space(host)), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + _CLUSTER_SECS
        try:
            texts = {host: process.communicate(timeout=max(1, deadline - time.monotonic()))[0]
                     for host, process in started.items()}
        finally:
            for process in started.values():
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
    for host, process in started.items():
        assert process.returncode == 0, f"{host}: {texts[host]}"
    return texts


def test_the_image_is_small_and_names_the_pods_user(image: Image) -> None:
    assert image.size <= _MOST_BYTES
    assert image.config["User"] == f"{kubernetes.USER}:{kubernetes.USER}"
    assert image.config["Entrypoint"] == ["estimator-trainer"]
    (packages,) = image.root.glob("usr/local/lib/python3.*/site-packages")
    assert (packages / "tensorflow").is_dir() and not (packages / "tensorflow/include").exists()
    assert not (packages / "tests").exists() and not (packages / "benchmarks").exists()
    assert not list(image.root.glob("root/.cache"))
    # Compiled by pip, because no user of the image can: a start takes 4 s less.
    assert list((packages / "tensorflow").glob("__pycache__/*.pyc"))


@pytest.mark.usefixtures("own_folder")
def test_a_pod_is_not_root_and_can_write_into_its_volumes_alone(
        image: Image, claim: pathlib.Path) -> None:
    found = _pods(flags=[])
    ((host, pod),) = found.items()
    pod["containers"][0] |= {"command": ["sh", "-c"], "args": [
        "id; cat /proc/self/status; for i in /x /etc/x /usr/local/x /shared/x /tmp/x; do"
        " touch $i 2> /tmp/error && echo wrote $i; done; exit 0"]}
    text = _run(image, found, claim)[host]
    assert text.startswith(f"uid={kubernetes.USER} gid={kubernetes.USER} ")
    assert "CapEff:\t0000000000000000" in text and "NoNewPrivs:\t1" in text
    assert text.split("wrote ")[1:] == ["/shared/x\n", "/tmp/x\n"]


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("job_flags", [[], ["--worker=1", "--ps=1", "--evaluator=1"]])
def test_its_pods_train_the_digits_to_the_end(
        image: Image, claim: pathlib.Path, job_flags: list[str]) -> None:
    texts = _run(image, _pods(*job_flags, flags=[]), claim)
    assert len(texts) == 1 + len(job_flags)
    for text in texts.values():
        assert "Read-only" not in text and "Permission denied" not in text, text
        # Asynchronous trainers may make a step more.
        assert re.search(r"status=done step=100\d reason=train_steps$", text.rstrip()), text
    result = json.loads((claim / "job/result.json").read_text())
    assert result["status"] == "done" and result["metrics"]["accuracy"] > 0.9
    written = [path.lstat() for path in claim.rglob("*")]
    assert {(each.st_uid, each.st_gid) for each in written} == {(kubernetes.USER, kubernetes.USER)}
