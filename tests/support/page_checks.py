"""The page of a run as readers meet it: by eye, by keyboard, by a screen reader, in the dark."""

from __future__ import annotations

from typing import Any

import pytest

# More keys in a row than there are stops that are no controls.
_TABS = 100
# A drawn point is looked for so many pixels around its place, for the width of lines and dots.
_NEAR = 4


_WRONG_CHARTS = """
const near = arguments[0], wrong = [];
const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function rgb(colour) {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
}
function isDrawn(plot, pixels, i) {
    const series = plot.series[i], ink = rgb(
        typeof series.stroke === "function" ? series.stroke(plot, i) : series.stroke);
    const xs = plot.data[0], ys = plot.data[i], box = plot.bbox;
    let known = 0;
    for (let at = 0; at < xs.length; at++) {
        if (ys[at] === null || ys[at] === undefined) continue;
        const x = Math.round(plot.valToPos(xs[at], "x", true));
        const y = Math.round(plot.valToPos(ys[at], series.scale, true));
        if (x < box.left || x > box.left + box.width || y < box.top ||
            y > box.top + box.height) continue;
        known++;
        for (let dx = -near; dx <= near; dx++) for (let dy = -near; dy <= near; dy++) {
            const k = 4 * ((y + dy) * pixels.width + x + dx);
            const far = [0, 1, 2].reduce((sum, c) => sum + Math.abs(
                pixels.data[k + c] - ink[c]), 0);
            if (far < 60 && pixels.data[k + 3] > 60) return true;
        }
    }
    return known === 0;
}
const charts = JSON.parse(document.getElementById("charts").textContent);
Charts.states.forEach((state, place) => {
    const plot = state.plot, title = state.chart.title;
    if (!plot) return wrong.push(`${title}: not drawn`);
    const chart = charts[+place.dataset.chart];
    if (chart.data && JSON.stringify(chart.data) !== JSON.stringify(plot.data)) {
        wrong.push(`${title}: other numbers`);
    }
    const canvas = plot.ctx.canvas;
    const pixels = plot.ctx.getImageData(0, 0, canvas.width, canvas.height);
    plot.series.forEach((series, i) => {
        if (i && series.show && series.width && series.label !== undefined &&
            series.stroke && !isDrawn(plot, pixels, i)) {
            wrong.push(`${title}: ${series.label} is not on the canvas`);
        }
    });
});
return wrong;"""


def violations(driver: Any) -> list[str]:
    """Returns what axe-core finds on the open page: rule, element, and what is wrong with it."""
    axe = pytest.importorskip("axe_selenium_python").Axe(driver)
    driver.set_script_timeout(120)
    axe.inject()
    return [f"{found['id']}: {node['html'][:120]}: {node['failureSummary']}"
            for found in axe.run()["violations"] for node in found["nodes"]]


def set_scheme(driver: Any, scheme: str) -> None:
    """Shows the page as a system does whose setting is "light" or "dark"."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})


def missed_by_keyboard(driver: Any) -> list[str]:
    """Returns the visible controls of the open page that TAB does not reach."""
    from selenium import webdriver
    driver.execute_script("""
        const wanted = "a[href], button, input, select, textarea, summary, [tabindex='0']";
        window.controls = [...document.querySelectorAll(wanted)].filter(
            (each) => each.checkVisibility({visibilityProperty: true}) && !each.disabled);
        window.reached = new Set();
        document.addEventListener("focusin", (event) => window.reached.add(event.target));
        document.activeElement.blur();""")
    # Some stops are no controls, such as a table that scrolls.
    count, keys = 0, ["\ue004"] * _TABS
    while True:
        keyboard = webdriver.ActionChains(driver, 1)
        keyboard.send_keys(*keys)
        keyboard.perform()
        reached = driver.execute_script("return window.reached.size;")
        if reached == count:
            break
        count = reached
    missed: list[str] = driver.execute_script("""
        const isChosen = (each) => each.type !== "radio" || each.checked;
        return window.controls.filter((each) => !window.reached.has(each) && isChosen(each)).map(
            (each) => each.outerHTML.slice(0, 150));""")
    return missed


def wrong_charts(driver: Any) -> list[str]:
    """Returns each drawn series of the open page whose numbers or pixels are not the page's own.

    Every chart is to have been drawn. The data of a plain chart are those of the page; of the
    points of a series, one at least has its colour at its place on the canvas.
    """
    found: list[str] = driver.execute_script(_WRONG_CHARTS, _NEAR)
    return found
