"""The source package: this program and all plug-ins, for pip on another machine.

    estimator_trainer-VERSION.tar.gz
        setup.py
        estimator_trainer/, model_fns/, input_fns/    as installed here
        my_team/                                      --model_fn=my_team.models.ctr
        estimator_trainer_job/my_model.py             --model_fn=./my_model.py

Imports of the plug-ins are packed, too, if they are on this machine only; else pip installs them.
"""

import glob
import gzip
import io
import pathlib
import shlex
import tarfile
from typing import Iterable, Mapping, Sequence

from estimator_trainer import __version__, errors, versions
from estimator_trainer.manifest import imported_code
from estimator_trainer.plugins import loader, source_files
from estimator_trainer.plugins.plugin import Plugin

STEM = f"estimator_trainer-{__version__}"
NAME = f"{STEM}.tar.gz"
# TensorFlow 2.21 comes without TensorBoard, which imports pkg_resources before 2.21; setuptools 82
# has removed that.
TENSORBOARD = ["tensorboard", "setuptools<82"]
# The folder of the package estimator_trainer.
_HERE = pathlib.Path(__file__).parents[1]
_ENTRY_POINTS = {"console_scripts": ["estimator-trainer = estimator_trainer.cli:main"]}


def archive(used: Sequence[Plugin], tensorflow: str, is_tf1: bool = False,
            more: Sequence[str] = ()) -> bytes:
    """Returns the bytes of the package, which are the same for the same sources.

    Args:
      tensorflow: Version of TensorFlow in the job, such as "2.15".
      more: Requirements beside those of the program and the plug-ins.
    """
    own = _tree(_HERE, _HERE.name)
    for kind in loader.ARGUMENTS:
        for folder in source_files.folders(f"{kind}s"):
            own = _tree(folder, folder.name) | own
    files = dict(own)
    for plugin in used:
        files |= _plugin_files(plugin, files)
    imported = _pack_imports(files, own)
    required = [*requirements(tensorflow, is_tf1), *more]
    required += imported_code.requirements(imported, required, tensorflow == tensorflow_here())
    files["setup.py"] = _setup(files, required).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{STEM}/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def tensorflow_here() -> str:
    """Returns the version of TensorFlow of this machine, or the newest tested one."""
    found = versions.installed().tensorflow
    newest = ".".join(map(str, versions.NEWEST_TESTED))
    return ".".join(found.split(".")[:2]) if found else newest


def requirements(tensorflow: str, is_tf1: bool = False) -> list[str]:
    """Returns the requirements of the package with a version of TensorFlow (and TensorFlow 1)."""
    lines = (_HERE / "requirements.txt").read_text().splitlines()
    pins = [f"tensorflow=={tensorflow}.*", f"tf_keras=={tensorflow}.*"]
    if tensorflow == ".".join(map(str, versions.NATIVE)):
        # Newer versions need protobuf 5 without requiring it, and this TensorFlow needs 4.
        pins.append("tensorflow-metadata<1.17")
    if is_tf1:
        pins += ["tf_slim>=1.1", "scipy"]
    return [line for line in lines if not line.startswith("#")] + pins


def _plugin_files(plugin: Plugin, known: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns a plug-in's module or whole package, with the neighbours that it imports."""
    path = pathlib.Path(plugin.path)
    top = plugin.module.partition(".")[0]
    if plugin.is_file:
        target = plugin.name.rpartition(":")[0] if ":" in plugin.name else plugin.name
        place = pathlib.PurePosixPath(source_files.PACKED, source_files.packed_place(target))
        root, prefix, start = path.parent, f"{place.parent}/", path
        files = {f"{source_files.PACKED}/__init__.py": b"", str(place): path.read_bytes()}
    elif any(name.startswith(f"{top}/") for name in known):
        return {}
    else:
        depth = plugin.module.count(".") + (path.name == "__init__.py")
        root, prefix = path.parents[depth], ""
        start = root / top if depth else path
        files = _tree(start, start.name)
    if imported_code.SITE & set(root.parts):
        # Here all installed packages would be neighbours.
        return files
    for found in _neighbours(start, root):
        _refuse_link_outside(found, root)
        files |= _tree(found, prefix + found.name)
    return files


def _neighbours(start: pathlib.Path, root: pathlib.Path) -> set[pathlib.Path]:
    """Returns the modules and packages in `root` that `start` imports, directly or not."""
    found, unread = {start}, [start]
    while unread:
        path = unread.pop()
        sources = path.rglob("*.py") if path.is_dir() else [path]
        for source in filter(pathlib.Path.is_file, sources):
            for name in _tops(imported_code.names(source.read_bytes())):
                for each in (root / f"{name}.py", root / name):
                    if each not in found and (each.is_file() or any(each.glob("*.py"))):
                        found.add(each)
                        unread.append(each)
    return found - {start}


def _pack_imports(files: dict[str, bytes], own: Mapping[str, bytes]) -> set[str]:
    """Adds the imports that are on this machine only to `files`; returns all other imports."""
    read: set[str] = set()
    imported: set[str] = set()
    while unread := [name for name in files
                     if name.endswith(".py") and name not in own and name not in read]:
        found = {name for path in unread for name in imported_code.names(files[path])}
        read.update(unread)
        imported |= found
        # Modules that are in the package, or beside a file in it.
        known = {pathlib.PurePosixPath(name).with_suffix("").parts[depth]
                 for name in files for depth in range(min(2, name.count("/") + 1))}
        for top in _tops(found) - known:
            path = imported_code.own_source(top)
            if path is not None:
                files |= _tree(path, top + path.suffix)
    return {name for name in imported if name.partition(".")[0] in _tops(imported)}


def _tops(dotted: Iterable[str]) -> set[str]:
    """Returns the first parts of names, without this program and its plug-ins."""
    own = {_HERE.name, *(f"{kind}s" for kind in loader.ARGUMENTS)}
    return {name.partition(".")[0] for name in dotted} - own


def _tree(root: pathlib.Path, name: str) -> dict[str, bytes]:
    """Returns the content of a file, or of all files in a folder, as `name` in the package."""
    if root.is_file():
        return {name: root.read_bytes()}
    files = {}
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        is_hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not is_hidden:
            _refuse_link_outside(path, root)
            files["/".join([name, *parts])] = path.read_bytes()
    return files


def _refuse_link_outside(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Raises ConfigError for a link by which a file of another folder would be packed.

    The link may come with another person's package, and point to a key of this user. Links inside
    the working directory belong to the project, and links in this program to its installer.
    """
    if not path.is_symlink() or folder.parent == _HERE.parent:
        return
    target = path.resolve()
    here = pathlib.Path.cwd().resolve()
    is_own = target.is_relative_to(here) and not any(
        part.startswith(".") for part in target.relative_to(here).parts)
    if not is_own and not target.is_relative_to(folder.resolve()):
        raise errors.ConfigError(
            f"{str(path)!r} is a link to {str(target)!r}, outside of its package and of the working"
            " directory; expected a file in the package, because the package is sent to the job."
            f" For example: cp --remove-destination {shlex.quote(str(target))}"
            f" {shlex.quote(str(path))}")


def _setup(files: Mapping[str, bytes], required: list[str]) -> str:
    tops: dict[str, list[str]] = {}
    packages: set[str] = set()
    for name in sorted(files):
        top, _, rest = name.partition("/")
        if rest:
            tops.setdefault(top, []).append(glob.escape(rest))
            parts = name.split("/")[:-1]
            if name.endswith(".py") and all(part.isidentifier() for part in parts):
                packages.add(".".join(parts))
    arguments = {
        "name": "estimator_trainer", "version": __version__, "python_requires": ">=3.10,<3.14",
        "packages": sorted(packages | set(tops)),
        "py_modules": sorted(name[:-3] for name in files if "/" not in name),
        "package_data": tops, "install_requires": required, "entry_points": _ENTRY_POINTS}
    lines = [f"    {key}={value!r}," for key, value in arguments.items()]
    return "\n".join(["import setuptools", "", "setuptools.setup(", *lines, ")", ""])
