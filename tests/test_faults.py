"""Faults and signals in jobs of real processes: who ends, with which code; what a rerun keeps."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal

import jobs
import pytest

pytestmark = pytest.mark.cluster

_TIMEOUT_SECS = 90
_IMPATIENT = ["--peer_timeout_secs=10", "--stall_timeout_secs=30"]


@pytest.fixture
def flags(tmp_path):
    """The flags of a job of slow steps; extra ones may be added."""

    def make(*extra):
        plugin = jobs.REPO / "tests" / "slow.py"
        return [f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={tmp_path}/model",
                "--log_every_steps=10", *_IMPATIENT, *extra]

    return make


def _codes(tasks):
    return {name: task.code for name, task in tasks.items()}


def _wait_for_all(tasks, timeout_secs=_TIMEOUT_SECS):
    try:
        jobs.wait_for(lambda: all(t.code is not None for t in tasks.values()), timeout_secs)
    except AssertionError as error:
        logs = "\n".join(f"--- {t.name} {t.code}\n{t.log[-3000:]}" for t in tasks.values())
        raise AssertionError(f"{_codes(tasks)}\n{logs}") from error


def _trains(task, least_step=20):
    return any(step >= least_step for step, _ in task.losses)


def _signal(task, number):
    os.kill(task.process.pid, number)


def _rerun(tmp_path, hosts, args, evaluator=False):
    """Runs the job again to its end; returns the step that its first trainer resumed from."""
    (tmp_path / "again").mkdir()
    with jobs.running(tmp_path / "again", hosts, args, evaluator) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        logs = [t.log for name, t in tasks.items() if name.startswith(("chief", "worker"))]
        return min(int(re.search(r"training from step (\d+)", log)[1]) for log in logs)


_CLUSTERS = {
    "asynchronous": (dict(chief=1, worker=1, ps=1), []),
    "parameter_server": (dict(chief=1, worker=1, ps=1), ["--train_distribute=parameter_server"]),
    "all-reduce": (dict(chief=1, worker=1), ["--train_distribute=multi_worker_mirrored"]),
}
# What ends one way of training with a ps, ends the other.
_KINDS = ["asynchronous", pytest.param("parameter_server", marks=pytest.mark.any_tensorflow),
          "all-reduce"]


def _cluster(kind):
    counts, extra = _CLUSTERS[kind]
    return jobs.cluster(**counts), extra


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_a_local_run_at_the_next_step(number, flags, tmp_path):
    args = flags("--train_steps=400")
    task = jobs.start(tmp_path, "local", args, "")
    try:
        jobs.wait_for(lambda: _trains(task), _TIMEOUT_SECS)
        _signal(task, number)
        _wait_for_all({"local": task}, 15)
    finally:
        jobs.kill(task)
    assert task.code == 143, task.log
    step = jobs.saved_step(tmp_path / "model")
    assert step >= 20
    assert task.last_line == (
        f"role=local status=stopped step={step} reason={signal.Signals(number).name}")
    assert json.loads((tmp_path / "model" / "result.json").read_text())["status"] == "stopped"
    assert "evaluated" not in task.log and "Traceback" not in task.log
    ran = jobs.trainer(*args)
    assert ran.returncode == 0 and f"training from step {step} to 400" in ran.stderr


def test_a_second_signal_ends_at_once(flags, tmp_path):
    task = jobs.start(tmp_path, "local", flags("--param=step_secs=20"), "")
    try:
        jobs.wait_for(lambda: "training from step 0" in task.log, _TIMEOUT_SECS)
        _signal(task, signal.SIGTERM)
        jobs.wait_for(lambda: "SIGTERM: stops at the next step" in task.log, 10)
        _signal(task, signal.SIGTERM)
        _wait_for_all({"local": task}, 5)
    finally:
        jobs.kill(task)
    assert task.code == 143


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("who", ["chief:0", "ps:0"])
def test_a_signal_to_one_task_ends_the_job_without_losing_a_step(kind, who, flags, tmp_path):
    hosts, extra = _cluster(kind)
    if who == "ps:0" and "ps" not in hosts:
        who = "worker:0"  # In an all-reduce no task can go on without another.
    args = flags("--train_steps=1500", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: _trains(tasks["chief:0"]) and _trains(tasks["worker:0"]) and
                      "params: " in tasks["evaluator:0"].log, _TIMEOUT_SECS)
        _signal(tasks[who], signal.SIGTERM)
        _wait_for_all(tasks, 30)
    assert _codes(tasks) == dict.fromkeys(tasks, 143), [t.log[-2000:] for t in tasks.values()]
    step = jobs.saved_step(tmp_path / "model")
    for task in tasks.values():
        assert "status=stopped" in task.last_line and "reason=SIGTERM" in task.last_line
        assert "Traceback" not in task.log
    assert step >= max(step for t in tasks.values() for step, _ in t.losses)
    args = [*args, f"--train_steps={step + 100}"]
    assert step <= _rerun(tmp_path, hosts, args, evaluator=True) <= step + 20
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == jobs.saved_step(tmp_path / "model")


def test_a_signal_to_an_asynchronous_worker_or_the_evaluator_ends_only_that_one(flags, tmp_path):
    args = flags("--train_steps=600")
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: _trains(tasks["worker:0"]), _TIMEOUT_SECS)
        _signal(tasks["worker:0"], signal.SIGTERM)
        _signal(tasks["evaluator:0"], signal.SIGTERM)
        _wait_for_all(tasks)
    assert _codes(tasks) == {"chief:0": 0, "ps:0": 0, "worker:0": 143, "evaluator:0": 143}
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == jobs.saved_step(tmp_path / "model")


def test_others_go_on_without_a_killed_worker_and_it_joins_again(flags, tmp_path):
    args = flags("--train_steps=100000")
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: _trains(tasks["worker:1"]) and _trains(tasks["worker:0"]),
                      _TIMEOUT_SECS)
        jobs.kill(tasks["worker:1"])
        killed_at = tasks["worker:0"].losses[-1][0]
        tf_config = json.dumps({"cluster": hosts, "task": {"type": "worker", "index": 1}})
        (tmp_path / "again").mkdir()
        tasks["worker:1"] = jobs.start(tmp_path / "again", "worker:1", args, tf_config)
        jobs.wait_for(lambda: _trains(tasks["worker:1"]), _TIMEOUT_SECS)
        assert tasks["chief:0"].code is None and tasks["worker:0"].losses[-1][0] > killed_at + 100
        _signal(tasks["chief:0"], signal.SIGTERM)
        _wait_for_all(tasks)
    assert _codes(tasks) == dict.fromkeys(tasks, 143)
    assert tasks["chief:0"].log.count("training from step") == 1


def test_training_resumes_from_the_checkpoint_when_a_ps_comes_back(flags, tmp_path):
    args = flags("--train_steps=800", "--save_checkpoints_steps=50", "--peer_timeout_secs=30")
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: _trains(tasks["chief:0"], 120), _TIMEOUT_SECS)
        jobs.kill(tasks["ps:0"])
        (tmp_path / "again").mkdir()
        tf_config = json.dumps({"cluster": hosts, "task": {"type": "ps", "index": 0}})
        tasks["ps:0"] = jobs.start(tmp_path / "again", "ps:0", args, tf_config)
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    steps = [int(s) for s in re.findall(r"training from step (\d+)", tasks["chief:0"].log)]
    assert len(steps) == 2 and steps[1] >= 100
    assert jobs.saved_step(tmp_path / "model") >= 800


@pytest.mark.parametrize("kind, victim", [
    ("asynchronous", "ps:0"), ("asynchronous", "chief:0"),
    pytest.param("parameter_server", "ps:0", marks=pytest.mark.any_tensorflow),
    ("all-reduce", "worker:0"), ("all-reduce", "chief:0")])
def test_a_task_that_is_gone_for_good_ends_the_others_with_142(kind, victim, flags, tmp_path):
    hosts, extra = _cluster(kind)
    args = flags("--train_steps=20000", "--save_checkpoints_steps=50", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: _trains(tasks["chief:0"], 60), _TIMEOUT_SECS)
        jobs.kill(tasks.pop(victim))
        _wait_for_all(tasks, 60)
    assert _codes(tasks) == dict.fromkeys(tasks, 142), [t.log[-3000:] for t in tasks.values()]
    trainers = [t for name, t in tasks.items() if name.startswith(("chief", "worker"))]
    assert any(victim in t.last_line for t in trainers), [t.last_line for t in trainers]
    step = jobs.saved_step(tmp_path / "model")
    args = [*args, "--train_steps=300"]
    assert 50 <= step <= _rerun(tmp_path, hosts, args, evaluator=True) <= step + 20


@pytest.mark.parametrize("victim", ["worker:0", "chief:0"])
def test_an_all_reduce_begins_anew_when_one_of_it_was_started_again(victim, flags, tmp_path):
    """The new process answers, so its peers, whose sums wait for the old one, cannot see it."""
    hosts, extra = _cluster("all-reduce")
    args = flags("--train_steps=20000", "--save_checkpoints_steps=50", *extra)
    role, _, index = victim.partition(":")
    tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": int(index)}})
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: _trains(tasks["chief:0"], 60), _TIMEOUT_SECS)
        jobs.kill(tasks[victim])
        (tmp_path / "again").mkdir()
        tasks[victim] = jobs.start(tmp_path / "again", victim, args, tf_config)
        [survivor] = [task for name, task in tasks.items() if name != victim]
        _wait_for_all({"survivor": survivor}, 60)
        assert survivor.code == 142
        assert re.search(f"{victim} (was started again|at .* is down)", survivor.last_line)


def test_a_stopped_process_in_an_all_reduce_is_named_and_ends_the_others(flags, tmp_path):
    hosts, extra = _cluster("all-reduce")
    args = flags("--train_steps=2000", "--save_checkpoints_steps=50", *extra)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: _trains(tasks["chief:0"], 60), _TIMEOUT_SECS)
        _signal(tasks["worker:0"], signal.SIGSTOP)
        _wait_for_all({"chief:0": tasks["chief:0"]}, 60)
    assert tasks["chief:0"].code == 142
    assert "worker:0" in tasks["chief:0"].last_line and "silent" in tasks["chief:0"].last_line
    assert "Thread 0x" in tasks["chief:0"].log


@pytest.mark.parametrize("kind", ["asynchronous", "all-reduce"])
def test_a_nan_loss_fails_every_role_and_is_named(kind, flags, tmp_path):
    hosts, extra = _cluster(kind)
    args = flags("--train_steps=2000", "--param=nan_step=60", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        _wait_for_all(tasks, 60)
    assert _codes(tasks) == dict.fromkeys(tasks, 1), [t.log[-2000:] for t in tasks.values()]
    assert any("the loss became NaN in" in t.log for t in tasks.values())


@pytest.mark.parametrize("kind, counts, evaluator", [
    ("asynchronous", {"chief": 1, "worker": 2, "ps": 1}, True),
    ("all-reduce", {"chief": 1, "worker": 1}, True),
    ("all-reduce", {"worker": 2}, False)])
def test_the_golden_job(kind, counts, evaluator, flags, tmp_path):
    """Data that runs out before train_steps, one checkpoint kept, best exporter, an evaluator."""
    _, extra = _CLUSTERS[kind]
    chief = "chief:0" if "chief" in counts else "worker:0"
    args = flags("--train_steps=10000", "--param=examples=1003", f"--param=ids={tmp_path}/ids",
                 "--keep_checkpoint_max=1", "--exporters=best,final", *extra)
    with jobs.running(tmp_path, jobs.cluster(**counts), args, evaluator) as tasks:
        jobs.wait_for(lambda: "training input exhausted" in tasks[chief].log, _TIMEOUT_SECS)
        jobs.wait(list(tasks.values()), 20)
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


@pytest.mark.parametrize("kind", _KINDS)
def test_early_stopping_by_the_evaluator_stops_all_roles_and_a_later_run_trains_on(
        kind, flags, tmp_path):
    hosts, extra = _cluster(kind)
    args = flags("--train_steps=5000", "--early_stopping_metric=loss", "--early_stopping_mode=max",
                 "--early_stopping_steps=40", "--save_checkpoints_steps=20", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    for task in tasks.values():
        assert "status=done" in task.last_line and "reason=early_stopping" in task.last_line
    step = jobs.saved_step(tmp_path / "model")
    assert step < 2000 and jobs.evaluated_steps(tmp_path / "model")[-1] == step
    args = flags(f"--train_steps={step + 50}", *extra)
    assert step <= _rerun(tmp_path, hosts, args, evaluator=True) <= step + 20


@pytest.mark.parametrize("examples, steps", [(101, 10), (100, 10), (11, 1), (7, 1)])
def test_uneven_shards_end_every_trainer_of_an_all_reduce_at_the_same_step(
        examples, steps, flags, tmp_path):
    hosts, extra = _cluster("all-reduce")
    args = flags("--train_steps=0", f"--param=examples={examples}", *extra)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    for task in tasks.values():
        assert f"status=done step={steps} reason=input_exhausted" in task.last_line
    metrics = json.loads((tmp_path / "model" / "result.json").read_text())["metrics"]
    assert metrics["loss"] is not None  # No NaN of an empty batch got into the model.


def test_a_trainer_without_any_data_fails_an_all_reduce_with_a_sentence(flags, tmp_path):
    hosts, extra = _cluster("all-reduce")
    with jobs.running(tmp_path, hosts, flags("--param=examples=1", *extra)) as tasks:
        _wait_for_all(tasks)
    assert _codes(tasks) == dict.fromkeys(tasks, 1)
    assert all("worker:0 got no data for a step" in t.log for t in tasks.values())


def test_an_evaluator_survives_the_deletion_of_what_it_evaluates(flags, tmp_path):
    args = flags("--train_steps=300", "--keep_checkpoint_max=1", "--save_checkpoints_steps=5")
    hosts = jobs.cluster(chief=1, ps=1)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert "Traceback" not in tasks["evaluator:0"].log
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == 300


def test_an_evaluator_killed_midway_and_restarted_makes_the_one_final_export(flags, tmp_path):
    args = flags("--train_steps=1200", "--save_checkpoints_steps=20")
    hosts = jobs.cluster(chief=1, ps=1)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: "evaluated step" in tasks["evaluator:0"].log, _TIMEOUT_SECS)
        jobs.kill(tasks["evaluator:0"])
        (tmp_path / "again").mkdir()
        tf_config = json.dumps({"cluster": hosts, "task": {"type": "evaluator", "index": 0}})
        tasks["evaluator:0"] = jobs.start(tmp_path / "again", "evaluator:0", args, tf_config)
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert jobs.evaluated_steps(tmp_path / "model").count(1200) == 1
    assert len(list((tmp_path / "model" / "export" / "final").iterdir())) == 1


@pytest.mark.parametrize("kind", _CLUSTERS)
def test_a_models_own_saving_listeners_are_called_on_the_chief_alone(kind, flags, tmp_path):
    hosts, extra = _cluster(kind)
    args = flags("--train_steps=120", f"--param=listener={tmp_path}/saved", *extra)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    steps = [int(line) for line in (tmp_path / "saved").read_text().split()]
    assert steps[0] == 0 and steps == sorted(set(steps)) and 3 <= len(steps) <= 5


def test_a_models_own_session_config_keeps_the_roles_device_filters(flags, tmp_path):
    """Chief and worker:0 train without worker:1, which never comes (pains P53)."""
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    args = flags("--train_steps=100")
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.kill(tasks.pop("worker:1"))
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    assert 100 <= jobs.saved_step(tmp_path / "model") <= 102


def test_a_run_without_progress_prints_all_stacks_and_ends_with_142(flags, tmp_path):
    task = jobs.start(tmp_path, "local", flags("--param=step_secs=1000"), "")
    try:
        _wait_for_all({"local": task}, 60)
    finally:
        jobs.kill(task)
    assert task.code == 142
    assert task.last_line == 'role=local status=lost step=0 reason="no progress for 30 s"'
    assert task.log.count("hread 0x") > 2 and "in train_and_evaluate" in task.log


def test_the_thread_flags_hold_for_servers_too(flags, tmp_path):
    hosts, threads = jobs.cluster(chief=1, ps=1), []
    tf_config = json.dumps({"cluster": hosts, "task": {"type": "ps", "index": 0}})
    for count in (1, 40):
        task = jobs.start(tmp_path, f"ps:{count}", flags(
            f"--intra_op_threads={count}", f"--inter_op_threads={count}"), tf_config)
        try:
            jobs.wait_for(lambda t=task: "serves variables" in t.log, _TIMEOUT_SECS)
            status = pathlib.Path(f"/proc/{task.process.pid}/status").read_text()
            threads.append(int(re.search(r"Threads:\s+(\d+)", status)[1]))
        finally:
            jobs.kill(task)
    assert threads[1] - threads[0] >= 39, threads


def test_an_evaluators_memory_grows_less_than_a_megabyte_an_evaluation(flags, tmp_path):
    args = flags("--train_steps=0", "--save_checkpoints_steps=10", "--exporters=none")
    with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), args, evaluator=True) as tasks:
        evaluator = tasks["evaluator:0"]
        megabytes = []
        for evaluations in (10, 60):
            jobs.wait_for(lambda n=evaluations: evaluator.log.count("evaluated step") >= n,
                          _TIMEOUT_SECS)
            status = pathlib.Path(f"/proc/{evaluator.process.pid}/status").read_text()
            megabytes.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024)
    assert (megabytes[1] - megabytes[0]) / 50 < 1, megabytes
