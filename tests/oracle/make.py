"""Makes `answers/` anew, from an environment that has TensorFlow 1.15.5.

    python3.7 -m venv /tmp/one
    /tmp/one/bin/pip install tensorflow==1.15.5 protobuf==3.20.3 numpy==1.18.5 h5py==2.10.0
    python -m tests.oracle.make /tmp/one/bin/python [AREA ...]
"""

from __future__ import annotations

import ast
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Sequence

HERE = pathlib.Path(__file__).parent
ANSWERS, PROGRAMS, RUNNER = HERE / "answers", HERE / "programs", HERE / "runner.py"


def areas() -> list[str]:
    """Returns the names of all areas."""
    return sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))


def cases(area: str) -> list[str]:
    """Returns the names of an area's cases."""
    return [node.name for node in _program(area).body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def constant(area: str, name: str) -> Any:
    """Returns a constant of an area's module, which only TensorFlow 1 can import; () by default."""
    for node in _program(area).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    return ()


def _program(area: str) -> ast.Module:
    return ast.parse((PROGRAMS / f"{area}.py").read_text(encoding="utf-8"))


def run(command: Sequence[str], names: Sequence[str], *options: str, **environment: str) -> Any:
    """Returns what `runner.py` writes when it is run by a command."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "answers.json")
        ran = subprocess.run([*command, out, *options, *names], cwd=folder, capture_output=True,
                             text=True, check=False,
                             env=dict(os.environ, CUDA_VISIBLE_DEVICES="-1", **environment))
        if ran.returncode:
            raise RuntimeError(f"{ran.args} ended with {ran.returncode}:\n{ran.stderr[-3000:]}")
        return json.loads(pathlib.Path(out).read_text(encoding="utf-8"))


def make(python: str, names: Sequence[str]) -> None:
    """Writes a file of answers for each area, a line a case."""
    found = run([python, "-W", "ignore", str(RUNNER)], names, "--all")
    for name in names:
        answers = found["answers"][name]
        lines = [f"{json.dumps(case)}: {json.dumps(_lasting(answer))}"
                 for case, answer in answers.items()]
        head = {"tensorflow": found["tensorflow"], "python": found["python"],
                "made": datetime.date.today().isoformat()}
        (ANSWERS / f"{name}.json").write_text(
            json.dumps(head)[:-1] + ', "answers": {\n' + ",\n".join(lines) + "\n}}\n",
            encoding="utf-8")


def _lasting(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "secs"}


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2:] or areas())
