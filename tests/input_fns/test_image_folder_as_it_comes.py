"""Folders of images as people have them: turned, renamed, nested, incomplete."""

from __future__ import annotations

import logging as python_logging
import os
import struct

import numpy as np
import pytest
import tensorflow as tf

from input_fns import image_folder as plugin
from input_fns.reading import class_folders, image_decode, image_files
from input_fns.reading.errors import DataFileError
from tests.support.images_of_classes import encoded, names_of

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow]

# 2x3 pixels of one colour, as Pillow writes them, and two such frames.
COLOUR = (250, 120, 10)
WEBP = bytes.fromhex("524946461e000000574542505650384c110000002f018000000750bcea57a1ff8188e87f0000")
ANIMATED = bytes.fromhex(
    "524946468400000057454250565038580a00000002000000010000020000414e494d06000000000000000000"
    "414e4d462a000000000000000000010000020000000000025650384c110000002f018000000750bcea57a1ff"
    "8188e87f0000414e4d4626000000000000000000010000020000000000005650384c0e0000002f0180000007"
    "1011fd0f4444ff03")
# A bitmap of 8 bits has the numbers of its colours, here of one.
OF_PALETTE = b"BM" + struct.pack(
    "<IHHIIiiHHIIiiII", 70, 0, 0, 58, 40, 2, 3, 1, 8, 0, 12, 1, 1, 1, 1
) + b"\n\x78\xfa\0" + bytes(12)
# Corners of four brightnesses: no turn leaves them where they are.
CORNERS = np.kron([[40, 90], [140, 200], [240, 0]], np.ones([16, 16])).astype(np.uint8)[..., None]
SEEN = np.arange(75, dtype=np.uint8).reshape([5, 5, 3]) * 3
TURNS = {1: lambda x: x, 2: np.fliplr, 3: lambda x: np.rot90(x, 2), 4: np.flipud,
         5: lambda x: np.swapaxes(x, 0, 1), 6: lambda x: np.rot90(x, -1),
         7: lambda x: np.rot90(np.swapaxes(x, 0, 1), 2), 8: np.rot90}


def turned(jpeg, orientation, order="<"):
    """Returns a JPEG with an EXIF tag before its image, as cameras write it."""
    maker = struct.unpack(order + "HH", b"abc\0")
    tags = struct.pack(order + "HHHIHHHHIHHI", 2, 0x010F, 2, 4, *maker,
                       0x0112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0" + {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "I", 8) + tags
    comment = b"\xff\xfe\0\4hi"
    return jpeg[:2] + comment + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


@pytest.fixture(name="decode", scope="module")
def fixture_decode():
    """Decodes as the input pipeline does, in a graph."""
    with tf.Graph().as_default() as graph:
        contents = tf.compat.v1.placeholder(tf.string, [])
        image = image_decode.decoded(contents, [255, 255, 255])
    session = tf.compat.v1.Session(graph=graph)
    yield lambda value: session.run(image, {contents: value})
    session.close()


@pytest.mark.parametrize("order", ("<", ">"))
@pytest.mark.parametrize("orientation", TURNS)
def test_a_jpeg_is_turned_as_the_camera_was_held(decode, orientation, order):
    plain = encoded(CORNERS, "jpg")
    expected = TURNS[orientation](decode(plain))
    np.testing.assert_array_equal(decode(turned(plain, orientation, order)), expected)


@pytest.mark.parametrize("damage", (9, -1, 0))
def test_an_orientation_that_does_not_exist_turns_nothing(decode, damage):
    plain = encoded(CORNERS, "jpg")
    np.testing.assert_array_equal(decode(turned(plain, damage % 65_536)), decode(plain))


@pytest.mark.parametrize("contents", (
    OF_PALETTE, pytest.param(WEBP, marks=pytest.mark.skipif(
        image_files.WEBP not in image_files.ENDINGS, reason="TensorFlow reads no WebP"))),
    ids=("bmp", "webp"))
def test_colours_of_other_kinds_are_right(decode, contents):
    np.testing.assert_array_equal(decode(contents), np.full([3, 2, 3], COLOUR, np.uint8))


@pytest.mark.parametrize("background, seen", (
    ([255, 255, 255], [[0, 0, 0], [128, 128, 128], [255, 255, 255]]),
    ([0, 0, 200], [[0, 0, 0], [0, 0, 100], [0, 0, 200]]), ([], np.zeros([3, 3]))))
@pytest.mark.parametrize("channels", (2, 4))
def test_what_is_transparent_shows_the_background(background, seen, channels):
    # Black in three opacities, as icons are.
    pixels = np.zeros([1, 3, channels], np.uint8)
    pixels[..., -1] = [255, 127, 0]
    image = image_decode.decoded(tf.constant(encoded(pixels)), background).numpy()
    np.testing.assert_array_equal(image[0], seen)


def test_an_animated_webp_is_refused_and_does_not_end_the_process(decode):
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode(ANIMATED)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    """Two classes of six images."""
    class_folders._warn.cache_clear()
    for kind in ("ant", "bee"):
        for number in range(6):
            write(tmp_path / kind / f"{number}.png")
    return tmp_path


def write(path, contents=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(SEEN) if contents is None else contents)


def read(folder, mode="train", **params):
    """Returns CLASS/FILE of all images of an epoch, sorted."""
    params = {**plugin.DEFAULT_PARAMS, "train_dir": str(folder), "image_size": 4, "epochs": 1,
              "batch_size": 1, "file_name": "file", **params}
    assert plugin.data_params(params)["class_names"] == ["ant", "bee"]
    return sorted(names_of(plugin.input_fn(mode, params)))


def plain(*numbers):
    return [f"{kind}/{number}.png" for kind in ("ant", "bee") for number in numbers]


def test_files_of_the_operating_system_are_no_images_and_no_classes(folder, caplog):
    for name in ("__MACOSX/ant/._1.png", ".DS_Store", "ant/.DS_Store", "ant/._1.png",
                 "bee/Thumbs.db", "bee/desktop.ini", ".git/x.png"):
        write(folder / name, b"no image")
    assert read(folder) == plain(0, 1, 2, 3, 5)
    # The images are copies of each other.
    assert not [each for each in caplog.records if each.levelno >= python_logging.WARNING
                and "remembers" not in each.getMessage()]


@pytest.mark.parametrize("pixels, expected", (
    (np.full([5, 5, 4], 255, np.uint8), "--param 'background=[0, 0, 0]'"),
    (np.arange(25, dtype=np.uint16).reshape([5, 5, 1]) * 40, "so that the largest is 65,535"),
    pytest.param(np.full([5, 5, 3], 7, np.uint8), "Look at it", marks=pytest.mark.soak)))
def test_images_in_which_a_model_sees_nothing_are_counted(folder, caplog, pixels, expected):
    if pixels.shape[2] == 4:
        pixels[..., 3] = np.arange(25).reshape([5, 5]) * 10
    write(folder / "bee" / "3.png", encoded(pixels))
    read(folder)
    assert "1 of 10 images looked at show one colour alone" in caplog.text
    assert "bee/3.png" in caplog.text and expected in caplog.text


def test_folders_within_a_class_are_of_the_class(folder, caplog):
    write(folder / "ant" / "sub" / "deep" / "7.PNG")
    os.symlink(folder / "ant", folder / "ant" / "sub" / "again")  # Without an end.
    os.symlink(folder / "ant" / "sub", folder / "bee" / "linked")
    assert read(folder, eval_dir=str(folder)) == sorted(
        [*plain(*range(6)), "ant/sub/deep/7.PNG", "bee/linked/deep/7.PNG",
         *(f"bee/linked/again/{n}.png" for n in range(6))])
    assert "are of this class, such as " in caplog.text


@pytest.mark.parametrize("name, expected", (
    ("ant/a.tiff", f"TensorFlow {tf.__version__} reads no .tiff: convert them"),
    pytest.param("ant/a.txt", "1 of 13 files in train_dir are passed over",
                 marks=pytest.mark.soak),
    ("cat/readme", "has folders without images, which are no classes: cat"),
    ("loose.jpg", "1 images that lie in train_dir"),
))
def test_a_file_that_is_passed_over_is_logged_once(folder, caplog, name, expected):
    write(folder / name, b"no image")
    with caplog.at_level(python_logging.WARNING):
        assert read(folder) == plain(0, 1, 2, 3, 5)
    assert expected in caplog.text
    assert len(caplog.records) == len({record.getMessage() for record in caplog.records})


def test_all_endings_are_read(folder):
    for ending in (".JPG", ".jpeg", ".jfif", ".gif", ".BMP"):
        write(folder / "ant" / f"x{ending}")
    assert len(read(folder, eval_dir=str(folder))) == 17


@pytest.mark.parametrize("contents, kind", (
    (b"", "empty"), (b"hello world", "unknown"), (b"\0\0\0\x18ftypheic", "HEIC"),
    (b"<!DOCTYPE html>", "HTML, SVG or XML")))
def test_a_file_that_is_no_image_is_named_before_training(folder, contents, kind):
    write(folder / "ant" / "2.png", contents)
    with pytest.raises(DataFileError, match=f"ant/2.png \\({kind}\\): 1 of 12 files are no JPEG"):
        read(folder)


def test_a_link_to_nothing_is_named(folder):
    os.symlink("nowhere", folder / "ant" / "a.png")
    with pytest.raises(DataFileError, match="ant/a.png cannot be read"):
        read(folder)


@pytest.mark.parametrize("names, evaluated", (
    (("train", "val", "test"), "val"),
    pytest.param(("Train", "TEST"), "TEST", marks=pytest.mark.soak),
    pytest.param(("training",), "", marks=pytest.mark.soak)))
def test_a_folder_of_train_and_test_is_recognised(folder, caplog, names, evaluated):
    root = folder / "root"
    for name in names:
        for kind in ("ant", "bee"):
            write(root / name / kind / f"{name}.png")
            write(root / name / kind / "z.png")
    assert read(root, eval_every=2, eval_dir="")[0] == f"ant/{names[0]}.png"
    expected = f"ant/{evaluated}.png" if evaluated else "ant/z.png"
    assert read(root, "eval", eval_every=2)[0] == expected
    assert f"trains on {root / names[0]}" in caplog.text


def test_test_images_without_classes_are_no_evaluation(folder, caplog):
    for kind in ("ant", "bee"):
        (folder / "train").mkdir(exist_ok=True)
        (folder / kind).rename(folder / "train" / kind)
    write(folder / "test" / "1.png")
    assert read(folder, "eval", eval_every=2) == plain(1, 3, 5)
    assert "evaluates a part of it" in caplog.text


def test_a_class_of_another_spelling_is_named(folder):
    write(folder.parent / "new" / "Bee" / "1.png")
    with pytest.raises(DataFileError, match="a folder 'Bee' .*Did you mean 'bee'"):
        read(folder, eval_dir=str(folder.parent / "new"))


def test_images_without_folders_are_a_mistake_that_names_what_to_do(folder):
    with pytest.raises(DataFileError, match=r"Move the images of each class .* such as 0.png into"):
        read(folder / "ant")


def test_one_class_is_a_mistake_that_names_the_folder_within(folder):
    root = folder.parent / "outer"
    root.mkdir()
    (root / "images").mkdir()
    folder.rename(root / "images" / "all")
    with pytest.raises(DataFileError, match=f"of one class, images; .*dir={root}/images/all"):
        read(root)


def test_a_folder_without_images_is_an_error_that_names_its_files(folder):
    for kind in ("ant", "bee"):
        for path in (folder / kind).iterdir():
            path.rename(path.with_suffix(".heic"))
    with pytest.raises(DataFileError, match=r"hold no .*does not read ant/0.heic: convert it"):
        read(folder)
