"""Replaced attributes come back, in whatever order two threads end."""

from __future__ import annotations

import types

from estimator_trainer.estimator import replacement


def test_two_replacements_that_end_in_the_order_they_began_leave_the_first_value():
    holder = types.ModuleType("holder")
    holder.value = "first"
    one = replacement.attributes([(holder, "value", "other")])
    two = replacement.attributes([(holder, "value", "second")])
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert holder.value == "second"
    two.__exit__(None, None, None)
    assert holder.value == "first"
