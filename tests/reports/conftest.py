"""The browser of the tests of pages."""

from __future__ import annotations

import pytest

from tests.support import browser


@pytest.fixture(name="driver", scope="module")
def fixture_driver():
    with browser.opened() as driver:
        yield driver
