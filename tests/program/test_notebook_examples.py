"""The notebooks of examples/ run in a real kernel, from their first cell to their last."""

from __future__ import annotations

import json
import pathlib
import warnings

import pytest

from tests.support import jobs

_NOTEBOOKS = sorted((jobs.REPO / "examples/notebooks").glob("*.ipynb"))
# Texts and kinds of output that each notebook shows.
_SHOWN = {"table": ("Result(", "probability_", "runs/income/report.html", "image/png"),
          "photos": ("done at step 600", "of 297 are wrong", "is taken for", "image/png"),
          "cluster": ("job done, exit 0", "'task': 'worker:0'", "'problems': []",
                      "runs/comparison.html")}


def _code(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_short_and_has_nothing_of_one_machine(path):
    nbformat = pytest.importorskip("nbformat")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook["cells"])
    code = "\n".join(_code(notebook))
    assert not [part for part in code.split('"') if part.startswith(("/", "~"))]
    assert len(code.splitlines()) <= 30
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    assert kinds == ["markdown", "code"] * (len(kinds) // 2)


def _folder_as_in_the_repository(root: pathlib.Path) -> pathlib.Path:
    """Returns a folder for notebooks that has the repository's data where they look for them."""
    folder = root / "examples/notebooks"
    folder.mkdir(parents=True)
    for name in ("examples/wide_deep", "input_fns"):
        (root / name).symlink_to(jobs.REPO / name)
    return folder


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("path", _NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end_and_shows_what_it_promises(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    folder = _folder_as_in_the_repository(tmp_path)
    notebook = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jupyter_client's and zmq's own.
        nbclient.NotebookClient(
            notebook, timeout=240, kernel_name="python3",
            resources={"metadata": {"path": str(folder)}}).execute(env=jobs.environment())
    shown = json.dumps([cell["outputs"] for cell in notebook.cells if cell.cell_type == "code"])
    assert not [text for text in _SHOWN[path.stem] if text not in shown], shown[-6000:]
    assert sorted(each.name for each in folder.iterdir()) == ["runs"]
