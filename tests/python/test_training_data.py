"""Data that a Python program has in memory train a model, evaluate it and are predicted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import estimator_trainer

_ROWS = 400


def _columns():
    random = np.random.default_rng(5)
    age = random.integers(18, 80, _ROWS)
    return {"age": age, "city": random.choice(["Bonn", "Ulm"], _ROWS),
            "churn": np.where(age + 5 * random.normal(size=_ROWS) > 50, "yes", "no")}


@pytest.mark.soak
@pytest.mark.parametrize("form", [
    dict, pa.table, lambda columns: pa.table(columns).to_pylist(),
    lambda columns: pytest.importorskip("pandas").DataFrame(columns)])
def test_a_table_in_memory_trains_evaluates_and_predicts(form, tmp_path):
    columns, steps = _columns(), []
    ended = estimator_trainer.train(
        data=form(columns), label="churn", model_dir=tmp_path / "m", train_steps=150,
        exporters=["none"], on_evaluation=lambda metrics: steps.append(metrics["global_step"]))
    assert ended.metrics["accuracy"] > 0.8 and steps[-1] == 150 and steps == sorted(steps)
    # The part that was held out is the same in a later call; other data may be passed.
    assert estimator_trainer.evaluate(tmp_path / "m")["loss"] == ended.metrics["loss"]
    few = {name: column[:50] for name, column in columns.items()}
    assert estimator_trainer.evaluate(tmp_path / "m", form(few))["accuracy"] > 0.7
    longer = estimator_trainer.train(data=form(columns), label="churn", model_dir=tmp_path / "m",
                                     train_steps=200, exporters=["none"])
    assert longer.step == 200 and longer.history[-1]["global_step"] == 200
    used = estimator_trainer.show(tmp_path / "m")["record"]["plugins"]
    assert [used[kind]["name"] for kind in ("model_fn", "input_fn")] == ["canned", "table"]


@pytest.mark.parametrize("keywords, expected", [
    ({"data": 5}, "data is a int .*expected a DataFrame"),
    ({"data": {"a": [1, 2], "b": [1]}}, "columns of the data have different lengths"),
    ({"data": {"a": [[1, 2], [3]], "b": [1, object()]}}, "column 'b' of the data cannot be read"),
    ({"data": _columns(), "input_fn": "digits"}, "reads no such data|reads only files"),
    ({"data": _columns(), "label": "chrn"}, "label is 'chrn', which is no column of the table in"
     " memory.*For example: label='churn'"),
    ({"data": _columns(), "label": "churn", "eval_data": "none.csv"}, "eval_data is 'none.csv'"),
])
def test_data_that_cannot_be_used_are_met_with_a_sentence(keywords, expected, tmp_path):
    with pytest.raises(estimator_trainer.TrainerError, match=expected):
        estimator_trainer.train(model_dir=tmp_path / "m", **keywords)
