"""Two trainings in one model_dir: the second is refused, and the first one's files stay its own."""

from __future__ import annotations

import signal

import pytest

from tests.support import jobs, slow_jobs
from tests.support.slow_jobs import flags, TIMEOUT_SECS

pytestmark = pytest.mark.cluster


def test_a_second_training_is_refused_until_the_first_is_gone(tmp_path):
    args = flags(tmp_path, "--train_steps=100000", "--save_checkpoints_steps=50")
    first = jobs.start(tmp_path, "local", args, "")
    try:
        jobs.wait_for(lambda: slow_jobs.has_saved(tmp_path, 50), TIMEOUT_SECS)
        record = (tmp_path / "model" / "record.json").read_text()
        second = jobs.trainer(*args)
        assert second.returncode == 2 and "Traceback" not in second.stderr
        assert ("another training writes its checkpoints there: local, process"
                f" {first.process.pid} on ") in second.stderr
        assert "status=failed" in second.stderr.splitlines()[-1]
        assert (tmp_path / "model" / "record.json").read_text() == record
        assert not (tmp_path / "model" / "result.json").exists()
        slow_jobs.send(first, signal.SIGKILL)
        jobs.wait_for(lambda: first.code is not None, 10)
        third = jobs.trainer(*flags(tmp_path, "--train_steps=60"))
        assert third.returncode == 0 and "waits for its end" not in third.stderr
    finally:
        jobs.kill(first)


@pytest.mark.soak
def test_force_ends_the_first_training(tmp_path):
    args = flags(tmp_path, "--save_checkpoints_steps=10")
    first = jobs.start(tmp_path, "local", [
        *args, "--train_steps=100000", "--param=step_secs=0.2"], "")
    try:
        jobs.wait_for(lambda: slow_jobs.has_saved(tmp_path, 10), TIMEOUT_SECS)
        # The first training goes on for 10 s at most, far from the second one's last step.
        second = jobs.trainer(*args, "--train_steps=250", "--force", "--param=step_secs=0.01",
                              "--allow_changed=step_secs")
        assert second.returncode == 0, second.stderr
        slow_jobs.wait_for_all({"local": first}, 15)
    finally:
        jobs.kill(first)
    assert first.code == 142
    assert 'reason="model_dir was taken over by local, process ' in first.last_line
    assert jobs.result(tmp_path / "model")["step"] == jobs.saved_step(tmp_path / "model") == 250


@pytest.mark.soak
def test_the_tasks_of_a_second_cluster_end_and_the_first_goes_on(tmp_path):
    args = slow_jobs.patient_flags(f"--model_dir={tmp_path}/model", "--train_steps=1000000",
                                   "--save_checkpoints_steps=500")
    counts = dict(chief=1, worker=1, ps=1)
    (tmp_path / "second").mkdir()
    with jobs.running(tmp_path, jobs.cluster(**counts), args) as first:
        jobs.wait_for(lambda: slow_jobs.trains(first["chief:0"]), TIMEOUT_SECS)
        with jobs.running(tmp_path / "second", jobs.cluster(**counts), args) as second:
            slow_jobs.wait_for_all(second, 90)
        slow_jobs.assert_codes(second, 2)
        assert "another training writes its checkpoints there: chief:0" in second["chief:0"].log
        for name in ("worker:0", "ps:0"):
            assert "the training of another cluster goes on there" in second[name].log
        step = jobs.saved_step(tmp_path / "model")
        jobs.wait_for(lambda: jobs.saved_step(tmp_path / "model") > step, TIMEOUT_SECS)
        slow_jobs.send(first["chief:0"], signal.SIGTERM)
        slow_jobs.wait_for_all(first)
    slow_jobs.assert_codes(first, 143)
