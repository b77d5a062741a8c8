"""The result of one evaluator reaches the other as `Estimator.evaluate` returned it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from estimator_trainer.evaluation import shared_result

pytestmark = pytest.mark.any_tensorflow


def test_result_keeps_values_and_types(tmp_path):
    sent = {"loss": np.float32(0.1), "global_step": np.int64(30), "auc": np.float64(math.nan),
            "confusion": np.array([[3, 1], [0, 4]], np.int64), "picture": b"\x0a\x00"}
    shared_result.write(str(tmp_path), 30, -1, sent)
    found = shared_result.read(str(tmp_path), 30)
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in sent.items()}
    assert found["loss"] == sent["loss"] and math.isnan(found["auc"])
    assert found["confusion"].tolist() == [[3, 1], [0, 4]] and found["picture"] == sent["picture"]


def test_result_that_was_cut_off_counts_as_missing(tmp_path):
    shared_result.write(str(tmp_path), 30, -1, {"loss": np.float32(0.1)})
    path = tmp_path / "evaluators" / "step-30.json"
    path.write_text(path.read_text()[:-5])
    assert shared_result.read(str(tmp_path), 30) is None
    assert shared_result.read(str(tmp_path), 60) is None


def test_result_of_another_checkpoint_is_not_used(tmp_path):
    (tmp_path / "model.ckpt-30.index").write_text("")
    saved = shared_result.saved(str(tmp_path), 30)
    shared_result.write(str(tmp_path), 30, saved, {"loss": np.float32(0.1)})
    shared_result.write(str(tmp_path), 60, saved, {"loss": np.float32(0.1)})
    assert shared_result.unused(str(tmp_path)) == {30}
    assert [path.name for path in (tmp_path / "evaluators").iterdir()] == ["step-30.json"]
