"""The README's lines of Python run in a real notebook kernel."""

from __future__ import annotations

import pathlib
import re
import warnings

import pytest

from tests.support import jobs, line_model

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

pytestmark = pytest.mark.cluster


def _run(cells: list[str], folder: pathlib.Path) -> list[str]:
    """Runs cells in a kernel of their own and returns what each printed and showed."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jupyter_client's and zmq's own.
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": str(folder)}}).execute()
    return ["".join(each.get("text", "") or str(each.get("data", {}).get("text/plain", ""))
                    for each in cell.outputs) for cell in notebook.cells]


@pytest.mark.soak
def test_the_readmes_python_runs_in_a_notebook(tmp_path):
    readme = (jobs.REPO / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(import estimator_trainer\n.*?)```", readme, re.DOTALL)
    assert len(code.strip().splitlines()) <= 6
    path = f"import sys; sys.path.insert(0, {str(jobs.REPO)!r})"
    model_fn = line_model.SOURCE.partition("def input_fn")[0].replace("model_fn", "my_model_fn")
    input_fn = "def input_fn" + line_model.SOURCE.partition("def input_fn")[2]
    *_, shown, again, edited = _run([
        path, model_fn, input_fn, code, "print(result.status, result.step)",
        "import estimator_trainer\n"
        "result = estimator_trainer.train(model_fn=my_model_fn, input_fn=input_fn,"
        " model_dir='line', train_steps=20, params={'scale': 2.0})\n"
        "print(estimator_trainer.evaluate('line')['loss'] == result.metrics['loss'])",
        model_fn.replace("** 2", "** 4") + "\n"
        "estimator_trainer.train(model_fn=my_model_fn, input_fn=input_fn, model_dir='line',"
        " train_steps=20)"], tmp_path)
    assert "done" in shown and "True" in again
    assert "Result(note='Nothing was trained" in edited
    assert "Since then model_fn changed (__main__:my_model_fn)." in edited
