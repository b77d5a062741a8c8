"""When a task is gone, comes back or hangs, the right ones end, and a rerun goes on from there."""

from __future__ import annotations

import json
import re
import signal

import pytest

from benchmarks.chaos import job as chaos_job, promises, schedules
from tests.support import jobs, line_model, slow_jobs
from tests.support.slow_jobs import flags, TIMEOUT_SECS

pytestmark = pytest.mark.cluster


@pytest.mark.soak  # test_launch kills a worker too.
def test_others_go_on_without_a_killed_worker_and_it_joins_again(tmp_path):
    # Six processes start here, on a machine that may be busy with others.
    args = flags(tmp_path, "--train_steps=100000", "--peer_timeout_secs=30",
                 "--stall_timeout_secs=60")
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: all(slow_jobs.trains(tasks[f"worker:{i}"]) for i in range(2)),
                      TIMEOUT_SECS)
        jobs.kill(tasks["worker:1"])
        killed_at = tasks["worker:0"].losses[-1][0]
        tf_config = json.dumps({"cluster": hosts, "task": {"type": "worker", "index": 1}})
        (tmp_path / "again").mkdir()
        tasks["worker:1"] = jobs.start(tmp_path / "again", "worker:1", args, tf_config)
        jobs.wait_for(lambda: slow_jobs.trains(tasks["worker:1"]), TIMEOUT_SECS)
        jobs.wait_for(lambda: slow_jobs.trains(tasks["worker:0"], killed_at + 100), TIMEOUT_SECS)
        assert tasks["chief:0"].code is None
        slow_jobs.send(tasks["chief:0"], signal.SIGTERM)
        slow_jobs.wait_for_all(tasks)
    slow_jobs.assert_codes(tasks, 143)
    assert tasks["chief:0"].log.count("training from step") == 1


def test_training_resumes_from_the_checkpoint_when_a_ps_comes_back(tmp_path):
    args = flags(tmp_path, "--train_steps=800", "--save_checkpoints_steps=50",
                 "--peer_timeout_secs=30")
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: slow_jobs.has_saved(tmp_path, 100), TIMEOUT_SECS)
        jobs.kill(tasks["ps:0"])
        (tmp_path / "again").mkdir()
        tf_config = json.dumps({"cluster": hosts, "task": {"type": "ps", "index": 0}})
        tasks["ps:0"] = jobs.start(tmp_path / "again", "ps:0", args, tf_config)
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    steps = [int(s) for s in re.findall(r"training from step (\d+)", tasks["chief:0"].log)]
    assert len(steps) == 2 and steps[1] >= 100
    assert jobs.saved_step(tmp_path / "model") >= 800


@pytest.mark.soak
def test_synchronous_trainers_killed_at_once_train_on_with_their_ps(tmp_path):
    """A worker that began before its chief lost its gradient, and each waited for the other's."""
    schedule = schedules.make(seed=0, number=15)
    assert (schedule.shape, schedule.faults[0].victims) == (
        "synchronous", ("worker:0", "chief:0"))
    ended = chaos_job.run(schedule, tmp_path / "job")
    assert not promises.broken(ended)
    assert 142 not in [process.running.code for process in ended.processes]


# Tasks end with 142 too where an all-reduce begins again.
@pytest.mark.soak
@pytest.mark.parametrize("kind, victim", [
    ("asynchronous", "ps:0"), ("asynchronous", "chief:0"), ("all-reduce", "chief:0"),
    ("all-reduce", "worker:0"), slow_jobs.soak("parameter_server", "ps:0", any_tensorflow=True)])
def test_a_task_that_is_gone_for_good_ends_the_others_with_142(kind, victim, tmp_path):
    hosts, extra = slow_jobs.cluster(kind)
    args = flags(tmp_path, "--train_steps=20000", "--save_checkpoints_steps=50",
                 "--peer_timeout_secs=5", *extra)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: slow_jobs.has_saved(tmp_path, 50), TIMEOUT_SECS)
        jobs.kill(tasks.pop(victim))
        slow_jobs.wait_for_all(tasks, 60)
    slow_jobs.assert_codes(tasks, 142)
    trainers = [t for name, t in tasks.items() if name.startswith(("chief", "worker"))]
    assert any(victim in t.last_line for t in trainers), [t.last_line for t in trainers]
    step = jobs.saved_step(tmp_path / "model")
    args = [*args, "--train_steps=200"]
    assert 50 <= step <= slow_jobs.rerun(tmp_path, hosts, args, evaluator=True) <= step + 20


@pytest.mark.soak
def test_a_worker_stopped_before_an_all_reduce_joins_when_restarted(tmp_path):
    hosts = jobs.cluster(chief=1, worker=2)
    args = flags(tmp_path, "--train_steps=50", "--train_distribute=multi_worker_mirrored")

    def start(role, index=0):
        folder = tmp_path / str(len(started))
        folder.mkdir()
        tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": index}})
        started.append(jobs.start(folder, f"{role}:{index}", args, tf_config))
        return started[-1]

    started = []
    try:
        start("chief")
        first = start("worker")
        jobs.wait_for(lambda: list(tmp_path.glob("model/tasks/*.worker-0.joined")), TIMEOUT_SECS)
        slow_jobs.send(first, signal.SIGTERM)
        jobs.wait_for(lambda: first.code is not None, 20)
        assert not list(tmp_path.glob("model/tasks/*.worker-0.joined"))
        start("worker")
        start("worker", 1)
        jobs.wait_for(lambda: all(task.code is not None for task in started), TIMEOUT_SECS)
        assert [task.code for task in started] == [0, 143, 0, 0], [t.log[-2000:] for t in started]
    finally:
        for task in started:
            jobs.kill(task)


_PAUSE = '''

class _Pause(tf.estimator.SessionRunHook):
    def end(self, session):
        open("{0}/at_end", "w").close()
        while not tf.io.gfile.exists("{0}/go_on"):
            pass


_model_fn = model_fn


def model_fn(features, labels, mode, params):
    spec = _model_fn(features, labels, mode, params)
    return spec._replace(training_chief_hooks=[_Pause()]) if mode == "train" else spec
'''


@pytest.mark.soak
def test_a_ps_lost_at_the_end_of_training_does_not_fail_the_job(tmp_path):
    plugin = line_model.write(tmp_path)
    plugin.write_text(plugin.read_text() + _PAUSE.format(tmp_path))
    args = [f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={tmp_path}/model",
            "--train_steps=40", "--save_checkpoints_steps=20", "--peer_timeout_secs=5"]
    hosts = jobs.cluster(chief=1, ps=1)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for((tmp_path / "at_end").exists, TIMEOUT_SECS)
        jobs.kill(tasks.pop("ps:0"))
        (tmp_path / "go_on").touch()
        slow_jobs.wait_for_all(tasks)
    slow_jobs.assert_codes(tasks, 142)
    assert "ps:0" in tasks["chief:0"].last_line
    (tmp_path / "again").mkdir()
    with jobs.running(tmp_path / "again", hosts, args) as tasks:
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    assert jobs.result(tmp_path / "model")["status"] == "done"


@pytest.mark.parametrize("victim", ["worker:0", slow_jobs.soak("chief:0")])
def test_an_all_reduce_begins_again_when_a_task_is_restarted(victim, tmp_path):
    """The new process answers, so its peers do not see that their sums wait for the old one."""
    hosts, extra = slow_jobs.cluster("all-reduce")
    args = flags(tmp_path, "--train_steps=20000", "--save_checkpoints_steps=50", *extra)
    role, _, index = victim.partition(":")
    tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": int(index)}})
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["chief:0"], 60), TIMEOUT_SECS)
        jobs.kill(tasks[victim])
        (tmp_path / "again").mkdir()
        tasks[victim] = jobs.start(tmp_path / "again", victim, args, tf_config)
        [survivor] = [task for name, task in tasks.items() if name != victim]
        slow_jobs.wait_for_all({"survivor": survivor}, 60)
        assert survivor.code == 142
        assert re.search(f"{victim} (was started again|at .* is down)", survivor.last_line)


@pytest.mark.soak
def test_a_stopped_process_in_an_all_reduce_is_named_and_ends_the_others(tmp_path):
    hosts, extra = slow_jobs.cluster("all-reduce")
    args = flags(tmp_path, "--train_steps=2000", "--save_checkpoints_steps=50",
                 "--peer_timeout_secs=5", *extra)
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["chief:0"], 60), TIMEOUT_SECS)
        slow_jobs.send(tasks["worker:0"], signal.SIGSTOP)
        slow_jobs.wait_for_all({"chief:0": tasks["chief:0"]}, 60)
    assert tasks["chief:0"].code == 142
    assert "worker:0" in tasks["chief:0"].last_line and "silent" in tasks["chief:0"].last_line
    assert "Thread 0x" in tasks["chief:0"].log


@pytest.mark.soak
def test_an_evaluator_killed_and_restarted_makes_one_final_export(tmp_path):
    args = flags(tmp_path, "--train_steps=600", "--save_checkpoints_steps=20")
    hosts = jobs.cluster(chief=1, ps=1)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: "evaluated step" in tasks["evaluator:0"].log, TIMEOUT_SECS)
        jobs.kill(tasks["evaluator:0"])
        (tmp_path / "again").mkdir()
        tf_config = json.dumps({"cluster": hosts, "task": {"type": "evaluator", "index": 0}})
        tasks["evaluator:0"] = jobs.start(tmp_path / "again", "evaluator:0", args, tf_config)
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    assert jobs.evaluated_steps(tmp_path / "model").count(600) == 1
    assert len(list((tmp_path / "model" / "export" / "final").iterdir())) == 1


def test_a_models_own_session_config_keeps_the_roles_device_filters(tmp_path):
    """Chief and worker:0 train without worker:1, which never comes."""
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    args = flags(tmp_path, "--train_steps=100")
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.kill(tasks.pop("worker:1"))
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    assert 100 <= jobs.saved_step(tmp_path / "model") <= 102


@pytest.mark.soak
def test_a_run_without_progress_prints_all_stacks_and_ends_with_142(tmp_path):
    task = jobs.start(tmp_path, "local", flags(
        tmp_path, "--param=step_secs=1000", "--stall_timeout_secs=8"), "")
    try:
        slow_jobs.wait_for_all({"local": task}, 60)
    finally:
        jobs.kill(task)
    assert task.code == 142
    assert task.last_line == 'role=local status=lost step=0 reason="no progress for 8 s"'
    assert task.log.count("hread 0x") > 2 and "in train_and_evaluate" in task.log
