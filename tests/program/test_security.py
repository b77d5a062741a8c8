"""docs/security.md is true: which ports listen, what a stranger can do, and when code runs."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer.record import run_record
from estimator_trainer.record.run_record import RunRecord
from tests.support import jobs, line_model

pytestmark = pytest.mark.cluster
_EVERY_INTERFACE, _LISTENS = "0" * 32, "0A"


def _listens_at(pid):
    """Returns the addresses at which a process listens, as /proc/net shows them."""
    inodes = set()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        inodes.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for name in ("tcp", "tcp6") for line in
            pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == _LISTENS and row[9] in inodes]


def test_a_stranger_who_reaches_the_port_reads_and_writes_files(tmp_path):
    path = line_model.write(tmp_path)
    flags = [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={tmp_path}/model"]
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    [address] = hosts["ps"]
    (tmp_path / "private").write_text("of the user who trains")
    config = {"cluster": hosts, "task": {"type": "ps", "index": 0}}
    ps = jobs.start(tmp_path, "ps:0", flags, json.dumps(config))
    try:
        jobs.wait_for(lambda: "serves variables" in ps.log, 60)
        port = f"{int(address.rpartition(':')[2]):04X}"
        assert _listens_at(ps.process.pid) == [f"{_EVERY_INTERFACE}:{port}"]
        with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
            read = tf.raw_ops.ReadFile(filename=f"{tmp_path}/private")
            write = tf.raw_ops.WriteFile(filename=f"{tmp_path}/made", contents="by a stranger")
            options = tf.compat.v1.ConfigProto(device_filters=["/job:ps"])
            with tf.compat.v1.Session(f"grpc://{address}", config=options) as session:
                assert session.run(read) == b"of the user who trains"
                session.run(write)
        assert (tmp_path / "made").read_text() == "by a stranger"
    finally:
        jobs.kill(ps)


@pytest.mark.soak
def test_a_run_of_one_process_and_an_evaluator_listen_at_nothing(tmp_path):
    path = line_model.write(tmp_path)
    flags = [f"--model_fn={path}", f"--input_fn={path}", "--train_steps=1000000"]
    config = {"cluster": jobs.cluster(chief=1, worker=1, ps=1),
              "task": {"type": "evaluator", "index": 0}}
    local = jobs.start(tmp_path, "local", [*flags, f"--model_dir={tmp_path}/local"])
    evaluator = jobs.start(tmp_path, "evaluator:0", [*flags, f"--model_dir={tmp_path}/model"],
                           json.dumps(config))
    try:
        jobs.wait_for(lambda: "  step " in local.log and evaluator.log, 60)
        assert not _listens_at(local.process.pid) and not _listens_at(evaluator.process.pid)
    finally:
        jobs.kill(local), jobs.kill(evaluator)


def test_only_commands_that_use_the_model_run_the_code_that_a_record_names(tmp_path, capfd):
    folder = tmp_path / "of_somebody_else"
    folder.mkdir()
    own = folder / "own.py"
    own.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
                   "def model_fn(features): ...\ndef input_fn(): ...\n")
    entry = {"name": str(own), "path": str(own), "is_file": True}
    (folder / "record.json").write_text(run_record.to_json(RunRecord(plugins={
        kind: {**entry, "function": kind} for kind in ("model_fn", "input_fn")})))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.train.create_global_step()
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, f"{folder}/model.ckpt", 0)
    for command in ("show", "report", "check"):
        assert cli.main([command, f"--model_dir={folder}"]) == 0
    assert not (tmp_path / "ran").exists()
    assert cli.main(["evaluate", f"--model_dir={folder}"]) != 0
    assert (tmp_path / "ran").exists()
    assert f"runs {own}, for {folder}/record.json names it as --model_fn" in capfd.readouterr().err
