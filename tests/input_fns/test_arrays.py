"""The input plug-in `arrays`: pictures, vectors and labels of NumPy, in memory and in files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import tensorflow as tf

import estimator_trainer
from input_fns import arrays as plugin, csv
from input_fns.reading.errors import DataFileError, DataParamError

_ROWS = 20
_IMAGES = np.arange(_ROWS * 12).reshape(_ROWS, 3, 4).astype(np.uint8)
_LABELS = np.arange(_ROWS) % 4


def _saved(folder, **arrays):
    path = str(folder / "rows.npz")
    np.savez(path, **arrays)
    return {**plugin.DEFAULT_PARAMS, "train_files": path, "batch_size": 4}


def _read(mode, params):
    known = plugin.data_params(params)
    whole = {**params, **{name: known[name] for name in known if name in params}}
    return known, [tf.nest.map_structure(lambda tensor: tensor.numpy(), batch)
                   for batch in plugin.input_fn(mode, {**whole, "epochs": 1})]


def test_pixels_become_pictures_between_0_and_1(tmp_path):
    params = _saved(tmp_path, image=_IMAGES, label=_LABELS, size=np.arange(_ROWS) / 2)
    known, [(features, labels)] = _read("eval", params)
    assert known == {"train_examples": 16, "num_classes": 4, "kinds": {"image": "pixels"}}
    assert features["image"].shape == (4, 3, 4, 1) and features["size"].dtype == np.float32
    np.testing.assert_allclose(features["image"][..., 0], _IMAGES[4::5] / 255, rtol=1e-6)
    assert labels.dtype == np.int64 and labels.tolist() == _LABELS[4::5].tolist()
    trained = np.concatenate([labels for _, labels in _read("train", params)[1]])
    assert len(trained) == 16


@pytest.mark.parametrize("labels, classes, expected", [
    (np.array(["no", "yes"] * 10), {"num_classes": 2, "label_vocabulary": ["no", "yes"]},
     [0, 1, 0, 1]),
    (np.arange(_ROWS) % 2 == 1, {"num_classes": 2}, [0, 1, 0, 1]),
    (_LABELS[:, np.newaxis], {"num_classes": 4}, _LABELS[4::5].tolist()),
    (np.arange(_ROWS) + 0.5, {"num_classes": -1}, [4.5, 9.5, 14.5, 19.5]),
    (np.arange(_ROWS) - 5, {"num_classes": -1}, [-1, 4, 9, 14])])
def test_a_label_is_a_class_or_a_number(labels, classes, expected, tmp_path):
    known, [(_, found)] = _read("eval", _saved(tmp_path, x=np.ones([_ROWS, 2]), label=labels))
    assert known == {"train_examples": 16, "kinds": {}, **classes} and found.tolist() == expected


def test_pixels_of_new_rows_are_those_of_the_training(tmp_path):
    known = {"kinds": {"image": "pixels"}, "num_classes": 4,
             "predict_files": str(tmp_path / "rows.npz")}
    params = {**_saved(tmp_path, image=_IMAGES / 255), **known}
    [batch] = plugin.input_fn("infer", {**params, "batch_size": _ROWS})
    np.testing.assert_allclose(batch["image"][..., 0], _IMAGES / 255, rtol=1e-6)
    with pytest.raises(DataFileError, match="values from 0 to 239; expected 0 to 1"):
        plugin.input_fn("infer", {**_saved(tmp_path, image=_IMAGES * 1.0), **known})
    assert "from 0 to 239" in plugin.instance_problem({"image": _IMAGES[19]}, known)
    assert plugin.instance_problem({"image": _IMAGES[19] / 255}, known) == ""
    for kinds, arrays, expected in (
            ({"image": "numbers"}, {"image": _IMAGES}, "was trained on other numbers.*image / 255"),
            ({"image": "pixels"}, {"image": _IMAGES[0]}, "one number for each row; expected a p"),
            ({"image": "pixels"}, {"img": _IMAGES}, "has the arrays img, and not 'image'"),
            ({"image": "dots"}, {"image": _IMAGES}, "expected one of pixels, bytes, numbers")):
        with pytest.raises((DataFileError, DataParamError), match=expected):
            plugin.input_fn("infer", {**_saved(tmp_path, **arrays), **known, "kinds": kinds})


def test_other_rows_are_evaluated_where_those_of_the_training_are_gone(tmp_path):
    params = {**_saved(tmp_path, image=_IMAGES, label=_LABELS), "kinds": {"image": "pixels"}}
    params |= {"eval_files": params["train_files"], "train_files": "memory-table://gone"}
    assert plugin.data_params({**params, "num_classes": 4}) == {}
    with pytest.raises(DataFileError, match="expected the table again as data=, or a file"):
        plugin.data_params(params)


@pytest.mark.parametrize("arrays, params, expected", [
    ({"x": np.ones(8)}, {}, "label is 'label', which is no array of .*expected one of x"),
    ({"x": np.ones(8), "label": np.ones(7)}, {}, "different numbers of rows: {'x': 8, 'label': 7}"),
    ({"label": np.ones(8)}, {}, "has no features"),
    ({"x": np.ones(3), "label": np.ones(3)}, {}, "there are 3 rows.*--param eval_every=3"),
    ({"x": np.ones(8), "label": np.array(["a"] * 7 + ["b"])}, {"label_vocabulary": ["a"],
     "eval_every": 2}, "is 'b' in a row; expected one of a. For example"),
    ({"x": np.ones(8), "label": np.arange(8)}, {"num_classes": 3, "eval_every": 2},
     "of row 2 of .* is 3, and num_classes is 3; expected an integer, 0 to 2"),
    ({"x": np.array([{}] * 8), "label": np.ones(8)}, {}, "Python objects.*numpy.savez"),
    ({"x": np.ones(8), "label": np.array([1, np.nan] * 4)}, {"eval_every": 2}, "is NaN in row 1"),
    ({"x": np.ones(8), "label": np.ones([8, 2], int)}, {"num_classes": 2, "eval_every": 2},
     "has the shape \\[2\\] in each row, and num_classes is 2; expected one class"),
    ({"x": np.ones(8), "label": np.ones(8)}, {"label_vocabulary": ["a", "b"], "eval_every": 2},
     "is a number; expected a text, one of a, b"),
])
def test_arrays_that_cannot_be_used_are_met_with_a_sentence(arrays, params, expected, tmp_path):
    with pytest.raises((DataParamError, DataFileError), match=expected):
        _read("eval", {**_saved(tmp_path, **arrays), **params})


def test_a_table_has_a_column_for_each_place_of_a_vector():
    numbers, table = np.arange(40.0).reshape(20, 2), _table_of(_LABELS)
    params = {**csv.DEFAULT_PARAMS, "train_files": csv.in_memory(table)}
    params |= {name: value for name, value in csv.data_params(params).items() if name in params}
    [(features, _)] = csv.input_fn("eval", params)
    assert features["x_0"].numpy().tolist() == numbers[4::5, 0].tolist()
    assert features["x_1"].numpy().tolist() == numbers[4::5, 1].tolist()
    twice = _table_of(_LABELS, x_1=_LABELS)
    with pytest.raises(DataParamError, match="there is another 'x_1'"):
        csv.data_params({**csv.DEFAULT_PARAMS, "train_files": csv.in_memory(twice)})


@pytest.mark.parametrize("columns, expected", [
    ({"x": ["a", None], "label": [0, 1]}, "array 'x' of .* has None \\(NoneType\\) in row 2"),
    ({"x": [[1, 2], [1]], "label": [0, 1]}, "has \\[1 2\\] \\(ndarray\\) in row 1.*numpy.array"),
])
def test_what_is_no_array_of_one_shape_is_named(columns, expected):
    table = pa.table(columns)
    with pytest.raises(DataFileError, match=expected):
        plugin.data_params({**plugin.DEFAULT_PARAMS, "train_files": plugin.in_memory(table)})


def test_a_table_lives_as_long_as_one_of_its_content():
    first, path = _table_of(_LABELS), ""
    for table in (first, _table_of(_LABELS)):
        path = csv.in_memory(table)
    del table
    assert plugin.data_params({**plugin.DEFAULT_PARAMS, "train_files": path})["num_classes"] == 4


def _table_of(labels, **columns):
    numbers = np.arange(40.0).reshape(20, 2)
    return pa.table({"x": pa.FixedShapeTensorArray.from_numpy_ndarray(numbers), "label": labels,
                     **columns})


def test_a_table_of_pictures_names_the_input_fn_that_reads_them():
    table = pa.table({"x": pa.FixedShapeTensorArray.from_numpy_ndarray(_IMAGES)})
    params = {**csv.DEFAULT_PARAMS, "train_files": csv.in_memory(table)}
    with pytest.raises(DataParamError, match="'x' of .*shape \\[3, 4\\].*--input_fn=arrays"):
        csv.data_params(params)


def test_a_table_of_a_file_of_arrays_names_the_input_fn_that_reads_it(tmp_path):
    path = _saved(tmp_path, image=_IMAGES, label=_LABELS)["train_files"]
    with pytest.raises(DataFileError, match="has arrays of NumPy .*expected a table.*=arrays"):
        csv.data_params({**csv.DEFAULT_PARAMS, "train_files": path})


@pytest.mark.soak
def test_pictures_in_memory_train_evaluate_and_predict(tmp_path):
    random = np.random.default_rng(3)
    labels = random.integers(0, 2, 300)
    images = (random.integers(0, 100, [300, 8, 8]) + 120 * labels[:, None, None]).astype(np.uint8)
    data = {"image": images, "bright": np.where(labels, "yes", "no")}
    ended = estimator_trainer.train(data=data, label="bright", model_dir=tmp_path / "m",
                                    train_steps=60)
    assert ended.metrics["accuracy"] > 0.95
    found = estimator_trainer.predict(tmp_path / "m", {"image": images[:7]})
    assert found["class"].tolist() == data["bright"][:7].tolist()
    [alone] = estimator_trainer.predict(tmp_path / "m", [{"image": images[0]}])
    assert alone["class"] == data["bright"][0]
    new = {"image": images[:50], "bright": data["bright"][:50]}
    assert estimator_trainer.evaluate(tmp_path / "m", new)["accuracy"] > 0.95
