"""The page within a notebook's frame, in a real browser: charts are drawn, and nothing escapes."""

from __future__ import annotations

import pytest

import estimator_trainer
from tests.support import browser, compared_runs, jobs
from tests.support.compared_runs import Run

pytestmark = pytest.mark.cluster

_HOSTILE = "\"></iframe><script>parent.document.title = 'x'; top.hit = 1</script><img src=x>"


def test_frame_draws_the_charts_and_cannot_act_in_the_notebook(tmp_path):
    folder = compared_runs.write(tmp_path / "run", Run((0.5, 0.7, 0.9), params={"a": _HOSTILE}))
    shown = estimator_trainer.report(folder)._repr_html_()
    (tmp_path / "notebook.html").write_text(
        f"<!DOCTYPE html><html><head><title>notebook</title></head><body>{shown}</body></html>")
    with browser.opened() as driver:
        browser.show(driver, (tmp_path / "notebook.html").as_uri(), 1280)
        assert len(driver.find_elements("css selector", "body > *")) == 1
        driver.switch_to.frame(0)
        jobs.wait_for(lambda: driver.find_elements("css selector", "[data-drawn] canvas"), 20)
        assert driver.execute_script("return origin") == "null"
        driver.switch_to.default_content()
        assert driver.title == "notebook" and driver.execute_script("return top.hit") is None
        problems = [each for each in driver.get_log("browser") if each["level"] == "SEVERE"]
        assert not problems, problems
