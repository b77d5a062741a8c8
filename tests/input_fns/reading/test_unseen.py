"""Categories of new tables that training has not seen are counted in one line of the log."""

from __future__ import annotations

import pytest

from input_fns import csv as plugin

pytestmark = pytest.mark.any_tensorflow
_CITIES = {"kind": "category", "values": ["Bonn", "Ulm"]}


@pytest.fixture(name="logged")
def fixture_logged(tmp_path, monkeypatch):
    """Returns the warnings when rows with these columns are predicted."""
    found = []
    monkeypatch.setattr("absl.logging.warning", lambda text, *args: found.append(text % args))

    def read(text, **columns):
        (tmp_path / "new.csv").write_text(text)
        params = {**plugin.DEFAULT_PARAMS, "predict_files": str(tmp_path / "new.csv"),
                  "columns": {"x": 0.0, "city": "", "job": "", "y": 0}, "label": "y",
                  "num_classes": 2, "prepare_columns": True, "table_columns": {
                      "x": {"kind": "number"}, "city": _CITIES, "job": _CITIES, **columns}}
        count = sum(len(batch["x"]) for batch in plugin.input_fn("infer", params))
        assert count == len(text.splitlines()) - 1
        return found

    return read


def test_unseen_values_are_one_line(logged):
    rows = ["1,Ulm,Bonn", "2,Köln,Bonn", ",Köln,", "3,Aachen,x", "4,,Ulm"]
    assert logged("x,city,job\n" + "\n".join(rows)) == [
        "values that training has not seen, which count as unknown: 'city' in 3 of 5 rows, such as"
        " 'Köln'; 'job' in 1 of 5 rows, such as 'x'."]


def test_known_values_and_other_columns_give_none(logged):
    assert not logged("x,city,job\n1,Ulm,Bonn\n,,new\n", job={"kind": "text"})
