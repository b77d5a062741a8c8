"""Hooks and saving listeners: which calls they get, and what they find in the graph."""

from __future__ import annotations

from tests.equality import observed
from tests.equality.program import Program
from tests.equality.programs import models

_LINE = dict(model_fn=models.linear, train_input_fn=models.endless_line_input_fn,
             eval_input_fn=models.short_line_input_fn)

PROGRAMS = {
    "line": Program(**_LINE, is_plugin=True),
    "hooks": Program(**_LINE, hooks=lambda job: [observed.Hook(job)]),
    "listeners": Program(**_LINE, listeners=lambda job: [observed.Listener(job)]),
}
