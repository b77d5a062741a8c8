"""Jobs of real processes end in every role: with the input, by a failure, by an early stop."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from tests.support import jobs, slow_jobs
from tests.support.slow_jobs import flags, TIMEOUT_SECS

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("kind", ["asynchronous", slow_jobs.soak("all-reduce")])
def test_a_nan_loss_fails_every_role_and_is_named(kind, tmp_path):
    hosts, extra = slow_jobs.cluster(kind)
    args = flags(tmp_path, "--train_steps=2000", "--param=nan_step=60", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        slow_jobs.wait_for_all(tasks, 60)
    slow_jobs.assert_codes(tasks, 1)
    assert any("the loss became NaN in" in t.log for t in tasks.values())


_GOLDEN = [("asynchronous", {"chief": 1, "worker": 2, "ps": 1}, True),
           ("all-reduce", {"chief": 1, "worker": 1}, True), ("all-reduce", {"worker": 2}, False)]


def test_the_golden_job(tmp_path):
    _run_golden_job(*_GOLDEN[0], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("kind, counts, evaluator", _GOLDEN)
@pytest.mark.parametrize("turn", range(10))
def test_ten_golden_jobs_in_a_row_end_right(turn, kind, counts, evaluator, tmp_path):
    _run_golden_job(kind, counts, evaluator, tmp_path)


def _run_golden_job(kind, counts, evaluator, tmp_path):
    """Runs a job whose data ends before train_steps, with one checkpoint kept and all exporters."""
    _, extra = slow_jobs.CLUSTERS[kind]
    chief = "chief:0" if "chief" in counts else "worker:0"
    args = flags(tmp_path, "--train_steps=10000", "--param=examples=1003",
                 f"--param=ids={tmp_path}/ids", "--keep_checkpoint_max=1",
                 "--exporters=best,final", *extra)
    with jobs.running(tmp_path, jobs.cluster(**counts), args, evaluator) as tasks:
        jobs.wait_for(lambda: "training input exhausted" in tasks[chief].log,
                      TIMEOUT_SECS)
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    step = jobs.saved_step(tmp_path / "model")
    for task in tasks.values():
        assert "Traceback" not in task.log
        assert re.fullmatch(rf"role={task.name} status=done step=\d+ reason=input_exhausted",
                            task.last_line)
    assert f"stopped at {step} of 10000: training input exhausted" in tasks[chief].log
    assert jobs.evaluated_steps(tmp_path / "model").count(step) == 1
    assert len(list((tmp_path / "model" / "export" / "final").iterdir())) == 1
    ids = [int(line) for path in tmp_path.glob("ids-*") for line in path.read_text().split()]
    trainers = sum(1 for t in tasks if t.startswith(("chief", "worker")))
    assert sorted(ids) == list(range(1003)) and len(list(tmp_path.glob("ids-*"))) == trainers
    if kind == "asynchronous":
        assert step == sum(-(-len(range(i, 1003, trainers)) // 5) for i in range(trainers))


@pytest.mark.soak  # test_no_improvement.py ends a training by its evaluations too.
@pytest.mark.parametrize("kind", slow_jobs.KINDS)
def test_early_stopping_ends_all_roles_and_a_later_run_trains_on(kind, tmp_path):
    hosts, extra = slow_jobs.cluster(kind)
    args = flags(tmp_path, "--train_steps=5000", "--early_stopping_metric=loss",
                 "--early_stopping_mode=max", "--early_stopping_steps=40",
                 "--save_checkpoints_steps=20", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    for task in tasks.values():
        assert "status=done" in task.last_line and "reason=early_stopping" in task.last_line
    step = jobs.saved_step(tmp_path / "model")
    assert step < 5000 and jobs.evaluated_steps(tmp_path / "model")[-1] == step
    args = flags(tmp_path, f"--train_steps={step + 50}", *extra)
    assert step <= slow_jobs.rerun(tmp_path, hosts, args, evaluator=True) <= step + 20


@pytest.mark.parametrize("examples, steps", [
    (101, 10), slow_jobs.soak(100, 10), slow_jobs.soak(11, 1), slow_jobs.soak(7, 1)])
def test_uneven_shards_end_every_trainer_of_an_all_reduce_at_the_same_step(
        examples, steps, tmp_path):
    hosts, extra = slow_jobs.cluster("all-reduce")
    args = flags(tmp_path, "--train_steps=0", f"--param=examples={examples}", *extra)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    for task in tasks.values():
        assert f"status=done step={steps} reason=input_exhausted" in task.last_line
    metrics = json.loads((tmp_path / "model" / "result.json").read_text())["metrics"]
    assert metrics["loss"] is not None  # An empty batch would give NaN.


@pytest.mark.soak
def test_a_trainer_without_any_data_fails_an_all_reduce_with_a_sentence(tmp_path):
    hosts, extra = slow_jobs.cluster("all-reduce")
    with jobs.running(tmp_path, hosts, flags(tmp_path, "--param=examples=1", *extra)) as tasks:
        slow_jobs.wait_for_all(tasks)
    assert slow_jobs.codes(tasks) == dict.fromkeys(tasks, 1)
    assert all("worker:0 got no data for a step" in t.log for t in tasks.values())
    assert not any("worker:0: worker:0" in t.log for t in tasks.values())


def test_a_mistake_that_all_tasks_find_ends_all_with_the_same_code(tmp_path):
    own = tmp_path / "own.py"
    own.write_text("class Mistake(Exception):\n    exit_code = 2\n"
                   "def input_fn():\n    raise Mistake('rows is 0; expected 1 or more')\n")
    hosts, extra = slow_jobs.cluster("all-reduce")
    args = [*flags(tmp_path, *extra), f"--input_fn={own}"]
    with jobs.running(tmp_path, hosts, args) as tasks:
        slow_jobs.wait_for_all(tasks)
    assert slow_jobs.codes(tasks) == dict.fromkeys(tasks, 2)
    assert all("rows is 0; expected 1 or more" in task.log for task in tasks.values())


@pytest.mark.soak
def test_an_evaluator_survives_the_deletion_of_what_it_evaluates(tmp_path):
    args = flags(tmp_path, "--train_steps=300", "--keep_checkpoint_max=1",
                 "--save_checkpoints_steps=5")
    hosts = jobs.cluster(chief=1, ps=1)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    assert "Traceback" not in tasks["evaluator:0"].log
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == 300


@pytest.mark.parametrize("kind", [
    "asynchronous", slow_jobs.soak("parameter_server", any_tensorflow=True),
    slow_jobs.soak("all-reduce")])
def test_a_models_own_saving_listeners_are_called_on_the_chief_alone(kind, tmp_path):
    hosts, extra = slow_jobs.cluster(kind)
    args = flags(tmp_path, "--train_steps=120", f"--param=listener={tmp_path}/saved", *extra)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    steps = [int(line) for line in (tmp_path / "saved").read_text().split()]
    assert steps[0] == 0 and steps == sorted(set(steps)) and 3 <= len(steps) <= 5


def test_the_thread_flags_hold_for_servers_too(tmp_path):
    hosts, threads = jobs.cluster(chief=1, ps=1), []
    tf_config = json.dumps({"cluster": hosts, "task": {"type": "ps", "index": 0}})
    for count in (1, 40):
        task = jobs.start(tmp_path, f"ps:{count}", flags(
            tmp_path, f"--intra_op_threads={count}", f"--inter_op_threads={count}"), tf_config)
        try:
            jobs.wait_for(lambda t=task: "serves variables" in t.log, TIMEOUT_SECS)
            status = pathlib.Path(f"/proc/{task.process.pid}/status").read_text()
            threads.append(int(re.search(r"Threads:\s+(\d+)", status)[1]))
        finally:
            jobs.kill(task)
    assert threads[1] - threads[0] >= 39, threads


@pytest.mark.soak
def test_an_evaluators_memory_grows_less_than_a_megabyte_an_evaluation(tmp_path):
    args = flags(tmp_path, "--train_steps=0", "--save_checkpoints_steps=10", "--exporters=none")
    with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), args, evaluator=True) as tasks:
        evaluator = tasks["evaluator:0"]
        megabytes = []
        for evaluations in (10, 60):
            jobs.wait_for(lambda n=evaluations: evaluator.log.count("evaluated step") >= n,
                          TIMEOUT_SECS)
            status = pathlib.Path(f"/proc/{evaluator.process.pid}/status").read_text()
            megabytes.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024)
    assert (megabytes[1] - megabytes[0]) / 50 < 1, megabytes
