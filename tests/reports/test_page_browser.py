"""The page in a real browser: of a finished, a failed and a running job, and of two runs."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from tests.support import browser, jobs

pytestmark = pytest.mark.cluster

_LIMIT_SECS = 200

_SLOW = [f"--{kind}={jobs.REPO}/tests/support/slow.py" for kind in ("model_fn", "input_fn")]


@pytest.fixture(name="run", scope="module")
def fixture_run(tmp_path_factory, data_dir):
    """Returns the model_dir of a cluster that has finished, whose worker was killed once."""
    folder = tmp_path_factory.mktemp("runs")
    model_dir = folder / "cluster"
    with subprocess.Popen(
            [*jobs.PROGRAM, "launch", "--worker=1", "--ps=1", "--evaluator=1", "--",
             f"--model_dir={model_dir}", f"--param=data_dir={data_dir}",
             "--model_fn=dense_l2_ema", "--param=histograms=true", "--train_steps=600"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=jobs.environment()) as job:
        jobs.wait_for(lambda: (model_dir / "history" / "worker-0.jsonl").exists(), 60)
        _kill_worker(model_dir)
        assert job.wait(120) == 0
    return model_dir


def _kill_worker(model_dir):
    line = (model_dir / "history" / "worker-0.jsonl").read_text().splitlines()[0]
    pid = int(line.partition('"pid": ')[2].rstrip("}"))
    # The process may have ended by itself already.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _poll(driver, url, folder, name):
    """Looks at a page in windows of two widths; returns its text in the wide one."""
    for width in reversed(browser.WIDTHS):
        browser.show(driver, url, width)
        browser.check(driver, folder / f"{name}-{width}.png")
    return driver.find_element("tag name", "body").text


def test_page_of_a_finished_cluster_shows_all_of_it(driver, run, tmp_path):
    text = _poll(driver, (run / "report.html").as_uri(), tmp_path, "finished")
    for part in ("done", "accuracy", "confusion matrix", "calibration", "the worst errors",
                 "what ran", "dense_l2_ema", "histograms=true", "parameters", "chief:0",
                 "worker:0", "ps:0", "evaluator:0", "exit 0", "variables/",
                 f"estimator-trainer launch --worker=1 --ps=1 --evaluator=1 -- --model_dir={run}"):
        assert part.lower() in text.lower(), part
    assert text.count(f"--model_dir={run}") == 1
    driver.find_element("css selector", "[data-copies]").click()
    jobs.wait_for(lambda: driver.find_element("css selector", "[data-copies]").text in (
        "Copied", "Selected: press Ctrl-C"), 5)
    assert len(driver.find_elements("css selector", ".life i")) >= 4
    assert driver.find_elements("css selector", ".example img")


def test_page_of_a_failed_job_shows_the_reason(driver, tmp_path):
    ran = subprocess.run([*jobs.PROGRAM, *_SLOW, f"--model_dir={tmp_path}/model",
                          "--param=nan_step=20", "--train_steps=100"], env=jobs.environment(),
                         capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 1
    text = _poll(driver, (tmp_path / "model" / "report.html").as_uri(), tmp_path, "failed")
    assert "failed" in text and "the loss became NaN" in text and "exit 1" in text


@pytest.mark.soak
def test_page_of_two_runs_compares_them(driver, run, tmp_path, data_dir):
    ran = subprocess.run([*jobs.PROGRAM, f"--model_dir={tmp_path}/alone", "--train_steps=200",
                          f"--param=data_dir={data_dir}", "--model_fn=dense_l2_ema",
                          "--param=learning_rate=0.01"], env=jobs.environment(),
                         capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    page = tmp_path / "both.html"
    subprocess.run([*jobs.PROGRAM, "report", f"--model_dir={run}", f"--model_dir={tmp_path}/alone",
                    f"--output={page}"], env=jobs.environment(), check=True, timeout=60)
    text = _poll(driver, page.as_uri(), tmp_path, "two")
    assert "cluster" in text and "alone" in text and "param learning_rate" in text
    assert "What differs" in text and "one process" in text


def test_page_of_a_running_job_follows_it_to_its_end(driver, tmp_path):
    model_dir = tmp_path / "model"
    model_dir.mkdir()
    with _served(model_dir) as (url, server):
        browser.show(driver, url, 1280)
        assert "Nothing to show yet" in driver.find_element("tag name", "body").text
        # A page that was loaded again would not have it.
        driver.execute_script("window.isFirst = true;")
        with subprocess.Popen([*jobs.PROGRAM, *_SLOW, f"--model_dir={model_dir}",
                               "--train_steps=4000", "--log_every_steps=20",
                               "--eval_every_steps=40"],
                              stderr=subprocess.DEVNULL, env=jobs.environment()) as job:
            try:
                jobs.wait_for(lambda: _status(driver) == "running" and len(driver.find_elements(
                    "css selector", "[data-drawn]")) >= 2, 60)
                _check_running(driver, tmp_path)
            finally:
                job.terminate()
            assert job.wait(60) == 143
        jobs.wait_for(lambda: _status(driver) == "stopped", 30)
        text = driver.find_element("tag name", "main").text
        assert "wall time" in text and f"{model_dir}/model.ckpt-" in text and "ETA" not in text
        browser.check(driver, tmp_path / "ended.png")
        server.terminate()
        jobs.wait_for(lambda: "the server has ended" in driver.find_element(
            "css selector", ".notice").text, 15)
        assert driver.execute_script("return window.isFirst;")


def _use(driver):
    """Opens a part of the page, focuses another, and zooms into the first chart."""
    # A part of the axis can be chosen once there are some points.
    jobs.wait_for(lambda: driver.execute_script("""
        const [state] = Charts.states.values();
        return state && state.plot && state.plot.data[0].length >= 5;"""), 30)
    driver.execute_script("""
        document.querySelectorAll("[data-chart]").forEach((each) => { each.isFirst = true; });
        document.querySelector("details").open ^= true;
        document.querySelector("summary").focus();
        const axis = document.querySelector("[name=axis]");
        axis.value = "secs";
        axis.dispatchEvent(new Event("input", {bubbles: true}));
        const [state] = Charts.states.values();
        const xs = state.plot.data[0], last = xs[xs.length - 1];
        window.zoom = [(xs[0] + last) / 2, last - (last - xs[0]) / 8];
        state.plot.setScale("x", {min: window.zoom[0], max: window.zoom[1]});
        state.plot.setCursor({left: 30, top: 20});
        scrollTo(0, 100);""")


def _check_running(driver, folder):
    """Asserts that several charts and the head change, and what the user has done stays."""
    def step():
        return int(driver.find_element("css selector", "progress").get_attribute("value"))

    _use(driver)
    was_open = driver.execute_script("return document.querySelector('details').open;")
    before = step()
    jobs.wait_for(lambda: step() > before + 40, 30)
    shown = driver.find_element("css selector", ".progress").text
    assert f"step {step():,} of 4,000" in shown and "ETA" in shown
    text = driver.find_element("tag name", "main").text
    assert re.search(r"data from \d+ s ago", text) and re.search(r"loss at step \d+", text)
    assert driver.execute_script("""
        return document.querySelector("details").open === arguments[0] && scrollY === 100 &&
            document.activeElement === document.querySelector("summary") &&
            [...document.querySelectorAll("[data-chart]")].filter(
                (each) => each.isFirst).length >= 2;""", was_open)
    scale, zoom, cursor, axis = driver.execute_script("""
        const [{plot}] = Charts.states.values();
        return [plot.scales.x, window.zoom, plot.cursor,
                document.querySelector("[name=axis]").value];""")
    assert (scale["min"], scale["max"], cursor["left"], axis) == (*zoom, 30, "secs")
    for width in browser.WIDTHS:
        browser.resize(driver, width, 900)
        browser.check(driver, folder / f"running-{width}.png")


def _status(driver):
    found = driver.find_elements("css selector", ".status")
    with contextlib.suppress(Exception):  # The page may change at this moment.
        return found[0].text if found else ""
    return ""


@contextlib.contextmanager
def _served(model_dir: pathlib.Path):
    """Serves the page of a model_dir; yields its address and the process."""
    with subprocess.Popen([*jobs.PROGRAM, "report", f"--model_dir={model_dir}", "--serve"],
                          stdout=subprocess.PIPE, text=True, env=jobs.environment()) as server:
        ends = threading.Timer(_LIMIT_SECS, server.kill)
        ends.start()
        try:
            url = server.stdout.readline().split()[0]
            assert urllib.request.urlopen(f"{url}version", timeout=10).read()
            elsewhere = urllib.request.Request(url, headers={"Host": "example.com"})
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(elsewhere, timeout=10)
            yield url, server
            server.terminate()
            assert server.wait(20) == 0
        finally:
            ends.cancel()
            server.kill()
