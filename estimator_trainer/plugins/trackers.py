"""The trackers of --track: packages that must be installed, and functions of the user's."""

import dataclasses
import importlib.util
import pathlib
from typing import Iterable, Iterator

from estimator_trainer.errors import near_match, Problem, Setting
from estimator_trainer.plugins import param_defaults, source_files
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings import conflicts

# setup.py has the same as extras.
REQUIREMENTS = {"mlflow": "mlflow>=3.17,<4", "wandb": "wandb>=0.28,<1"}


def functions(track: Iterable[str]) -> list[Plugin]:
    """Returns the functions among trackers, as plug-ins, as far as their sources are there."""
    named = {name: name for name in track if name not in conflicts.TRACKERS}
    return [dataclasses.replace(code, kind="track") for code in param_defaults.code_of(named)]


def requirements(track: Iterable[str]) -> list[str]:
    """Returns the requirements of trackers, for pip."""
    return [REQUIREMENTS[name] for name in dict.fromkeys(track) if name in REQUIREMENTS]


def problems(track: Iterable[str], is_caller: bool = True) -> Iterator[Problem | str]:
    """Yields what is wrong with trackers.

    `is_caller`: this process is to call them, so that their packages must be installed here.
    """
    found = {function.name: function for function in functions(track)}
    for name in dict.fromkeys(track):
        if name in found:
            yield from _function_problems(found[name], is_caller)
        elif name not in REQUIREMENTS:
            yield Problem("track", name,
                          f"and there is no such {'file' if '.py:' in name else 'module'}",
                          example=Setting("track", ("./my_tracker.py:function",)))
        elif is_caller and importlib.util.find_spec(name) is None:
            yield Problem("track", name, f"and the package {name} is not installed",
                          "an installed one", f"pip install '{REQUIREMENTS[name]}'")


def _function_problems(function: Plugin, is_caller: bool) -> Iterator[Problem | str]:
    if is_caller:
        yield from source_files.problems(function)
    try:
        names = source_files.bound_names(source_files.parsed(pathlib.Path(function.path)))
    except SyntaxError:
        return  # `source_files.problems` says so.
    # A module may import all of another, or make a name when it is requested.
    if not names & {function.function, "*", "__getattr__"}:
        yield Problem("track", function.name,
                      f"but {function.path} defines no {function.function!r}",
                      advice=near_match(function.function, names))
