"""Makes the manual's pictures of a real job: its page, and its lines on a terminal.

    python -m docs.site.pictures

writes docs/report.png and docs/terminal.png. It takes a minute, and needs Debian's chromium and
chromium-driver, and `pip install pyte selenium`.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sys
import tempfile
import termios
import time
from typing import Any, Iterator

import pyte
from selenium import webdriver

_DOCS = pathlib.Path(__file__).resolve().parents[1]
_COLUMNS, _LINES = 116, 24
_WIDTH = 1010
_PAGE_WIDTH = 1280
_JOB = ["launch", "--worker=1", "--ps=1", "--evaluator=1", "--", "--model_fn=dense_l2_ema",
        "--train_steps=1500"]
_LIMIT_SECS = 120
# The table's row of the worker that trains after its restart.
_WORKER_BACK = re.compile(r"^worker:0 +\d+ +(?!done)\S+ +\d+ +[\d,]+ +1 *$", re.M)
# Parts of the page that the picture leaves out.
_HIDE = """
    for (const section of document.querySelectorAll("section"))
        if (/^(What ran|Speed|Variables)/.test(section.querySelector("h2").textContent))
            section.remove();
    for (const part of document.querySelectorAll("details")) part.remove();
    for (const title of document.querySelectorAll("h3"))
        if (/most certain/.test(title.textContent)) {
            title.nextElementSibling.remove(); title.remove(); }"""
_TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: {width}px; background: #1d2430; }}
pre {{ margin: 0; padding: 12px; color: #e6e9ef;
       font: 14px/1.35 "DejaVu Sans Mono", monospace; }}
</style><pre>{text}</pre>"""


def main() -> None:
    """Runs the job, kills its worker once, and takes both pictures."""
    with tempfile.TemporaryDirectory() as folder, _browser() as driver:
        model_dir = pathlib.Path(folder) / "digits"
        screen = _ran(model_dir)
        shown = pathlib.Path(folder) / "terminal.html"
        text = "\n".join(line.rstrip() for line in screen).rstrip()
        shown.write_text(_TERMINAL.format(width=_WIDTH, text=html.escape(text)), encoding="utf-8")
        _take(driver, shown, _DOCS / "terminal.png", _WIDTH)
        _take(driver, model_dir / "report.html", _DOCS / "report.png", _PAGE_WIDTH, _HIDE)


def _ran(model_dir: pathlib.Path) -> list[str]:
    """Runs the job on a terminal of its own; returns the screen's lines while it trained."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", PYTHONPATH=str(_DOCS.parent))
        os.chdir(model_dir.parent)
        termios.tcsetwinsize(0, (_LINES, _COLUMNS))
        os.execv(sys.executable, [sys.executable, "-m", "estimator_trainer", *_JOB,
                                  f"--model_dir={model_dir.name}"])
    screen = pyte.Screen(_COLUMNS, _LINES)
    stream = pyte.ByteStream(screen)
    kept: list[str] = []
    is_killed = False
    until = time.time() + _LIMIT_SECS
    while time.time() < until and (read := _read(terminal)) is not None:
        stream.feed(read)
        is_killed = is_killed or _kill_worker(model_dir)
        shown = "\n".join(screen.display)
        if _WORKER_BACK.search(shown) and "status=done" not in shown:
            kept = list(screen.display)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code or not kept:
        raise SystemExit("\n".join([*screen.display, f"the job ended with {code}"]))
    return kept


def _read(terminal: int) -> bytes | None:
    """Returns what the job has written, or None at its end."""
    if not select.select([terminal], [], [], 0.2)[0]:
        return b""
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the last process has closed its end.
        return None


def _kill_worker(model_dir: pathlib.Path) -> bool:
    """Kills the worker if it has begun to train; returns whether it has."""
    history = model_dir / "history" / "worker-0.jsonl"
    if not history.exists() or not (first := history.read_text().partition("\n")[0]):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(json.loads(first)["pid"], signal.SIGKILL)
    return True


@contextlib.contextmanager
def _browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def _take(driver: Any, page: pathlib.Path, picture: pathlib.Path, width: int,
          script: str = "") -> None:
    """Writes a picture of a whole page, `width` pixels wide."""
    for height in (900, None):
        if height is None:
            height = driver.execute_script("return document.body.scrollHeight;")
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        if height == 900:
            driver.get(page.as_uri())
            driver.execute_script(script)
            time.sleep(2)  # Charts are drawn when they come into view.
    driver.save_screenshot(str(picture))


if __name__ == "__main__":
    main()
