"""A program keeps its meaning: each cell runs beside the plain Estimator."""

from __future__ import annotations

import pytest

from tests.equality import cell, table
from tests.equality.program import USUAL_SHAPES

_CELLS = [
    pytest.param(name, shape, id=f"{name}-{shape}",
                 marks=[] if (name, shape) in table.CORE else [pytest.mark.soak])
    for name, shape in cell.CELLS]

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("name, shape", _CELLS)
def test_a_program_does_what_the_plain_estimator_does(name, shape, tmp_path):
    found = cell.differences(name, shape, tmp_path)
    assert not found, "\n".join(found)


def test_the_table_has_sixty_programs_in_every_usual_shape():
    full = [program for program in table.PROGRAMS.values()
            if set(USUAL_SHAPES) <= set(program.shapes)]
    assert len(full) >= 60
