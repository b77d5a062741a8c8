"""A result is short in a log and a notebook, and its history is records, a frame and charts."""

from __future__ import annotations

import pytest

from estimator_trainer.result import Result

pytestmark = pytest.mark.any_tensorflow
_HISTORY = ({"global_step": 5, "train_loss": 0.5, "examples_per_sec": 9.0},
            {"global_step": 10, "train_loss": 0.25, "accuracy": 0.75, "loss": 0.3})


def _result(**values):
    return Result("local", "done", 10, "train_steps", {"accuracy": 0.75, "global_step": 10},
                  history=_HISTORY, model_dir="/tmp/<d>", **values)


def test_a_result_is_one_line():
    assert repr(_result()) == "Result(done at step 10 (train_steps), accuracy=0.75)"
    assert repr(_result(note="Nothing was trained.")).startswith("Result(Nothing was trained. done")


def test_a_notebook_shows_a_table():
    shown = _result()._repr_html_()
    assert "<td style='text-align:left'>0.75</td>" in shown and "/tmp/&lt;d&gt;" in shown


def test_the_history_is_a_frame_and_charts():
    frame = pytest.importorskip("pandas") and _result().to_frame()
    assert list(frame.index) == [5, 10] and frame["accuracy"][10] == 0.75
    pytest.importorskip("matplotlib")
    assert [len(each.lines) for each in _result().plot().axes] == [2, 1]
    [axes] = _result().plot("train_loss").axes
    assert list(axes.lines[0].get_xdata()) == [5, 10]
    with pytest.raises(ValueError, match="'acc'; expected values of the history: loss, train_loss"):
        _result().plot("acc")
