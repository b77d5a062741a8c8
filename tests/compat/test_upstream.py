"""tensorflow/estimator's own unit tests, through `estimator_trainer.compat` (on 2.15 natively).

Opt-in, since it needs their sources, `pip install portpicker`, and most of an hour:

    git clone --branch v2.15.0 https://github.com/tensorflow/estimator /tmp/upstream
    ESTIMATOR_UPSTREAM_TESTS=/tmp/upstream python -m pytest tests/compat/test_upstream.py

Prints the counts of each file as it ends, and the totals. With ESTIMATOR_UPSTREAM_REPORT=FILE the
name and outcome of every test go to FILE, to compare two versions of TensorFlow by `diff`.
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.support import jobs

CHECKOUT = os.environ.get("ESTIMATOR_UPSTREAM_TESTS")
REPORT = os.environ.get("ESTIMATOR_UPSTREAM_REPORT")
PACKAGE = pathlib.Path(CHECKOUT or ".") / "tensorflow_estimator" / "python" / "estimator"
FILES = sorted(path.relative_to(PACKAGE).as_posix()
               for path in PACKAGE.rglob("*_test.py")) if CHECKOUT else []
OUTCOMES = ("passed", "failed", "skipped")
SECS_A_FILE = 900
SECS_A_TEST = 60

# These tests expect of their runner: absl flags are parsed, and not from pytest's arguments;
# and unittest has the names, which Python 3.12 removed.
PLUGIN = """
import os
import sys
import unittest
import estimator_trainer.compat
from absl import flags

flags.FLAGS(["upstream"])

def pytest_unconfigure():
    sys.stdout.flush()
    os._exit(0)  # Threads that a failed test left do not end.

for old, new in (("assertEquals", "assertEqual"), ("assertNotEquals", "assertNotEqual"),
                 ("assertAlmostEquals", "assertAlmostEqual"), ("assert_", "assertTrue"),
                 ("assertNotAlmostEquals", "assertNotAlmostEqual"),
                 ("assertRegexpMatches", "assertRegex"),
                 ("assertNotRegexpMatches", "assertNotRegex"),
                 ("assertRaisesRegexp", "assertRaisesRegex"),
                 ("assertItemsEqual", "assertCountEqual")):
    if not hasattr(unittest.TestCase, old):
        setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
"""

pytestmark = pytest.mark.skipif(
    not CHECKOUT, reason="ESTIMATOR_UPSTREAM_TESTS is not set; it names a checkout of "
    "tensorflow/estimator at v2.15.0")

totals: collections.Counter[str] = collections.Counter()


def run_file(name, directory):
    """Returns the log of one test file, run in a process of its own."""
    (directory / "upstream_plugin.py").write_text(PLUGIN)
    # A copy outside the checkout: the package under test is the installed one.
    test = directory / name.replace("/", "__")
    shutil.copy(PACKAGE / name, test)
    log_path = directory / "log"
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "upstream_plugin",
               "-p", "no:cacheprovider", f"--timeout={SECS_A_TEST}", "-W", "ignore", "-rfEps",
               "--no-fold-skipped", f"--rootdir={directory}", str(test)]
    paths = [str(directory), str(jobs.REPO), os.environ.get("PYTHONPATH", "")]
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), CUDA_VISIBLE_DEVICES="-1")
    with open(log_path, "wb") as log, subprocess.Popen(
            command, cwd=directory, env=env, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True) as process:
        try:
            process.wait(SECS_A_FILE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
    return log_path.read_text(errors="replace")


def last_line(log):
    """Returns the line in which pytest gives the counts, empty when it did not come so far."""
    return (re.findall(r"^.* in [\d.]+s.*$", log, re.MULTILINE) or [""])[-1]


def counts(log):
    """Reads `3 failed, 48 passed, 2 skipped in 9.29s`, what pytest ends with, as a Counter."""
    found = dict((outcome, int(number)) for number, outcome in
                 re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", last_line(log)))
    failed = sum(found.get(outcome, 0) for outcome in ("failed", "error", "errors"))
    return collections.Counter(passed=found.get("passed", 0), failed=failed,
                               skipped=found.get("skipped", 0))


def outcomes(log):
    """Reads {test: outcome} of pytest's short summary; a test fails with any of its subtests."""
    found = {}
    for outcome, test in re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|SUBFAILED)\S* \S+?::(\S+)", log,
                                    re.MULTILINE):
        if found.get(test) in (None, "passed"):
            found[test] = "passed" if outcome == "PASSED" else (
                "skipped" if outcome == "SKIPPED" else "failed")
    return found


@pytest.mark.timeout(SECS_A_FILE + 60)
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_upstream_tests_runs_to_its_end(name, tmp_path, capsys):
    log = run_file(name, tmp_path)
    found = counts(log)
    totals.update(found)
    with capsys.disabled():
        print(f"\n{name:60}" + "".join(f"{found[each]:6} {each}" for each in OUTCOMES), end=" ")
    if REPORT:
        with open(REPORT, "a", encoding="utf-8") as report:
            report.writelines(f"{name}::{test} {outcome}\n"
                              for test, outcome in sorted(outcomes(log).items()))
    assert last_line(log), f"no result in {SECS_A_FILE} s:\n{log[-2000:]}"


def test_totals(capsys):
    with capsys.disabled():
        print(f"\n{'total':60}" + "".join(f"{totals[each]:6} {each}" for each in OUTCOMES))
    assert totals["passed"]
