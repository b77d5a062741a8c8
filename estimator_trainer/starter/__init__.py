"""The command `init`: writes a model, its data and a test into a user's folder."""

import pathlib
import shlex

from estimator_trainer.errors import ConfigError, Problem

_SOURCE = pathlib.Path(__file__).parent
# Modules end with `.txt` here, because this program does not import them.
_FILES = ("model.py", "data.py", "test_model.py", "README.md", "people.csv")
_EXAMPLE = "estimator-trainer init my_model"


def write(folder: str) -> str:
    """Writes the files, and returns their paths and the commands to type next.

    Raises:
      ConfigError: if one of the files exists, or the folder cannot be written.
    """
    target = pathlib.Path(folder)
    there = [name for name in _FILES if (target / name).exists()]
    if there:
        raise ConfigError(Problem(
            "DIR", folder, f"where {', '.join(there)} would be written over",
            "a folder without them, existing or not", _EXAMPLE, "the command line"))
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            (target / name).write_bytes(_template(name).read_bytes())
    except OSError as error:
        raise ConfigError(Problem(
            "DIR", folder, f"which cannot be written: {error.strerror}",
            "a folder, existing or not", _EXAMPLE, "the command line")) from error
    return "\n".join([
        *(f"wrote {target / name}" for name in _FILES), "Next:", f"  cd {shlex.quote(folder)}",
        "  estimator-trainer --model_fn=./model.py --input_fn=./data.py --model_dir=run",
        "  estimator-trainer predict --model_dir=run", "  python -m pytest test_model.py"])


def _template(name: str) -> pathlib.Path:
    path = _SOURCE / name
    return path if path.exists() else _SOURCE / f"{name}.txt"
