"""`manifest` takes a script and its neighbours to other machines."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tarfile

import pytest
import yaml

from estimator_trainer import cli
from tests.support import jobs

_WHOLE = jobs.REPO / "tests" / "program" / "scripts" / "whole.py"


@pytest.mark.cluster
@pytest.mark.usefixtures("own_folder")
def test_a_script_runs_from_the_package_of_a_job(capsys):
    folder = pathlib.Path("code")
    folder.mkdir()
    for name in ("whole.py", "points.py"):
        (folder / name).write_text((_WHOLE.parent / name).read_text())
    assert cli.main(["manifest", "--platform=kubernetes", "--image=REGISTRY/a:1", "--worker=1",
                     "--ps=1", "--", "run", "--log_every_steps=5", "code/whole.py", "--",
                     "--output_dir=gs://bucket/a"]) == 0, capsys.readouterr().err
    [args] = {tuple(container["args"]) for document in
              yaml.safe_load_all(pathlib.Path("manifest/job.yaml").read_text())
              if document["kind"] == "Job"
              for container in document["spec"]["template"]["spec"]["containers"]}
    assert args == ("run", "--log_every_steps=5", "code/whole.py", "--",
                    "--output_dir=gs://bucket/a")
    with tarfile.open(next(pathlib.Path("manifest").glob("*.tar.gz"))) as package:
        package.extractall("there", filter="data")
    [source] = pathlib.Path("there").iterdir()
    # A packed script is found from any directory, and so is its neighbour.
    ran = subprocess.run(
        [sys.executable, "-m", "estimator_trainer", "run", "code/whole.py", "--", "--help"],
        cwd="manifest", env={**jobs.environment(), "PYTHONPATH": str(source.resolve())}, text=True,
        capture_output=True, check=False)
    assert "--secs_per_step" in ran.stdout, ran.stderr


@pytest.mark.usefixtures("own_folder")
def test_without_an_image_a_script_has_no_bucket_for_its_package(capsys):
    assert cli.main(["manifest", "--platform=vertex", "--worker=1", "--", "run", str(_WHOLE)]) == 2
    assert "image is missing" in capsys.readouterr().err
