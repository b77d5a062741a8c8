"""Finds the source of a plug-in's module, or of a script, without importing anything."""

import ast
import dataclasses
import hashlib
from importlib import machinery
import importlib.util
import os.path
import pathlib
import posixpath
import sys
from typing import Iterator

from estimator_trainer import errors
from estimator_trainer.plugins.plugin import Plugin

# `manifest` packs the plug-ins that are files into this package.
PACKED = "estimator_trainer_job"
# The packages of plug-ins: a package of the user's of such a name adds to the one installed here.
SHARED = ("model_fns", "input_fns")
_HERE = pathlib.Path(__file__).resolve().parents[2]


def _spec(name: str) -> machinery.ModuleSpec | None:
    return machinery.PathFinder.find_spec(name, [*sys.path, str(pathlib.Path.cwd())])


def first_spec(package: str) -> machinery.ModuleSpec | None:
    """Finds a package in SHARED, the user's own before the installed one; None if there is none."""
    specs = (machinery.PathFinder.find_spec(package, [path])
             for path in (str(pathlib.Path.cwd()), *sys.path))
    return next((spec for spec in specs if spec and spec.submodule_search_locations), None)


def folders(package: str) -> list[pathlib.Path]:
    """Returns the folders that a package's modules are looked up in.

    The user's own package of a name in SHARED comes first; what it lacks is found in ours.
    """
    is_shared = package in SHARED
    spec = first_spec(package) if is_shared else _spec(package)
    found = [pathlib.Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    return list(dict.fromkeys([*found, _HERE / package] if is_shared else found))


def of_module(dotted: str) -> pathlib.Path | None:
    """Finds a module's file; unlike `importlib.util.find_spec`, imports no parent package."""
    top, *inner = dotted.split(".")
    if not inner:
        spec = _spec(top)
        return pathlib.Path(spec.origin) if spec and spec.origin else None
    for folder in folders(top):
        stem = folder.joinpath(*inner)
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return path
    return None


def packed_place(target: str) -> str:
    """Returns the path below PACKED of the file that a flag names.

    A task's flags say ./my_model.py, as they did where the file lay.
    """
    parts = pathlib.PurePosixPath(posixpath.normpath(target)).parts
    return "/".join("up" if part == ".." else part for part in parts if part.strip("/"))


def file_of(target: str) -> pathlib.Path:
    """Returns the file that a flag names, or the copy that a job has brought along."""
    path = pathlib.Path(os.path.expanduser(target)).absolute()
    copies = [folder / packed_place(target) for folder in folders(PACKED)]
    return next((copy for copy in [path, *copies] if copy.is_file()), path)


def parsed(path: pathlib.Path) -> ast.Module:
    """Parses a source in the encoding that its first lines name; raises SyntaxError.

    The reasons of a SyntaxError are those of Python's own import, as for a file that is no text.
    """
    try:
        return ast.parse(path.read_bytes(), str(path))
    except ValueError as error:  # A NUL, until Python 3.12.
        raise SyntaxError(str(error)) from error


def sha256(path: str) -> str:
    """Returns the sha256 of a file, in hexadecimal digits; "" if it cannot be read."""
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


@dataclasses.dataclass(frozen=True)
class Script:
    """A whole program of the user's: a file, or a dotted module, with its `sys.argv[1:]`."""

    name: str
    path: str
    arguments: tuple[str, ...]

    @property
    def is_file(self) -> bool:
        """Whether the name is that of a file, not of a module."""
        return self.name.endswith(".py") or "/" in self.name

    @property
    def plugin(self) -> Plugin:
        """The script as a plug-in, for the package that a job takes to other machines."""
        module = pathlib.Path(self.name).stem if self.is_file else self.name
        return Plugin("script", self.name, module, self.path, "", self.is_file, None, "")


def find_script(name: str, arguments: tuple[str, ...]) -> Script:
    """Finds the script called `name` without running it; raises ConfigError if there is none."""
    found = Script(name, "", arguments)
    path = file_of(name) if found.is_file else of_module(name)
    if path and path.name == "__init__.py":
        path = path.with_name("__main__.py")
    if path is None or not path.is_file():
        raise errors.ConfigError(
            f"SCRIPT is {name!r} (from the command line), and there is no such file or module;"
            " expected a Python file, or a dotted module. For example: estimator-trainer run"
            " ./train.py -- --batch_size=64")
    return dataclasses.replace(found, path=str(path))


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def module_level(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes that run in a module's own scope, in order; `if` and `try` are part of it.

    A function or class is one node; the nodes within have a scope of their own.
    """
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, _SCOPES):
            yield from module_level(node)


def bound_names(tree: ast.Module) -> set[str]:
    """Returns the names a module's top level binds; `*` for a star import."""
    names: set[str] = set()
    inner = {id(name) for node in module_level(tree) if isinstance(node, _COMPREHENSIONS)
             for loop in node.generators for name in ast.walk(loop.target)}
    declared = {id(node.target) for node in module_level(tree)
                if isinstance(node, ast.AnnAssign) and node.value is None}
    for node in module_level(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and (
                id(node) not in inner | declared):
            names.add(node.id)
    return names


def problems(plugin: Plugin) -> list[str]:
    """Returns a sentence for each module that `plugin` needs at once and that is not installed.

    An import in a function, a `try` or an `if` may be meant to fail, so it does not count.
    Source that does not parse gives a sentence too.
    """
    if plugin.thing is not None:
        return []  # Python has imported the object's module already.
    path = pathlib.Path(plugin.path)
    # The kind of code that a param names is "param NAME".
    source = "the command line" if plugin.kind == "script" else f"--{plugin.kind.split()[0]}"
    try:
        tree = parsed(path)
    except SyntaxError as error:
        return [f"{plugin.kind} is {plugin.name!r} (from {source}), but {path} is not valid Python:"
                f" {error}"]
    folder = str(path.parent if plugin.is_file else pathlib.Path.cwd())
    missing: dict[str, int] = {}
    for node in tree.body:
        for name in _top_names(node):
            if name not in missing and not _exists(name, folder):
                missing[name] = node.lineno
    return [
        f"{plugin.kind} is {plugin.name!r} (from {source}), and {path}, line {line},"
        f" imports {name!r}, which is not there; expected an installed module. Install the package"
        f" that has it for {sys.executable}, or put its folder on PYTHONPATH."
        for name, line in missing.items()]


def _top_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.partition(".")[0]]
    return []


def _exists(name: str, folder: str) -> bool:
    return bool(name in sys.modules or machinery.PathFinder.find_spec(name, [folder]) or
                importlib.util.find_spec(name))
