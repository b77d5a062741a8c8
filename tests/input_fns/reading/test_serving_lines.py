"""Lines of CSV that an export takes become the features that the input_fn yields for them."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from input_fns import csv
from input_fns.reading import number_format, serving_lines

HEADER = "dropped;job;age;price;rate;left"
LINES = ['x;cook;31;1.234,50 \u20ac;0.1;no', 'x;"a;b";32;12,5 \u20ac;1e-3;yes',
         'x;"say ""so""";33;(7,25 \u20ac);.5;no', "x;?;?;\u22123 \u20ac;?;yes", "x;;;;-0.25;no"] * 4
PREPARED = {"prepare_columns": True, "table_columns": {}, "label_scale": {}}


def _features(path, **params):
    """Returns what the input_fn yields, and what an export makes of the same lines."""
    params = {**csv.DEFAULT_PARAMS, "train_files": str(path), "eval_files": str(path),
              "label": "left", "drop": ["dropped"], "na_value": "?", "batch_size": 64, **params}
    known = csv.data_params(params)
    params = {**params, **known, "identifiers": []}
    [(yielded, _)] = csv.input_fn("eval", params).as_numpy_iterator()
    lines = [line.partition(";")[2].rpartition(";")[0] + end
             for line, end in zip(LINES, ("", "\n", "\r\n", "", "") * 4)]
    found = csv.features_of_lines(tf.constant(lines), list(yielded), params)
    return yielded, {name: value.numpy() for name, value in found.items()}


@pytest.mark.parametrize("more", [{}, {"empty_numbers": "zero"}, PREPARED],
                         ids=["mean", "zero", "prepared"])
def test_fields_of_lines_are_what_the_input_fn_yields(tmp_path, more):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([HEADER, *LINES]), encoding="utf-8")
    yielded, found = _features(path, **more)
    assert list(found) == list(yielded) == ["job", "age", "price", "rate"]
    for name, values in yielded.items():
        assert found[name].dtype == values.dtype
        np.testing.assert_array_equal(found[name], values, name)
    assert yielded["price"][:3].tolist() == [1234.5, 12.5, -7.25]


@pytest.mark.parametrize("line, expected", [
    ("cook;thirty;1;1", "could not correctly convert string: thirty"),
    ("cook;30;1;inf", "column 'rate' has a number that is nan or infinite"),
    ("cook;30;1;1e39", "column 'rate' has a number that is nan or infinite"),
    ("cook;30;1", "Expect 4 fields but have 3"),
    ('co"ok;30;1;1', "Unquoted fields cannot have quotes")])
def test_a_line_that_training_would_refuse_is_an_error(line, expected):
    params = {**csv.DEFAULT_PARAMS, "columns": {"job": "", "age": 0, "price": 0.0, "rate": 0.0},
              "delimiter": ";", "train_files": __file__}
    with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
        csv.features_of_lines(tf.constant([line]), list(params["columns"]), params)


@pytest.mark.parametrize("form", number_format.FORMATS)
def test_numbers_of_every_format_are_read_as_by_the_input_fn(form):
    texts = ["1,234.5", "1.234,5", "1 234.5", "1\u00a0234", "1'234,5", "1,23", "1.2", "-3", "+4",
             "\u22125", "(1,000)", "$ -6", "EUR7.5", "8 kg", "9%", "1e3", ".5", ",5", "x", "",
             "(", "1,234,5", "12 34", "- 3", "1,234e-2", "2.5.2014", "$", "7 $ "]
    found = serving_lines.plain(tf.constant(texts), form).numpy()
    assert [text.decode() for text in found] == [
        number_format.plain(text, form) if text else "" for text in texts]
