"""A RunConfig and a strategy of the user's code have the task's names that its platform gave."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf

from estimator_trainer.cluster import task_config
from estimator_trainer.estimator import user_estimator
from estimator_trainer.patches import cluster_patches
from tests.support.tf_configs import A, B, C, config, D, E

_MASTER = {"master": [A], "worker": [B, C], "ps": [D]}
# The plain RunConfig accepts these.
_ACCEPTED = [
    config({"chief": [A], "worker": [B, C], "ps": [D]}, "chief"),
    config({"chief": [A], "worker": [B, C], "ps": [D], "evaluator": [E]}, "worker", 1),
    config({"chief": [A], "worker": [B]}, "evaluator"), config(_MASTER, "master"),
    config(_MASTER, "worker", "1", environment="cloud"), config(_MASTER, "ps"),
    config({"chief": [A]}, "chief"), config({"master": [A]}, "master"),
    config({"worker": {"0": B, "1": C}, "chief": [A], "ps": [D]}, "worker", 1), "{}"]


def _fields(run_config):
    # No platform of today sets `service`.
    known = {name: value for name, value in vars(run_config).items() if name != "_service"}
    return {**known, "_cluster_spec": run_config.cluster_spec.as_dict()}


@pytest.mark.parametrize("text", _ACCEPTED)
def test_configs_in_any_cluster_leave_plain_ones_as_they_are(text, monkeypatch):
    task = task_config.parse(text)
    monkeypatch.setenv("TF_CONFIG", text)
    plain = tf.estimator.RunConfig("/tmp/m")
    with cluster_patches.configs_in_any_cluster(lambda: task, user_estimator.of_platform):
        assert _fields(tf.estimator.RunConfig("/tmp/m")) == _fields(plain)
    monkeypatch.setenv("TF_CONFIG", task.tf_config())
    seen = user_estimator.of_platform(tf.estimator.RunConfig("/tmp/m"), task)
    if task.is_local and seen.cluster_spec:
        # This process trains alone, so a session of its own needs no device filters.
        vars(seen)["_session_config"] = plain.session_config
    assert _fields(seen) == _fields(plain)


@pytest.mark.parametrize("text, expected", [
    (config({"worker": [A, B, C], "ps": [D]}, "worker", 0), ("worker", 0, True, 3, 1, 0)),
    (config({"worker": [A, B, C], "ps": [D]}, "worker", 2), ("worker", 2, False, 3, 1, 2)),
    (config({"worker": [A, B]}, "worker", 1), ("worker", 1, False, 2, 0, 1)),
    (config({"worker": [A]}, "worker", 0), ("worker", 0, True, 1, 0, 0)),
    (config({"worker": [A, B], "ps": [C]}, "ps", 0), ("ps", 0, False, 2, 1, 2)),
    (config(_MASTER, "evaluator"), ("evaluator", 0, False, 0, 0, None)),
    (config({}, "evaluator"), ("evaluator", 0, False, 0, 0, None)),
    (config(_MASTER, "chief"), ("master", 0, True, 3, 1, 0)),
    ('{"cluster": {"worker": ["a:1", "b:1"]}, "service": "no", "task": {"type": "worker",'
     ' "index": 1}}', ("worker", 1, False, 2, 0, 1)),
    ('{"cluster": {"worker": ["a:1"]}, "task": null}', ("worker", 0, True, 1, 0, 0))])
def test_configs_in_any_cluster_describe_the_platforms_task(text, expected, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises((AttributeError, TypeError, ValueError)):
        tf.estimator.RunConfig()
    with cluster_patches.configs_in_any_cluster(
            lambda: task_config.parse(text), user_estimator.of_platform):
        made = tf.estimator.RunConfig(save_summary_steps=7)
        with pytest.raises(ValueError, match="cannot be both set"):
            tf.estimator.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)
    assert (made.task_type, made.task_id, made.is_chief, made.num_worker_replicas,
            made.num_ps_replicas, made.global_id_in_cluster) == expected
    assert made.save_summary_steps == 7
    if made.task_type == "worker" and "ps" in made.cluster_spec.jobs:
        # A session begins without tasks that it does not need.
        assert list(made.session_config.device_filters) == [
            "/job:ps", f"/job:worker/task:{made.task_id}"]


def test_strategies_reading_use_the_platforms_names(monkeypatch):
    text = config({"master": ["127.0.0.1:1"], "worker": [B], "ps": [C]}, "worker")
    monkeypatch.setenv("TF_CONFIG", text)
    task, kind = task_config.parse(text), tf.distribute.MultiWorkerMirroredStrategy
    v1 = tf.compat.v1.distribute.experimental
    with pytest.raises(ValueError, match="Disallowed task type"):
        v1.ParameterServerStrategy()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    with cluster_patches.strategies_reading(task.strategy_tf_config):
        strategy = v1.ParameterServerStrategy(resolver)
    assert (resolver.task_type, resolver.task_id) == ("worker", 0)
    assert set(resolver.cluster_spec().jobs) == {"master", "ps", "worker"}
    assert strategy.num_replicas_in_sync == 1
    assert json.loads(task.strategy_tf_config())["cluster"].keys() == {"chief", "worker", "ps"}

    monkeypatch.setenv("TF_CONFIG", config({"chief": [A], "worker": [B]}, "evaluator"))
    with tf.Graph().as_default():
        with pytest.raises(KeyError):
            kind()
        assert len(tf.distribute.MirroredStrategy().extended.worker_devices) == 2
        with cluster_patches.strategies_reading(lambda: ""):
            strategy = kind()
            assert len(tf.distribute.MirroredStrategy().extended.worker_devices) == 1
    assert strategy.num_replicas_in_sync == 1
    assert strategy.cluster_resolver.task_type == "evaluator"
