"""The command `init`: writes a model, its data and a test into a user's folder."""

import pathlib
import shlex
from typing import Mapping, Sequence

from estimator_trainer.errors import ConfigError, Problem
from estimator_trainer.starter import project

_SOURCE = pathlib.Path(__file__).parent
# Modules end with `.txt` here, because this program does not import them.
_FILES = ("model.py", "data.py", "test_model.py", "README.md", "people.csv")
_EXAMPLE = "estimator-trainer init my_model"
_COMMANDS = ("estimator-trainer --model_fn=./model.py --input_fn=./data.py --model_dir=run",
             "estimator-trainer predict --model_dir=run", "python -m pytest test_model.py")


def write(folder: str) -> str:
    """Writes an example with its data, and returns the files' paths and the commands to type next.

    Raises:
      ConfigError: if one of the files exists, or the folder cannot be written.
    """
    _check_free(folder, _FILES)
    return _written(folder, {name: _template(name).read_text(encoding="utf-8") for name in _FILES},
                    _COMMANDS)


def write_for(request: project.Request) -> str:
    """Writes a project that fits a user's data, and returns what it found and wrote.

    Raises:
      ConfigError: if one of the files exists, the folder cannot be written, or the data, the label
        or a param cannot be used.
    """
    # The data may take a while to look at.
    _check_free(request.folder, _FILES[:-1])
    made = project.of_data(request)
    return "\n".join([*made.findings, _written(request.folder, made.files, made.commands)])


def _check_free(folder: str, names: Sequence[str]) -> None:
    there = [name for name in names if (pathlib.Path(folder) / name).exists()]
    if there:
        raise ConfigError(Problem(
            "DIR", folder, f"where {', '.join(there)} would be written over",
            "a folder without them, existing or not", _EXAMPLE, "the command line"))


def _written(folder: str, files: Mapping[str, str], commands: Sequence[str]) -> str:
    target = pathlib.Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (target / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(Problem(
            "DIR", folder, f"which cannot be written: {error.strerror}",
            "a folder, existing or not", _EXAMPLE, "the command line")) from error
    return "\n".join([*(f"wrote {target / name}" for name in files), "Next:",
                      f"  cd {shlex.quote(folder)}", *(f"  {command}" for command in commands)])


def _template(name: str) -> pathlib.Path:
    path = _SOURCE / name
    return path if path.exists() else _SOURCE / f"{name}.txt"
