"""A secret reaches the plug-in, and nothing that a run prints or leaves holds it."""

from __future__ import annotations

import contextlib
import json
import pathlib
import textwrap
import threading

import pytest

from estimator_trainer import cli
from tests.support import jobs, line_model

pytestmark = pytest.mark.cluster
_PARAM, _FLAG, _JOB, _USER = (f"SEKRET-{each}-9f3b==" for each in ("param", "flag", "job", "user"))
_PLUGIN = line_model.SOURCE.replace('"api_key": ""', '"api_key": "", "proof": "", "url": ""')
_PROOF = textwrap.dedent('''
    from absl import flags
    import os

    flags.DEFINE_string("db_password", "", "A password.")
    read = input_fn


    def input_fn(mode, params):
        with open(params["proof"], "a") as file:
            file.write(f"{os.getpid()} {params['api_key']} {flags.FLAGS.db_password}"
                       f" {params['url']}\\n")
        return read(mode, params)
''')


@pytest.fixture(name="line")
def fixture_line(tmp_path):
    """Returns the words of a run whose plug-in writes down which secrets it gets."""
    path = tmp_path / "line.py"
    path.write_text(_PLUGIN + _PROOF)
    return [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path}/model",
            f"--param=proof={tmp_path}/proof", "--train_steps=20", "--num_evaluations=2",
            "--param", f"api_key={_PARAM}", f"--param=url=https://me:{_USER}@host/x",
            "--", "--db_password", _FLAG]


def _assert_received(tmp_path, processes):
    lines = (tmp_path / "proof").read_text().splitlines()
    assert len({line.partition(" ")[0] for line in lines}) == processes
    assert {line.partition(" ")[2] for line in lines} == {
        f"{_PARAM} {_FLAG} https://me:{_USER}@host/x"}


def _assert_hidden(text):
    assert "SEKRET" not in text, text


def _assert_nothing_left(folder):
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert {"record.json", "history.jsonl"} & {path.name for path in written}, written
    assert not [path for path in written if b"SEKRET" in path.read_bytes()]


def test_nothing_that_one_process_prints_or_writes_has_a_secret(line, tmp_path, capfd):
    model_dir = f"--model_dir={tmp_path}/model"
    tf_config = json.dumps({"cluster": {}, "job": {"args": [_JOB]}})
    ran = jobs.trainer("--verbose", *line, TF_CONFIG=tf_config)
    assert ran.returncode == 0, ran.stderr
    assert "api_key='****'" in ran.stderr and "url='https://****@host/x'" in ran.stderr
    _assert_hidden(ran.stdout + ran.stderr)
    _assert_received(tmp_path, processes=1)
    record = json.loads((tmp_path / "model/record.json").read_text())
    assert record["unrecorded"] == {"api_key": "****", "url": "https://****@host/x",
                                    "plugin_flag": "db_password=****"}
    assert record["runs"][0]["command"][-2:] == ["--db_password", "****"]
    lacking = jobs.trainer("evaluate", model_dir)
    assert lacking.returncode == 2 and "api_key was **** in training" in lacking.stderr
    ran = jobs.trainer("evaluate", model_dir, "--verbose", *line[line.index("--param"):])
    assert ran.returncode == 0, ran.stderr
    assert f"runs {tmp_path}/line.py, for {tmp_path}/model/record.json names it" in ran.stderr
    _assert_hidden(ran.stdout + ran.stderr)
    _assert_received(tmp_path, processes=2)
    for words in (["check", *line], ["check", "--json", *line], ["show", model_dir],
                  ["show", "--json", model_dir], ["report", model_dir]):
        assert cli.main(words) == 0
    printed = capfd.readouterr()
    assert "db_password=****" in printed.out
    _assert_hidden(printed.out + printed.err)
    _assert_nothing_left(tmp_path / "model")


@contextlib.contextmanager
def _watching_command_lines(seen):
    """Adds to `seen` the command line of every process of a fork server, as `ps` shows it."""
    ends = threading.Event()

    def watch():
        while not ends.wait(0.2):
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    seen.extend([words] if "fork_server" in words else [])

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ends.set()
        watcher.join(10)


@pytest.mark.soak
def test_nothing_that_a_job_of_several_tasks_prints_or_writes_has_a_secret(line, tmp_path):
    seen = []
    with _watching_command_lines(seen):
        ran = jobs.trainer("launch", "--worker=1", "--ps=1", "--", "--report", *line)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [words for words in seen if "fork_server" in words and "api_key=****" in words]
    assert not [words for words in seen if "SEKRET" in words]
    _assert_hidden(ran.stdout + ran.stderr)
    _assert_received(tmp_path, processes=2)
    _assert_nothing_left(tmp_path / "model")
    assert len(list((tmp_path / "model/logs").iterdir())) >= 3
    assert (tmp_path / "model/report.html").exists()


@pytest.mark.soak
def test_a_script_gets_its_secrets_and_no_record_of_it_has_them(tmp_path):
    (tmp_path / "proof").write_text("")
    script = tmp_path / "train.py"
    script.write_text(line_model.SOURCE + textwrap.dedent('''
        import sys

        estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params=DEFAULT_PARAMS)
        assert sys.argv[2:] == ["--token", sys.argv[3], f"password={sys.argv[3]}"], sys.argv
        assert sys.argv[3].startswith("SEK" + "RET-param")
        estimator.train(lambda: input_fn("train", DEFAULT_PARAMS), max_steps=5)
    '''))
    ran = jobs.trainer("run", str(script), "--", f"{tmp_path}/model", "--token", _PARAM,
                       f"password={_PARAM}")
    assert ran.returncode == 0, ran.stderr
    _assert_hidden(ran.stdout + ran.stderr)
    _assert_nothing_left(tmp_path / "model")
    record = json.loads((tmp_path / "model/record.json").read_text())
    assert record["runs"][0]["command"][-3:] == ["--token", "****", "password=****"]
