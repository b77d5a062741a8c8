"""The command line: what is answered without TensorFlow, and every mistake in one sentence."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import textwrap

import pytest

from estimator_trainer import __version__
from estimator_trainer import cli
from estimator_trainer import errors
from estimator_trainer.settings import command_line
from estimator_trainer.settings import trainer_config
from tests.support import jobs

# Makes an import of TensorFlow fail, as a module of that name first on the path.
_NO_TENSORFLOW = "raise ImportError('TensorFlow was imported')\n"


@pytest.fixture
def no_tensorflow(tmp_path):
    folder = tmp_path / "no_tensorflow"
    folder.mkdir()
    (folder / "tensorflow.py").write_text(_NO_TENSORFLOW)
    return f"{folder}{os.pathsep}{jobs.REPO}"


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["check"], ["check", "--json"],
                                  ["list"], ["list", "--json"]])
def test_it_answers_without_tensorflow(args, no_tensorflow):
    ran = jobs.program(*args, PYTHONPATH=no_tensorflow)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout and not ran.stderr


def test_help_names_every_command_and_flag():
    text = command_line.help_text()
    assert all(f"  {command} " in text for command in command_line.COMMANDS)
    for field in trainer_config.dataclasses.fields(trainer_config.TrainerConfig):
        assert f"--{field.name}\n" in text and field.metadata["help"]


@pytest.mark.parametrize("argv, field, value", [
    (["--train_steps=5"], "train_steps", 5),
    (["train", "--train-steps", "5"], "train_steps", 5),
    (["--job-dir=/tmp/a"], "model_dir", "/tmp/a"),
    (["--job_dir", "/tmp/a"], "model_dir", "/tmp/a"),
    (["--job-dir=/tmp/a", "--model_dir=/tmp/b"], "model_dir", "/tmp/b"),
    (["--param", "a=1", "--param=b=2"], "param", ("a=1", "b=2")),
    (["--exporters=final,best"], "exporters", ("final", "best")),
    (["--verbose"], "verbose", True),
    (["--noverbose"], "verbose", False),
])
def test_a_flag_reaches_the_config_however_it_is_spelt(argv, field, value):
    parsed = command_line.parse(argv).config
    assert getattr(parsed, field) == value


def test_a_flagfile_is_read(tmp_path):
    (tmp_path / "job.flags").write_text("--train_steps=7\n--param=batch_size=8\n")
    parsed = command_line.parse([f"--flagfile={tmp_path}/job.flags"]).config
    assert parsed.train_steps == 7 and parsed.param == ("batch_size=8",)


def test_what_follows_two_dashes_is_for_every_task():
    line = command_line.parse(["launch", "--worker=2", "--ps=1", "--", "train", "--train_steps=7"])
    assert line.command == "launch" and line.flags == ("--train_steps=7",)
    assert line.config.train_steps == 7
    assert line.job.tasks == (("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0))


def test_parsing_leaves_no_flags_behind_for_plugins_to_collide_with():
    from absl import flags
    before = set(flags.FLAGS)
    command_line.parse([])
    assert set(flags.FLAGS) == before


@pytest.mark.parametrize("argv, expected", [
    (["--train_step=5"], "flag --train_step (from the command line) is unknown"),
    (["--train_step=5"], "Did you mean '--train_steps'?"),
    (["--train_steps=many"], "train_steps is 'many' (from --train_steps); expected an integer"),
    (["--verbose=maybe"], "expected true or false"),
    (["trian"], "command is 'trian' (from the command line)"),
    (["trian"], "Did you mean 'train'?"),
    (["train", "evaluate"], "command is 'evaluate'"),
    (["--flagfile=/nowhere"], "the flags cannot be read"),
    (["--train_steps"], "the flags cannot be read"),
    (["--train_steps=7", "launch"], "manifest, tf-config, check, list first of all"),
    (["launch", "--workers=2"], "Did you mean '--worker'?"),
    (["launch", "--train_steps=7"], "go after `--`: -- --train_steps=..."),
    (["launch", "--", "evaluate"], "launch got 'evaluate'"),
    (["launch", "--chief=0"], "expected a task that trains"),
    (["manifest", "--evaluator=2"], "a job has one evaluator. For example: --evaluator=1"),
])
def test_a_mistake_on_the_command_line_is_one_sentence(argv, expected):
    with pytest.raises(errors.ConfigError) as raised:
        command_line.parse(argv)
    assert expected in str(raised.value) and "\n" not in str(raised.value)


_BROKEN = {
    "no_spec": "def model_fn(features, labels, mode): return {'loss': 1}",
    "no_dataset": "def input_fn(mode): return [1, 2]",
    "endless": """
        import tensorflow as tf
        def input_fn(mode):
            return tf.data.Dataset.from_tensors(({'image': [[1.0]]}, [0])).repeat()""",
    "bad_import": "import not_a_package\ndef model_fn(features): pass",
}


def _broken(tmp_path, name):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(_BROKEN[name]))
    return str(path)


_LIGHT = [
    (["--train_stps=5"], "unknown"),
    (["trian"], "command is 'trian'"),
    (["--model_fn=cn"], "Did you mean 'cnn'?"),
    (["--input_fn=digit"], "Did you mean 'digits'?"),
    (["--param", "learning_rat=1"], "Did you mean 'learning_rate'?"),
    (["--param", "batch_size=big"], "expected an integer"),
    (["--train_distribute=mirror"], "Did you mean 'mirrored'?"),
    (["--train_distribute=parameter_server"], "parameter_server"),
    (["--params_file=/nowhere.json"], "No such file"),
    (["--exporters=finale"], "Did you mean 'final'?"),
]


@pytest.mark.parametrize("args, expected", _LIGHT)
def test_bad_input_is_one_sentence_and_exit_2_without_tensorflow(args, expected, tmp_path,
                                                                 no_tensorflow):
    model_dir = tmp_path / "model"
    ran = jobs.program(*args, f"--model_dir={model_dir}", PYTHONPATH=no_tensorflow)
    _assert_one_sentence(ran, expected, model_dir)


@pytest.mark.cluster
@pytest.mark.parametrize("flag, name, expected", [
    ("model_fn", "no_spec", "returned a dict in mode 'eval'; expected a tf.estimator"),
    ("input_fn", "no_dataset", "returned a list in mode 'eval'; expected a tf.data.Dataset"),
    ("input_fn", "endless", "evaluation would never end"),
    ("model_fn", "bad_import", "No module named 'not_a_package'"),
])
def test_a_broken_plugin_is_one_sentence_and_exit_2(flag, name, expected, tmp_path, data_dir):
    model_dir = tmp_path / "model"
    ran = jobs.trainer(f"--{flag}={_broken(tmp_path, name)}", f"--model_dir={model_dir}",
                       *([f"--param=data_dir={data_dir}"] if flag == "model_fn" else
                         ["--param=num_classes=2"]))
    assert ran.stderr.rstrip().rpartition("\n")[2].startswith("role=local status=failed")
    body = "\n".join(line for line in ran.stderr.splitlines() if not _is_log_line(line))
    assert expected in body and len(body.splitlines()) == 1, ran.stderr
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert not model_dir.exists()


def test_a_cluster_without_model_dir_is_refused():
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    ran = jobs.program(TF_CONFIG=json.dumps({"cluster": hosts,
                                             "task": {"type": "chief", "index": 0}}))
    _assert_one_sentence(ran, "model_dir is missing")


def test_a_taken_port_is_named():
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    host, _, port = hosts["worker"][0].partition(":")
    with socket.create_server((host, int(port))):
        ran = jobs.program("--model_dir=/tmp/unused", TF_CONFIG=json.dumps(
            {"cluster": hosts, "task": {"type": "worker", "index": 0}}))
    _assert_one_sentence(ran, f"port {port} is taken")


def test_chief_and_worker_without_ps_or_strategy_are_refused_at_once():
    hosts = jobs.cluster(chief=1, worker=1)
    ran = jobs.program("--model_dir=/tmp/unused", TF_CONFIG=json.dumps(
        {"cluster": hosts, "task": {"type": "worker", "index": 0}}))
    _assert_one_sentence(ran, "--train_distribute=multi_worker_mirrored")


def test_check_reports_every_problem_at_once(tmp_path):
    ran = jobs.program("check", "--json", "--model_fn=cn", "--input_fn=digit",
                       f"--model_dir={tmp_path}", TF_CONFIG="{'cluster'")
    assert ran.returncode == 2
    assert len(json.loads(ran.stdout)["problems"]) == 3


def test_check_shows_the_normal_form_of_tf_config(tmp_path):
    hosts = {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}
    ran = jobs.program("check", "--json", "--train_distribute=multi_worker_mirrored",
                       f"--model_dir={tmp_path}", TF_CONFIG=json.dumps(
                           {"cluster": hosts, "task": {"type": "worker", "index": 1}}))
    shown = json.loads(ran.stdout)
    assert ran.returncode == 0, ran.stdout
    assert shown["task"] == "worker:1" and shown["role"] == "worker:0"
    assert shown["cluster"] == {"chief": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222"]}
    assert shown["shard"] == "2/2"


def test_vertex_ai_model_dir_and_trial_are_honoured():
    tf_config = json.dumps({"cluster": {"chief": ["10.0.0.1:2222"]},
                            "task": {"type": "chief", "index": 0, "trial": "7"}})
    ran = jobs.program("check", "--json", TF_CONFIG=tf_config, AIP_MODEL_DIR="gs://bucket/model")
    assert json.loads(ran.stdout)["model_dir"] == "gs://bucket/model/7"


def test_list_shows_every_param_with_its_default():
    listed = {(p["kind"], p["name"]): p for p in json.loads(jobs.program("list", "--json").stdout)}
    assert listed["model_fn", "cnn"]["params"]["learning_rate"] == 0.1
    assert listed["input_fn", "digits"]["params"]["batch_size"] == 64
    assert all(p["doc"] for p in listed.values())
    silent = {(name, key) for (_, name), p in listed.items() for key in p["params"]
              if not p["texts"].get(key)}
    assert not silent
    shown = jobs.program("list").stdout
    assert "    depth=50                        layers with weights\n" in shown
    assert shown.count("    warmup_steps=0 ") == 1  # What many share is listed once.


def test_console_script_and_module_are_the_same_program():
    assert jobs.program("--version").stdout.startswith(f"estimator_trainer {__version__}, T")
    assert sys.modules["estimator_trainer.cli"].main is cli.main


@pytest.mark.cluster
def test_garbage_is_collected_again_once_tensorflow_is_imported_but_not_looked_for_in_it(tmp_path):
    code = (f"import gc; from estimator_trainer import cli; cli.main(['export',"
            f" '--model_dir={tmp_path}']); print(gc.isenabled(), gc.get_freeze_count() > 100000)")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=120, check=False)
    assert ran.stdout.splitlines()[-1:] == ["True True"], ran.stderr


@pytest.mark.any_tensorflow
def test_of_a_caller_that_has_tensorflow_nothing_is_kept_for_ever(tmp_path):
    import tensorflow as tf  # noqa: F401
    before = gc.get_freeze_count()
    assert cli.main(["export", f"--model_dir={tmp_path}"]) == 2
    # What was kept before may die; nothing may be added to it.
    assert gc.isenabled() and gc.get_freeze_count() <= before


def _is_log_line(line):
    return line.startswith("role=") or line[2:3] == ":"


def _assert_one_sentence(ran, expected, model_dir=None):
    assert ran.returncode == 2, ran.stderr
    assert expected in ran.stderr and ran.stderr.startswith("estimator-trainer: ")
    assert len(ran.stderr.splitlines()) == 1 and "Traceback" not in ran.stderr, ran.stderr
    assert model_dir is None or not model_dir.exists()
