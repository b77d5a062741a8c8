"""Each task of `launch` gets its ports and its share of cores, GPUs and variables."""

from __future__ import annotations

import importlib.util
import io
import json
import pathlib
import socket

import pytest

from estimator_trainer import cli, environment, errors, machine
from estimator_trainer.launcher import launch, supervisor
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


def test_reserved_port_goes_to_its_task_alone(tmp_path):
    with launch.reserved("127.0.0.1", [("chief", 0), ("ps", 0), ("ps", 1)]) as cluster:
        assert list(map(len, cluster.values())) == [1, 2]
        port = int(cluster["chief"][0].rpartition(":")[2])
        with socket.socket() as greedy, pytest.raises(OSError):
            greedy.bind(("127.0.0.1", port))
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("", port))
            server.listen()
            tf_config = json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})
            ran = jobs.program(f"--model_dir={tmp_path}/m", TF_CONFIG=tf_config)
    assert ran.returncode == 2 and f"port {port} is taken" in ran.stderr


def test_reserved_refuses_a_host_that_is_not_this_machine():
    with pytest.raises(errors.ConfigError, match="not an address of this machine"):
        with launch.reserved("192.0.2.1", [("chief", 0)]):
            pass


@pytest.mark.parametrize("roles, gpus, cores, expected", [
    (["chief"], [], 8, [(8, "-1")]),
    (["chief", "worker", "ps"], ["0", "1"], 2, [(1, "0"), (1, "1"), (1, "-1")]),
    (["chief", "worker", "evaluator"], ["0", "1", "2"], 6, [(2, "0"), (2, "1"), (2, "2")]),
    (["chief", "worker", "evaluator"], ["4", "5"], 6, [(2, "4"), (2, "5"), (2, "-1")]),
    (["chief", "worker"], ["0", "1", "2", "3"], 8, [(4, "0,1"), (4, "2,3")]),
    (["chief", "worker", "worker"], ["7"], 1, [(1, "7"), (1, "7"), (1, "7")]),
])
def test_divide_shares_a_machine_among_the_tasks(roles, gpus, cores, expected):
    tasks = [(role, roles[:i].count(role)) for i, role in enumerate(roles)]
    assert launch.divide(tasks, gpus, cores) == expected


def test_divide_leaves_a_task_the_users_choice_of_threads(monkeypatch):
    monkeypatch.setenv("CLUSTER_SPEC", "{}")
    monkeypatch.setenv("TF_CONFIG", "{}")
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
    variables = environment.of_task('{"task": 1}', 2, "0")
    assert variables["TF_CONFIG"] == '{"task": 1}' and variables["CUDA_VISIBLE_DEVICES"] == "0"
    assert variables["TF_NUM_INTRAOP_THREADS"] == "7" and "CLUSTER_SPEC" not in variables
    assert variables["TF_NUM_INTEROP_THREADS"] == "2"
    assert variables["TF_GRPC_WORKER_CACHE_QUEUES"] == "4"


@pytest.mark.parametrize("variable, expected", [
    ("", []), ("-1", []), ("0", ["0"]), ("2, GPU-ab", ["2", "GPU-ab"]), ("1,-1,2", ["1"])])
def test_divide_shares_the_users_choice_of_gpus(variable, expected):
    assert machine.visible_gpus(variable) == expected


def _screen() -> tuple[supervisor.Screen, io.StringIO]:
    stream = io.StringIO()
    return supervisor.Screen(["chief:0"], None, stream), stream


def _stand_in(folder, monkeypatch, *lines: str) -> None:
    """Puts a program in the place of TensorBoard."""
    (folder / "tensorboard").mkdir()
    (folder / "tensorboard" / "__init__.py").touch()
    (folder / "tensorboard" / "main.py").write_text("\n".join(lines))
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_tensorboard_ends_with_the_context_after_its_address_was_shown(tmp_path, monkeypatch):
    _stand_in(tmp_path, monkeypatch, "import os, pathlib, sys, time",
              "pathlib.Path('pid').write_text(f'{os.getpid()} {sys.argv[1:]}')",
              "print('NOTE: loads', file=sys.stderr)",
              "print('TensorBoard 2.15.2 at http://localhost:6007/ (Press)', file=sys.stderr)",
              "time.sleep(100)")
    monkeypatch.chdir(tmp_path)
    screen, stream = _screen()
    with launch.running_tensorboard(screen, tmp_path, "gs://bucket/m"):
        jobs.wait_for(lambda: "6007" in stream.getvalue(), 20)
        pid, _, words = (tmp_path / "pid").read_text().partition(" ")
        assert words == "['--logdir=gs://bucket/m']"
    assert not (pathlib.Path("/proc") / pid).exists()
    assert stream.getvalue() == "launch  | TensorBoard: http://localhost:6007/\n"
    assert "NOTE: loads" in (tmp_path / "tensorboard.log").read_text()


def test_tensorboard_that_fails_is_named_and_the_job_goes_on(tmp_path, monkeypatch):
    _stand_in(tmp_path, monkeypatch, "import no_module")
    screen, stream = _screen()
    with launch.running_tensorboard(screen, tmp_path, "/m"):
        jobs.wait_for(lambda: "Error" in stream.getvalue(), 20)
    shown = stream.getvalue().splitlines()
    assert shown[0] == "launch  | TensorBoard: ModuleNotFoundError: No module named 'no_module'"


def test_tensorboard_is_refused_where_it_cannot_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").touch()
    ran = jobs.program("launch", "--tensorboard", "--", "run", "my.py")
    assert ran.returncode == 2 and ran.stderr == (
        "estimator-trainer: tensorboard is True (from --tensorboard), and the script chooses its"
        " model_dir; expected TensorBoard by its own command. For example: tensorboard"
        " --logdir=gs://bucket/job\n")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main(["launch", "--tensorboard", "--", f"--model_dir={tmp_path}/m"]) == 2
    assert "not installed here; expected an installed one" in capsys.readouterr().err
    (tmp_path / "new.csv").touch()
    assert cli.main(["launch", "--tensorboard", "--", "predict", f"--output={tmp_path}/p/",
                     f"--data={tmp_path}/new.csv", f"--model_dir={tmp_path}/m"]) == 2
    assert "(from --tensorboard), and the tasks predict" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
