"""The joined packages: a user's own `model_fns` or `input_fns` and the installed one are one."""

from __future__ import annotations

import importlib.util
import sys

from estimator_trainer.plugins import source_files


def load() -> None:
    """Imports the packages of plug-ins, so that the modules in both places are found.

    The user's own wins, its `__init__.py` included; what is installed imports its neighbours too.
    """
    for package in source_files.SHARED:
        module, spec = sys.modules.get(package), source_files.first_spec(package)
        if spec is None:
            continue
        if module is None:
            module = importlib.util.module_from_spec(spec)
            sys.modules[package] = module
            if spec.loader is not None:
                spec.loader.exec_module(module)
        module.__path__ = [str(folder) for folder in source_files.folders(package)]
