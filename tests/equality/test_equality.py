"""What a program means stays what it means: each cell runs beside the plain Estimator."""

from __future__ import annotations

import pytest

from tests.equality import cell
from tests.equality import shapes
from tests.equality import table

_CELLS = [
    pytest.param(name, shape, id=f"{name}-{shape}",
                 marks=[] if (name, shape) in table.CORE else [pytest.mark.soak])
    for shape in shapes.SHAPES for name, program in table.PROGRAMS.items()
    if program.shapes is None or shape in program.shapes]

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("name, shape", _CELLS)
def test_a_program_does_what_the_plain_estimator_does(name, shape, tmp_path):
    found = cell.differences(name, shape, tmp_path)
    assert not found, "\n".join(found)
