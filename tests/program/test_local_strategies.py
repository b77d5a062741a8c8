"""Every strategy of one process trains and evaluates as none does."""

from __future__ import annotations

import pytest

from tests.support import event_files, jobs, slow_jobs

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("strategy, replicas", [
    slow_jobs.soak("one_device", 0), ("mirrored", 2), slow_jobs.soak("central_storage", 2),
    slow_jobs.soak("multi_worker_mirrored", 0)])
def test_every_local_strategy_takes_the_same_steps(strategy, replicas, tmp_path, metrics_of):
    metrics = metrics_of(tmp_path, f"--train_distribute={strategy}", f"--num_replicas={replicas}")
    assert metrics == pytest.approx(metrics_of.without_strategy, rel=1e-5)
    assert event_files.read(tmp_path)["./loss"] == [1, 11, 21]


def test_an_evaluation_over_replicas_counts_every_example_once(tmp_path, metrics_of):
    metrics = metrics_of(tmp_path, "--eval_distribute=mirrored", "--num_replicas=2")
    assert metrics["accuracy"] == metrics_of.without_strategy["accuracy"]


@pytest.fixture(scope="module")
def metrics_of(tmp_path_factory, data_dir):
    """Trains 30 steps with one seed and some flags; returns the final evaluation."""

    def train(model_dir, *flags):
        ran = jobs.trainer("--model_fn=linear", f"--param=data_dir={data_dir}", "--seed=1",
                           "--param=shuffle_buffer=0", "--param=batch_size=32",
                           "--exporters=none", "--train_steps=30",
                           "--save_summary_steps=10", f"--model_dir={model_dir}",
                           *flags)
        assert ran.returncode == 0, ran.stderr
        return jobs.result(model_dir)["metrics"]

    train.without_strategy = train(tmp_path_factory.mktemp("none"))
    return train
