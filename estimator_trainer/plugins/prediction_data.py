"""The data to predict: what --data and --with_inputs are for an input_fn plug-in."""

from __future__ import annotations

from estimator_trainer.plugins import params
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings.trainer_config import TrainerConfig

# An input_fn that declares this param reads these files in mode "infer".
FILES = "predict_files"
# One that declares this param makes a feature of that name, of the names of files.
_FILE_NAME = "file_name"


def problems(config: TrainerConfig, data: Plugin) -> list[str]:
    """Returns why an input_fn cannot read --data, one sentence, or nothing."""
    if not config.data or config.is_data_json or FILES in (data.default_params or {}):
        return []
    return [f"data is {config.data!r} (from --data), and input_fn {data.name!r} reads no new data:"
            f" it declares no param {FILES!r} in DEFAULT_PARAMS; expected JSON lines, a file that"
            " ends in .jsonl, or `-` for standard input. For example: --data=new.jsonl"]


def params_of(config: TrainerConfig, data: Plugin) -> list[params.Given]:
    """Returns the params of the input_fn that --data and --with_inputs stand for."""
    declared = data.default_params or {}
    found = []
    if config.data and FILES in declared:
        found.append(params.Given(FILES, config.data, "--data", "--data="))
    is_chosen = any(pair.startswith(f"{_FILE_NAME}=") for pair in config.param)
    if config.with_inputs and declared.get(_FILE_NAME) == "" and not is_chosen:
        found.append(params.Given(_FILE_NAME, _FILE_NAME, "--with_inputs",
                                  f"--param {_FILE_NAME}="))
    return found
