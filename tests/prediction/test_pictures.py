"""Pictures of a program are stored as files that hold the same pixels."""

from __future__ import annotations

import os
import types

import numpy as np
from PIL import Image
import pytest

from estimator_trainer.errors import ConfigError
from estimator_trainer.prediction import pictures

pytestmark = pytest.mark.any_tensorflow
_PLAN = types.SimpleNamespace(data=types.SimpleNamespace(
    data="images", default_params={"predict_files": ""}))
_PIXELS = np.random.default_rng(2).integers(0, 256, [3, 5, 6, 3]).astype(np.uint8)


@pytest.mark.parametrize("data", [
    _PIXELS, list(_PIXELS), [Image.fromarray(each) for each in _PIXELS],
    [_PIXELS[0], *map(Image.fromarray, _PIXELS[1:])]])
def test_each_picture_is_a_file_in_order(data):
    with pictures._stored(pictures.found(_PLAN, data)) as folder:
        stored = [np.asarray(Image.open(os.path.join(folder, name)))
                  for name in sorted(os.listdir(folder))]
    np.testing.assert_array_equal(stored, _PIXELS)


def test_one_picture_is_a_batch_of_one_and_rows_are_none():
    assert len(pictures.found(_PLAN, _PIXELS[0])) == 1
    assert pictures.found(_PLAN, [{"image": _PIXELS[0]}]) == []


@pytest.mark.parametrize("data, expected", [
    (_PIXELS / 255, "instance 1 .* is an array of float64 \\[5, 6, 3\\]; expected pictures alone"),
    ([_PIXELS[0], "a.png"], "instance 2 of the data to predict is a str"),
    (_PIXELS[0, :, :, :2], "is an array of uint8 \\[5, 6, 2\\]")])
def test_what_is_no_picture_is_named(data, expected):
    with pytest.raises(ConfigError, match=expected):
        pictures.found(_PLAN, data)


def test_an_image_that_no_png_holds_is_named():
    with pytest.raises(ConfigError, match="instance 1 .* cannot be stored as PNG"):
        with pictures._stored([Image.new("RGB", (0, 3))]):
            pass
