"""The command line: help, mistakes in one sentence, and what it imports."""

from __future__ import annotations

import gc
import json
import socket
import subprocess
import sys
import tempfile
import textwrap

import pytest

from estimator_trainer import __version__, cli
from tests.support import jobs

_BROKEN = {
    "no_spec": "def model_fn(features, labels, mode): return {'loss': 1}",
    "no_dataset": "def input_fn(mode): return [1, 2]",
    "endless": """
        import tensorflow as tf
        def input_fn(mode):
            return tf.data.Dataset.from_tensors(({'image': [[1.0]]}, [0])).repeat()""",
    "bad_import": "import not_a_package\ndef model_fn(features): pass",
}

_LIGHT = [
    (["--train_stps=5"], "unknown"),
    (["trian"], "command is 'trian'"),
    (["--model_fn=cn"], "model_fn is 'cn' (from --model_fn)"),
    (["--param", "batch_size=big"], "expected an integer"),
    (["--train_distribute=parameter_server"], "parameter_server"),
    (["--params_file=/nowhere.json"], "No such file"),
]


@pytest.mark.parametrize("args", [
    ["--help"], ["manifest", "--help"], ["--version"], ["train", "--version"], ["check"],
    ["check", "--json"], ["list"], ["list", "--json"]])
def test_main_answers_without_tensorflow(args, no_tensorflow):
    ran = jobs.program(*args, PYTHONPATH=no_tensorflow)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout and not ran.stderr


def test_import_of_cli_loads_nothing_that_only_one_command_needs():
    code = ("import sys; from estimator_trainer import cli\n"
            "print({'yaml', 'tensorflow', 'numpy', 'estimator_trainer.launcher',"
            " 'estimator_trainer.checks.printout', 'estimator_trainer.roles'} & set(sys.modules))")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=60, check=True)
    assert ran.stdout == "set()\n"


def test_help_imports_no_parser_and_no_command():
    code = ("import sys; before = set(sys.modules); from estimator_trainer import cli\n"
            "cli.main(['--help'])\n"
            "print({'absl', 'absl.flags', 'logging', 'importlib.metadata', 'email',"
            " 'estimator_trainer.commands'} & (set(sys.modules) - before))")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=60, check=True)
    assert "usage: estimator-trainer" in ran.stdout and ran.stdout.endswith("\nset()\n")


def test_main_is_the_console_script():
    assert jobs.program("--version").stdout.startswith(f"estimator_trainer {__version__}, T")
    assert sys.modules["estimator_trainer.cli"].main is cli.main


@pytest.mark.cluster
def test_main_freezes_tensorflows_objects_and_collects_garbage_again(tmp_path):
    code = (f"import gc; from estimator_trainer import cli; cli.main(['export',"
            f" '--model_dir={tmp_path}']); print(gc.isenabled(), gc.get_freeze_count() > 100000)")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=120, check=False)
    assert ran.stdout.splitlines()[-1:] == ["True True"], ran.stderr


@pytest.mark.any_tensorflow
def test_main_freezes_nothing_of_a_caller_that_has_tensorflow(tmp_path):
    import tensorflow as tf  # noqa: F401
    before = gc.get_freeze_count()
    assert cli.main(["export", f"--model_dir={tmp_path}"]) == 2
    assert gc.isenabled() and gc.get_freeze_count() <= before


def test_help_as_the_value_of_a_flag_is_a_value(capsys, tmp_path):
    assert cli.main(["predict", "--checkpoint", "help", f"--model_dir={tmp_path}"]) == 2
    output = capsys.readouterr()
    assert "checkpoint is 'help' (from --checkpoint)" in output.err and not output.out


def test_help_of_a_command(capsys):
    assert cli.main(["manifest", "--help"]) == cli.main(["help", "manifest"]) == 0
    output = capsys.readouterr().out
    assert output.count("usage: estimator-trainer manifest") == 2 and "--train_steps" not in output


def _broken(tmp_path, name):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(_BROKEN[name]))
    return str(path)


@pytest.mark.parametrize("args, expected", _LIGHT)
def test_main_ends_with_one_sentence_without_tensorflow(args, expected, tmp_path, no_tensorflow):
    model_dir = tmp_path / "model"
    ran = jobs.program(*args, f"--model_dir={model_dir}", PYTHONPATH=no_tensorflow)
    _assert_one_sentence(ran, expected, model_dir)


@pytest.mark.parametrize("words", [
    ["train"], ["launch", "--worker=1", "--ps=1", "--"],
    ["manifest", "--platform=slurm", "--worker=1", "--ps=1", "--output_dir=OUT", "--"]])
@pytest.mark.parametrize("name, plain", [
    ("run[1]", "run-1"), ("run*", "run"), ("a?b", "a-b"), ("a\\b", "a-b"), ("*", "job")])
def test_main_refuses_a_model_dir_that_is_a_pattern(words, name, plain, tmp_path, capsys):
    words = [word.replace("OUT", f"{tmp_path}/out") for word in words]
    assert cli.main([*words, f"--model_dir={tmp_path}/{name}"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"model_dir is {f'{tmp_path}/{name}'!r} (from --model_dir)" in line
    assert "without [, *, ? and \\. For example: " in line
    assert line.endswith(f"--model_dir={tmp_path}/{plain}")
    assert not list(tmp_path.iterdir())


@pytest.mark.cluster
@pytest.mark.parametrize("flag, name, expected", [
    ("model_fn", "no_spec", "returned a dict in mode 'eval'; expected a tf.estimator"),
    ("input_fn", "no_dataset", "returned a list in mode 'eval'; expected a tf.data.Dataset"),
    ("input_fn", "endless", "evaluation would never end"),
    ("model_fn", "bad_import", "No module named 'not_a_package'"),
])
def test_main_ends_with_one_sentence_for_a_broken_plugin(flag, name, expected, tmp_path, data_dir):
    model_dir = tmp_path / "model"
    ran = jobs.trainer(f"--{flag}={_broken(tmp_path, name)}", f"--model_dir={model_dir}",
                       *([f"--param=data_dir={data_dir}"] if flag == "model_fn" else
                         ["--param=num_classes=2"]))
    assert ran.stderr.rstrip().rpartition("\n")[2].startswith("role=local status=failed")
    body = "\n".join(line for line in ran.stderr.splitlines() if not _is_log_line(line))
    assert expected in body and len(body.splitlines()) == 1, ran.stderr
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert not model_dir.exists()


def test_main_refuses_a_cluster_without_model_dir():
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    ran = jobs.program(TF_CONFIG=json.dumps({"cluster": hosts,
                                             "task": {"type": "chief", "index": 0}}))
    _assert_one_sentence(ran, "model_dir is missing")


def test_main_names_a_taken_port():
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    host, _, port = hosts["worker"][0].partition(":")
    with socket.create_server((host, int(port))):
        ran = jobs.program("--model_dir=/tmp/unused", TF_CONFIG=json.dumps(
            {"cluster": hosts, "task": {"type": "worker", "index": 0}}))
    _assert_one_sentence(ran, f"port {port} is taken")


def test_main_refuses_workers_without_ps_or_strategy():
    hosts = jobs.cluster(chief=1, worker=1)
    ran = jobs.program("--model_dir=/tmp/unused", TF_CONFIG=json.dumps(
        {"cluster": hosts, "task": {"type": "worker", "index": 0}}))
    _assert_one_sentence(ran, "--train_distribute=multi_worker_mirrored")


def _is_log_line(line):
    return line.startswith("role=") or line[2:3] == ":"


def _assert_one_sentence(ran, expected, model_dir=None):
    assert ran.returncode == 2, ran.stderr
    assert expected in ran.stderr and ran.stderr.startswith("estimator-trainer: ")
    assert len(ran.stderr.splitlines()) == 1 and "Traceback" not in ran.stderr, ran.stderr
    assert model_dir is None or not model_dir.exists()


def test_main_needs_a_folder_for_temporary_files(tmp_path, monkeypatch, capsys):
    def refuse():
        raise FileNotFoundError("No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    assert cli.main([f"--model_dir={tmp_path}"]) == 2
    text = capsys.readouterr().err
    assert "TMPDIR" in text and "For example: docker run --read-only --tmpfs /tmp" in text
