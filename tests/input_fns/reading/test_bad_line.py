"""The input plug-in `csv` names the lines and files that it cannot use."""

import functools

import pytest
import tensorflow as tf

from input_fns import csv as plugin
from input_fns.reading import table, table_facts
from tests.support import csv_files
from tests.support.csv_files import HEADER, line, line_problem, rows_of

pytestmark = pytest.mark.any_tensorflow


@pytest.fixture(name="params")
def fixture_params():
    return {**plugin.DEFAULT_PARAMS, "num_classes": 3, "batch_size": 4}


@pytest.fixture(name="file")
def fixture_file(params, tmp_path):
    """Writes a file and makes it the data."""
    return functools.partial(csv_files.write_data, params, tmp_path)


BAD = {
    "5,x,1.5": " has 3 columns; expected 4",
    "5.5,x,1.5,0": ": column 'row' is '5.5'; expected an integer",
    "5,x,cheap,0": ": column 'price' is 'cheap'; expected a number",
    "5,x,1.5,3": ": label is 3; expected 0 to 2 (num_classes=3)",
    "5,x,1.5,-1": ": label is -1; expected 0 to 2 (num_classes=3)",
    "5,x,1.5,": ": label 'label' is missing",
    "5,\"x,1.5,0": " cannot be split into columns: ",
    "5,x\"y,1.5,0": ": Unquoted fields cannot have quotes",
}


@pytest.mark.parametrize("bad", list(BAD)[:-1])
def test_line_problem_names_what_is_wrong(params, file, bad):
    path = str(file(HEADER + line(0) + line(1)))
    params = table_facts.completed(params, labelled=True)
    columns = table.table_of(path, params, labelled=True)
    assert line_problem(bad, columns, params).startswith(BAD[bad])
    assert line_problem(line(7).rstrip(), columns, params) == ""


@pytest.mark.cluster
@pytest.mark.parametrize("before, bad", (
    (16, "5,x,1.5,3"), (16, "5,x\"y,1.5,0"), (1301, "5,x,1.5"), (1301, "5,x,cheap,0")))
def test_line_problem_stops_reading_with_the_line(params, file, before, bad):
    path = file(HEADER + "\n" + "".join(map(line, range(before))) + bad + "\n" + line(1))
    # Bad beyond the lines that types are inferred from.
    params.update(columns={"row": 0, "name": "", "price": 0.0, "label": 0}, epochs=1,
                  eval_files="", eval_every=7)
    with pytest.raises(tf.errors.OpError):
        rows_of(plugin.input_fn("train", params))
    with tf.Graph().as_default():
        problem = plugin.data_problem(params)
    assert problem.startswith(f"line {before + 3} of {path}{BAD[bad]}")


@pytest.mark.cluster
def test_line_problem_of_an_unknown_label_or_another_header(params, tmp_path, file):
    path = file(HEADER + "1,x,1.5,no\n1,x,1.5,nope\n")
    params["label_vocabulary"] = ["no", "yes"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="label_vocabulary"):
        rows_of(plugin.input_fn("eval", params))
    assert plugin.data_problem(params) == (
        f"line 3 of {path}: label is 'nope'; expected one of ['no', 'yes']. Correct the line, or "
        """give them all: --param label_vocabulary='["no", "yes", "nope"]'""")
    path.write_text(HEADER + line(1))
    (tmp_path / "rows2.csv").write_text("row,price,other,label\n1,1.5,x,0\n")
    params.update(eval_files=str(tmp_path / "*"), label_vocabulary=[])
    with pytest.raises(tf.errors.InvalidArgumentError, match="header differs"):
        rows_of(plugin.input_fn("eval", params))
    assert plugin.data_problem(params) == (
        f"line 1 of {tmp_path / 'rows2.csv'} has the columns row, price, other, label; expected "
        f"those of {path}: row, name, price, label")


@pytest.mark.cluster
def test_line_problem_of_damaged_and_empty_files(params, file):
    path = file(HEADER + "".join(map(line, range(500))), "rows.csv.gz")
    assert plugin.data_problem(params) == ""
    path.write_bytes(path.read_bytes()[:-20])
    assert plugin.data_problem(params).startswith(f"{path} is truncated or damaged after line ")
    file(HEADER)
    params["columns"] = {"row": 0, "label": 0}
    assert "no file of it holds a record" in plugin.data_problem(params)
