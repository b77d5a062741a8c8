"""Fixtures of data that several files of tests read."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def data_dirs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """{number of files of the train split: a data_dir with such numbered rows}."""
    # Here, as pytest reads this file before tests/conftest.py imports TensorFlow.
    from tests.support import numbered_rows
    return {files: numbered_rows.prepared(tmp_path_factory.mktemp(f"files{files}"), files)
            for files in range(1, 6)}
