"""An export answers with the names of the classes, as the checkpoint that it is of does."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import ConfigError
from input_fns.reading import image_decode
from tests.support.images_of_classes import encoded

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

SIZE = 32
MODELS = """
import tensorflow as tf

def build(params):
    image = tf.keras.Input(({size}, {size}, 3), name="image")
    flat = tf.keras.layers.Flatten()(image)
    model = tf.keras.Model(image, tf.keras.layers.Dense(1, "sigmoid", name="likely")(flat))
    model.compile(tf.keras.optimizers.legacy.SGD(0.1), "binary_crossentropy")
    return model

def two_outputs(params):
    image = tf.keras.Input(({size}, {size}, 3), name="image")
    flat = tf.keras.layers.Flatten()(image)
    model = tf.keras.Model(image, tf.keras.layers.Dense(2, "softmax", name="likely")(flat))
    model.compile(tf.keras.optimizers.legacy.SGD(0.1), "sparse_categorical_crossentropy")
    return model
"""


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """A folder with a table and with images, of two classes each."""
    folder = tmp_path_factory.mktemp("named")
    rows = [(20 + i % 40, ("cook", "smith")[i % 2], ("no", "yes")[i % 3 == 0]) for i in range(80)]
    (folder / "train.csv").write_text("age,job,left\n" + "".join(
        f"{age},{job},{left}\n" for age, job, left in rows))
    (folder / "new.csv").write_text("age,job\n" + "".join(
        f"{age},{job}\n" for age, job, _ in rows[:9]))
    for name, value in (("ant", 40), ("bee", 220)):
        (folder / "images" / name).mkdir(parents=True)
        for i in range(8):
            pixels = np.full([SIZE, SIZE, 3], value + i, np.uint8)
            (folder / "images" / name / f"{i}.png").write_bytes(encoded(pixels))
    (folder / "my_keras.py").write_text(MODELS.format(size=SIZE))
    return folder


def _trained(run, folder, model_dir, *flags):
    run("train", f"--model_dir={model_dir}", "--train_steps=3", *flags)
    [export] = (model_dir / "export" / "final").iterdir()
    return export


def _predicted(run, source, data):
    out, _ = run("predict", source, f"--data={data}")
    return [json.loads(line) for line in out.splitlines()]


def _same(run, model_dir, export, data):
    """Returns the answers, which are the same of a checkpoint and of its export."""
    of_checkpoint, of_export = (_predicted(run, source, data) for source in (
        f"--model_dir={model_dir}", f"--export_dir={export}"))
    assert list(map(list, of_checkpoint)) == list(map(list, of_export))
    assert [each["class"] for each in of_checkpoint] == [each["class"] for each in of_export]
    return of_checkpoint


@pytest.mark.parametrize("serving", ["raw", "example"])
@pytest.mark.parametrize("model", [
    "canned", "wide_deep", "dcn", "deepfm", "canned --param=estimator=BaselineClassifier"])
def test_an_export_of_a_table_answers_with_the_name_of_the_class(
        run, folder, tmp_path, model, serving):
    name, *more = model.split()
    export = _trained(run, folder, tmp_path, f"--model_fn={name}", *more, "--input_fn=csv",
                      f"--param=train_files={folder}/train.csv", "--param=label=left",
                      f"--serving_input={serving}")
    predicted = _same(run, tmp_path, export, folder / "new.csv")
    signature = tf.saved_model.load(str(export)).signatures["serving_default"]
    if serving == "raw":
        takes = signature.structured_input_signature[1]
        found = signature(age=tf.constant([20, 21], takes["age"].dtype),
                          job=tf.constant(["cook", "smith"]))
    else:
        found = signature(examples=tf.constant([_example(20, b"cook"), _example(21, b"smith")]))
    names = [name.decode() for name in found["class"].numpy()]
    assert names == [each["class"] for each in predicted[:2]] and set(names) <= {"no", "yes"}
    assert found["classes"].numpy().tolist() == [[name.encode()] for name in names]
    if serving == "example":
        signature = tf.saved_model.load(str(export)).signatures["classification"]
        found = signature(tf.constant([_example(20, b"cook")]))
        assert found["classes"].numpy().tolist() == [[b"no", b"yes"]]


def _example(age, job):
    feature = tf.train.Feature
    return tf.train.Example(features=tf.train.Features(feature={
        "age": feature(float_list=tf.train.FloatList(value=[age])),
        "job": feature(bytes_list=tf.train.BytesList(value=[job]))})).SerializeToString()


@pytest.mark.parametrize("model", [
    "cnn", "resnet", "mlp", "linear", "keras_model --param=keras_model=./my_keras.py:build",
    "keras_model --param=keras_model=./my_keras.py:two_outputs"])
def test_an_export_of_images_answers_with_the_name_of_the_class(
        run, folder, tmp_path, model, monkeypatch):
    monkeypatch.chdir(folder)
    name, *more = model.split()
    export = _trained(run, folder, tmp_path, f"--model_fn={name}", *more, "--input_fn=image_folder",
                      f"--param=train_dir={folder}/images", "--param=batch_size=8")
    predicted = _same(run, tmp_path, export, folder / "images")
    signature = tf.saved_model.load(str(export)).signatures["serving_default"]
    found = signature(image=tf.zeros([3, SIZE, SIZE, 3]))
    assert set(found["class"].numpy()) <= {b"ant", b"bee"}
    assert [each["class"] for each in predicted] == [
        ("ant", "bee")[each["classes"]] for each in predicted]
    if name == "cnn":
        pixels = [image_decode.decoded(path.read_bytes()).numpy().astype(np.uint8)
                  for path in sorted((folder / "images").rglob("*.png"))]
        of_pictures = estimator_trainer.predict(tmp_path, pixels)
        assert [each["probabilities"] for each in of_pictures] == [
            each["probabilities"] for each in predicted]
        assert "file_name" not in of_pictures[0]
        for source in ({"model_dir": tmp_path}, {"export_dir": export}):
            with pytest.raises(ConfigError, match="values from 0 to 40; expected 0 to 1"):
                estimator_trainer.predict(**source, data={"image": np.stack(pixels)})
            assert estimator_trainer.predict(**source, data={"image": np.stack(pixels) / 255})
        with pytest.raises(ConfigError, match="instance 2 .* is an array of float32 .*a.png"):
            estimator_trainer.predict(tmp_path, [pixels[0], np.zeros([4, 4, 3], np.float32)])
