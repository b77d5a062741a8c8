"""tensorflow-io opens s3:// on TensorFlow 2.15, and the job ends with a code of its own."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import pytest

from estimator_trainer import versions
from tests.support import jobs, slow_jobs

pytestmark = [pytest.mark.cluster, pytest.mark.skipif(
    versions.installed().mode != "native" or not importlib.util.find_spec("tensorflow_io"),
    reason="tensorflow-io is used with TensorFlow 2.15 alone")]

_ROWS = "a,b,label\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(200))


@pytest.fixture(name="s3")
def fixture_s3(tmp_path):
    """Starts an S3 here; yields the variables of a process that is to use it, and a client."""
    import boto3  # Some Pythons have none: see setup.py.
    log = tmp_path / "moto.log"
    with log.open("wb") as file:
        server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c",
             "from moto.server import main; main(['-H', '127.0.0.1', '-p', '0'])"],
            stdout=file, stderr=file)
    try:
        found = []
        jobs.wait_for(lambda: found.extend(
            re.findall(r"http://127.0.0.1:\d+", log.read_text())) or found, 60)
        variables = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y",
                     "AWS_REGION": "us-east-1", "S3_ENDPOINT": found[0], "S3_USE_HTTPS": "0"}
        client = boto3.client("s3", endpoint_url=found[0], region_name="us-east-1",
                              aws_access_key_id="x", aws_secret_access_key="y")
        client.create_bucket(Bucket="bucket")
        yield variables, client
    finally:
        server.kill()
        server.wait()


def _read(client, key):
    return client.get_object(Bucket="bucket", Key=key)["Body"].read()


def test_a_local_job_and_its_data_are_in_s3(s3):
    variables, client = s3
    client.put_object(Bucket="bucket", Key="data/rows-0.csv", Body=_ROWS.encode())
    flags = ["--model_fn=wide_deep", "--input_fn=csv", "--param=num_classes=2",
             "--param=train_files=s3://bucket/data/*.csv",
             "--param=eval_files=s3://bucket/data/*.csv", "--model_dir=s3://bucket/job"]
    for command in (["check", "--probe"], ["train", "--train_steps=50"], ["evaluate"]):
        ran = jobs.trainer(*command, *flags, **variables)
        assert ran.returncode == 0, ran.stderr[-3000:]
    assert json.loads(_read(client, "job/result.json"))["status"] == "done"


def test_a_failure_is_one_sentence_and_no_abort(s3):
    variables, _ = s3
    ran = jobs.trainer("train", "--model_dir=s3://nobucket/job", **variables)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert "which cannot be written: NoSuchBucket" in ran.stderr


def test_a_cluster_in_s3_ends(tmp_path, s3):
    variables, client = s3
    flags = slow_jobs.patient_flags("--model_dir=s3://bucket/job", "--train_steps=100")
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), flags, evaluator=True,
                      variables=lambda name: variables) as tasks:
        jobs.wait(list(tasks.values()), 120)
        assert all("status=done" in task.last_line for task in tasks.values())
    assert json.loads(_read(client, "job/result.json"))["step"] >= 100
