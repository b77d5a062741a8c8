"""A script of a job without ps may train more than once, in every task."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time

import pytest

from estimator_trainer.coordination import job_state, sequel
from tests.support import jobs

pytestmark = pytest.mark.cluster

_TWICE = jobs.REPO / "tests" / "program" / "scripts" / "twice.py"


def _launched(tmp_path, job_flag, *script_args):
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", job_flag, "--", "run", "--noreport",
         str(_TWICE), "--", f"{tmp_path}/model", *script_args],
        text=True, capture_output=True, timeout=150, env=jobs.environment(), check=False)
    return ran, {path.stem: path.read_text() for path in (tmp_path / "logs").glob("*.log")}


@pytest.mark.cluster
@pytest.mark.parametrize("job_flag, other, args", [
    pytest.param("--worker=1", "worker-0", ("same", "all_reduce"), marks=pytest.mark.soak),
    pytest.param("--worker=1", "worker-0", ("other", "all_reduce"), marks=pytest.mark.soak),
    pytest.param("--evaluator=1", "evaluator-0", ("same",), marks=pytest.mark.soak),
    pytest.param("--evaluator=1", "evaluator-0", ("other",), marks=pytest.mark.soak),
])
def test_every_task_trains_again_and_the_chief_alone_goes_on(job_flag, other, args, tmp_path):
    ran, logs = _launched(tmp_path, job_flag, *args)
    assert ran.returncode == 0, ran.stdout
    assert re.findall("trained to (.*)", logs["chief-0"]) == ["8", "16"]
    assert "the script has ended" in logs["chief-0"]
    # The last training is known only once the chief's script has ended. In one folder, the chief
    # may have saved its second checkpoint before the other task reads the latest one.
    [step] = re.findall("trained to (.*)", logs[other])
    assert step == "8" or step == "16" and "same" in args
    assert logs[other].splitlines()[-1].startswith(
        f"role={other.replace('-', ':')} status=done step=16"), logs[other]


def test_a_second_training_is_seen_in_the_folder_of_the_first(tmp_path):
    writer = sequel.SequelWriter()
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    writer.begin(str(first), 10.0, 1)
    listener = sequel.SequelReader(str(first), "worker:0", 10.0)
    writer.begin(str(second), 10.0, 0)
    # A task that went on now would find no run of the chief's to join.
    assert json.loads((first / "script.json").read_text())["trainings"] == 1
    state = job_state.JobStateWriter(str(second), is_shared=True)
    threading.Timer(0.5, state.announce, ("running",)).start()
    assert listener.wait_for_training(1)
    listener = sequel.SequelReader(str(second), "worker:0", 10.0)
    threading.Timer(0.5, writer.end).start()
    assert not listener.wait_for_training(2)


def test_a_further_training_begins_once_the_workers_have_left_the_last_one(tmp_path):
    writer, first = sequel.SequelWriter(), str(tmp_path / "first")
    writer.begin(first, 10.0, 1)
    job_state.JobStateWriter(first, is_shared=True).announce("running")
    listener = sequel.SequelReader(first, "worker:0", 10.0)
    beginning = threading.Thread(target=writer.begin, args=(str(tmp_path / "second"), 10.0, 1))
    beginning.start()
    beginning.join(0.6)
    assert beginning.is_alive()
    waiting = threading.Thread(target=listener.wait_for_training, args=(1,))
    waiting.start()
    beginning.join(5)
    assert not beginning.is_alive()
    writer.end()
    waiting.join(5)
    assert not waiting.is_alive()


def test_what_an_earlier_chief_left_ends_no_task(tmp_path):
    earlier, later = sequel.SequelWriter(), sequel.SequelWriter()
    earlier.begin(str(tmp_path), 10.0, 0)
    earlier.end()
    listener = sequel.SequelReader(str(tmp_path), "worker:0", 10.0)
    threading.Timer(0.5, later.begin, (str(tmp_path), 10.0, 0)).start()
    writer = job_state.JobStateWriter(str(tmp_path), is_shared=True)
    threading.Timer(1.0, later.begin, (str(tmp_path), 10.0, 0)).start()
    threading.Timer(1.5, writer.announce, ("running",)).start()
    assert listener.wait_for_training(1)
    later.end()


def test_a_silent_chief_is_not_waited_for(tmp_path, caplog):
    start = time.monotonic()
    assert not sequel.SequelReader(str(tmp_path), "worker:0", 1.0).wait_for_training(1)
    assert time.monotonic() - start < 10 and "no heartbeat for 1 s" in caplog.text
