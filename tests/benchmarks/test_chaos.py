"""Jobs with random faults: their schedules, the checks of how they end, and some of them."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

from benchmarks.chaos import cases, job as job_lib, outcome as outcome_lib, promises, schedules
from tests.support import jobs


def test_a_number_repeats_its_schedule_and_500_have_everything():
    made = [schedules.make(0, number) for number in range(500)]
    assert made[7] == schedules.make(0, 7) != schedules.make(1, 7)
    assert {each.shape for each in made} == set(schedules.SHAPES)
    faults = [fault for each in made for fault in each.faults]
    assert {fault.kind for fault in faults} == set(schedules.KINDS)
    assert {fault.moment for fault in faults} == set(schedules.MOMENTS)
    for each in made:
        for fault in each.faults:
            assert set(fault.victims) <= set(each.tasks)
            assert len(set(fault.victims)) == 1 + (fault.kind == "SIGKILL of two")


def test_the_digest_names_left_out_batches_and_restarted_runs():
    right = promises.expected_digest([0], 40, 2)
    assert right == promises.expected_digest([0, 0], 40, 2)
    assert right != promises.expected_digest([0, 20], 40, 2) is not None
    assert promises.expected_digest([20], 40, 2) is None


def test_the_table_counts_a_job_under_each_kind_of_its_faults(tmp_path):
    local = next(each for each in map(lambda n: schedules.make(0, n), range(100))
                 if each.shape == "local")
    outcomes = [outcome_lib.Outcome(local, ("SIGKILL", "SIGTERM"), (), 1.0, tmp_path),
                outcome_lib.Outcome(local, ("SIGKILL",), ("wrong",), 1.0, tmp_path)]
    assert outcome_lib.table(outcomes).splitlines()[2:] == [
        "| local | 1 of 2 | 1 of 1 | 1 of 2 |", "| all | 1 of 2 | 1 of 1 | 1 of 2 |"]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Returns a job without faults, which has ended."""
    planned = schedules.Schedule(0, "local", False, ("latest", "final"), 2, 25, 10, ())
    ended = job_lib.run(planned, tmp_path_factory.mktemp("chaos") / "job")
    return ended


def _truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def _change_result(model_dir, **changed):
    path = model_dir / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def _only(folder):
    [path] = folder.iterdir()
    return path


DAMAGES = {
    "status": (lambda d: _change_result(d, status="stopped"), "result.json says"),
    "metrics": (lambda d: _change_result(d, metrics={"loss": 2.0}), "metrics of step 25"),
    "named export": (lambda d: _change_result(d, exports=[f"{d}/export/final/1"]), "1 are not"),
    "checkpoint": (lambda d: _truncate(d / "model.ckpt-25.index"), "checkpoints can be read"),
    "kept": (lambda d: [(d / f"model.ckpt-{step}.index").touch() for step in (7, 8, 9)],
             "2 checkpoints are kept"),
    "evaluation": (lambda d: shutil.copy(_only(d / "eval"), d / "eval" / "events.again"),
                   "eval/ has it 2 times"),
    "export": (lambda d: shutil.copytree(_only(d / "export/final"), d / "export/final/99"),
               "final exports a step once"),
    "temp": (lambda d: (d / "export" / "final" / "temp-99").mkdir(), "export/final/temp-99"),
    "new": (lambda d: (d / "result.json.new").touch(), "result.json.new"),
    "history": (lambda d: (d / "history.jsonl").write_text("{"), "history.jsonl can be read"),
    "record": (lambda d: (d / "record.json").unlink(), "record.json and history.jsonl"),
}


@pytest.mark.cluster
def test_a_job_without_faults_keeps_every_promise(good):
    assert promises.broken(good) == []


@pytest.mark.parametrize("damage, sentence", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_named(damage, sentence, good, tmp_path, monkeypatch):
    # The job's own `show` is tried above; it takes a process each time.
    monkeypatch.setattr(jobs, "trainer", lambda *args, **_: subprocess.CompletedProcess(
        args, 0, "{}", ""))
    model_dir = tmp_path / "model"
    shutil.copytree(good.model_dir, model_dir)
    names = [f"{model_dir}{path.removeprefix(str(good.model_dir))}"
             for path in jobs.result(good.model_dir)["exports"]]
    _change_result(model_dir, exports=names)
    damage(model_dir)
    found = promises.of_files(job_lib.Ended(good.schedule, model_dir, [], [], (), 1.0))
    assert any(sentence in problem for problem in found), found


def test_a_process_that_prints_nothing_or_a_traceback_is_named(good, tmp_path):
    class Gone:
        pid, returncode = 1, 1

        def poll(self):
            return 1

    log = tmp_path / "local.log"
    log.write_text("Traceback (most recent call last)\nValueError\n")
    process = job_lib.Process("local", jobs.Task("local", Gone(), log), 0.0)
    traceback, last_line = promises.of_processes([process])
    assert "no traceback" in traceback and "the last line of a process is" in last_line
    log.write_text("role=local status=done step=25 reason=train_steps\n")
    assert promises.of_processes([process]) == [
        "the exit code is that of the status; local ended with 1 and " + log.read_text().strip()]


def test_a_process_that_is_left_running_is_named(tmp_path):
    planned = schedules.Schedule(0, "local", False, ("final",), 2, 25, 10, ())
    job = job_lib.Job(planned, tmp_path / "job")
    job.ways["local"] = {"prefix": ("sh", "-c", "sleep 60 & exit 0")}
    try:
        job.start_all()
        ended = job.ended(job.run(lambda: None, 20))
    finally:
        job.close()
    assert ended.left == ("local",)
    assert "nothing is left running; processes of local are" in promises.broken(ended)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(12))
def test_jobs_with_two_random_faults_keep_every_promise(number, tmp_path):
    outcome = outcome_lib.run(seed=1, number=number, work=tmp_path)
    assert not outcome.problems, f"{outcome.schedule}\n{outcome.problems}\n{outcome.folder}"


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("names", [
    "disk: deleted", "disk: moved", "disk: read-only", "disk: 0 MB", "disk: 2 MB", "clock",
    "memory", "ps stopped", "worker", "evaluator", "output"])
def test_cases_keep_every_promise(names, tmp_path):
    # Mounts of a case are in a namespace of its own, which a process enters before all else.
    ran = subprocess.run([sys.executable, "-m", "benchmarks.chaos", f"--cases={names}",
                          f"--work={tmp_path}"], cwd=jobs.REPO, env=jobs.environment(), text=True,
                         capture_output=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
    assert pathlib.Path(tmp_path).is_dir() and " 0 wrong" in ran.stdout


_NETWORK = [name for name in cases.all_cases() if name.startswith("network:")]


@pytest.mark.soak
@pytest.mark.any_tensorflow
@pytest.mark.parametrize("name", _NETWORK)
def test_a_job_in_a_bad_network_keeps_every_promise(name, tmp_path):
    problems, note = cases.attempt(name, cases.all_cases()[name], tmp_path, keep=True)
    if note:
        pytest.skip(note)
    assert not problems
