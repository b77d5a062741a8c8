"""A path's scheme names a file system, and a path without any gets a sentence."""

from __future__ import annotations

import os

import pytest

from estimator_trainer import environment, storage
from estimator_trainer.checks import run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig

NEW, NATIVE = "2.21.0", "2.15.1"


@pytest.mark.parametrize("path", ["", "/tmp/job", "job", "gs://bucket/job", "gs://a-b_c.d",
                                  "ram://x", "file:///tmp/job"])
def test_problem_is_none_for_what_tensorflow_opens(path):
    assert storage.problem("model_dir", path, NEW, None) is None


@pytest.mark.parametrize("path, scheme", [
    ("s3://bucket/job", "Mount it in every task, with s3fs or JuiceFS, or to read only with"),
    ("hdfs://namenode:8020/job", "with HDFS's NFS gateway, fuse-dfs or JuiceFS."),
    ("dbfs://x/y", "For example: --model_dir=/mnt/dbfs/job"),
    ("gcs://bucket/job", "For example: --model_dir=gs://bucket/job"),
    ("gs:/bucket/job", "has one slash after gs:"),
    ("gs://My Bucket/job", "'gs://My Bucket' is no name of a bucket"),
    ("gs:///job", "'gs://' is no name of a bucket"),
])
def test_problem_names_what_tensorflow_cannot_open(path, scheme):
    text = str(storage.problem("model_dir", path, NEW, plugin="0.37.1"))
    assert scheme in text and text.startswith(f"model_dir is {path!r} (from --model_dir)")
    assert "tensorflow-io" not in text


@pytest.mark.parametrize("path", ["dbfs://x/y", "gcs://bucket/job", "gs:/bucket/job"])
def test_problem_is_found_by_check_and_train(path):
    plan = run_plan.for_training(TrainerConfig(model_dir=path), Environment())
    assert len([problem for problem in plan.problems if path in str(problem)]) == 1


def test_problem_names_the_plugin_of_tensorflow_2_15():
    assert 'pip install "tensorflow-io==0.36.*"' in str(storage.problem(
        "model_dir", "s3://bucket/job", NATIVE, plugin=None))
    assert "and write s3://" in str(
        storage.problem("model_dir", "s3a://bucket/job", NATIVE, "0.36.0"))
    assert storage.problem("model_dir", "s3://bucket/job", NATIVE, "0.36.0") is None
    assert storage.needs_plugin(["/tmp", "s3://bucket/rows.csv"])
    assert not storage.needs_plugin(["/tmp", "gs://bucket", "text"])


def test_problem_of_other_paths_than_model_dir():
    config = TrainerConfig(model_dir="/tmp/job", warm_start_from="oss://bucket/x")
    problems = run_plan.for_training(config, Environment()).problems
    assert any("warm_start_from is 'oss://bucket/x'" in str(problem) for problem in problems)


@pytest.mark.parametrize("age, expected", [(None, "0"), ("7", "7")])
def test_load_makes_tensorflow_cache_no_sizes_of_objects(monkeypatch, age, expected):
    monkeypatch.delenv("GCS_STAT_CACHE_MAX_AGE", raising=False)
    if age:
        monkeypatch.setenv("GCS_STAT_CACHE_MAX_AGE", age)
    environment.trust_no_cached_sizes()
    assert os.environ["GCS_STAT_CACHE_MAX_AGE"] == expected
