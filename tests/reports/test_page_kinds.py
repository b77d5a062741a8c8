"""Six kinds of run, each on a page in a real browser: seen, reached by keys, heard, in the dark."""

from __future__ import annotations

import contextlib
import csv
import gzip
import importlib
import json
import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest

from tests.support import browser, images_of_classes, jobs, page_checks

pytestmark = pytest.mark.soak

_PLUGINS = {
    "churn": ["--model_fn=canned", "--input_fn=csv", "--param=label=churn"],
    "houses": ["--model_fn=canned", "--input_fn=csv", "--param=label=price"]}
_SLOW = [f"--{kind}={jobs.REPO}/tests/support/slow.py" for kind in ("model_fn", "input_fn")]
_DENSE = ["--model_fn=dense_l2_ema", "--train_steps=400"]


@pytest.fixture(name="pages", scope="module")
def fixture_pages(tmp_path_factory, data_dir):
    """Returns a function that makes a kind of run once, and returns its page."""
    folder, made = tmp_path_factory.mktemp("kinds"), {}

    def page_of(kind: str) -> pathlib.Path:
        if kind not in made:
            made[kind] = _made(kind, folder, data_dir)
        return made[kind]
    return page_of


def _made(kind: str, folder: pathlib.Path, data_dir: str) -> pathlib.Path:
    if kind in _PLUGINS:
        _write_table(kind, folder / f"{kind}.csv")
        _run(folder / kind, [*_PLUGINS[kind], f"--param=train_files={folder}/{kind}.csv"])
    elif kind == "photos":
        _write_photos(folder / "pictures")
        _run(folder / kind, ["--model_fn=cnn", "--input_fn=image_folder", "--train_steps=200",
                             f"--param=train_dir={folder}/pictures"])
    elif kind == "killed":
        _run_killed(folder / kind, data_dir)
    elif kind == "failed":
        # A loss that is not finite from the first step has no chart.
        _run(folder / kind, [*_SLOW, "--param=nan_step=40", "--train_steps=100"], code=1)
    else:
        for name, rate in (("slow", 0.001), ("fast", 0.1)):
            _run(folder / name, [*_DENSE, f"--param=learning_rate={rate}",
                                 f"--param=data_dir={data_dir}"])
        page = folder / "compared.html"
        subprocess.run([*jobs.PROGRAM, "report", str(folder / "slow"), str(folder / "fast"),
                        f"--output={page}"], env=jobs.environment(), check=True, timeout=60)
        return page
    return folder / kind / "report.html"


def _run(model_dir: pathlib.Path, arguments: list[str], code: int = 0) -> None:
    ran = subprocess.run([*jobs.PROGRAM, f"--model_dir={model_dir}", *arguments],
                         env=jobs.environment(), capture_output=True, text=True, check=False,
                         timeout=300)
    assert ran.returncode == code, ran.stderr[-2000:]


def _write_table(kind: str, file: pathlib.Path) -> None:
    columns = getattr(importlib.import_module("examples.13_tables.shops"), kind)(4000)
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(columns)
        writer.writerows(["" if value != value else value for value in row]
                         for row in zip(*columns.values()))


def _write_photos(folder: pathlib.Path) -> None:
    """Writes 40 of the bundled digits of each class as pictures."""
    rows = gzip.decompress((jobs.REPO / "input_fns" / "digits.csv.gz").read_bytes())
    for number, row in enumerate(rows.decode().splitlines()[:400]):
        *pixels, digit = (int(value) for value in row.split(","))
        (folder / f"digit {digit}").mkdir(parents=True, exist_ok=True)
        picture = 15 * np.array(pixels, np.uint8).reshape([8, 8, 1]).repeat(4, 0).repeat(4, 1)
        file = folder / f"digit {digit}" / f"{number}.png"
        file.write_bytes(images_of_classes.encoded(picture))


def _run_killed(model_dir: pathlib.Path, data_dir: str) -> None:
    """Runs a cluster whose worker is killed once while it trains."""
    part = model_dir / "history" / "worker-0.jsonl"
    with subprocess.Popen(
            [*jobs.PROGRAM, "launch", "--worker=1", "--ps=1", "--evaluator=1", "--",
             f"--model_dir={model_dir}", f"--param=data_dir={data_dir}", "--model_fn=dense_l2_ema",
             "--train_steps=20000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=jobs.environment()) as job:
        jobs.wait_for(lambda: part.exists() and '"train"' in part.read_text(), 90)
        pid = json.loads(part.read_text().splitlines()[0])["pid"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        assert job.wait(240) == 0


# The words by which a reader recognises each kind, and its most important chart.
_KINDS = {
    "churn": (["ROC", "average precision", "Threshold", "Which columns matter", "contract"],
              "loss"),
    "houses": (["R²", "residuals", "Which columns matter", "sqft_living"], "loss"),
    "photos": (["Confusion matrix", "The worst errors"], "loss"),
    "killed": (["killed", "worker:0", "ps:0", "evaluator:0", "restart"], "loss"),
    "failed": (["failed", "the loss became NaN"], "loss"),
    "compared": (["slow", "fast", "learning_rate"], "loss")}


@pytest.mark.parametrize("kind", _KINDS)
def test_page_of_a_kind_is_whole_in_every_light(driver, pages, kind, tmp_path):
    page, (texts, title) = pages(kind), _KINDS[kind]
    for scheme in ("light", "dark"):
        page_checks.set_scheme(driver, scheme)
        for width in browser.WIDTHS:
            browser.show(driver, page.as_uri(), width)
            browser.check(driver, tmp_path / f"{kind}-{scheme}-{width}.png")
        assert page_checks.violations(driver) == []
    shown = driver.find_element("tag name", "body").text
    assert not [text for text in texts if text not in shown]
    assert title in [each.text for each in driver.find_elements("css selector", "figcaption")]


@pytest.mark.parametrize("kind", _KINDS)
def test_charts_of_a_kind_have_the_numbers_of_the_page(driver, pages, kind, tmp_path):
    page_checks.set_scheme(driver, "light")
    browser.show(driver, pages(kind).as_uri(), 1280)
    browser.check(driver, tmp_path / f"{kind}.png")
    assert page_checks.wrong_charts(driver) == []


@pytest.mark.parametrize("kind", _KINDS)
def test_keys_alone_reach_every_control_of_a_kind(driver, pages, kind):
    browser.show(driver, pages(kind).as_uri(), 1280)
    driver.execute_script("document.querySelectorAll('details').forEach((each) => each.open = 1);")
    assert page_checks.missed_by_keyboard(driver) == []
