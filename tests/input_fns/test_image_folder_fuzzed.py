"""Images that are cut off or changed anywhere are refused, or read right."""

from __future__ import annotations

import struct
import zlib

import hypothesis
from hypothesis import strategies
import numpy as np
import pytest
import tensorflow as tf

from input_fns import image_folder
from input_fns.reading.errors import DataFileError
from tests.support import rereading

ERRORS = (DataFileError, tf.errors.OpError, UnicodeDecodeError)

default = hypothesis.settings(derandomize=True, deadline=None, database=None, max_examples=10)

wide = hypothesis.settings(default, max_examples=500, suppress_health_check=list(
    hypothesis.HealthCheck))

PIXELS = np.random.RandomState(0).randint(0, 255, (9, 12, 3)).astype(np.uint8)

PNG, JPEG = tf.io.encode_png(PIXELS).numpy(), tf.io.encode_jpeg(PIXELS).numpy()

GIF = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002"
                    "024401003b")

BMP = b"BM" + struct.pack("<IHHIIiiHHIIiiII", 58, 0, 0, 54, 40, 1, 1, 1, 24, 0, 4, 2835, 2835, 0,
                          0) + b"\1\2\3\0"

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow]


def _png_of(width: int, height: int) -> bytes:
    """Returns a PNG that says it is of this size, and holds no such pixels."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    return (PNG[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))


def _jpeg_of(width: int, height: int) -> bytes:
    """Returns a JPEG that says it is of this size, and holds no such pixels."""
    place = JPEG.index(b"\xff\xc0") + 5
    return JPEG[:place] + struct.pack(">HH", height, width) + JPEG[place + 4:]


@pytest.fixture(scope="module", name="images", params=["eval", "train"])
def fixture_images(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for kind in ("ant", "bee"):
        (folder / kind).mkdir()
    path = folder / "ant" / "x.png"
    path.write_bytes(PNG)
    params = {**image_folder.DEFAULT_PARAMS, "train_dir": str(folder), "eval_dir": str(folder),
              "class_names": ["ant", "bee"], "image_size": 8, "batch_size": 1, "epochs": 1,
              "shuffle_buffer": 0}
    return rereading.FileReader(path, lambda: image_folder.input_fn(request.param, params))


def _is_read(images, content: bytes) -> bool:
    """Returns whether a file is read as an image of the size asked for; else it is refused."""
    try:
        [(features, label)] = images.read(content)
    except ERRORS:
        return False
    image = features["image"]
    assert image.shape == (1, 8, 8, 3) and 0 <= image.min() <= image.max() <= 1.001
    return label.tolist() == [0]


@pytest.mark.parametrize("content", [
    PNG, JPEG, GIF, GIF[:-1] + GIF[19:], BMP, tf.io.encode_png(PIXELS[:1, :1]).numpy(),
    tf.io.encode_jpeg(PIXELS[:1, :1]).numpy(), tf.io.encode_png(PIXELS[..., :1]).numpy(),
    tf.io.encode_png(PIXELS.astype(np.uint16) * 257).numpy(),
    tf.io.encode_png(np.zeros((1, 5000, 3), np.uint8)).numpy()],
    ids=["png", "jpeg", "gif", "two frames", "bmp", "1x1 png", "1x1 jpeg", "grey", "16 bits",
         "long"])
def test_each_kind_of_image_is_read(images, content):
    assert _is_read(images, content)


@pytest.mark.parametrize("content", [
    b"", b"\x89", b"no image", PNG[:-1], PNG[:40], JPEG[:-60], JPEG[:200],
    BMP[:-2], BMP[:20], BMP[:30] + b"\1" + BMP[31:],  # The last is compressed.
    b"RIFF", b"RIFF\0\0\0\0WEBP", b"RIFF\0\0\0\0WEBPVP8X\12\0\0\0\2",
    _png_of(20_000, 20_000), _png_of(60_000, 60_000), _png_of((1 << 31) - 1, 1), _png_of(0, 0),
    _jpeg_of(20_000, 20_000), _jpeg_of(65_500, 65_500), _jpeg_of(0, 0)], ids=range(20))
def test_what_is_no_whole_image_is_refused_in_little_time(images, content):
    assert not _is_read(images, content)


def test_the_sentence_names_the_file(tmp_path):
    for kind, content in (("ant", PNG), ("bee", PNG[:-5])):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "x.png").write_bytes(content)
    params = {**image_folder.DEFAULT_PARAMS, "train_dir": str(tmp_path),
              "eval_dir": str(tmp_path)}
    assert image_folder.data_problem(params).startswith(
        f"{tmp_path}/bee/x.png is no readable image: ")


@pytest.mark.soak
@pytest.mark.parametrize("content", [PNG, JPEG, GIF], ids=["png", "jpeg", "gif"])
def test_an_image_cut_off_at_each_byte(images, content):
    # The last bytes of a JPEG and of a GIF only say that it ends.
    assert not any(_is_read(images, content[:end]) for end in range(len(content) - 20))


@pytest.mark.soak
@wide
@hypothesis.given(strategies.sampled_from([PNG, JPEG, GIF]), strategies.integers(0, 10_000),
                  strategies.integers(1, 255))
def test_very_many_changed_images(images, content, place, change):
    changed = bytearray(content)
    changed[place % len(changed)] ^= change
    _is_read(images, bytes(changed))
