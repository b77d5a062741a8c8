"""TensorBoard's own pages in a real browser, of a run of the README's first command."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.support import browser, jobs

pytestmark = pytest.mark.soak

# Each page must show these.
_PAGES = {"scalars": ["accuracy", "learning_rate", "eval"], "images": ["worst_errors/0"],
          "pr_curves": ["pr_curve/0"], "hparams": ["learning_rate", "Show Metrics"],
          "text": ["record", '"plugins"']}


@pytest.mark.cluster
def test_tensorboard_shows_what_a_run_leaves(tmp_path, data_dir):
    subprocess.run([*jobs.PROGRAM, f"--model_dir={tmp_path}/run", f"--param=data_dir={data_dir}"],
                   env=jobs.environment(), check=True, timeout=120)
    [address] = jobs.free_addresses(1)
    with browser.opened() as driver, subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", f"--logdir={tmp_path}/run",
             f"--port={address.rpartition(':')[2]}"],
            stderr=subprocess.DEVNULL, env=jobs.environment()) as server:
        try:
            jobs.wait_for(lambda: _answers(address), 60)
            for page, texts in _PAGES.items():
                browser.show(driver, f"http://{address}/?page={page}#{page}", 1280)
                jobs.wait_for(lambda: all(text in _text(driver) for text in texts), 40)
                driver.save_screenshot(str(tmp_path / f"tensorboard-{page}.png"))
                assert not [each for each in driver.get_log("browser")
                            if each["level"] == "SEVERE"]
        finally:
            server.terminate()


def _answers(address):
    try:
        return urllib.request.urlopen(f"http://{address}/", timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def _text(driver):
    """Returns the text of a page that is made of elements within elements."""
    return driver.execute_script("""
        const read = (node) => node.nodeType === 3 ? node.textContent :
            [...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes]
                .map(read).join(" ");
        return read(document.body);""")
