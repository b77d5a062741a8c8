"""What `check` finds out about a machine, a cluster and a model_dir; what it never shows."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import socket
import sys
import threading
import time

import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer.cluster import ports
from estimator_trainer.cluster import task_config
from estimator_trainer.environment import Environment
from estimator_trainer.plan import machine_check
from estimator_trainer.plan import report
from estimator_trainer.plan import run_plan
from estimator_trainer.plan.findings import Findings
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

_SECRET = "AKIA-fake-secret-9f3b"


def _tf_config(hosts, role="worker", index=0, **extra):
    return json.dumps({"cluster": hosts, "task": {"type": role, "index": index}, **extra})


def _examine(tf_config="", is_probing=False, **settings):
    plan = run_plan.for_training(TrainerConfig(**settings), Environment(tf_config=tf_config))
    return machine_check.examine(plan, Environment(), is_probing)


def _check(capsys, *args):
    """Returns the exit code and the JSON of `check --json`, in this process."""
    code = cli.main(["check", "--json", *args])
    return code, json.loads(capsys.readouterr().out)


@contextlib.contextmanager
def _socket(host, *options, listens):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as made:
        for option in options:
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind((host, 0))
        if listens:
            made.listen()
        yield made.getsockname()[1]


def _task_at(port):
    hosts = {"chief": ["127.0.0.1:1"], "worker": [f"127.0.0.1:{port}"]}
    return task_config.parse(_tf_config(hosts))


def _tensorflow_starts_at(port):
    try:
        return tf.distribute.Server({"worker": [f"127.0.0.1:{port}"]}, "worker", 0) is not None
    except tf.errors.OpError:
        return False


_REUSE = (socket.SO_REUSEADDR, socket.SO_REUSEPORT)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::"])
@pytest.mark.parametrize("options, listens", [
    ((), True), ((), False), (_REUSE[:1], True), (_REUSE[:1], False), (_REUSE[1:], True),
    (_REUSE[1:], False), (_REUSE, True), (_REUSE, False)])
def test_a_port_is_taken_just_if_tensorflow_could_not_have_it(host, options, listens):
    with _socket(host, *options, listens=listens) as port:
        problems = ports.problems(_task_at(port))
        assert bool(problems) == (listens or socket.SO_REUSEADDR not in options)
        assert bool(problems) != _tensorflow_starts_at(port)


def test_a_listener_on_the_other_loopback_takes_the_port_too():
    with _socket("::1", listens=True) as port:
        assert ports.problems(_task_at(port))


def test_who_listens_at_a_taken_port_is_named():
    with _socket("127.0.0.1", listens=True) as port:
        [problem] = ports.problems(_task_at(port))
    name = pathlib.Path(sys.executable).name
    assert f"port {port} is taken on this machine by process {os.getpid()} (" in problem
    assert name in problem and "Stop the process" in problem
    assert not ports.problems(_task_at(port))


def test_a_port_of_another_user_is_not_blamed_on_anyone(monkeypatch, tmp_path):
    with _socket("127.0.0.1", listens=True) as port:
        (tmp_path / "net").mkdir()
        for name in ("tcp", "tcp6"):
            shutil.copy(f"/proc/net/{name}", tmp_path / "net" / name)
        monkeypatch.setattr(ports, "_PROC", tmp_path)
        [problem] = ports.problems(_task_at(port))
    assert "taken on this machine by a process of another user; expected a free port" in problem


def test_a_task_listens_where_it_is_known_to(tmp_path):
    """On every interface, whatever the cluster says: a firewall has to keep strangers out."""
    [address] = jobs.free_addresses(1)
    server = tf.distribute.Server({"worker": [address]}, "worker", 0)
    port = int(address.rpartition(":")[2])
    lines = pathlib.Path("/proc/net/tcp6").read_text().splitlines()
    assert [line.split()[1] for line in lines if f":{port:04X} " in line and " 0A " in line] == [
        f"{'0' * 32}:{port:04X}"]
    del server


def test_hosts_that_do_not_resolve_are_warnings_for_their_names_may_come_with_them():
    found = _examine(_tf_config({"chief": ["no-such-host.invalid:1"], "worker": ["[::1]:2"],
                                 "ps": ["localhost:3"]}), model_dir="/tmp")
    [warning] = found.warnings
    assert "'no-such-host.invalid'" in warning and "getent hosts" in warning


@pytest.mark.timeout(60)
def test_a_name_server_that_hangs_costs_a_bounded_time(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(machine_check.deadlines, "CHECK_SECS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: answered.wait(300))
    found = _examine(_tf_config({"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}),
                     model_dir="gs://bucket/job")
    assert len(found.warnings) == 3 and "no answer in" in found.warnings[0]
    answered.set()


def test_a_model_dir_that_cannot_be_written_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # Root may write anywhere.
    [problem] = _examine(model_dir=str(tmp_path / "a" / "b")).problems
    assert f"{tmp_path} cannot be written" in problem and "ls -ld" in problem


def test_a_disk_with_too_little_room_for_checkpoints_is_a_warning(monkeypatch, tmp_path):
    usage = shutil.disk_usage(tmp_path)._replace(free=5 << 30)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert not _examine(model_dir=str(tmp_path)).warnings
    for step, gib in ((9, 1), (10, 2)):
        with (tmp_path / f"model.ckpt-{step}.data-00000-of-00001").open("wb") as file:
            file.truncate(gib << 30)
    [warning] = _examine(model_dir=str(tmp_path)).warnings
    assert "has 5.0 GiB of free disk, and the newest checkpoint takes 2.0 GiB" in warning
    assert "at least 6.0" in warning and "--keep_checkpoint_max=1" in warning


def test_a_remote_model_dir_is_looked_at_with_probe_only():
    found = _examine(model_dir="gs://bucket/job")
    assert not found.problems and not found.warnings and "free disk" not in found.facts


def test_a_plugin_that_imports_what_is_not_there_is_a_problem_without_importing_it(tmp_path):
    (tmp_path / "neighbour.py").write_text("raise ImportError('was imported')\n")
    path = tmp_path / "own.py"
    path.write_text(
        "from __future__ import annotations\n"
        "import os.path, neighbour\nimport not_there.inner as n\nfrom nor_this import x\n"
        "from . import nothing\n"
        "try:\n    import optional\nexcept ImportError:\n    optional = None\n"
        "if TYPE_CHECKING:\n    import for_types\n"
        "def model_fn(features):\n    import later\n")
    problems = _examine(model_fn=str(path)).problems
    assert [f"line {line}, imports '{name}'" in problem for problem, line, name in zip(
        problems, (3, 4), ("not_there", "nor_this"), strict=True)] == [True, True]
    assert "PYTHONPATH" in problems[0]


def test_gpus_are_listed_without_tensorflow(monkeypatch, tmp_path):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100 (UUID: GPU-1)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert machine_check.examine(run_plan.for_training(TrainerConfig(), Environment()), Environment(
        cuda_visible_devices="")).facts == {"gpus": ["GPU 0: NVIDIA H100"],
                                            "CUDA_VISIBLE_DEVICES": "''"}


def test_peers_are_asked_with_probe_only(monkeypatch):
    server = tf.distribute.Server.create_local_server()
    [down] = jobs.free_addresses(1)
    with _socket("127.0.0.1", listens=True) as silent:
        monkeypatch.setattr(machine_check.deadlines, "PEER_ANSWER_SECS", 0.3)
        hosts = {"chief": [server.target.removeprefix("grpc://")], "ps": [f"127.0.0.1:{silent}"],
                 "worker": [jobs.free_addresses(1)[0], down]}
        text = _tf_config(hosts)
        assert not _examine(text, model_dir="gs://b/j").warnings
        found = _examine(text, is_probing=True, model_dir="gs://b/j")
    assert [found.facts[f"peer {name}"].split()[0] for name in ("chief:0", "worker:1", "ps:0")] == [
        "up", "down", "silent"]
    assert len(found.warnings) == 2 and "firewall" in found.warnings[0]


def test_what_was_found_is_printed_for_people_and_for_machines():
    plan = run_plan.for_training(TrainerConfig(), Environment())
    found = Findings(["a problem"], ["a warning"], {"a fact": ["x", "y"], "a longer name": 3})
    lines = report.describe(plan, found, as_json=False).splitlines()
    assert lines[-3:] == ["WARNING  a warning", "PROBLEM  a problem", "1 problems"]
    assert "a fact            x; y" in lines
    shown = json.loads(report.describe(plan, found, as_json=True))
    assert shown["problems"] == ["a problem"] and shown["warnings"] == ["a warning"]
    assert shown["facts"]["a longer name"] == 3


def test_a_param_that_is_a_list_of_numbers_is_shown(capsys, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("DEFAULT_PARAMS = {'sizes': [1, 2]}\ndef model_fn(features): pass\n")
    assert cli.main(["check", f"--model_fn={path}"]) == 0
    assert "sizes='1,2'" in capsys.readouterr().out


def test_warnings_do_not_change_the_exit_code_and_problems_do(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", _tf_config(
        {"chief": ["a.invalid:1"], "worker": ["b.invalid:1"], "ps": ["c.invalid:1"]}))
    code, shown = _check(capsys, f"--model_dir={tmp_path}")
    assert code == 0 and len(shown["warnings"]) == 3
    path = tmp_path / "own.py"
    path.write_text("import not_there\ndef model_fn(features): pass\n")
    code, shown = _check(capsys, f"--model_dir={tmp_path}", f"--model_fn={path}", "--probe")
    assert code == 2 and len(shown["problems"]) == 1
    assert "--probe did not try" in shown["warnings"][-1]


@pytest.mark.cluster
def test_probe_tells_the_data_and_who_shares_model_dir(tmp_path, data_dir):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    flags = ("check", "--probe", "--json", f"--param=data_dir={data_dir}",
             f"--model_dir={tmp_path}/model")

    def run(role):
        ran = jobs.trainer(*flags, TF_CONFIG=_tf_config(hosts, role))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout)

    alone = run("worker")
    assert alone["facts"]["features"] == ["image float32(None, 8, 8, 1)"]
    assert alone["facts"]["labels"] == "int64(None,)" and alone["facts"]["gpus of TensorFlow"]
    assert any("shows no sign of chief:0" in warning for warning in alone["warnings"])
    run("chief")
    both = run("worker")
    assert not any("no sign" in warning for warning in both["warnings"])
    assert len(both["facts"]["model_dir written by"]) == 2


@pytest.mark.cluster
def test_probe_reports_what_only_tensorflow_finds(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("def input_fn(mode): raise KeyError('no such column')\n")
    (tmp_path / "file").write_text("")
    ran = jobs.trainer("check", "--probe", "--json", f"--input_fn={path}",
                       f"--model_dir={tmp_path}/file/job")
    problems = json.loads(ran.stdout)["problems"]
    assert ran.returncode == 2 and len(problems) == 2, ran.stdout + ran.stderr
    assert "cannot be written" in problems[0] and "no such column" in problems[1]


@pytest.mark.cluster
def test_a_worker_says_that_model_dir_is_not_shared_with_its_chief(tmp_path):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    slow = jobs.REPO / "tests" / "support" / "slow.py"
    tasks = []
    try:
        for role in hosts:
            folder = tmp_path / ("own" if role == "worker" else "shared")
            tasks.append(jobs.start(tmp_path, f"{role}:0", [
                f"--model_fn={slow}", f"--input_fn={slow}", f"--model_dir={folder}",
                "--peer_timeout_secs=6"], _tf_config(hosts, role)))
        said = "seems not to be shared with chief:0, which answers at " + hosts["chief"][0]
        jobs.wait_for(lambda: said in tasks[1].log, 60)
        time.sleep(2)
        assert tasks[1].log.count(said) == 1
        assert "not to be shared" not in tasks[0].log + tasks[2].log
    finally:
        for task in tasks:
            jobs.kill(task)


@pytest.mark.cluster
def test_no_secret_of_the_environment_or_of_job_is_shown_or_written(tmp_path, data_dir):
    job = {"job_args": [f"--token={_SECRET}"]}
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    broken = {**hosts, "wroker": ["a:1"]}
    texts = [_tf_config({}, "chief", job=job, secret=_SECRET), _tf_config(hosts, job=job),
             _tf_config(broken, job=json.dumps(job)), _tf_config({}, job=job)[:-1],
             _tf_config({"chief": ["a:1"]}, "chief", job=job).replace('"', "'"),
             json.dumps(_tf_config(hosts, job=job)), _tf_config({}, job=json.dumps(job))[:-1]]
    commands = [[], ["check", "--json"], ["check", "--probe"]]
    for text, command in [(texts[0], commands[0]), (texts[1], commands[2]),
                          *((text, commands[1]) for text in texts)]:
        ran = jobs.trainer(*command, f"--model_dir={tmp_path}/model", "--train_steps=20",
                           f"--param=data_dir={data_dir}", TF_CONFIG=text,
                           AWS_SECRET_ACCESS_KEY=_SECRET)
        assert _SECRET not in ran.stdout + ran.stderr, ran.stdout + ran.stderr
    written = [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert "result.json" in [path.name for path in written]
    assert not [path for path in written if _SECRET.encode() in path.read_bytes()]
