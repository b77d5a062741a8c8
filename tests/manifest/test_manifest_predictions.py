"""`manifest -- predict` writes jobs whose tasks predict, each its own share of the files."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
from typing import Any

import pytest
import yaml

from estimator_trainer import errors
from estimator_trainer.cluster import share
from estimator_trainer.cluster.share import Share
from estimator_trainer.environment import Environment
from estimator_trainer.settings import command_line
from tests.support import jobs, manifests, platform_schemas, slurm

pytestmark = pytest.mark.usefixtures("own_folder")
_FLAGS = ["--data=gs://bucket/new/*.csv", "--output=gs://bucket/out/"]


def _objects(platform: str) -> list[dict[str, Any]]:
    manifests.write(f"--platform={platform}", "--worker=2", flags=["predict", *_FLAGS])
    return list(yaml.safe_load_all(pathlib.Path("manifest/job.yaml").read_text()))


def _share(args: list[str], variables: Environment = Environment()) -> Share:
    line = command_line.parse(args)
    assert line.command == "predict" and line.config.output == "gs://bucket/out/"
    return share.of(line.config.share, variables)


@pytest.mark.parametrize("platform", ["kubernetes", "jobset"])
def test_the_pods_of_an_indexed_job_have_all_shares(platform):
    [written] = _objects(platform)
    platform_schemas.check_kubernetes(written)
    spec = (written["spec"] if platform == "kubernetes" else
            written["spec"]["replicatedJobs"][0]["template"]["spec"])
    [container] = spec["template"]["spec"]["containers"]
    assert spec["completionMode"] == "Indexed" and spec["completions"] == 3
    assert [each["name"] for each in container["env"]] == ["INDEX"] and "ports" not in container
    assert [_share([arg.replace("$(INDEX)", str(index)) for arg in container["args"]])
            for index in range(3)] == [Share(index, 3) for index in range(3)]


def test_the_pods_of_a_tfjob_have_shares_by_their_tf_config():
    _, tfjob = _objects("tfjob")
    platform_schemas.check_kubernetes(tfjob)
    assert tfjob["spec"]["successPolicy"] == "AllWorkers"
    [(role, replica)] = tfjob["spec"]["tfReplicaSpecs"].items()
    [container] = replica["template"]["spec"]["containers"]
    found = [_share(container["args"], Environment(json.dumps({
        "cluster": {role.lower(): ["a:1", "b:1", "c:1"]}, "task": {"type": "worker", "index": i}})))
        for i in range(replica["replicas"])]
    assert found == [Share(index, 3) for index in range(3)]


def test_the_pools_of_vertex_predict():
    [spec] = _objects("vertex")
    assert [pool["replicaCount"] for pool in spec["workerPoolSpecs"]] == [1, 2]
    for pool in spec["workerPoolSpecs"]:
        assert pool["containerSpec"]["args"][0] == "predict"


def test_a_slurm_array_has_a_task_for_each_share():
    manifests.write("--platform=slurm", "--image=", "--worker=2", flags=["predict", *_FLAGS])
    script = pathlib.Path("manifest/job.sbatch").read_text()
    assert "#SBATCH --array=0-2\n" in script and "#SBATCH --ntasks=1\n" in script
    done = subprocess.run(["bash", "-c", 'srun() { printf "%s\\0" "$@"; }; ' + script],
                          capture_output=True, text=True, timeout=20, check=True)
    words = done.stdout.split("\0")[:-1]
    args = words[words.index("predict"):]
    assert [_share(args, Environment(ranks={
        "SLURM_ARRAY_TASK_ID": str(index), "SLURM_ARRAY_TASK_COUNT": "3",
        "SLURM_ARRAY_TASK_MIN": "0"})) for index in range(3)] == [
            Share(index, 3) for index in range(3)]


@pytest.mark.parametrize("job_flags, flags, expected", [
    ([], ["--data=new/*.csv"], "data is 'new/*.csv' (from --data), relative to a directory"),
    ([], ["--output=gs://bucket/out.csv"], "and each task writes parts; expected a folder"),
    (["--evaluator=1"], [], "the tasks that predict are workers"),
    ([], ["--model_fn=./none.py"], "none.py"),
])
def test_a_job_that_could_not_predict_is_refused(job_flags, flags, expected):
    with pytest.raises(errors.ConfigError) as caught:
        manifests.write(*job_flags, flags=["predict", *_FLAGS, *flags])
    assert expected in str(caught.value)


@pytest.mark.soak
@pytest.mark.timeout(280)
def test_an_array_of_a_real_slurm_predicts_all_files(tmp_path):
    if reason := slurm.missing():
        pytest.skip(reason)
    import tensorflow as tf
    module = tf.Module()
    module.double = tf.function(lambda x: {"y": 2 * x}, [tf.TensorSpec([None], tf.int64, "x")])
    tf.saved_model.save(module, "export", module.double)
    for number in range(5):
        pathlib.Path(f"new{number}.jsonl").write_text(f'{{"x": {number}}}\n')
    done = jobs.program("manifest", "--platform=slurm", "--worker=2", "--cpus=1",
                        "--memory_gib=1", "--", "predict", "--export_dir=export",
                        "--data=new*.jsonl", "--output=out/")
    assert done.returncode == 0, done.stderr
    (tmp_path / "slurm").mkdir()
    with slurm.cluster(tmp_path / "slurm", {"PYTHONPATH": str(jobs.REPO)}) as cluster:
        ran = cluster.run("sbatch", "--wait", str(tmp_path / "manifest" / "job.sbatch"))
    logs = {path.name: path.read_text() for path in tmp_path.glob("*.log")}
    assert ran.returncode == 0, (ran.stderr, logs)
    assert len(logs) == 3 and json.loads(pathlib.Path("out/_SUCCESS").read_text())["rows"] == 5
    found = {re.search(r"share (\d/3) has", log)[1] for log in logs.values()}
    assert found == {"0/3", "1/3", "2/3"}
