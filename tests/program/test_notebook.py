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
    assert "Result(Nothing was trained" in edited
    assert "Since then model_fn changed (__main__:my_model_fn)." in edited


_KERNEL = """
import sys; sys.path.insert(0, {repo!r})
import estimator_trainer
ages = [row * 7 % 50 for row in range(300)]
old = ["yes" if age + row % 13 > 36 else "no" for row, age in enumerate(ages)]
columns = {{"age": ages, "is_old": old}}
"""


@pytest.mark.soak
def test_a_kernel_completes_and_shows_one_sentence_and_goes_on(tmp_path):
    from jupyter_client import manager
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel, client = manager.start_new_kernel(cwd=str(tmp_path))
        try:
            _check_kernel(kernel, client)
        finally:
            client.stop_channels()
            kernel.shutdown_kernel(now=True)


def _check_kernel(kernel, client):
    assert not _messages(client, _KERNEL.format(repo=str(jobs.REPO)))
    assert set(_completed(client, "estimator_trainer.")) == {
        *("check", "evaluate", "export", "launch", "predict", "report", "show", "train"),
        *("ConfigError", "Interrupted", "Result", "TrainerError")}
    assert "train_steps=" in _completed(client, "estimator_trainer.train(train_")
    train = "estimator_trainer.train(data=columns, label='is_old', model_dir='m', train_steps={})"
    [(kind, shown)] = _messages(client, train.format("'5'"))
    assert kind == "error" and shown == ["ConfigError: train_steps is '5' (from train_steps=);"
                                         " expected an integer. For example: train_steps=1000"]
    *drawn, (kind, shown) = _messages(client, train.format(60))
    assert kind == "execute_result" and "at step 60" in shown["text/html"]
    # The bar, and no lines of a log.
    assert {kind for kind, _ in drawn} <= {"stdout", "display_data"}, drawn
    *_, (kind, shown) = _messages(client, train.format(10**8), kernel)
    assert kind == "error" and shown[0].startswith("Interrupted: training was stopped at step")
    *_, (kind, shown) = _messages(client, "estimator_trainer.evaluate('m')['global_step'] > 60")
    assert (kind, shown["text/plain"]) == ("execute_result", "True")


def _completed(client, code):
    return client.complete(code, len(code), reply=True, timeout=60)["content"]["matches"]


def _messages(client, code, kernel=None):
    """Returns what a cell shows, by kind; interrupts `kernel` once its training has a loss."""
    request, found = client.execute(code), []
    while True:
        message = client.get_iopub_msg(timeout=120)
        kind, content = message["msg_type"], message["content"]
        if message["parent_header"].get("msg_id") != request:
            continue
        if kind == "status" and content["execution_state"] == "idle":
            return found
        if kind == "stream":
            found.append((content["name"], content["text"]))
            if kernel is not None and "loss" in content["text"]:
                kernel.interrupt_kernel()
                kernel = None
        elif kind in ("execute_result", "display_data", "error"):
            found.append((kind, content.get("data") or content.get("traceback")))
