"""The manual as a site: it builds, no link is broken, and a browser finds a page by its words."""

from __future__ import annotations

import contextlib
import functools
import http.server
import pathlib
import subprocess
import sys
import threading

import pytest

from tests.support import browser, jobs

pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow]

_PAGES = ("index.html", "docs/first_steps.html", "docs/reference.html", "docs/troubleshooting.html",
          "examples/05_sync_replicas/index.html")


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory) -> pathlib.Path:
    """Returns the folder of the site. A link or a page that is missing fails it."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/site/mkdocs.yml", "-d",
         folder], cwd=jobs.REPO, text=True, capture_output=True, check=False, timeout=120,
        env=jobs.environment(NO_MKDOCS_2_WARNING="1"))
    assert built.returncode == 0, built.stderr
    return folder


@contextlib.contextmanager
def _served(folder):
    """Yields the address at which a folder is served."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        """Serves files, and writes no log."""

        def log_message(self, *args) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_every_link_works_and_nothing_is_loaded_from_another_host(site):
    for page in _PAGES:
        text = (site / page).read_text(encoding="utf-8")
        assert "<h1" in text
        for tag in ('src="http', '<link rel="stylesheet" href="http'):
            assert tag not in text, page


def test_a_browser_shows_the_pages_and_finds_one_by_its_words(site, tmp_path):
    with browser.opened() as driver, _served(site) as address:
        for page in _PAGES:
            for width in browser.WIDTHS:
                browser.show(driver, f"{address}/{page}", width)
                browser.save_screenshot(
                    driver, tmp_path / f"{pathlib.Path(page).stem}-{width}.png")
                wide = driver.execute_script(
                    "return document.documentElement.scrollWidth - innerWidth;")
                assert wide <= 0, f"{page} is {wide} pixels wider than a window of {width}"
        browser.show(driver, f"{address}/index.html?q=backup+workers", browser.WIDTHS[0])
        found = "return document.querySelectorAll('.md-search-result__link').length;"
        jobs.wait_for(lambda: driver.execute_script(found) > 0, 20)
        errors = [each for each in driver.get_log("browser") if each["level"] == "SEVERE"
                  and "favicon" not in each["message"]]
        assert not errors, errors
