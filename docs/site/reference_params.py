"""The params of the bundled plug-ins, as `estimator-trainer list` reads them from the sources."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Mapping

from docs.site.reference_flags import slug
from docs.site.reference_markdown import code, table, text
from estimator_trainer.plugins import loader, param_defaults, source_files

_HEAD = ("param", "default", "meaning")


def of_plugins() -> str:
    """Returns a section for each plug-in, and one for each module whose params several share."""
    found = [loader.find(kind, name) for kind in loader.ARGUMENTS
             for name in loader.available(kind)]
    sections: list[str] = []
    shared: list[str] = []
    for plugin in found:
        declared = param_defaults.read_docs(pathlib.Path(plugin.path))
        shared += declared.included
        parts = [f"### {plugin.kind} {plugin.name}", f"`--{plugin.kind}={plugin.name}`:"
                 f" {text(plugin.doc)}"]
        if declared.own:
            parts.append(_table(declared.own, declared.texts))
        parts += [f"It {'also ' * bool(declared.own)}has the params of"
                  f" [{module}](#{slug(module)}){', with the defaults above' * bool(declared.own)}."
                  for module in declared.included]
        sections.append("\n\n".join(parts))
    return "\n\n".join([*sections, *map(_shared, dict.fromkeys(shared))])


def _shared(module: str) -> str:
    path = source_files.of_module(module)
    assert path is not None
    params = _table(param_defaults.of_module(path) or {}, param_defaults.read_docs(path).texts)
    return f"### {module}\n\nSeveral plug-ins share these params.\n\n{params}"


def _table(values: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    return table(_HEAD, [(code(name), code(json.dumps(value)), text(texts.get(name, "")))
                         for name, value in values.items()])
