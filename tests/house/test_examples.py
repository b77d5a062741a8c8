"""Every page of examples/ runs as it says, for fewer steps."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from examples.page import HEADING, pages
from tests.support import jobs, pages as blocks

# The notebooks have no commands: tests/program/test_notebook_examples.py runs them.
_PAGES = sorted(path.parent.name for path in (jobs.REPO / "examples").glob("*/README.md")
                if path.parent.name != "notebooks")
# The others show what these do, in less time.
_LONG = ("01_async_cloud_ml", "02_placement", "04_sigmoid_mnist", "05_sync_replicas",
         "06_tfrecord_averages", "07_async_and_sync", "08_service_base_class",
         "09_multi_worker_tutorial", "10_keras_model", "11_resnet", "12_click_through",
         "13_tables", "canned", "wide_deep")
_TIMEOUT_SECS = 120


def _commands(page):
    """Returns the commands of a page that need nothing else."""
    lines = [line for block in blocks.blocks(jobs.REPO / "examples" / page / "README.md")
             if block.is_run for line in block.lines]
    return [line for line in lines if line.startswith(("estimator-trainer ", "python -m "))]


def _run(command, tmp_path, data_dir):
    """Runs a page's command in this environment, in few steps and below tmp_path."""
    command = command.replace("/tmp/", f"{tmp_path}/")
    command = re.sub(r"--train_steps=\d+", "--train_steps=40", command)
    command = re.sub(r"--train_epochs=\d+", "--train_epochs=3", command)
    words = shlex.split(command)
    variables = {"TFDS_DATA_DIR": str(data_dir)}
    if words[0] == "estimator-trainer":
        ran = jobs.trainer(*words[1:], cwd=jobs.REPO, timeout_secs=_TIMEOUT_SECS, **variables)
    else:
        ran = subprocess.run([sys.executable, *words[1:]], cwd=jobs.REPO, capture_output=True,
                             text=True, check=False, timeout=_TIMEOUT_SECS,
                             env=jobs.environment(**variables))
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout + ran.stderr


def test_every_text_has_a_page_and_every_page_a_command():
    numbers = {page[:2] for page in _PAGES if page[:2].isdigit()}
    assert numbers == {f"{number:02}" for number in range(1, 14)}
    assert all(_commands(page) for page in _PAGES)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_ends_with_the_figures_of_its_text_beside_ours(page):
    shown = (jobs.REPO / "examples" / page.name / "README.md").read_text().partition(HEADING)[2]
    table = re.findall(r"^\| (\S.*) \| (.+) \| (.+) \|$", shown, re.M)
    rows = page.text.ROWS
    assert [what for what, _, _ in table] == [row.what for row in rows]
    assert [text for _, text, _ in table] == [
        row.text if isinstance(row.text, str) else text
        for row, (_, text, _) in zip(rows, table, strict=True)]


def test_every_numbered_page_has_figures():
    assert [page.name for page in pages()] == [page for page in _PAGES if page[:2].isdigit()]


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_a_page_of_figures_can_be_made_again():
    ran = subprocess.run([sys.executable, "-m", "examples.verify", "02"], cwd=jobs.REPO,
                         capture_output=True, text=True, check=False, timeout=5 * _TIMEOUT_SECS,
                         env=jobs.environment())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    [difference] = re.findall(r"^\| largest difference .* \| (.+); .+ \|$", ran.stdout, re.M)
    assert float(difference) < 1e-5


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[pytest.mark.soak] if page in _LONG else []) for page in _PAGES])
def test_the_page_does_what_it_shows(page, tmp_path, data_dir):
    for command in _commands(page):
        shown = _run(command, tmp_path, data_dir)
        if "tf-config" in command:
            assert shown.count("export TF_CONFIG=") == 4
        elif "launch" in command:
            assert re.search(r"launch +\| job done, exit 0", shown), shown
        elif command.startswith("estimator-trainer "):
            assert re.search(r"role=local status=done step=\d+", shown), shown


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_a_client_predicts_with_the_exported_keys_images_and_scores(tmp_path, data_dir):
    [train, *_] = _commands("01_async_cloud_ml")
    _run(train, tmp_path, data_dir)
    [export] = (tmp_path / "cloud_ml/export/final").iterdir()
    client = (
        "import sys, tensorflow as tf\n"
        "signature = tf.saved_model.load(sys.argv[1]).signatures['serving_default']\n"
        "image = tf.random.uniform([2, 8, 8, 1], seed=1)\n"
        "out = signature(image=image, key=tf.constant(['a', 'b']))\n"
        "print(sorted(out), out['key'].numpy(), out['scores'].shape)")
    ran = subprocess.run([sys.executable, "-c", client, str(export)], capture_output=True,
                         text=True, env=jobs.environment(), timeout=60, check=True)
    assert ran.stdout.strip() == "['key', 'scores'] [b'a' b'b'] (2, 10)"
