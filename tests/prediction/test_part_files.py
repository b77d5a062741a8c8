"""`predict` into a folder writes a part for each file, by any number of processes, each once."""

from __future__ import annotations

import csv
import json
import os
import pathlib

from pyarrow import parquet
import pytest
import tensorflow as tf

from estimator_trainer import cli, result
from estimator_trainer.prediction import predict as predict_lib
from tests.support import jobs

ROWS = [3, 1, 4, 1, 5]
DATA = "--data=new*.jsonl"


@pytest.fixture(scope="module", name="export")
def fixture_export(tmp_path_factory):
    """The export of a stranger, which doubles a number."""
    folder = tmp_path_factory.mktemp("export")
    module = tf.Module()
    module.double = tf.function(lambda x: {"y": 2 * x}, [tf.TensorSpec([None], tf.int64, "x")])
    tf.saved_model.save(module, str(folder), module.double)
    return f"--export_dir={folder}"


@pytest.fixture(autouse=True)
def fixture_data(own_folder):
    for number, rows in enumerate(ROWS):
        pathlib.Path(f"new{number}.jsonl").write_text("".join(
            f'{{"x": {10 * number + i}}}\n' for i in range(rows)))


def _parts(ending="jsonl"):
    return sorted(pathlib.Path("out").glob(f"part-*.{ending}"))


def _others(folder="out"):
    return {path.name for path in pathlib.Path(folder).iterdir()
            if not path.name.startswith("part-")}


def test_the_parts_are_what_predict_writes_for_each_file(run, export):
    out, _ = run("predict", export, DATA, "--output=out/")
    assert out == "complete: 5 files, 14 rows in out\n"
    assert [path.name for path in _parts()] == [f"part-0000{i}-of-00005.jsonl" for i in range(5)]
    for number, part in enumerate(_parts()):
        run("predict", export, f"--data=new{number}.jsonl", "--output=alone.jsonl")
        assert part.read_bytes() == pathlib.Path("alone.jsonl").read_bytes()
    pathlib.Path("all.jsonl").write_text("".join(
        pathlib.Path(f"new{number}.jsonl").read_text() for number in range(5)))
    whole, _ = run("predict", export, "--data=all.jsonl")
    assert [json.loads(line)["y"] for part in _parts() for line in part.open()] == [
        json.loads(line)["y"] for line in whole.splitlines()]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_parts_are_of_the_kind_that_the_output_names(run, export, kind):
    run("predict", export, DATA, f"--output=out/*.{kind}")
    if kind == "csv":
        found = [int(row["y"]) for part in _parts(kind) for row in csv.DictReader(part.open())]
    else:
        found = parquet.read_table("out")["y"].to_pylist()
    assert found == [2 * (10 * number + i) for number, rows in enumerate(ROWS)
                     for i in range(rows)]


def test_shares_in_any_order_do_each_file_once(run, export):
    written = {}
    for index in (2, 0, 1):
        out, _ = run("predict", export, DATA, "--output=out/", f"--share={index}/3")
        assert out.startswith("complete: 5 files, 14 rows" if index == 1 else "share ")
        assert ("_SUCCESS" in _others()) == (index == 1)
        now = {path.name: path.stat().st_mtime_ns for path in _parts()}
        assert now.items() >= written.items() and len(now) > len(written)
        written = now
    assert run("predict", export, DATA, "--output=out/")[0].startswith("complete: 5 files, 14")
    assert {path.name: path.stat().st_mtime_ns for path in _parts()} == written
    assert _others() == {"_SUCCESS", "_done", "_files.json"}


def test_a_task_of_a_cluster_takes_its_share(run, export, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({
        "cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": {"type": "worker", "index": 0}}))
    assert "files are left to others" in run("predict", export, DATA, "--output=out/")[0]
    assert 0 < len(_parts()) < 5


def test_a_run_that_was_stopped_goes_on_after_its_last_whole_file(run, export, monkeypatch):
    write_answers, count = predict_lib.write_answers, []

    def stopped(plan, found, kind, write):
        count.append(plan)
        if len(count) == 3:
            write(b'{"half of')
            raise SystemExit(143)
        return write_answers(plan, found, kind, write)

    monkeypatch.setattr(predict_lib, "write_answers", stopped)
    with pytest.raises(SystemExit):
        cli.main(["predict", export, DATA, "--output=out/"])
    assert len(_parts()) == 2 and _others() == {"_done", "_files.json"}
    # A process that was killed removes nothing.
    pathlib.Path("out/_new-1234-part-00002-of-00005.jsonl").write_text('{"half of')
    pathlib.Path("out/part-00003-of-00005.jsonl").write_text("of an end before its marker\n")
    run("predict", export, DATA, "--output=out/")
    assert len(count) == 6 and [len(part.read_text().splitlines()) for part in _parts()] == ROWS
    assert _others() == {"_SUCCESS", "_done", "_files.json"}


def _add():
    pathlib.Path("new9.jsonl").write_text('{"x": 1}\n')


def _grow():
    pathlib.Path("new3.jsonl").write_text('{"x": 1}\n' * 2)


def _damage():
    pathlib.Path("out/_files.json").write_text('{"settings": ')


def _lose():
    os.remove("out/_files.json")


@pytest.mark.parametrize("change, flags, expected", [
    (_add, [], "which was begun with 5 files of data, and now there are 6: new9.jsonl is new;"
     " expected the same files and settings, or a new folder. For example: --output=out-2/"),
    (_grow, [], "new3.jsonl of 10 bytes, and now it has 18"),
    (None, ["--all"], "begun with all False, and now it is True"),
    (_damage, [], "_files.json is missing or damaged"),
    (_lose, [], "which has part-0000"),
    (None, ["--data=no*.jsonl"], "no*.jsonl is no file, and matches none"),
    (None, ["--data=-"], "expected files"),
    (None, ["--output=out/*.txt"], "in which .txt is no ending of files to write"),
])
def test_other_data_or_settings_in_the_same_folder_are_refused(
        run, export, change, flags, expected):
    run("predict", export, DATA, "--output=out/", "--share=0/2")
    before = {path.name: path.read_bytes() for path in _parts()}
    if change:
        change()
    _, err = run("predict", export, DATA, "--output=out/", *flags, expected_code=2)
    assert expected in err and "Traceback" not in err
    assert {path.name: path.read_bytes() for path in _parts()} == before


@pytest.mark.cluster
def test_launch_predicts_in_processes_until_all_is_done(export, tmp_path):
    done = jobs.program("launch", "--worker=2", f"--log_dir={tmp_path}/logs", "--", "predict",
                        export, DATA, "--output=out/")
    assert done.returncode == result.EXIT_CODES["done"], done.stdout
    assert "complete: 5 files, 14 rows in out" in done.stdout
    assert [len(part.read_text().splitlines()) for part in _parts()] == ROWS


@pytest.mark.parametrize("flags, expected", [
    (["--ps=1", "--", "predict", "--output=out/"], "the tasks that predict are workers"),
    (["--worker=1", "--", "predict", "--output=out.csv"],
     "and each task writes parts; expected a folder"),
])
def test_launch_refuses_predictions_that_cannot_be_shared(run, export, flags, expected):
    _, err = run("launch", *flags, export, DATA, expected_code=2)
    assert expected in err and "Traceback" not in err
