"""The charts of a page in a real browser: what is drawn, chosen, downloaded and printed."""

from __future__ import annotations

import base64
import csv
import json
import time

import numpy as np
import pytest

from estimator_trainer.reports import page, run_files
from tests.support import browser, curve_runs, jobs

pytestmark = pytest.mark.cluster

_STATE = """
const state = [...Charts.states.values()].find((each) => each.chart.title === arguments[0]);
const plot = state.plot;
"""
_A4_INCHES = (8.27, 11.69)


@pytest.fixture(name="cluster", scope="module")
def fixture_cluster(tmp_path_factory):
    """Returns the page of a cluster whose worker was dead for a while."""
    folder = tmp_path_factory.mktemp("charts") / "cluster"
    curve_runs.write(folder, ("chief:0", "worker:0"))
    return page.write([str(folder)])


def _open(driver, path, width=1280):
    browser.show(driver, f"file://{path}", width)
    driver.execute_script("sessionStorage.clear()")
    jobs.wait_for(lambda: driver.execute_script(
        "return [...Charts.states.values()].every((each) => each.plot);"), 10)


def _of_chart(driver, script, title="loss"):
    return driver.execute_script(_STATE + script, title)


def _choose(driver, **chosen):
    """Sets controls, as a reader does."""
    for name, value in chosen.items():
        driver.execute_script("""
            const each = document.querySelector(`.axes [name=${arguments[0]}]`);
            each[each.type === "checkbox" ? "checked" : "value"] = arguments[1];
            each.dispatchEvent(new Event("input", {bubbles: true}));""", name, value)


def _errors(driver):
    return [each for each in driver.get_log("browser") if each["level"] == "SEVERE"]


def test_curves_are_drawn_on_the_axis_that_is_chosen(driver, cluster):
    _open(driver, cluster)
    ends = {"step": (0, 1000), "secs": (1.0, 101.0), "epoch": (0, 100),
            "time": (curve_runs.START + 1, curve_runs.START + 101)}
    for axis, expected in ends.items():
        _choose(driver, axis=axis)
        xs, label = _of_chart(driver, "return [plot.data[0], plot.axes[0].label];", "accuracy")
        assert (xs[0], xs[-1]) == pytest.approx(expected), axis
    assert label == "time of day, UTC"
    # A worker that was dead has a gap between its own points, whatever the others' points.
    _choose(driver, axis="step")
    driver.execute_script("document.querySelectorAll('figure')[4].scrollIntoView();")
    jobs.wait_for(lambda: _of_chart(driver, "return plot.data[0][0];", "memory, MB") == 20, 5)
    steps, values = _of_chart(driver, "return [plot.data[0], plot.data[2]];", "memory, MB")
    gap = [step for step, value in zip(steps, values) if value is None]
    assert min(gap) == 420 and max(gap) == 580 and 500 in gap
    assert not _errors(driver)


def test_smoothing_is_tensorboards_with_the_raw_line_behind_it(driver, cluster):
    _open(driver, cluster)
    _choose(driver, smoothing=0.8)
    raw, smooth, alphas = _of_chart(driver, """
        return [plot.data[1], plot.data[2], [plot.series[1], plot.series[2]].map(
            (each) => plot.series.indexOf(each) && each.stroke())];""")
    known = [value for value in raw if value is not None]
    weights = 0.8 ** np.arange(len(known))[::-1] * 0.2
    expected = np.dot(weights, known) / (1 - 0.8 ** len(known))
    assert [value for value in smooth if value is not None][-1] == pytest.approx(expected)
    assert alphas[0] == alphas[1] + "55"
    text = driver.find_element("css selector", ".u-legend").text
    assert "training, chief:0last 0.03663" in text.replace("\n", "")


def test_an_outlier_is_named_and_does_not_squeeze_the_rest(driver, cluster):
    _open(driver, cluster)
    assert _of_chart(driver, "return plot.scales.y.max;") < 3
    assert "Out of range: 50 (evaluation, step 0)." in driver.find_element("tag name", "main").text
    _choose(driver, all=True)
    assert _of_chart(driver, "return plot.scales.y.max;") >= 50
    assert "Out of range" not in driver.find_element("tag name", "main").text
    _choose(driver, all=False)
    _of_chart(driver, "plot.setScale('x', {min: 0, max: 100});")
    jobs.wait_for(lambda: _of_chart(driver, "return plot.scales.y.max;") >= 50, 5)


def test_the_legend_shows_the_last_and_the_best_value(driver, cluster):
    _open(driver, cluster)
    figures = driver.find_elements("tag name", "figure")
    assert "evaluationlast 0.04579, best 0.04579 at step 1000" in figures[0].text
    assert "evaluationlast 0.8853, best 0.8853 at step 1000" in figures[1].text
    hidden = figures[1].find_element("css selector", "p.alt").get_attribute("textContent")
    assert hidden == ("Line chart of accuracy by step. evaluation: first 0.1 at 0, last 0.8853 at"
                      " 1,000, lowest 0.1 at 0, highest 0.8853 at 1,000.")


def test_each_chart_is_used_with_the_keyboard(driver, cluster):
    _open(driver, cluster)
    keys = pytest.importorskip("selenium.webdriver").Keys
    figure = driver.find_elements("tag name", "figure")[0]
    canvas = figure.find_element("tag name", "canvas")
    assert canvas.get_attribute("role") == "img"
    canvas.send_keys(keys.END)
    shown = figure.find_element("css selector", "[aria-live]").get_attribute("textContent")
    assert "step: 1000; training, chief:0: 0.03663" in shown
    log, larger, _ = figure.find_elements("css selector", ".tools button")
    log.send_keys(keys.ENTER)
    assert log.get_attribute("aria-pressed") == "true"
    assert _of_chart(driver, "return [plot.scales.y.distr, plot.scales.y.min > 0];") == [3, True]
    width = _of_chart(driver, "return plot.width;")
    larger.send_keys(keys.SPACE)
    assert _of_chart(driver, "return [plot.width, plot.height];") == [1208, 420] and width < 700
    larger.send_keys(keys.SPACE)
    assert _of_chart(driver, "return [plot.width, plot.height];") == [width, 210]
    label = figure.find_elements("css selector", ".u-series th")[1]
    label.send_keys(keys.ENTER)
    assert label.get_attribute("aria-pressed") == "false"
    assert _of_chart(driver, "return plot.series[1].show;") is False


def test_links_at_the_top_lead_to_the_sections(driver, cluster):
    _open(driver, cluster)
    links = driver.find_elements("css selector", "nav a")
    assert [each.text for each in links] == [
        each.text for each in driver.find_elements("css selector", "main > section > h2")]
    links[-1].click()
    assert driver.execute_script("return location.hash;") == f"#section-{len(links) - 1}"
    assert driver.execute_script("return scrollY;") > 0


def test_a_click_downloads_the_values_of_a_chart(driver, tmp_path):
    curve_runs.write(tmp_path / "run", ("=chief:0", "worker:0"), points=5)
    _open(driver, page.write([str(tmp_path / "run")]))
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {
        "behavior": "allow", "downloadPath": str(tmp_path)})
    driver.find_element(
        "css selector", "[aria-label='CSV: speed of each task, examples/s']").click()
    file = tmp_path / "speed_of_each_task_examples_s.csv"
    jobs.wait_for(file.exists, 10)
    rows = list(csv.reader(file.read_text().splitlines()))
    assert rows[0] == ["series", "step", "seconds", "time", "value"]
    assert rows[-5] == ["'=chief:0", "200", "20", "2026-11-18T11:07:03.000Z", "100"]
    assert not _errors(driver)


def test_charts_follow_the_systems_theme(driver, cluster):
    for theme, index in (("dark", 1), ("light", 0)):
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": theme}]})
        if not index:
            jobs.wait_for(lambda: _colours(driver) == before[1], 5)
            continue
        _open(driver, cluster)
        dark = _colours(driver)
        assert dark["background"] == "rgb(22, 26, 33)" and dark["pixels"] > 100
        before = {1: {"background": "rgb(255, 255, 255)", "pixels": pytest.approx(
            dark["pixels"], rel=0.3)}}


def _colours(driver):
    """Returns the page's background, and how many pixels of a chart have the series' colour."""
    return _of_chart(driver, """
        const wanted = Charts.colour(1).match(/../g), ink = [0, 1, 2].map(
            (i) => parseInt(Charts.colour(1).slice(1 + 2 * i, 3 + 2 * i), 16));
        const {width, height} = plot.ctx.canvas;
        const data = plot.ctx.getImageData(0, 0, width, height).data;
        let count = 0;
        for (let i = 0; i < data.length; i += 4) {
          if (ink.every((value, k) => Math.abs(data[i + k] - value) < 3)) count++;
        }
        return {background: getComputedStyle(document.body).backgroundColor, pixels: count};""")


def test_update_draws_newer_values_into_the_charts_that_are_there(driver, cluster, tmp_path):
    _open(driver, cluster)
    newer = page.content_of([_run(tmp_path, evaluations=20)], time.time()).charts
    driver.execute_script("window.before = document.querySelector('figure');"
                          "Charts.update(JSON.parse(arguments[0]));", json.dumps(newer))
    assert _of_chart(driver, "return state.chart.series.at(-1).value.length;") == 21
    assert driver.execute_script("return before.isConnected && "
                                 "before.querySelectorAll('canvas').length;") == 1
    assert not _errors(driver)


def _run(folder, **values):
    return run_files.read(str(curve_runs.write(folder, ("chief:0", "worker:0"), **values)))


@pytest.mark.soak
def test_a_large_run_is_drawn_in_less_than_a_second(driver, tmp_path):
    curve_runs.write(tmp_path, ["chief:0", *(f"worker:{i}" for i in range(63))], steps=100_000,
                     points=60, evaluations=1000, num_metrics=40)
    path = page.write([str(tmp_path)])
    with open(path, "rb") as file:
        assert len(file.read()) < 2_000_000
    _open(driver, path)
    loaded, drawn, count = driver.execute_script("""
        const paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
        const begun = performance.now();
        Charts.states.forEach(Charts.redraw);
        return [paint, performance.now() - begun, Charts.states.size];""")
    assert count == 44
    assert loaded < 1000 and drawn < 1000, (loaded, drawn)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_printing_cuts_no_chart_and_leaves_none_empty(driver, cluster, tmp_path, theme):
    pdfium = pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": theme}]})
    _open(driver, cluster)
    titles = driver.execute_script(
        "return [...Charts.states.values()].map((each) => each.chart.title);")
    width, height = _A4_INCHES
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": width,
                                                         "paperHeight": height})
    file = tmp_path / "page.pdf"
    file.write_bytes(base64.b64decode(printed["data"]))
    found = []
    for sheet in pdfium.PdfDocument(file):
        text = sheet.get_textpage()
        pixels = np.asarray(sheet.render(scale=1).to_pil().convert("RGB")).astype(int)
        assert pixels.min(axis=(0, 1)).max() < 100 or not titles  # Ink on paper.
        for title in titles:
            search = text.search(title.partition(",")[0])
            while title not in found and (place := search.get_next()):
                left, _, _, top = text.get_charbox(place[0])
                if _is_chart(pixels, left, sheet.get_height() - top):
                    found.append(title)
    assert sorted(found) == sorted(titles)
    # The page is on the screen again.
    assert not driver.execute_script("return document.documentElement.classList.contains('paper')")


def _is_chart(pixels, left, top):
    """Returns whether the place under a title, of 160 x 247 points, holds a curve of the series."""
    area = pixels[int(top):int(top) + 160, int(left):int(left) + 247]
    inks = np.array([[0x05, 0x6b, 0xa9], [0xed, 0x61, 0x05], [0xb2, 0x49, 0x82]])
    near = np.abs(area[:, :, None, :] - inks).sum(axis=-1).min(axis=-1) < 90
    return area.shape[:2] == (160, 247) and near.sum() > 60
