"""Reads sources for params without importing them: DEFAULT_PARAMS, and code that a param names."""

import ast
import contextlib
import dataclasses
import io
import pathlib
import re
import sys
import tokenize
from typing import Any, Iterable, Mapping, NamedTuple

from estimator_trainer import errors, redaction, storage
from estimator_trainer.plugins import source_files
from estimator_trainer.plugins.plugin import Plugin

_NAME = "DEFAULT_PARAMS"


class _Literal(NamedTuple):
    """A literal that a module may declare: the types that it may have, and words for them."""

    kinds: tuple[type, ...]
    expected: str


_LITERALS: dict[type, _Literal] = {
    str: _Literal((str,), 'the name of a param. For example: "batch_size"'),
    tuple: _Literal((tuple, list, set), 'names of params. For example: ("temperature",)'),
    dict: _Literal((dict,), 'params and their values. For example: {"temperature": 1.0}')}


def read(tree: ast.Module, path: pathlib.Path) -> dict[str, Any] | None:
    """Returns the DEFAULT_PARAMS of a module, or None if it has none.

    The entries are plain values, or `**other.DEFAULT_PARAMS` of a module that this one imports;
    anything else is a ConfigError.
    """
    node = _assigned(tree, _NAME)
    if node is None:
        return None
    try:
        return _evaluate(node, tree)
    except (ValueError, OSError, SyntaxError) as error:
        raise errors.ConfigError(
            f"{_NAME} in {path}, line {node.lineno}, is not a literal dict; expected names and"
            " plain values, or **other.DEFAULT_PARAMS of an imported module, which can be read"
            " without importing any. For example: DEFAULT_PARAMS ="
            ' {"learning_rate": 0.1}') from error


def declared(tree: ast.Module, path: pathlib.Path, name: str, default: Any,
             choices: tuple[str, ...] = ()) -> Any:
    """Returns the literal that a module declares by a name, such as FREE_PARAMS or TRAINS_UNTIL.

    Raises:
      ConfigError: if the value is not of the type of the default, or not among the choices.
    """
    node = _assigned(tree, name)
    if node is None:
        # A module may have another's by `from other import TRAINS_UNTIL`.
        source = _imported_from(tree, name)
        return (declared(source_files.parsed(source), source, name, default, choices) if source
                else default)
    with contextlib.suppress(ValueError):
        value = ast.literal_eval(node)
        is_allowed = not choices or value in choices
        if isinstance(value, _LITERALS[type(default)].kinds) and is_allowed:
            return type(default)(value)
    if choices:
        raise errors.ConfigError(
            f"{name} in {path}, line {node.lineno}, is {ast.unparse(node)}; expected one of"
            f" {', '.join(choices)}")
    raise errors.ConfigError(f"{name} in {path}, line {node.lineno}, is not a literal; expected"
                             f" {_LITERALS[type(default)].expected}")


def of_module(path: pathlib.Path) -> dict[str, Any] | None:
    """Returns the dict of the module in a file, as `read` does."""
    return read(source_files.parsed(path), path)


def _assigned(tree: ast.Module, name: str) -> ast.expr | None:
    for node in source_files.module_level(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id == name:
                return node.value
    return None


def _evaluate(value: ast.expr, tree: ast.Module) -> dict[str, Any]:
    if not isinstance(value, ast.Dict):
        raise ValueError("no dict")
    params: dict[str, Any] = {}
    for key, entry in zip(value.keys, value.values):
        if key is None:
            included = of_module(_module(entry, tree)[1])
            if included is None:
                raise ValueError(f"{ast.unparse(entry)} is not there")
            params |= included
        else:
            params[ast.literal_eval(key)] = ast.literal_eval(entry)
    return params


def _module(value: ast.expr, tree: ast.Module) -> tuple[str, pathlib.Path]:
    """Returns the dotted name and the source of the module in `module.DEFAULT_PARAMS`."""
    if not (isinstance(value, ast.Attribute) and value.attr == _NAME and
            isinstance(value.value, ast.Name)):
        raise ValueError(f"not of the form module.{_NAME}")
    name = _imports(tree).get(value.value.id, "")
    path = source_files.of_module(name) if name else None
    if path is None:
        raise ValueError(f"{value.value.id} is no imported module")
    return name, path


def _imports(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in source_files.module_level(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}"
                      for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
    return found


def _imported_from(tree: ast.Module, name: str) -> pathlib.Path | None:
    """Returns the source of the module that a name is imported from, or None."""
    module, _, original = _imports(tree).get(name, "").rpartition(".")
    return source_files.of_module(module) if module and original == name else None


_ROW = re.compile(r"  (\w+) {2,}(\S.*)")
_MORE = re.compile(r" {6,}(\S.*)")


@dataclasses.dataclass(frozen=True)
class Declared:
    """The DEFAULT_PARAMS of a module: its own, the modules that it includes, and texts by key."""

    own: dict[str, Any]
    included: tuple[str, ...]
    texts: dict[str, str]


def read_docs(path: pathlib.Path) -> Declared:
    """Returns the DEFAULT_PARAMS of the module in a file, with the texts of own and included."""
    tree = source_files.parsed(path)
    node = _assigned(tree, _NAME)
    if not isinstance(node, ast.Dict):
        return Declared({}, (), {})
    sources = dict(_module(value, tree) for key, value in zip(node.keys, node.values) if not key)
    texts: dict[str, str] = {}
    for inner in sources.values():
        texts |= read_docs(inner).texts
    texts |= _table(ast.get_docstring(tree) or "") | _comments(node, path)
    own = {ast.literal_eval(key): ast.literal_eval(value)
           for key, value in zip(node.keys, node.values) if key is not None}
    return Declared(own, tuple(sources), texts)


def included_by(declarations: Iterable[Declared]) -> dict[str, Declared]:
    """Returns the modules that DEFAULT_PARAMS include, and that those include, each once."""
    found: dict[str, Declared] = {}
    names = [name for each in declarations for name in each.included]
    for name in names:
        path = source_files.of_module(name)
        if name not in found and path is not None:
            found[name] = read_docs(path)
            names += found[name].included
    return found


def _comments(node: ast.Dict, path: pathlib.Path) -> dict[str, str]:
    """Returns the comments behind the entries, with the lines of comment that follow."""
    with tokenize.open(path) as file:
        source = file.read()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens
                if token.type == tokenize.COMMENT}
    lines = source.splitlines()
    found = {}
    for key, value in zip(node.keys, node.values):
        line = value.end_lineno or 0
        text = [comments[line]] if key is not None and line in comments else []
        while text and line < len(lines) and lines[line].lstrip().startswith("#"):
            line += 1
            text.append(comments[line])
        if text:
            found[ast.literal_eval(key)] = " ".join(text)  # type: ignore[arg-type]
    return found


def _table(docstring: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in docstring.splitlines():
        if row := _ROW.fullmatch(line):
            name = row[1]
            found[name] = row[2]
        elif name and (more := _MORE.fullmatch(line)):
            found[name] += f" {more[1]}"
        else:
            name = ""
    return found


# Code that a param names, as keras_model=./my_model.py:build or keras_model=my_team.models:build.
_FILE = re.compile(r"(.+\.py):([A-Za-z_]\w*)")
_MODULE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


def code_of(params: Mapping[str, Any]) -> list[Plugin]:
    """Returns the code that params name, as plug-ins to be packed beside the others."""
    found = []
    for key, value in params.items():
        path = _code_path(value) if isinstance(value, str) else None
        if path is None:
            continue
        target, _, name = value.rpartition(":")
        is_file = target.endswith(".py")
        if is_file or target.partition(".")[0] not in sys.stdlib_module_names:
            module = pathlib.Path(target).stem if is_file else target
            found.append(Plugin(f"param {key}", value, module, str(path), name, is_file, None, ""))
    return found


def code_problems(params: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each param that names code which is not there.

    A param names code if its value has the form of a file's, or if its default names code.
    """
    found = {key: _code_problem(value) for key, value in params.items()
             if isinstance(value, str) and _names_code(value, defaults.get(key))}
    return [f"param {key} is {redaction.masked(key, params[key])!r} (from --param), {problem};"
            f" expected MODULE:NAME or FILE.py:NAME. For example: --param {key}=./my_model.py:build"
            for key, problem in found.items() if problem]


def with_home(value: Any) -> Any:
    """Returns a param's value with home folders in place of `~/`, in lists of texts too.

    Code keeps the name that the user typed: a job brings its copy along by that name.
    """
    if isinstance(value, list):
        return [with_home(each) for each in value]
    is_path = isinstance(value, str) and not _FILE.fullmatch(value)
    return storage.with_home(value) if is_path else value


def resolved(value: Any) -> Any:
    """Returns a param's value; of a file that a job has brought along it names the copy."""
    match = _FILE.fullmatch(value) if isinstance(value, str) else None
    if not match or pathlib.Path(match[1]).is_file():
        return value
    path = source_files.file_of(match[1])
    return f"{path}:{match[2]}" if path.is_file() else value


def _code_problem(value: str) -> str:
    """Returns what is wrong with the code that a value names, "" for nothing."""
    path = _code_path(value)
    if path is None:
        return f"and there is no such {'file' if _FILE.fullmatch(value) else 'module'}"
    try:
        names = source_files.bound_names(source_files.parsed(path))
    except SyntaxError:
        return ""  # `source_files.problems` says so.
    name = value.rpartition(":")[2]
    # A module may import all of another, or make a name when it is requested.
    return "" if names & {name, "*", "__getattr__"} else f"but {path} defines no {name!r}"


def _names_code(value: str, default: Any) -> bool:
    is_by_default = isinstance(default, str) and bool(_code_path(default))
    return bool(_FILE.fullmatch(value) or is_by_default and _MODULE.fullmatch(value))


def _code_path(value: str) -> pathlib.Path | None:
    """Returns the source that a value names, or None."""
    if match := _FILE.fullmatch(value):
        path = source_files.file_of(match[1])
        return path if path.is_file() else None
    match = _MODULE.fullmatch(value)
    return source_files.of_module(match[1]) if match else None
