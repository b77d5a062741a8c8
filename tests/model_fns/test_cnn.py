"""The networks of cnn: the tutorial's where it was before, blocks for pictures."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import api, cli
from model_fns import cnn
from tests.support.images_of_classes import encoded

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]

# The params that records of version 1.0 have, where the defaults are others now.
OLD = {"optimizer": "sgd", "learning_rate": 0.1, "warmup_steps": 0, "moving_average": 0.0}
TUTORIAL = ["conv2d/bias", "conv2d/kernel", "dense/bias", "dense/kernel", "dense_1/bias",
            "dense_1/kernel"]


def _built(size, mode="train", channels=3, **params):
    """Returns the graph of the model, its spec, and the names of its trainable variables."""
    with tf.Graph().as_default() as graph:
        image = tf.compat.v1.placeholder(tf.float32, [None, size, size, channels])
        labels = tf.zeros([4], tf.int64)
        spec = cnn.model_fn({"image": image}, labels, mode, {
            **cnn.DEFAULT_PARAMS, "num_classes": 3, "global_batch_size": 4, **params})
        names = sorted(v.op.name.rpartition("sequential/")[2]
                       for v in tf.compat.v1.trainable_variables())
    return graph, spec, names


@pytest.mark.parametrize("size, params, is_tutorial", [
    (8, {}, True), (28, {}, True), (32, {}, False), (96, {}, False), (96, OLD, True),
    (96, {"optimizer": "adam"}, True), (96, {"optimizer": "adam", "network": "blocks"}, False),
    (96, {"learning_rate": 0.01}, False), (96, {"network": "tutorial"}, True)])
def test_the_network_is_that_of_the_images_size_or_of_an_old_record(size, params, is_tutorial):
    _, _, names = _built(size, **params)
    assert (names == TUTORIAL) == is_tutorial


def _ops(graph):
    return {op.type for op in graph.get_operations()}


def _named_ops(graph):
    return [(op.name, op.type, [each.name for each in op.inputs])
            for op in graph.get_operations()]


def test_the_tutorials_network_trains_as_before():
    new, old = (_built(28, **params)[0] for params in ({}, OLD))
    assert _named_ops(new) == _named_ops(old)
    assert "ResourceApplyGradientDescent" in _ops(new)


def test_blocks_end_at_4_to_7_pixels_and_use_averages():
    graph, _, names = _built(100)
    kernels = [name for name in names if name.endswith("kernel") and "conv" in name]
    assert len(kernels) == 4  # 50, 25, 12 and 6 pixels.
    assert {"ResourceApplyAdam", "FusedBatchNormV3"} <= _ops(graph)
    _, spec, _ = _built(100, "eval")
    assert spec.scaffold is not None


def test_another_network_is_one_sentence():
    with pytest.raises(ValueError, match="--param network=blocks"):
        _built(96, network="big")


def _shapes(folder: pathlib.Path, count: int, size: int) -> None:
    """Draws discs and squares in any colour, size and place."""
    random = np.random.default_rng(1)
    for kind in ("disc", "square"):
        (folder / kind).mkdir(parents=True)
        for number in range(count):
            y, x = np.mgrid[:size, :size] - random.integers(size // 3, size - size // 3, (2, 1, 1))
            inside = (x**2 + y**2 < (size / 4) ** 2 if kind == "disc"
                      else np.maximum(abs(x), abs(y)) < size / 4.5)
            paper, ink = random.integers(0, 120, 3), random.integers(120, 255, 3)
            pixels = np.where(inside[..., None], ink, paper).astype(np.uint8)
            (folder / kind / f"{number}.png").write_bytes(encoded(pixels))


@pytest.mark.soak
def test_a_folder_trains_evaluates_and_predicts_with_defaults(tmp_path, capfd):
    _shapes(tmp_path / "images", 20, 40)
    model_dir = tmp_path / "model"
    assert cli.main(["--model_fn=cnn", "--input_fn=image_folder", "--train_steps=3",
                     f"--param=train_dir={tmp_path}/images", "--param=batch_size=8",
                     f"--model_dir={model_dir}"]) == 0
    params = json.loads((model_dir / "record.json").read_text())["params"]
    assert (params["image_size"], params["augment"]) == (40, "light")
    image = tmp_path / "images" / "disc" / "3.png"
    capfd.readouterr()
    assert cli.main(["predict", f"--model_dir={model_dir}", f"--data={image}"]) == 0
    [line] = capfd.readouterr().out.splitlines()
    answer = json.loads(line)
    assert answer["class"] in ("disc", "square") and answer["file_name"] == str(image)
    eight_bits = np.full([40, 40, 3], 200, np.uint8)
    assert "class" in api.predict(model_dir, [{"image": eight_bits / 255}])[0]
    with pytest.raises(api.ConfigError, match="values from 0 to 200; expected 0 to 1"):
        api.predict(model_dir, {"image": eight_bits[None]})


@pytest.mark.soak
def test_a_record_of_before_keeps_the_colours_of_what_is_transparent(tmp_path):
    _shapes(tmp_path / "images", 20, 40)
    model_dir = tmp_path / "model"
    assert cli.main(["--model_fn=cnn", "--input_fn=image_folder", "--train_steps=3",
                     f"--param=train_dir={tmp_path}/images", "--param=batch_size=8",
                     f"--model_dir={model_dir}"]) == 0
    record = json.loads((model_dir / "record.json").read_text())
    unseen, black = tmp_path / "unseen.png", tmp_path / "black.png"
    unseen.write_bytes(encoded(np.zeros([40, 40, 4], np.uint8)))
    black.write_bytes(encoded(np.zeros([40, 40, 3], np.uint8)))
    data = f"{unseen},{black}"
    on_white, of_black = (each["probabilities"] for each in api.predict(model_dir, data))
    assert on_white != of_black
    del record["params"]["background"]
    (model_dir / "record.json").write_text(json.dumps(record))
    assert {str(each["probabilities"]) for each in api.predict(model_dir, data)} == {str(of_black)}


@pytest.mark.soak
@pytest.mark.parametrize("model", ["cnn", "resnet"])
def test_pictures_are_learned_with_defaults(tmp_path, model):
    _shapes(tmp_path / "images", 200, 64)
    assert cli.main([f"--model_fn={model}", "--input_fn=image_folder", "--train_epochs=30",
                     f"--param=train_dir={tmp_path}/images", "--seed=1",
                     f"--model_dir={tmp_path}/model"]) == 0
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["metrics"]["accuracy"] > 0.95
