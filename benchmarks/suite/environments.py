"""Makes the Python environments of the peers, one for each kind."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import venv

import benchmarks

PACKAGES = {"estimator": [str(benchmarks.REPO)], "keras3": ["tensorflow"],
            "torch": ["torch", "lightning"], "plot": ["matplotlib"]}
_VERSIONS = """
import importlib.metadata, json, platform
names = {"tensorflow", "tf_keras", "keras", "tensorflow-estimator", "torch", "lightning"}
found = {d.name: d.version for d in importlib.metadata.distributions() if d.name in names}
print(json.dumps({"Python": platform.python_version(), **dict(sorted(found.items()))}))
"""
# Each of these variables would change the threads or the backend of one library alone.
_CLEARED = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS",
            "TF_NUM_INTEROP_THREADS", "KERAS_BACKEND", "TF_CONFIG", "TF_USE_LEGACY_KERAS")


def python(work: pathlib.Path, kind: str) -> pathlib.Path:
    """Returns the interpreter of an environment below `work`, and makes it if necessary."""
    folder = work / "environments" / kind
    interpreter = folder / "bin" / "python"
    if not interpreter.exists():
        print(f"makes the environment {kind}", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([interpreter, "-m", "pip", "install", "-q", *PACKAGES[kind]], check=True)
    return interpreter


def variables(**more: str) -> dict[str, str]:
    """Returns the environment variables of a process that runs a module of this repository."""
    kept = {name: value for name, value in os.environ.items() if name not in _CLEARED}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
            "PYTHONPATH": str(benchmarks.REPO), **more}


def versions(interpreter: pathlib.Path) -> dict[str, str]:
    """Returns the versions of Python and of the libraries that train."""
    found: dict[str, str] = json.loads(subprocess.check_output([interpreter, "-c", _VERSIONS]))
    return found
