"""The table of many runs in a real browser: sorted, filtered and compared from the keyboard."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest

from estimator_trainer.reports import report_command, run_folders, runs_server, server
from tests.support import browser, compared_runs, jobs
from tests.support.compared_runs import Run

pytestmark = pytest.mark.cluster

_NAMES = "return [...document.querySelectorAll('table.runs tbody tr')].filter(" \
    "(row) => !row.hidden).map((row) => row.cells[0].textContent.trim());"


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browsed") / "runs"
    for name, accuracy, rate in (("a", 0.9, 0.5), ("b c", 0.7, 10.0), ("d'\"<", 0.95, 2.0)):
        compared_runs.write(folder / name, Run((0.5, accuracy), rate))
    compared_runs.write(folder / "e", Run((), 3.0, "failed", "NaN"))
    return folder


def _press(driver, *keys):
    from selenium.webdriver import ActionChains
    ActionChains(driver).send_keys(*keys).perform()


def _heading(driver, title):
    """Gives the focus to the button that sorts by a column."""
    headings = driver.execute_script("""
        const buttons = [...document.querySelectorAll("table.runs th button")].filter(
            (each) => each.checkVisibility());
        for (const each of buttons) if (each.textContent === arguments[0]) each.focus();
        return buttons.map((each) => each.textContent);""", title)
    assert headings.count(title) == 1, (headings, driver.page_source[:2000])


def _orders(driver):
    return driver.execute_script(
        "return [...document.querySelectorAll('table.runs th[aria-sort]')].map("
        "(each) => `${each.textContent} ${each.getAttribute('aria-sort')}`);")


def test_table_is_sorted_and_filtered_from_the_keyboard(driver, folder, tmp_path):
    from selenium.webdriver.common.keys import Keys
    browser.show(driver, f"file://{report_command.write([str(folder)])}", 1280)
    assert _orders(driver) == ["began (UTC) descending"]
    _heading(driver, "learning_rate")
    _press(driver, Keys.ENTER)
    assert driver.execute_script(_NAMES) == ["a", "d'\"<", "e", "b c"]
    assert _orders(driver) == ["learning_rate ascending"]
    _press(driver, Keys.SPACE)
    assert driver.execute_script(_NAMES) == ["b c", "e", "d'\"<", "a"]
    # The best is first, and a run without a value last in both orders.
    _heading(driver, "accuracy")
    _press(driver, Keys.ENTER)
    assert driver.execute_script(_NAMES) == ["d'\"<", "a", "b c", "e"]
    _press(driver, Keys.ENTER)
    assert driver.execute_script(_NAMES) == ["b c", "a", "d'\"<", "e"]
    driver.execute_script("document.querySelector('[data-filter]').focus()")
    _press(driver, "FAILED nan")
    assert driver.execute_script(_NAMES) == ["e"]
    assert driver.find_element("css selector", "[data-count]").text == "1 of 4 runs"
    for width in browser.WIDTHS:
        browser.show(driver, driver.current_url, width)
        browser.check(driver, tmp_path / f"runs-{width}.png")


def test_table_shows_the_command_that_compares(driver, folder):
    from selenium.webdriver.common.keys import Keys
    browser.show(driver, f"file://{report_command.write([str(folder)])}", 1280)
    for box in driver.find_elements("css selector", "input[data-run]")[1:3]:
        driver.execute_script("arguments[0].focus()", box)
        _press(driver, Keys.SPACE)
    text = driver.find_element("css selector", "[data-compare]").text
    assert text.startswith("To compare them, type: estimator-trainer report ")
    assert f"'{folder}/b c'" in text


def test_served_table_leads_to_pages_and_comparisons_and_goes_on(driver, folder, monkeypatch):
    monkeypatch.setattr(runs_server, "_POLL_SECS", 0.0)
    site = runs_server.RunsSite(run_folders.find([str(folder)]), 12)
    with http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(server.Handler, site)) as served:
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{served.server_address[1]}/"
        try:
            _check_served(driver, folder, url)
        finally:
            driver.get("about:blank")
            served.shutdown()


def _check_served(driver, folder, url):
    from selenium.webdriver.common.keys import Keys
    browser.show(driver, url, 1280)
    _heading(driver, "learning_rate")
    _press(driver, Keys.ENTER)
    compared_runs.write(folder / "new", Run((0.5, 0.6), 1.0))
    # A new run takes its place in the chosen order, and the heading keeps its button.
    jobs.wait_for(lambda: driver.execute_script(_NAMES) == ["a", "new", "d'\"<", "e", "b c"], 20)
    assert _orders(driver) == ["learning_rate ascending"]
    assert driver.execute_script(
        "return document.activeElement.textContent") == "learning_rate"
    for box in driver.find_elements("css selector", "input[data-run]")[:3]:
        box.click()
    driver.find_element("link text", "Compare 3 runs").click()
    jobs.wait_for(lambda: driver.title == "a, new, d'\"<", 10)
    assert "Best accuracy: 0.95, of d'\"< at step 200." in driver.page_source.replace(
        "&lt;", "<").replace("&quot;", '"')
    assert not [each for each in driver.get_log("browser") if each["level"] == "SEVERE"]
    browser.show(driver, url, 1280)
    driver.find_element("link text", "d'\"<").click()
    jobs.wait_for(lambda: driver.title == "d'\"<", 10)
