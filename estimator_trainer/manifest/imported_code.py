"""The imports of a job's code: modules to pack, and packages for pip, by reading sources."""

import ast
import contextlib
import functools
from importlib import metadata
import importlib.util
import json
import pathlib
import re
import sys
from typing import Iterable, Mapping

_DISTRIBUTION = re.compile(r"[A-Za-z0-9][\w.-]*")
SITE = {"site-packages", "dist-packages"}


def names(source: bytes) -> set[str]:
    """Returns the dotted names that a module imports, within functions too."""
    found: set[str] = set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # A template, or a source for another Python; the plug-ins themselves were read before.
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            found.update(_imported_by(node))
    return {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names}


def _imported_by(call: ast.Call) -> list[str]:
    """Returns the name that `importlib.import_module("name")` imports."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    first = call.args[0] if call.args else None
    if name not in ("import_module", "__import__") or not isinstance(first, ast.Constant):
        return []
    return [first.value] if isinstance(first.value, str) and first.value[:1] != "." else []


def own_source(top: str) -> pathlib.Path | None:
    """Returns the source of a module from PYTHONPATH, or installed from a folder; else None."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    origin = places[0] if places else (spec.origin if spec else None)
    if not origin or not pathlib.Path(origin).exists():
        return None  # Missing, or built into Python.
    path = pathlib.Path(origin)
    known = _distributions().get(top, [])
    is_own = not (SITE & set(path.parts) and known) or any(map(_is_from_folder, known))
    return path if is_own and path.suffix in ("", ".py") else None


def requirements(imported: Iterable[str], brought: Iterable[str], is_pinned: bool) -> list[str]:
    """Returns the requirements of imports (dotted names) that `brought` does not imply."""
    closed = _with_their_requirements(brought)
    wanted = {name for dotted in imported for name in _distributions_of(dotted)}
    return [f"{name}=={metadata.version(name).partition('+')[0]}" if is_pinned else name
            for name in sorted(wanted) if _key(name) not in closed]


def _distributions_of(dotted: str) -> list[str]:
    """Returns the distributions of a module: of several in a namespace (`google`), its owners."""
    known = _distributions().get(dotted.partition(".")[0], [])
    if len(known) < 2:
        return known
    parts = dotted.split(".")
    for depth in range(len(parts), 1, -1):
        stem = "/".join(parts[:depth])
        owners = [name for name in known if any(
            str(path) == f"{stem}.py" or str(path).startswith(f"{stem}/")
            for path in metadata.files(name) or ())]
        if owners:
            return owners
    return []


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return {top: sorted(set(names)) for top, names in metadata.packages_distributions().items()}


def _is_from_folder(distribution: str) -> bool:
    text = metadata.distribution(distribution).read_text("direct_url.json")
    return bool(text and json.loads(text).get("url", "").startswith("file:"))


def _with_their_requirements(lines: Iterable[str]) -> set[str]:
    """Returns the keys of distributions and of all their installed requirements."""
    closed: set[str] = set()
    unread = list(map(_key, lines))
    while unread:
        key = unread.pop()
        if not key or key in closed:
            continue
        closed.add(key)
        with contextlib.suppress(metadata.PackageNotFoundError):
            unread += [_key(line) for line in metadata.requires(key) or ()
                       if "extra ==" not in line]
    return closed


def _key(requirement: str) -> str:
    """Returns the normalized name of a requirement's distribution (PEP 503); "" for none."""
    match = _DISTRIBUTION.match(requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""
