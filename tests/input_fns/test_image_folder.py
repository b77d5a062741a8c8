"""The input plug-in `image_folder`, and the augmentation that it shares with `tfds`."""

import numpy as np
import pytest
import tensorflow as tf

from input_fns import digits, image_folder as plugin
from input_fns.reading import augment, image_facts
from tests.support import images_of_classes
from tests.support.images_of_classes import CLASSES, encoded, names_of

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow]


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    return images_of_classes.write(tmp_path_factory.mktemp("images"))


@pytest.fixture(name="params")
def fixture_params(folder):
    return {**plugin.DEFAULT_PARAMS, "train_dir": str(folder), "eval_dir": str(folder),
            "image_size": 8, "batch_size": 4, "file_name": "file"}


def number(file):
    return int(file.split("/")[1].split(".")[0])


@pytest.mark.parametrize("augment", ("none", "imagenet", "light"))
def test_images_of_every_kind_become_rgb_in_0_to_1(params, augment):
    params.update(augment=augment, batch_size=21)
    dataset = plugin.input_fn("eval", params)
    (features, labels), = dataset
    assert dataset.element_spec[0]["image"] == tf.TensorSpec([None, 8, 8, 3], tf.float32)
    assert labels.dtype == tf.int64 and labels.numpy().tolist() == [0] * 7 + [1] * 7 + [2] * 7
    (again, _), = plugin.input_fn("infer", params)
    np.testing.assert_array_equal(features["image"], again["image"])
    for name, image in zip(names_of([(features, labels)]), features["image"].numpy()):
        np.testing.assert_allclose(image[..., 0] * 255, 10 * number(name), atol=3)


def test_one_folder_is_split_for_evaluation(params):
    params.update(eval_dir="", epochs=1, batch_size=1)
    held_out = names_of(plugin.input_fn("eval", params))
    assert held_out == [f"{kind}/4.jpg" for kind in CLASSES]  # The fifth of each class.
    assert len({*names_of(plugin.input_fn("train", params)), *held_out}) == 21
    facts = {"num_classes": 3, "class_names": list(CLASSES), "train_examples": 18}
    assert plugin.data_params(params) == {**facts, "augment": "none"}
    assert plugin.data_params({**params, "image_size": 0, "augment": "cifar"}) == {
        **facts, "image_size": 12}


@pytest.mark.cluster
@pytest.mark.parametrize("augment", (
    pytest.param("imagenet", marks=pytest.mark.soak), "light"))
def test_input_fn_gives_the_same_images_for_the_same_seed(params, augment):
    def read():
        batches = list(plugin.input_fn("train", {
            **params, "epochs": 2, "seed": 1, "augment": augment}))
        return names_of(batches), np.concatenate([features["image"] for features, _ in batches])

    (order, images), (again, same) = read(), read()
    assert order == again and len(order) == 40
    np.testing.assert_array_equal(images, same)


def drawn(way, pixels, shape, kind="png", draws=40):
    """Returns what training makes of one image: float32 [draws, *shape]."""
    contents = encoded(pixels, kind)
    seeds = tf.constant([[3, draw] for draw in range(draws)], tf.int64)
    return tf.map_fn(lambda seed: augment.training_image(contents, seed, way, shape), seeds,
                     fn_output_signature=tf.float32).numpy()


# 40x60 pixels, brighter to the right.
RAMP = np.tile(np.arange(0, 240, 4, dtype=np.uint8)[None, :, None], (40, 1, 3))


@pytest.mark.parametrize("kind", ("png", "jpg"))
def test_imagenet_cuts_resizes_and_mirrors(kind):
    images = drawn("imagenet", RAMP, (16, 16, 3), kind)
    rises = images[:, 8, -1, 0] - images[:, 8, 0, 0]
    assert 8 <= (rises > 0).sum() <= 32  # About half are mirrored.
    widths = np.abs(rises) / 4  # Pixels of the original.
    assert widths.min() < 20 and widths.max() > 30  # From 8% of the area to nearly all.
    assert images.min() >= 0 and images.max() <= 255
    assert len(np.unique(images.reshape(len(images), -1), axis=0)) == len(images)


def test_cifar_shifts_by_4_pixels_at_most_and_mirrors():
    pixels = np.full((8, 8, 1), 200, np.uint8)
    images = drawn("cifar", pixels, (8, 8, 1))
    black = images[..., 0] == 0
    shifts = {(int(image.all(0).sum()), int(image.all(1).sum())) for image in black}
    assert set(np.unique(images)) <= {0, 200} and len(shifts) > 10
    assert max(max(shift) for shift in shifts) == 4


def test_light_cuts_turns_shifts_mirrors_and_relights():
    images = drawn("light", RAMP, (16, 16, 3))
    rises = images[:, 8, -1, 0] - images[:, 8, 0, 0]
    assert 8 <= (rises > 0).sum() <= 32  # About half are mirrored.
    assert 80 < abs(rises).min() and abs(rises).max() < 240  # 160 pixels of the square are seen.
    means = images.mean((1, 2))
    assert means.std(0).min() > 5 and images.min() >= 0 and images.max() <= 255
    assert len(np.unique(images.reshape(len(images), -1), axis=0)) == len(images)


@pytest.mark.parametrize("size, count, expected", (
    (50, 10, {"image_size": 48, "augment": "light"}),
    (28, 10, {"image_size": 28, "augment": "none"}),
    (300, 10, {"image_size": 64, "augment": "light"}),
    (300, 6_000, {"image_size": 128, "augment": "light"}),
    (300, 200_000, {"image_size": 224, "augment": "imagenet"})))
def test_the_folder_decides_the_size_and_the_change(tmp_path, size, count, expected):
    path = tmp_path / f"{size}.png"
    path.write_bytes(encoded(np.zeros((size, size + 9, 3), np.uint8)))
    with tf.Graph().as_default():
        unset = {"image_size": 0, "augment": "", "background": []}
        assert image_facts.decided(unset, [str(path)] * count) == expected
    chosen = {"image_size": 7, "augment": "cifar", "background": [255, 255, 255]}
    assert image_facts.decided(chosen, []) == {
        "image_size": 7, "augment": "cifar"}


def test_evaluation_keeps_the_centre():
    contents = encoded(RAMP)
    whole = augment.evaluation_image(contents, "none", (40, 40, 3)).numpy()
    np.testing.assert_array_equal(whole, RAMP[:, 10:50])
    part = augment.evaluation_image(contents, "imagenet", (35, 35, 3)).numpy()  # 40 * 7 / 8
    np.testing.assert_array_equal(part, RAMP[2:37, 12:47])
    same = augment.evaluation_image(contents, "cifar", (40, 60, 3)).numpy()
    np.testing.assert_array_equal(same, RAMP)


@pytest.mark.cluster
@pytest.mark.parametrize("mode", ("train", "eval"))
@pytest.mark.parametrize("augment, image_size", (("cifar", 0), ("imagenet", 16)))
def test_tfds_sets_get_the_same(data_dir, mode, augment, image_size):
    params = {**digits.DEFAULT_PARAMS, "data_dir": str(data_dir), "augment": augment,
              "image_size": image_size, "batch_size": 32, "tfds_id": True, "key": "name",
              "num_classes": 10}
    dataset = digits.input_fn(mode, params)
    size = image_size or 8
    assert dataset.element_spec[0]["image"].shape[1:] == [size, size, 1]
    features, labels = next(iter(dataset))
    assert set(features) == {"image", "name"} and labels.shape == [32]
    assert 0 <= features["image"].numpy().min() and 0.9 < features["image"].numpy().max() <= 1
    split = "train" if mode == "train" else "test"
    plain = {name: image for batch, _ in digits.input_fn("eval", {
        **params, "augment": "none", "image_size": 0, "eval_split": split})
             for name, image in zip(batch["name"].numpy(), batch["image"].numpy())}
    names = features["name"].numpy().tolist()
    assert set(names) <= set(plain) and len(set(names)) == 32
    if augment == "cifar":
        is_same = np.array_equal([plain[name] for name in names], features["image"])
        assert is_same == (mode == "eval")


@pytest.mark.parametrize("changes, exit_code, expected", (
    ({"train_dir": ""}, 2, "--param train_dir=/data/pets/train"),
    ({"train_dir": "/nowhere"}, 1, "train_dir is '/nowhere', and there is no such folder"),
    ({"train_dir": "{folder}/ant"}, 1, "which holds no folder, but 0.jpg"),
    ({"eval_dir": "", "eval_every": 1}, 2, "--param eval_every=5"),
    ({"eval_dir": "", "eval_every": 9}, 1, "For example: --param eval_every=5"),
    ({"background": [0, 0]}, 2, "--param 'background=[255, 255, 255]'"),
    ({"augment": "imagnet"}, 2, "expected one of ['none', 'cifar', 'imagenet', 'light']"),
    ({"image_size": -1}, 2, "--param image_size=224"),
    ({"batch_size": 0}, 2, "--param batch_size=64"),
))
def test_a_mistake_is_one_sentence(params, folder, changes, exit_code, expected):
    params.update({key: value.format(folder=folder) if isinstance(value, str) else value
                   for key, value in changes.items()})
    with pytest.raises((ValueError, RuntimeError)) as caught:
        plugin.input_fn("eval", params)
    assert caught.value.exit_code == exit_code
    assert expected in str(caught.value) and "\n" not in str(caught.value)


def test_another_class_or_a_bad_file_is_named(params, folder, tmp_path):
    assert plugin.data_problem(params) == ""
    (tmp_path / "bee").mkdir()
    (tmp_path / "bee" / "0.png").write_bytes((folder / "bee" / "1.PNG").read_bytes())
    bad = tmp_path / "bee" / "1.jpg"
    bad.write_bytes((folder / "bee" / "0.jpg").read_bytes()[:60])
    params["eval_dir"] = str(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError):
        names_of(plugin.input_fn("eval", params))
    with tf.Graph().as_default():
        assert plugin.data_problem(params).startswith(f"{bad} is no readable image: ")
    (tmp_path / "bee" / "2.png").write_bytes(b"")
    assert plugin.data_problem(params).endswith(f"; so are {tmp_path}/bee/2.png")
    (tmp_path / "dog").mkdir()
    (tmp_path / "dog" / "0.png").write_bytes((folder / "bee" / "1.PNG").read_bytes())
    assert "holds a folder 'dog' that train_dir" in plugin.data_problem(params)
