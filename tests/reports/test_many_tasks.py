"""The curves of many tasks become quartiles."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_trainer.reports import many_tasks
from estimator_trainer.reports.run_files import Point


@pytest.mark.parametrize("values", [[3.0], [1.0, 2.0], [0.0, 1.0, 5.0, 9.0, 9.5]])
def test_quantile_is_numpys(values):
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        assert many_tasks.quantile(values, share) == pytest.approx(np.quantile(values, share))


def test_spread_counts_a_task_once_in_a_part():
    curves = {"a": [Point(0, 1.0, 1.0), Point(0, 3.0, 3.0), Point(100, 9.0, 5.0)],
              "b": [Point(0, 2.0, 4.0), Point(100, 9.0, None)], "c": []}
    low, middle, high = many_tasks.spread(curves)
    assert middle == [Point(0, 2.0, 3.0), Point(100, 9.0, 5.0)]
    assert [low[0].value, high[0].value] == [2.5, 3.5]
    assert many_tasks.spread({"a": []}) == [[], [], []]
    assert many_tasks.extremes(curves) == ("a", "b")
