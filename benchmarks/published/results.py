"""results.json: the outcome of each program on each TensorFlow."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

from benchmarks.published import checkout
from benchmarks.published.program import Program

_PATH = pathlib.Path(__file__).parent / "results.json"
_VERSIONS = """
import importlib.metadata, json, platform
print(json.dumps({"python": platform.python_version(), **{
    one.name.lower().replace("_", "-"): one.version for one in importlib.metadata.distributions()
    if one.name}}))
"""


def read() -> dict[str, Any]:
    """Returns the content of results.json, or an empty one."""
    if not _PATH.exists():
        return {"tensorflow": {}, "programs": {}}
    content: dict[str, Any] = json.loads(_PATH.read_text())
    return content


def write(found: dict[str, Any]) -> None:
    """Writes results.json."""
    _PATH.write_text(json.dumps(found, indent=1) + "\n")


def versions(python: str) -> dict[str, str]:
    """Returns the version of that Python and of each package that it has."""
    ran = subprocess.run([python, "-c", _VERSIONS], capture_output=True, text=True, check=True)
    result: dict[str, str] = json.loads(ran.stdout)
    return result


def commands(program: Program) -> list[str]:
    """Returns the commands of a user."""
    prepare = [program.prepare] if program.prepare else []
    return [*prepare, *(f"estimator-trainer {command}" for command in program.commands)]


def add(found: dict[str, Any], program: Program, outcome: dict[str, Any],
        machine: dict[str, str], checkouts: pathlib.Path) -> None:
    """Puts the program's outcome with the packages of `machine` into `found`."""
    tensorflow = ".".join(machine["tensorflow"].split(".")[:2])
    found["tensorflow"][tensorflow] = {name: machine[name] for name in (
        "tensorflow", "tensorflow-estimator", "python")}
    entry = found["programs"].setdefault(program.name, {"results": {}})
    entry["source"] = program.source
    entry["commit"] = "" if program.is_package else checkout.commit(checkouts, program.source)
    entry["folder"] = program.folder
    entry["places"] = [f"DATA/{data} copied to {place}" for data, place in program.places]
    entry["commands"] = commands(program)
    entry["needs"] = [*program.packages, *program.beside]
    packages = [*([program.source] if program.is_package else []), *program.packages]
    entry["results"][tensorflow] = {**outcome, "packages": {
        name: version for name in packages
        if (version := machine.get(name.lower().replace("_", "-").partition("<")[0]))}}
