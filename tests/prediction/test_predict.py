"""`predict` takes new data from a checkpoint and from an export, in any of their forms."""

from __future__ import annotations

import csv
import json
import pathlib
import subprocess

import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer.checks import run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.plugins import importing
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs, line_model

pytestmark = pytest.mark.cluster
ROWS = [(18 + 3 * i, ("cook", "smith", "none")[i % 3], i % 2) for i in range(20)]
PLUGINS = ["--model_fn=canned", "--param=hidden_units=[2]", "--param=hash_buckets=9",
           "--input_fn=csv", "--param=label=income",
           '--param=label_vocabulary=["low", "high"]']


@pytest.fixture(scope="module", name="trained")
def fixture_trained(tmp_path_factory):
    """A model of a small table; the file that it was trained on is not there any more."""
    folder = tmp_path_factory.mktemp("incomes")
    (folder / "train.csv").write_text("age,job,income\n" + "".join(
        f"{age},{job},{('low', 'high')[income]}\n" for age, job, income in ROWS))
    code = cli.main([*PLUGINS, f"--param=train_files={folder}/train.csv", "--param=batch_size=4",
                     f"--model_dir={folder}/model", "--train_steps=3"])
    assert code == 0
    (folder / "train.csv").unlink()
    return folder


@pytest.fixture(name="sources")
def fixture_sources(trained):
    """The flags of a checkpoint and of an export, as they are typed in any folder."""
    [export] = pathlib.Path(trained, "model", "export", "final").iterdir()
    return [f"--model_dir={trained}/model"], [f"--export_dir={export}"]


@pytest.mark.usefixtures("own_folder")
def test_predict_takes_a_table_without_its_label(sources, run, tmp_path):
    (tmp_path / "new.csv").write_text("id,job,age\n7,cook,30\n8,smith,50\n")
    rows = []
    for i, source in enumerate(sources):
        run("predict", *source, "--data=new.csv", "--with_inputs", f"--output={i}.csv")
        with open(f"{i}.csv", encoding="utf-8") as file:
            rows.append({row["key"]: row for row in csv.DictReader(file)})
    assert rows[0] == rows[1] and set(rows[0]) == {"0", "1"}
    assert rows[0]["1"]["job"] == "smith" and rows[0]["1"]["age"] == "50"
    assert {row["class"] for row in rows[0].values()} <= {"low", "high"}
    assert "label" not in rows[0]["0"] and "probability_high" in rows[0]["0"]


@pytest.mark.usefixtures("own_folder")
def test_the_parts_of_tables_are_what_predict_writes_for_each(sources, run, tmp_path):
    for name, job in (("a", "cook"), ("b", "smith")):
        (tmp_path / f"new_{name}.csv").write_text(f"id,age,job,income\n{name}7,30,{job},low\n")
    flags = ["--with_inputs", "--forward_key=id"]
    for folder, source in zip(("0", "1"), sources):
        for share in ("1/2", "0/2"):
            run("predict", *source, *flags, "--data=new_*.csv", f"--output={folder}/",
                f"--share={share}")
        for number, name in enumerate("ab"):
            run("predict", *source, *flags, f"--data=new_{name}.csv", "--output=alone.csv")
            part = tmp_path / folder / f"part-0000{number}-of-00002.csv"
            assert part.read_text() == (tmp_path / "alone.csv").read_text()
            assert f"{name}7,30," in part.read_text()


@pytest.mark.usefixtures("own_folder")
def test_predict_gives_the_identifier_that_no_model_learns(run, tmp_path):
    rows = [(f"C{7 * i}", 18 + i % 50, ("no", "yes")[i % 3 == 0]) for i in range(120)]
    table = "customer_id,age,left\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (tmp_path / "train.csv").write_text(table)
    run("train", "--model_fn=canned", "--input_fn=csv", "--param=train_files=train.csv",
        "--param=label=left", "--model_dir=m", "--train_steps=3")
    [export] = (tmp_path / "m" / "export" / "final").iterdir()
    (tmp_path / "new.csv").write_text("age,customer_id\n30,C1\n50,\n")
    for source in ("--model_dir=m", f"--export_dir={export}"):
        out, _ = run("predict", source, "--data=new.csv")
        found = [json.loads(line) for line in out.splitlines()]
        assert [(each["key"], each["customer_id"]) for each in found] == [(0, "C1"), (1, "")]
    (tmp_path / "new.csv").write_text("age\n30\n")
    out, _ = run("predict", "--model_dir=m", "--data=new.csv")
    assert "customer_id" not in json.loads(out)


def test_predict_takes_json_lines_like_rows_of_a_table(sources, run, tmp_path):
    (tmp_path / "new.csv").write_text("age,job,income\n30,cook,low\n50,smith,high\n")
    (tmp_path / "new.jsonl").write_text('{"age": 30, "job": "cook"}\n{"age": 50, "job": "smith"}\n'
                                        '{"age": "x", "job": "smith"}\n')
    rows = run("predict", *sources[0], f"--data={tmp_path}/new.csv")[0]
    labelled = [json.loads(line) for line in rows.splitlines()]
    assert [row.pop("label_class") for row in labelled] == ["low", "high"]
    assert [row.pop("label") for row in labelled] == ["low", "high"]
    for source in sources:
        out, err = run("predict", *source, f"--data={tmp_path}/new.jsonl", expected_code=2)
        assert [json.loads(line) for line in out.splitlines()] == labelled
        assert "line 3 of the data to predict has a wrong value for 'age'" in err
        assert "Traceback" not in err


def test_predict_checks_the_output_first(run):
    _, err = run("predict", "--export_dir=/nowhere", "--data=x.jsonl", "--output=/missing/x",
                 expected_code=2)
    assert "there is no folder '/missing'" in err and "Traceback" not in err


def test_predict_streams_answers_until_the_reader_exits(tmp_path):
    # The export of a stranger, for which the plug-ins here do not count.
    module = tf.Module()
    module.double = tf.function(lambda x: {"y": 2 * x}, [tf.TensorSpec([None], tf.int64, "x")])
    tf.saved_model.save(module, str(tmp_path), module.double)
    line = b'{"x": 3}\n'
    with subprocess.Popen([*jobs.PROGRAM, "predict", f"--export_dir={tmp_path}", "--data=-"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=jobs.environment()) as process:
        for key in range(2):
            process.stdin.write(line)
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"key": key, "y": 6}
        process.stdout.close()
        _, err = process.stdin.write(line), process.communicate()[1]
    assert process.returncode == 0 and b"Traceback" not in err and b"BrokenPipe" not in err


@pytest.mark.parametrize("args, expected", [
    (["predict", "--data=new.csv"], "input_fn 'digits' reads no new data"),
    (["evaluate", "--data=new.csv"], "which only `predict` takes, and the command is `evaluate`."
     " For example: estimator-trainer evaluate --param eval_files=new.csv"),
    (["launch", "--worker=1", "--", "--with_inputs"], "which only `predict` takes"),
    (["evaluate", "--all"], "which only `predict` takes"),
    (["predict", "--data=x.jsonl", "--output=x.jsonl"],
     "and data is 'x.jsonl' (from --data); expected another file"),
])
def test_predict_refuses_in_one_sentence(args, expected, tmp_path, capfd):
    assert cli.main([*args, *([] if "launch" in args else [f"--model_dir={tmp_path}"])]) == 2
    err = capfd.readouterr().err
    assert expected in err and "For example: " in err and "Traceback" not in err


def test_predict_names_the_file_of_an_image():
    plan = run_plan.for_one_process(TrainerConfig(
        model_dir="/m", input_fn="image_folder", data="a.png", with_inputs=True), Environment())
    assert not plan.problems and plan.params.values["file_name"] == "file_name"
    assert plan.params.values["predict_files"] == "a.png"


@pytest.mark.usefixtures("own_folder")
def test_an_export_answers_where_the_plugins_cannot_be_imported(run, tmp_path):
    path = line_model.write(tmp_path)
    run("train", f"--model_fn={path}", f"--input_fn={path}", "--model_dir=m", "--train_steps=2")
    [export] = (tmp_path / "m" / "export" / "final").iterdir()
    path.write_text(f"import no_such_module\n{line_model.SOURCE}", encoding="utf-8")
    (tmp_path / "new.jsonl").write_text('{"x": 0.5}\n')
    importing.forget_edited()
    out, _ = run("predict", f"--export_dir={export}", f"--input_fn={path}", "--data=new.jsonl")
    assert json.loads(out)["y"] > 0
