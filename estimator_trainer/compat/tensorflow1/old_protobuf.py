"""Imports modules that protoc generated before 3.20, which the protobuf of today refuses.

Such a module builds each descriptor by hand. A newer one has the same serialized file and leaves
the rest to `google.protobuf.internal.builder`; so does what is made of an old one here.
"""

from __future__ import annotations

import ast
from importlib import abc, machinery
import sys
from types import CodeType, ModuleType
from typing import Any, Optional, Sequence

from estimator_trainer.compat.tensorflow1 import logged_once

_BUILD = """
from google.protobuf import descriptor_pool as _descriptor_pool
from google.protobuf.internal import builder as _builder
DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile(SERIALIZED)
_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, __name__, globals())
"""


class _Loader(machinery.SourceFileLoader):
    """Loads an old module as a new one."""

    def get_code(self, fullname: str) -> Optional[CodeType]:
        tree = ast.parse(self.get_data(self.path), self.path)
        imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
                   and not _is_protobuf(node)]
        build = ast.parse(_BUILD.replace("SERIALIZED", repr(_serialized(tree)))).body
        logged_once.log(f"{self.path} is of a protoc before 3.20; its messages are made of the "
                        "file that it holds.")
        return compile(ast.Module([*imports, *build], []), self.path, "exec")


class _Finder(abc.MetaPathFinder):
    """Finds the modules `*_pb2` that are old."""

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[ModuleType] = None) -> Optional[machinery.ModuleSpec]:
        if not name.endswith("_pb2"):
            return None
        spec = machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and _is_old(spec.loader):
            spec.loader = _Loader(name, str(spec.origin))
        return spec


def supply() -> None:
    """Lets old generated modules be imported."""
    sys.meta_path.insert(0, _Finder())


def _is_old(loader: Any) -> bool:
    if not isinstance(loader, machinery.SourceFileLoader):
        return False
    source = loader.get_data(loader.path)
    return b"_builder" not in source and (
        b"serialized_pb=" in source or b"AddSerializedFile(" in source)


def _is_protobuf(node: Any) -> bool:
    """Returns whether an import is of protobuf's own machinery, not of messages."""
    names = [getattr(node, "module", None) or "", *(each.name for each in node.names)]
    return names[0].startswith("google.protobuf") and not any(
        name.endswith("_pb2") for name in names)


def _serialized(tree: ast.Module) -> bytes:
    """Returns the serialized file in the text of an old module."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        texts = [each.value for each in node.keywords if each.arg == "serialized_pb"]
        if getattr(node.func, "attr", "") == "AddSerializedFile":
            texts += node.args[:1]
        for value in texts:
            if isinstance(value, ast.Call):  # _b('...'), which encodes a text.
                value = value.args[0]
            found = ast.literal_eval(value)
            return found if isinstance(found, bytes) else found.encode("latin1")
    raise ImportError("A module of protoc's holds no serialized file.")
