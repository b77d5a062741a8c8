"""A real browser, Debian's chromium without a screen, and what a page looks like in it."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import shutil
from typing import Any, Callable, Iterator

import pytest

from tests.support import jobs

WIDTHS = (1280, 400)


@contextlib.contextmanager
def opened() -> Iterator[Any]:
    """Yields a driver of the browser; skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which("chromium") or shutil.which("google-chrome"),
                shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("no browser here (Debian's packages chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
                     "--disable-dev-shm-usage", "--disable-renderer-backgrounding",
                     "--disable-backgrounding-occluded-windows"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options,
                              service=webdriver.ChromeService(programs[1]))
    driver.set_page_load_timeout(60)
    try:
        yield driver
    finally:
        driver.quit()


def show(driver: Any, url: str, width: int) -> None:
    """Opens a page in a window of `width` pixels, and waits until it has been painted."""
    resize(driver, width, 900)
    _patiently(functools.partial(_open, driver), url)


def _open(driver: Any, url: str) -> None:
    driver.get(url)
    # Before the first frame, a text may count as hidden and no chart is drawn.
    driver.execute_async_script("""
        const done = arguments[0];
        requestAnimationFrame(() => requestAnimationFrame(() => done()));""")


def save_screenshot(driver: Any, file: pathlib.Path) -> None:
    """Keeps a picture of the page that is open."""
    _patiently(driver.save_screenshot, str(file))


def check(driver: Any, screenshot: pathlib.Path) -> None:
    """Asserts that the page that is open is whole, and keeps a picture of all of it."""
    errors = [each for each in driver.get_log("browser") if each["level"] == "SEVERE"]
    assert not errors, errors
    # A chart is drawn when its part of the page is opened.
    driver.execute_script("document.querySelectorAll('details').forEach((each) => each.open = 1);")
    jobs.wait_for(lambda: driver.execute_script("""
        return [...document.querySelectorAll("[data-chart]")].every(
            (each) => each.dataset.drawn && each.querySelector("canvas").width > 100);"""), 30)
    broken = driver.execute_script(
        "return [...document.images].filter((each) => !each.naturalWidth).length;")
    assert not broken, f"{broken} images are broken"
    # Nothing is wider than the window, but for tables that scroll within their own place. A chart
    # that was just drawn takes its width a moment later.
    with contextlib.suppress(AssertionError):
        jobs.wait_for(lambda: driver.execute_script(
            "return document.documentElement.scrollWidth <= innerWidth;"), 5)
    width, height, window, wide = driver.execute_script("""
        const root = document.documentElement;
        return [root.scrollWidth, root.scrollHeight, innerWidth,
                [...document.querySelectorAll("body *")].filter((each) => !each.closest(".wide") &&
                    each.getBoundingClientRect().right > innerWidth)
                    .map((each) => each.outerHTML.slice(0, 120))];""")
    assert width <= window, f"{width} pixels in a window of {window}: {wide}"
    # A text that is smaller cannot be read.
    small = driver.execute_script("""
        return [...document.querySelectorAll("p, td, th, figcaption, div")]
            .filter((each) => parseFloat(getComputedStyle(each).fontSize) < 12)
            .map((each) => each.outerHTML.slice(0, 80));""")
    assert not small, small[:3]
    resize(driver, window, height)
    save_screenshot(driver, screenshot)
    assert screenshot.stat().st_size > 10_000


def _patiently(step: Callable[[str], Any], argument: str) -> None:
    """Does a step of the browser, once more if its renderer did not answer in time.

    On a busy machine that happens now and then.
    """
    from selenium.common import TimeoutException
    try:
        step(argument)
    except TimeoutException:
        step(argument)


def resize(driver: Any, width: int, height: int) -> None:
    """Gives the window a size in pixels."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
