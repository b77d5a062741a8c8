"""`check` looks into the data without TensorFlow: columns, label, classes, and what speaks against.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from estimator_trainer import cli
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow
_MALES = str(jobs.REPO / "examples" / "wide_deep" / "males.csv.gz")
_HOUSES = "id,area,town,price\n" + "".join(
    f"h{i},{50 + i * 7 % 90},{'abc'[i % 3]},{100_000 + i * 7 % 90 * 1234 + i}.5\n"
    for i in range(200))


def _check(capsys, *args):
    """Returns the exit code and the JSON of `check --json`, in this process."""
    code = cli.main(["check", "--json", *args])
    return code, json.loads(capsys.readouterr().out)


def _of_table(path, label, model_fn="canned"):
    return (f"--model_fn={model_fn}", "--input_fn=csv", "--param", f"train_files={path}",
            "--param", f"label={label}")


def test_examine_shows_rows_columns_and_classes_of_a_table(capsys):
    code, shown = _check(capsys, *_of_table(_MALES, "income"))
    facts = shown["facts"]
    assert code == 0 and "3,488 rows, 2,791 to train on and 697 to evaluate" in facts["data"]
    assert facts["label"].startswith("income: 2 classes: ")
    assert facts["columns"][0] == "10 beside the label: 7 category, 3 number"
    assert any(line.split()[:2] == ["school", "number"] for line in facts["columns"])


def test_examine_shows_the_columns_of_a_model_that_prepares_none(capsys):
    code, shown = _check(capsys, *_of_table(_MALES, "income", "mlp"))
    assert code == 0
    assert [line.split()[1] for line in shown["facts"]["columns"][1:4]] == ["integer"] * 3


def test_examine_names_a_model_for_a_label_that_is_a_number(capsys, tmp_path):
    path = tmp_path / "houses.csv"
    path.write_text(_HOUSES)
    code, shown = _check(capsys, *_of_table(path, "price"))
    assert code == 0 and shown["facts"]["label"].startswith("price: a number, 100,000 to ")
    code, shown = _check(capsys, *_of_table(path, "price", "mlp"))
    [problem] = shown["problems"]
    assert code == 2 and "label 'price' is a number" in problem and "--model_fn=canned" in problem
    code, shown = _check(capsys, *_of_table(path, "price"), "--param=num_classes=10")
    [problem] = shown["problems"]
    assert code == 2 and "--param num_classes=-1" in problem


@pytest.mark.parametrize("params, words", [
    (("train_files=",), "train_files is missing"),
    (("train_files=/nowhere/a.csv",), "there is no folder '/nowhere'"),
    ((f"train_files={_MALES}", "label=incom"), "For example: --param label=income"),
])
def test_examine_finds_a_mistake_in_a_param(capsys, params, words):
    code, shown = _check(capsys, "--model_fn=canned", "--input_fn=table",
                         *(f"--param={param}" for param in params))
    [problem] = shown["problems"]
    assert code == 2 and words in problem


def test_examine_of_a_large_table_names_the_command_that_reads_more(capsys, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,label\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(30_000)))
    code, shown = _check(capsys, *_of_table(path, "label"))
    assert code == 0 and shown["facts"]["data"].endswith("about 30,000 rows")
    assert shown["facts"]["learned from"].endswith("check --probe")


def test_examine_shows_the_classes_of_a_folder_of_images(capsys, tmp_path):
    for kind, count in (("cat", 10), ("dog", 5)):
        (tmp_path / "pets" / kind).mkdir(parents=True)
        for i in range(count):
            (tmp_path / "pets" / kind / f"{i}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "pets" / "dog" / "list.txt").write_text("")
    args = ("--model_fn=cnn", "--input_fn=image_folder", f"--param=train_dir={tmp_path / 'pets'}")
    code, shown = _check(capsys, *args)
    assert code == 0 and "12 images to train on and 3 to evaluate" in shown["facts"]["data"]
    assert shown["facts"]["label"].endswith("2 classes: cat 8, dog 4")
    (tmp_path / "pets" / "cat" / "0.png").write_bytes(b"<html>")
    code, shown = _check(capsys, *args)
    assert code == 2 and "are no JPEG, PNG" in shown["problems"][0]


def test_examine_needs_no_tensorflow(tmp_path):
    script = ("import sys\nfrom estimator_trainer import cli\n"
              "assert cli.main(sys.argv[1:]) == 0\n"
              "assert not {'tensorflow', 'keras'} & sys.modules.keys()\n")
    subprocess.run([sys.executable, "-c", script, "check", *_of_table(_MALES, "income")],
                   check=True, cwd=tmp_path, stdout=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONPATH": str(jobs.REPO)})
