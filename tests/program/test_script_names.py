"""A script and its functions see the task, by name and number, that the platform gave."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.support import jobs
from tests.support.slow_jobs import wait_for_all

pytestmark = pytest.mark.cluster

_SEEN = jobs.REPO / "tests" / "program" / "scripts" / "seen.py"
# A program that makes TF_CONFIG of its arguments, as those of lists of hosts did.
_BY_HAND = """
import os, runpy, sys
os.environ["TF_CONFIG"] = sys.argv.pop()
runpy.run_path({program!r}, run_name="__main__")
"""


def _ran(tmp_path, hosts, *arguments, evaluator=False, is_by_hand=False):
    """Runs the script as every task; returns what each task saw, by its name.

    Each is a list of dicts; `tf_config` in a dict is True if TF_CONFIG was as given.
    """
    script = tmp_path / "by_hand.py"
    script.write_text(_BY_HAND.format(program=str(_SEEN)))
    places = [(role, i) for role, addresses in hosts.items() for i in range(len(addresses))]
    tasks, texts = {}, {}
    try:
        for role, index in places + [("evaluator", 0)] * evaluator:
            name = f"{role}:{index}"
            # No dump of Python's is spaced like this.
            texts[name] = json.dumps({"cluster": hosts, "environment": "cloud",
                                      "task": {"index": str(index), "type": role}}, indent=1)
            words = ["run", "--noreport", str(script if is_by_hand else _SEEN), "--",
                     f"{tmp_path}/model", *arguments, *[texts[name]] * is_by_hand]
            tasks[name] = jobs.start(tmp_path, name, words, "" if is_by_hand else texts[name])
        wait_for_all(tasks)
        logs = {name: task.log for name, task in tasks.items()}
        codes = {name: task.code for name, task in tasks.items()}
    finally:
        for task in tasks.values():
            jobs.kill(task)
    assert codes == dict.fromkeys(codes, 0), logs
    found = {name: [json.loads(line[5:]) for line in log.splitlines() if line.startswith("SEEN ")]
             for name, log in logs.items()}
    return {name: [{**each, "tf_config": each["tf_config"] == texts[name]} for each in seen]
            for name, seen in found.items()}


def _assert_names(seen, chief, under_all_reduce=False):
    """Asserts that each function of the user's saw its task, as its platform calls it."""
    for name, each in seen.items():
        role, _, index = name.partition(":")
        for one in each:
            assert one["tf_config"] and one["task"] == {"type": role, "index": index}, one
            if one["where"].startswith(("input_fn", "model_fn")):
                own = one["task_type"], one["task_id"], one["is_chief"]
                expected = {(role, int(index), name == chief)}
                if under_all_reduce and role == "chief" and one["where"].endswith("eval"):
                    # The script's own evaluation: its plain RunConfig names no task.
                    expected.add(("worker", 0, True))
                assert own in expected, one


def _called(seen):
    return {one["where"] for one in seen if one["where"].startswith("model_fn")}


def test_workers_and_ps_without_a_chief_keep_their_numbers(tmp_path):
    hosts = jobs.cluster(worker=2, ps=1)
    seen = _ran(tmp_path, hosts)
    _assert_names(seen, "worker:0")
    assert _called(seen["worker:0"]) == {"model_fn train", "model_fn eval"}
    assert _called(seen["worker:1"]) == {"model_fn train"}
    # Plain TensorFlow refuses this RunConfig.
    assert [(one["task_type"], one["task_id"], one["is_chief"], one["cluster"] == hosts)
            for name in ("worker:0", "worker:1", "ps:0") for one in seen[name]
            if one["where"] == "script"] == [
        ("worker", 0, True, True), ("worker", 1, False, True), ("ps", 0, False, True)]


def test_a_scripts_own_master_trains_by_estimator_train_and_ends(tmp_path):
    seen = _ran(tmp_path, jobs.cluster(master=1, worker=1, ps=1), "none", "train", is_by_hand=True)
    _assert_names(seen, "master:0")
    assert _called(seen["master:0"]) == {"model_fn train", "model_fn eval"}


@pytest.mark.soak
@pytest.mark.parametrize("roles, strategy, evaluator", [
    ({"master": 1, "worker": 1, "ps": 1}, "none", False),
    ({"master": 1, "worker": 1, "ps": 1}, "none", True),
    ({"master": 1, "ps": 1}, "parameter_server", False),
    ({"worker": 2, "ps": 2}, "none", True),
    ({"worker": 2, "ps": 1}, "parameter_server", False),
    ({"worker": 2}, "multi_worker_mirrored", False),
    ({"worker": 2, "evaluator": 1}, "multi_worker_mirrored", False),
    ({"master": 1, "worker": 1}, "multi_worker_mirrored", True),
    ({"chief": 1, "worker": 1, "evaluator": 1}, "multi_worker_mirrored", False)])
def test_every_shape_of_a_job_keeps_the_names_of_its_platform(roles, strategy, evaluator, tmp_path):
    seen = _ran(tmp_path, jobs.cluster(**roles), strategy, evaluator=evaluator)
    _assert_names(seen, f"{next(iter(roles))}:0", strategy == "multi_worker_mirrored")
    is_evaluated = evaluator or "evaluator" in roles
    assert "model_fn train" in _called(seen[f"{next(iter(roles))}:0"])
    if is_evaluated:
        assert _called(seen["evaluator:0"]) == {"model_fn eval"}


def test_a_launched_master_keeps_its_name(tmp_path):
    (tmp_path / "loop.py").write_text(
        "import json, os\nprint('runs as', json.loads(os.environ['TF_CONFIG'])['task'])\n")
    ran = subprocess.run(
        [*jobs.PROGRAM, "launch", f"--log_dir={tmp_path}/logs", "--chief_name=master", "--worker=1",
         "--", "run", f"{tmp_path}/loop.py"],
        text=True, capture_output=True, timeout=120, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stdout
    for role in ("master", "worker"):
        assert f"runs as {{'type': '{role}', 'index': 0}}" in ran.stdout
    assert ran.stdout.splitlines()[-1].endswith(
        "job done, exit 0; no task of the script trained an Estimator"), ran.stdout


def test_a_plugin_sees_the_master_that_its_platform_started(tmp_path):
    (tmp_path / "mine.py").write_text("""
import os
import tensorflow as tf

print("IMPORTED", os.environ["TF_CONFIG"], tf.estimator.RunConfig().task_type, flush=True)

def input_fn(mode, config):
    x = tf.data.Dataset.from_tensor_slices(({"x": [1., 2.]}, [3., 6.])).batch(2)
    return x.repeat() if mode == "train" else x

def model_fn(features, labels, mode, config):
    print("MODEL", mode, config.task_type, config.is_chief, os.environ["TF_CONFIG"], flush=True)
    w = tf.compat.v1.get_variable("w", [])
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=features["x"] * w)
    loss = tf.reduce_mean((features["x"] * w - labels) ** 2)
    step = tf.compat.v1.train.get_or_create_global_step()
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=tf.compat.v1.train.GradientDescentOptimizer(.1).minimize(
            loss, step))
""")
    for job in ("master", "worker"):
        text = f'{{ "task":{{"type":"{job}", "index":0}}, "cluster":{{"{job}":["localhost:1"]}}}}'
        ran = jobs.trainer("--model_fn=./mine.py", "--input_fn=./mine.py", "--exporters=none",
                           f"--model_dir={tmp_path}/{job}", "--train_steps=2", "--noreport",
                           cwd=tmp_path, TF_CONFIG=text)
        assert ran.returncode == 0, ran.stderr
        assert {line for line in ran.stdout.splitlines() if line[:8] in ("IMPORTED", "MODEL tr",
                                                                         "MODEL ev")} == {
            f"IMPORTED {text} {job}", f"MODEL train {job} True {text}",
            f"MODEL eval {job} True {text}"}


def test_flags_of_a_program_of_tensorflow_1_win_over_those_of_absl():
    program = str(_SEEN.with_name("own_flags.py"))
    ran = jobs.program("run", "--tf1", program, "--", "--log_dir=mine", "--v", "--verbosity=DEBUG",
                       "--stderrthreshold=b,c", "--alsologtostderr=0.25", "--run_with_pdb=2",
                       "--model_dir=d", "twice")
    assert "OWN mine True DEBUG ['b', 'c'] 0.25 3 x y 2 z p 4 5 d ['twice']" in ran.stdout
    # absl's use of its own flags leaves the program's alone.
    assert "VERBOSITY DEBUG" in ran.stdout
    assert "absl logs at 0" in ran.stderr and "TensorFlow logs" in ran.stderr
    # Two definitions of the program's still collide.
    assert ran.returncode == 1
    assert "The flag 'log_dir' is defined twice. First from" in ran.stderr, ran.stderr
    assert "absl.logging" not in ran.stderr.splitlines()[-1]
