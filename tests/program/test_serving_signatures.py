"""One export takes tensors, examples and lines of CSV, and answers as `predict` does."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.prediction.rest_model import RestModel

pytestmark = pytest.mark.cluster

# Numbers and texts with empty fields, quotes and a comma; the key and the label are not learned.
LINES = ['30,cook,"1,200"', "31,smith,70", ',"smith",900', '44,,"2,050"', "50,?,80"]
ROWS = [f"K{i},{LINES[i % 5]},{('no', 'yes')[i % 3 == 0]}" for i in range(200)]
KINDS = ("raw", "example", "csv")


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """A folder of a table to train on, and of its first rows as new data."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "train.csv").write_text("\n".join(["id,age,job,income,left", *ROWS]) + "\n")
    (folder / "new.csv").write_text("\n".join(["age,job,income", *LINES]) + "\n")
    return folder


def _train(run, folder, model_dir, *flags):
    run("train", "--model_fn=canned", "--input_fn=csv", f"--param=train_files={folder}/train.csv",
        "--param=label=left", '--param=drop=["id"]', f"--model_dir={model_dir}", "--train_steps=10",
        *flags)
    return {path.parent.name: path for path in (model_dir / "export").glob("*/*")}


def _example(age, job, income):
    example = tf.train.Example()
    for name, value in {"age": age, "income": income}.items():
        example.features.feature[name].float_list.value.append(value)
    example.features.feature["job"].bytes_list.value.append(job)
    return example.SerializeToString()


def _requests():
    """Returns the same rows as each kind of input."""
    age = [30, 31, np.nan, 44, 50]
    job = [b"cook", b"smith", b"smith", b"", b"?"]
    income = [1200, 70, 900, 2050, 80]
    return {"raw": {"age": age, "job": job, "income": income},
            "example": {"examples": list(map(_example, age, job, income))},
            "csv": {"csv_row": LINES}}


def _predicted(run, folder, source):
    out, _ = run("predict", f"--data={folder}/new.csv", "--all", source)
    return [json.loads(line) for line in out.splitlines()]


def _answers(export, requests):
    """Returns the names of the signatures, and what those of `requests` answer."""
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        found = tf.compat.v1.saved_model.load(session, ["serve"], str(export)).signature_def
        return set(found), {name: session.run(
            {key: info.name for key, info in found[name].outputs.items()},
            {found[name].inputs[key].name: value for key, value in request.items()})
            for name, request in requests.items()}


def test_an_export_of_training_takes_every_kind_of_input_and_answers_alike(run, folder, tmp_path):
    exports = _train(run, folder, tmp_path, "--serving_input=example,csv,raw")
    predicted = _predicted(run, folder, f"--model_dir={tmp_path}")
    requests = _requests()
    names, answers = _answers(exports["final"], {
        "serving_default": requests["example"],
        **{f"{kind}:serving_default": request for kind, request in requests.items()}})
    assert {"predict", *(f"{kind}:predict" for kind in KINDS)} < names
    for found in answers.values():
        np.testing.assert_allclose(found["probabilities"],
                                   [each["probabilities"] for each in predicted], atol=1e-6)
        assert [name.decode() for name in found["class"]] == [each["class"] for each in predicted]
    model = RestModel(str(exports["final"]), "m")
    objects = [{"age": age, "job": job.decode(), "income": income}
               for age, job, income in zip(*requests["raw"].values())]
    for kind, rows in (("csv", LINES), ("raw", objects)):
        body = json.dumps({"signature_name": f"{kind}:predict", "instances": rows}).encode()
        answer = json.loads(model.answer("POST", f"{model.path}:predict", body).text)
        np.testing.assert_allclose([each["probabilities"] for each in answer["predictions"]],
                                   [each["probabilities"] for each in predicted], atol=1e-6)
    of_export = _predicted(run, folder, f"--export_dir={exports['final']}")
    assert [each["logits"] for each in of_export] == [each["logits"] for each in predicted]


@pytest.mark.soak
def test_every_exporter_and_the_command_take_lines_and_a_key(run, folder, tmp_path):
    exports = _train(run, folder, tmp_path, "--serving_input=csv", "--forward_key=id",
                     "--exporters=final,latest,best")
    out, err = run("export", f"--model_dir={tmp_path}", "--checkpoint=best",
                   "--serving_input=raw,csv", "--input_fn=csv")
    assert "a line of csv for the export has age,job,income,id" in err
    predicted = _predicted(run, folder, f"--model_dir={tmp_path}")
    request = {"csv_row": [f"{each},K" for each in LINES]}
    for export, name in (*((export, "serving_default") for export in exports.values()),
                         (out.strip(), "csv:serving_default")):
        names, answers = _answers(export, {name: request})
        assert "predict" in names and ("csv:predict" in names) == (name != "serving_default")
        np.testing.assert_allclose(answers[name]["probabilities"],
                                   [each["probabilities"] for each in predicted], atol=1e-6)
        assert answers[name]["id"].tolist() == [b"K"] * 5
    loaded = tf.saved_model.load(out.strip()).signatures["csv:serving_default"]
    found = loaded(csv_row=tf.constant(request["csv_row"]))
    np.testing.assert_allclose(found["probabilities"],
                               [each["probabilities"] for each in predicted], atol=1e-6)


def test_csv_for_images_is_refused_before_training(run, tmp_path):
    _, err = run("train", "--serving_input=raw,csv", f"--model_dir={tmp_path}", expected_code=2)
    assert "feature 'image' is float32 of shape" in err and "Traceback" not in err


def test_an_input_fn_that_has_its_own_receiver_refuses_other_inputs(run, plain, tmp_path):
    with open(tmp_path / "my_input.py", "a", encoding="utf-8") as file:
        file.write("\ndef serving_input_receiver_fn():\n    raise NotImplementedError\n")
    _, err = run("train", *plain, "--serving_input=csv", f"--model_dir={tmp_path}/m",
                 expected_code=2)
    assert "serving_input is 'csv'" in err and "serving_input_receiver_fn decides what" in err
