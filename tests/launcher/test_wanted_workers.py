"""A user writes into a file how many workers a job is to have now."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.launcher import launch, wanted_workers
from estimator_trainer.settings import flag_parser
from estimator_trainer.settings.job_config import JobConfig

pytestmark = pytest.mark.any_tensorflow


def test_a_number_in_the_file_is_wanted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(wanted_workers, "_POLL_SECS", 0)
    warnings = []
    wanted = wanted_workers.WantedWorkers(tmp_path, 2, 8, warnings.append)
    assert wanted.path.read_text() == "2\n" and wanted.poll() is None
    for text, expected in (("5\n", 5), ("5\n", None), ("", None), (" 8 ", 8), ("2", 2)):
        wanted.path.write_text(text)
        assert wanted.poll() == expected
    for text in ("9\n", "1", "many\n"):
        wanted.path.write_text(text)
        assert wanted.poll() is None and wanted.poll() is None
    wanted.path.unlink()
    assert wanted.poll() is None and wanted.number == 2
    assert warnings[0] == (
        f"{wanted.path} has '9'; expected a number from 2 to 8. The job keeps 2 workers. For"
        f" example: echo 8 > {wanted.path}") and len(warnings) == 3


def test_worker_is_a_number_or_the_least_and_the_most():
    _, settings = flag_parser.parsed(["--worker=2:8", "--ps=1"], flag_parser.flags_of("launch"))
    job = JobConfig(**settings)
    assert (job.worker, job.most_workers) == (2, 8)
    assert [index for role, index in job.tasks if role == "worker"] == [0, 1]
    assert [index for role, index in job.all_tasks if role == "worker"] == list(range(8))
    same = JobConfig(worker=3)
    assert (same.worker, same.most_workers) == (3, 3)
    for wrong in ("8:2", "0:4", "two", "2:", -1):
        with pytest.raises(errors.ConfigError, match="For example: --worker=2:8"):
            JobConfig(worker=wrong, ps=1)
    assert JobConfig(worker="2:8").most_workers == 8
    with pytest.raises(errors.ConfigError, match="each worker predicts its share"):
        JobConfig(worker="2:8").of_workers


def test_a_ps_has_the_addresses_of_workers_that_may_come():
    job = JobConfig(worker="1:3", ps=1)
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1", "d:1"], "ps": ["e:1"]}
    configs = dict(zip(job.all_tasks, launch.tf_configs(job.all_tasks, cluster, job.worker)))
    for task, count in ((("chief", 0), 1), (("worker", 0), 1), (("worker", 2), 3), (("ps", 0), 3)):
        workers = launch.json.loads(configs[task])["cluster"]["worker"]
        assert workers == cluster["worker"][:count]
