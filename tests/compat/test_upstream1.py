"""TensorFlow 1.15's own tests of tf.contrib and of tf.estimator, natively and under --tf1.

Opt-in, since it needs their sources, a Python that has TensorFlow 1.15 (`tests/oracle/make.py` says
how to make one), and some hours:

    git clone --branch v1.15.5 https://github.com/tensorflow/tensorflow /tmp/one
    TF1_UPSTREAM_TESTS=/tmp/one TF1_PYTHON=/tmp/one/bin/python \\
        python -m pytest tests/compat/test_upstream1.py

A checkout of tensorflow/estimator v1.15.1 serves as well. Prints for each package how many of the
tests that pass natively pass here, lack a name that is gone, and fail. A failure that is known and
stays has a line `FILE::TEST reason` in upstream1_different.txt. TF1_UPSTREAM_FILES=WORD takes only
the files whose path has the word.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import jobs

HERE = pathlib.Path(__file__).parent
CHECKOUT = os.environ.get("TF1_UPSTREAM_TESTS")
NATIVE = os.environ.get("TF1_PYTHON")
WORD = os.environ.get("TF1_UPSTREAM_FILES", "")
SECS_A_FILE = 300
OUTCOMES = ("native", "same", "absent", "failed")
# Packages of tf.contrib that are gone as a whole, or need servers or kernels that are not here.
GONE = ("batching", "bigtable", "boosted_trees", "cloud", "cmake", "compiler", "ffmpeg",
        "fused_conv", "graph_editor", "hadoop", "ignite", "kafka", "kinesis", "labeled_tensor",
        "linear_optimizer", "memory_stats", "meta_graph_transform", "mpi_collectives", "rpc",
        "session_bundle", "specs", "tensor_forest", "tpu")

pytestmark = pytest.mark.skipif(
    not (CHECKOUT and NATIVE), reason="TF1_UPSTREAM_TESTS and TF1_PYTHON are not set; they name a"
    " checkout of TensorFlow 1.15 or tensorflow/estimator 1.15, and a Python that has it")


def packages():
    """Returns the test files of each package."""
    root, found = pathlib.Path(CHECKOUT or "."), collections.defaultdict(list)
    for path in sorted(root.rglob("*_test.py")) if CHECKOUT else ():
        parts = path.relative_to(root).parts
        if parts[:2] == ("tensorflow", "contrib") and parts[2] not in GONE:
            package = parts[2]
        elif parts[0] == "tensorflow_estimator":
            package = "estimator"
        else:
            continue
        if WORD in str(path):
            found[package].append(path)
    return dict(found)


def run(command, files, directory):
    """Returns {(file, test): (outcome, why)} of the files."""
    out = directory / "outcomes.jsonl"
    out.unlink(missing_ok=True)
    # TensorFlow sets it for its children.
    outside = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    with open(directory / "log", "wb") as log:
        subprocess.run([*command, out, str(SECS_A_FILE), *files], cwd=directory, check=True,
                       stdout=log, stderr=subprocess.STDOUT,
                       env=dict(outside, CUDA_VISIBLE_DEVICES="-1", PYTHONPATH=str(jobs.REPO)))
    lines = map(json.loads, out.read_text().splitlines())
    return {(each["file"], each["test"]): (each["outcome"], each["why"]) for each in lines}


def compared(native, ours):
    """Returns {test: (kind, why)} of the tests that pass natively."""
    found = {}
    for (file, test), (outcome, _) in native.items():
        if outcome != "passed" or not test:
            continue
        here, why = ours.get((file, test)) or ours.get((file, ""), ("failed", "has no outcome"))
        kind = ("same" if here == "passed" else
                "absent" if "went with TensorFlow 1" in why else "failed")
        found[f"{pathlib.Path(file).name}::{test}"] = (kind, why)
    return found


def known():
    """Returns {test: reason} of the failures that stay."""
    text = (HERE / "upstream1_different.txt").read_text()
    return dict(line.split(" ", 1) for line in text.splitlines() if line)


totals: collections.Counter[str] = collections.Counter()


@pytest.mark.timeout(0)
@pytest.mark.parametrize("package", packages())
def test_what_passes_natively_passes_here(package, tmp_path, capsys):
    files, runner = packages()[package], HERE / "upstream1_runner.py"
    native = run([NATIVE, "-W", "ignore", runner], files, tmp_path)
    found = compared(native, run([sys.executable, "-W", "ignore", runner, "--tf1"], files,
                                 tmp_path))
    counts = collections.Counter(kind for kind, _ in found.values()) + collections.Counter(
        native=len(found))
    totals.update(counts)
    expected = known()
    wrong = {test: why for test, (kind, why) in found.items()
             if kind == "failed" and test not in expected}
    with capsys.disabled():
        print(f"\n{package:30}" + "".join(f"{counts[each]:6} {each}" for each in OUTCOMES))
        for test, why in wrong.items():
            print(f"  {test}: {why[:200]}")
    passed = sorted(test for test, (kind, _) in found.items()
                    if kind == "same" and test in expected)
    assert not passed, f"pass now, take them out of upstream1_different.txt: {passed}"
    assert not wrong


def test_of_the_names_that_are_here_95_percent_pass(capsys):
    here = totals["native"] - totals["absent"]
    with capsys.disabled():
        print(f"\n{'total':30}" + "".join(f"{totals[each]:6} {each}" for each in OUTCOMES))
    assert here and totals["same"] / here >= 0.95
