"""Writes the constraints files: the versions of all packages that were tested together.

    python -m benchmarks.constraints [--tensorflow=2.15] [--work=FOLDER]

For each file and each Python it makes an environment from nothing, installs this project with its
extra `dev` and the newest versions that fit, and writes down what pip installed. A version that
differs between Pythons gets a marker. Run the tests with the new files before you commit them.
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import platform
import re
import subprocess
import tempfile
from typing import Mapping, Sequence

import benchmarks
from tests.support import distributions, interpreters

FOLDER = benchmarks.REPO / "estimator_trainer" / "constraints"
# The extras and the Pythons of each TensorFlow; the newest TensorFlow is the last.
TESTED = {"2.15": ("tf215,dev", ("3.10", "3.11")),
          "2.21": ("dev", ("3.10", "3.11", "3.12", "3.13"))}
_COMMAND = "python -m benchmarks.constraints"
# The project itself, and what makes the environments.
_LEFT_OUT = {"estimator-trainer", "pip"}


def main() -> None:
    """Makes the environments, one at a time, and writes the files."""
    parser = argparse.ArgumentParser(_COMMAND, description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", choices=TESTED, action="append",
                        help="writes this file alone; may be repeated")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()),
                        help="a folder with 4 GB, for one environment")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for tensorflow in options.tensorflow or TESTED:
        extras, pythons = TESTED[tensorflow]
        frozen, exact = {}, []
        for python in pythons:
            print(f"TensorFlow {tensorflow}, Python {python}", flush=True)
            version, frozen[python] = _install(python, extras, options.work)
            exact.append(version)
        path = FOLDER / f"tensorflow-{tensorflow}.txt"
        path.write_text(text(tensorflow, extras, exact, merge(frozen)))
        print(f"wrote {path}", flush=True)


def text(tensorflow: str, extras: str, pythons: Sequence[str], lines: Sequence[str]) -> str:
    """Returns the content of a file."""
    date = datetime.date.today().isoformat()
    return "\n".join([
        f"# Versions that were tested together, with TensorFlow {tensorflow}; for pip's option -c.",
        f"# Made by `{_COMMAND}`, {date}, on {platform.system()} {platform.machine()}:",
        f'# pip install ".[{extras}]" with Python {", ".join(pythons)}.', *lines, ""])


def merge(frozen: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Returns the lines of a constraints file.

    Args:
      frozen: For each Python, from the oldest on, the versions of its packages by name. A Python
        that lacks a package gets no line of its own: nothing asks for the package there.
    """
    lines = []
    for name in sorted(set().union(*frozen.values())):
        runs: list[tuple[str, str]] = []  # Each version with the first Python that has it.
        for python, packages in frozen.items():
            if name in packages and (not runs or runs[-1][1] != packages[name]):
                runs.append((python, packages[name]))
        for i, (python, version) in enumerate(runs):
            bounds = [f'python_version >= "{python}"'] if i else []
            bounds += [f'python_version < "{after}"' for after, _ in runs[i + 1:i + 2]]
            lines.append("; ".join([f"{name}=={version}", *filter(None, [" and ".join(bounds)])]))
    return lines


def _install(python: str, extras: str, work: pathlib.Path) -> tuple[str, dict[str, str]]:
    """Returns the exact version of a Python, and the packages of a new environment."""
    interpreter = interpreters.find(python)
    if interpreter is None:
        raise SystemExit(f"no Python {python} on PATH or in ~/.pyenv; a constraints file needs it")
    with tempfile.TemporaryDirectory(dir=work, prefix="constraints-") as folder:
        sources = distributions.copy_sources(pathlib.Path(folder) / "sources")
        environment = pathlib.Path(folder) / "environment"
        subprocess.run([interpreter, "-m", "venv", str(environment)], check=True)
        installed = str(environment / "bin" / "python")
        pip = [installed, "-m", "pip", "--disable-pip-version-check"]
        # The pip that Python 3.10 brings tries combinations of versions for hours.
        subprocess.run([*pip, "install", "-q", "--upgrade", "pip"], check=True)
        subprocess.run([*pip, "install", "-q", f"{sources}[{extras}]"], check=True)
        subprocess.run([*pip, "check"], check=True)
        packages = subprocess.check_output([*pip, "freeze", "--all"], text=True)
        exact = subprocess.check_output([installed, "-V"], text=True).split()[1]
    # A line that is not NAME==VERSION is the project itself.
    found = {re.sub(r"[-_.]+", "-", name).lower(): version
             for name, version in re.findall(r"^([\w.-]+)==(\S+)$", packages, re.M)}
    return exact, {name: found[name] for name in found.keys() - _LEFT_OUT}


if __name__ == "__main__":
    main()
