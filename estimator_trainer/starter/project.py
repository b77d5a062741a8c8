"""The project that `init --data` writes: a model, an input_fn and a test that fit the data."""

import ast
import dataclasses
import json
import os
import pathlib
import shlex
import string
import textwrap
from typing import Any, Mapping, Sequence

from estimator_trainer.errors import ConfigError, near_match, nearest, Problem, Setting
from estimator_trainer.plugins import inspection, loader, params as params_lib, source_files
from estimator_trainer.plugins.plugin import Plugin

_SOURCE = pathlib.Path(__file__).parent
_CLASSES, _NUMBERS = "classes", "numbers"
_USUAL_LABELS = ("label", "target", "class", "y", "price", "outcome", "churn", "survived")
_MOST_SHOWN = 40
_WIDTH = 92


@dataclasses.dataclass(frozen=True)
class Request:
    """The request of a user: a folder to write to, the data, the label's name, params to set."""

    folder: str
    data: str
    label: str = ""
    param: tuple[str, ...] = ()

    def typed(self, label: str = "") -> str:
        """Returns the command line, with a label."""
        flags = [Setting("data", self.data), *([Setting("label", label)] if label else [])]
        return f"estimator-trainer init {shlex.quote(self.folder)} {' '.join(map(str, flags))}"


@dataclasses.dataclass(frozen=True)
class Project:
    """The files to write, by name, the commands to type, and what was found in the data."""

    files: Mapping[str, str]
    commands: Sequence[str]
    findings: Sequence[str]


def of_data(request: Request) -> Project:
    """Returns the project that fits the data.

    Raises:
      ConfigError: if the data, the label or a param cannot be used.
    """
    path = request.data if "://" in request.data else os.path.abspath(request.data)
    plugin, starting = _reader(request, path)
    merged = params_lib.merge([plugin], request.param, "")
    user_set = {key: merged.values[key] for key in merged.user_set}
    chosen = {**starting, **user_set}
    if request.label:
        chosen["label"] = request.label
    chosen |= _label(request, plugin, {**merged.values, **chosen}, "label" in chosen)
    template = _SOURCE / f"{plugin.data}_{_CLASSES}.py.txt"
    model = loader.find("model_fn", str(template))
    found = inspection.described(
        plugin, {**(model.default_params or {}), **merged.values, **chosen}, is_quick=False)
    is_number = found.num_classes == -1
    if is_number:
        template = _SOURCE / f"{plugin.data}_{_NUMBERS}.py.txt"
    commands = _commands(path)
    texts = _texts(path, plugin, found, {**chosen, **found.params, **user_set})
    return Project({
        "model.py": template.read_text(encoding="utf-8"),
        **{name: _filled(name, {**texts, "commands": "\n".join(commands)})
           for name in ("data.py", "test_model.py", "README.md")}}, commands, _findings(found))


def _reader(request: Request, path: str) -> tuple[Plugin, dict[str, Any]]:
    """Returns the plug-in that reads the data, and the params that name them."""
    if "://" not in path and not os.path.exists(path):
        folder = os.path.dirname(path)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        raise ConfigError(Problem(
            "data", request.data, "and there is no such file or folder",
            "a table, or a folder with a folder of images for each class",
            advice=near_match(os.path.basename(path), names)))
    found = [loader.find("input_fn", name) for name in loader.available("input_fn")]
    # The last of several names for one plug-in is taken.
    for plugin in {each.inspection: each for each in found if each.inspection}.values():
        starting = inspection.starting_params(plugin, path)
        if starting is not None:
            return plugin, starting
    raise ConfigError(Problem(
        "data", request.data, "which holds no table, and no images in folders",
        "a table (CSV, Parquet, JSON lines or Feather), a folder of tables, or a folder with a"
        " folder of images for each class"))


def _label(request: Request, plugin: Plugin, values: Mapping[str, Any],
           is_set: bool) -> dict[str, Any]:
    """Returns the param of the label, if the data have one to choose."""
    names = inspection.labels(plugin, values)
    if not names:
        if is_set:
            raise ConfigError(Problem("label", values["label"], "and a folder's name is the label"
                                      " of its images", "no label", request.typed()))
        return {}
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    shown = f"{', '.join(names[:_MOST_SHOWN])}{more}"
    likely = next((name for name in names if name.lower() in _USUAL_LABELS), names[-1])
    if not is_set:
        raise ConfigError(Problem(
            "label", why=f"and {request.data} has the columns {shown}",
            expected="the one to predict", example=request.typed(likely)))
    label = values["label"]
    if label not in names:
        raise ConfigError(Problem(
            "label", label, f"which is no column of {request.data}", f"one of {shown}",
            request.typed(nearest(label, names) or likely), advice=near_match(label, names)))
    return {"label": label}


def _commands(path: str) -> list[str]:
    plugins = "--model_fn=./model.py --input_fn=./data.py"
    return [f"estimator-trainer {plugins} --model_dir=run",
            "estimator-trainer evaluate --model_dir=run",
            f"estimator-trainer predict --model_dir=run {Setting('data', path)}"
            " --output=answers.csv",
            "python -m pytest test_model.py"]


def _texts(path: str, plugin: Plugin, found: inspection.Inspection,
           chosen: Mapping[str, Any]) -> dict[str, str]:
    """Returns what stands in the templates."""
    naive = ("the mean of the label (mean squared error)" if found.num_classes == -1 else
             "the share of each class (cross-entropy)")
    loss = f"{found.naive_loss:.4g}"
    return {
        "data": _in_docstring(os.path.basename(path.rstrip("/"))),
        "facts": _in_docstring("\n".join(
            line for name, value in found.facts.items() if isinstance(value, str)
            for line in textwrap.wrap(f"{name}: {value}", _WIDTH, subsequent_indent="  "))),
        "input_fn": plugin.name,
        "names": "\n".join(textwrap.wrap(f"{', '.join(_offered(plugin))})", _WIDTH,
                                         initial_indent="    ", subsequent_indent="    ")),
        "params": "\n".join(f'    "{key}": {_literal(value)},' for key, value in chosen.items()),
        "naive": naive, "naive_loss": loss,
        "naive_sentence": f"With {naive} as the answer for all, the loss is {loss}: a model that"
                          " has learned something has less."}


def _in_docstring(text: str) -> str:
    """Returns a text that ends no docstring; names of files and classes may have any character."""
    return text.replace("\\", "\\\\").replace('"', "'")


def _offered(plugin: Plugin) -> list[str]:
    """Returns the names that a module offers to the program, but for its params."""
    tree = source_files.parsed(pathlib.Path(plugin.path))
    listed = [ast.literal_eval(node.value) for node in tree.body
              if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    defined = {name for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))
               for name in source_files.bound_names(ast.Module([node], []))}
    names = listed[0] if listed else [name for name in defined if not name.startswith("_")]
    return sorted(set(names) - {"DEFAULT_PARAMS"}, key=str.lower)


def _literal(value: Any) -> str:
    """Returns a param's value as source, a long list with a line for each entry."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list):
        return repr(value)
    entries = list(map(_literal, value))
    line = f"[{', '.join(entries)}]"
    return line if len(line) <= _WIDTH - 30 else "[\n" + "".join(
        f"        {entry},\n" for entry in entries) + "    ]"


def _filled(name: str, texts: Mapping[str, str]) -> str:
    template = (_SOURCE / f"own_{name}.txt").read_text(encoding="utf-8")
    return string.Template(template).substitute(texts)


def _findings(found: inspection.Inspection) -> list[str]:
    """Returns the lines that say what was found."""
    lines = []
    for name, value in found.facts.items():
        first, *more = value if isinstance(value, list) else [value]
        lines += [f"{name:10}{first}", *(f"{'':10}{line}" for line in more)]
    return [*lines, *(f"WARNING   {warning}" for warning in found.warnings)]
