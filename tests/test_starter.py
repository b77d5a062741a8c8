"""`init` writes a model that trains, and a test that passes."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

from estimator_trainer import cli
from estimator_trainer.plugins import loader
from tests.support import jobs


@pytest.mark.cluster
@pytest.mark.soak
def test_write_makes_a_model_that_trains_and_passes_its_test(tmp_path, capsys):
    folder = tmp_path / "my models" / "first"
    assert cli.main(["init", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert f"cd '{folder}'" in shown

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"],
        cwd=folder, capture_output=True, text=True, check=False, env=jobs.environment())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = jobs.trainer("--model_fn=./model.py", "--input_fn=./data.py", "--model_dir=run",
                       "--train_steps=5", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    ran = jobs.trainer("predict", "--model_dir=run", cwd=folder)
    assert ran.returncode == 0 and "probabilities" in json.loads(ran.stdout.splitlines()[0])


@pytest.mark.any_tensorflow
def test_write_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "model.py").write_text("mine")
    assert cli.main(["init", str(tmp_path)]) == 2
    assert "model.py would be written over" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.py"]
    for words in (["init"], ["init", "a", "b"], ["init", str(tmp_path / "model.py" / "x")]):
        assert cli.main(words) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.any_tensorflow
def test_write_documents_the_params(tmp_path, monkeypatch):
    cli.main(["init", str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    assert loader.find("model_fn", "./model.py").default_params["hidden_units"] == 16
    assert loader.find("input_fn", "./data.py").global_batch_param == "batch_size"


_MALES = str(jobs.REPO / "examples" / "wide_deep" / "males.csv.gz")


def _init(capsys, *words):
    """Returns the exit code of `init`, and what it prints."""
    code = cli.main(["init", *map(str, words)])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def _houses(folder):
    path = folder / "houses.csv"
    path.write_text("id,area,town,price\n" + "".join(
        f"h{i},{40 + i * 7 % 90},{'abc'[i % 3]},{90_000 + i * 7 % 90 * 1234 + i}\n"
        for i in range(300)))
    return path


def _png(shade):
    """Returns a picture of 32 by 32 pixels of one shade, with a frame."""
    import tensorflow as tf
    pixels = [[[255 if 8 < x < 24 and 8 < y < 24 else shade] for x in range(32)] for y in range(32)]
    return tf.io.encode_png(tf.constant(pixels, tf.uint8)).numpy()


def _trains_and_predicts(folder, data):
    """Types what `init` prints, and returns the predictions, a dict each."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"],
        cwd=folder, capture_output=True, text=True, check=False, env=jobs.environment())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for words in (("--model_fn=./model.py", "--input_fn=./data.py", "--train_steps=20"),
                  ("predict", f"--data={data}", "--output=answers.csv")):
        ran = jobs.trainer(*words, "--model_dir=run", cwd=folder)
        assert ran.returncode == 0, ran.stderr
    with open(folder / "answers.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("label, column", [("income", "class"), ("school", "predictions")])
def test_write_for_a_table_makes_a_model_that_learns(tmp_path, capsys, label, column):
    assert _init(capsys, tmp_path / "mine", f"--data={_MALES}", f"--label={label}")[0] == 0
    rows = _trains_and_predicts(tmp_path / "mine", _MALES)
    assert len(rows) == 3488 and column in rows[0]


@pytest.mark.cluster
@pytest.mark.soak
def test_write_for_images_makes_a_model_that_learns(tmp_path, capsys):
    for kind, shades in (("dark", range(0, 90, 3)), ("grey", range(120, 210, 3))):
        (tmp_path / "shades" / kind).mkdir(parents=True)
        for shade in shades:
            (tmp_path / "shades" / kind / f"{shade}.png").write_bytes(_png(shade))
    assert _init(capsys, tmp_path / "mine", f"--data={tmp_path / 'shades'}",
                 "--param=batch_size=16")[0] == 0
    rows = _trains_and_predicts(tmp_path / "mine", tmp_path / "shades")
    assert {row["class"] for row in rows} <= {"dark", "grey"}


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("label, params, words", [
    ("income", {"label_vocabulary": ["<=median", ">median"]}, "income: 2 classes"),
    ("school", {"num_classes": -1}, "school: a number"),
])
def test_write_for_a_table_has_the_params_that_fit(tmp_path, capsys, monkeypatch, label, params,
                                                   words):
    code, shown = _init(capsys, tmp_path, f"--data={_MALES}", f"--label={label}",
                        '--param=drop=["year"]')
    assert code == 0 and words in shown
    monkeypatch.chdir(tmp_path)
    data, model = loader.find("input_fn", "./data.py"), loader.find("model_fn", "./model.py")
    assert data.default_params.items() >= {
        "train_files": _MALES, "label": label, "drop": ["year"], **params}.items()
    assert (data.data, data.trains_until) == ("tables", "no_improvement")
    assert model.labels == (("classes",) if label == "income" else ("numbers",))
    assert cli.main(["check", "--model_fn=./model.py", "--input_fn=./data.py"]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.any_tensorflow
def test_write_for_data_takes_paths_and_names_of_any_characters(tmp_path, capsys, monkeypatch):
    path = tmp_path / 'a "b"\\ $c, [d].csv'
    path.write_text('size,"the ""label"""\n' + "".join(f"{i},{'xy'[i % 2]}\"\"\"\n".replace(
        '"', "") for i in range(40)))
    monkeypatch.chdir(tmp_path)
    code, shown = _init(capsys, "p", f"--data={path.name}", '--label=the "label"')
    assert code == 0, shown
    defaults = loader.find("input_fn", "p/data.py").default_params
    assert defaults["train_files"] == str(path) and defaults["label"] == 'the "label"'
    compile((tmp_path / "p" / "data.py").read_text(), "data.py", "exec")
    assert cli.main(["check", "--model_fn=p/model.py", "--input_fn=p/data.py"]) == 0


@pytest.mark.any_tensorflow
def test_write_for_data_names_a_mistake_in_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _houses(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "one" / "cat").mkdir(parents=True)
    (tmp_path / "one" / "cat" / "1.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for words, expected in [
            (["--data=houses.csv"], "columns id, area, town, price; expected the one to predict. "
             "For example: estimator-trainer init p --data=houses.csv --label=price"),
            (["--data=houses.csv", "--label=prize"], "Did you mean 'price'? For example: "
             "estimator-trainer init p --data=houses.csv --label=price"),
            (["--data=house.csv", "--label=price"], "Did you mean 'houses.csv'?"),
            (["--data=empty.csv", "--label=price"], "empty.csv is empty"),
            (["--data=nothing"], "holds no table, and no images in folders"),
            (["--data=one"], "has the images of one class, cat"),
            (["--data=one", "--label=x"], "a folder's name is the label"),
            (["--label=price"], "init p --data=FILE.csv --label=COLUMN"),
            (["--data=houses.csv", "--label=price", "--param=dro=[]"], "Did you mean 'drop'?")]:
        code, shown = _init(capsys, "p", *words)
        assert code != 0 and expected in shown and len(shown.splitlines()) == 1, shown
    assert not (tmp_path / "p").exists()
