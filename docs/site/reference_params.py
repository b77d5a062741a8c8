"""The params of the bundled plug-ins, as `estimator-trainer list` reads them from the sources."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Mapping

from docs.site.reference_flags import slug
from docs.site.reference_markdown import code, table, text
from estimator_trainer.plugins import loader, param_defaults

_HEAD = ("param", "default", "meaning")


def of_plugins() -> str:
    """Returns a section for each plug-in, and one for each module whose params several share."""
    found = [loader.find(kind, name) for kind in loader.ARGUMENTS
             for name in loader.available(kind)]
    declared = [param_defaults.read_docs(pathlib.Path(plugin.path)) for plugin in found]
    parts: list[str] = []
    for plugin, of_plugin in zip(found, declared):
        parts += [f"### {plugin.kind} {plugin.name}", f"`--{plugin.kind}={plugin.name}`:"
                  f" {text(plugin.doc)}", *_params(of_plugin)]
    for module, of_module in param_defaults.included_by(declared).items():
        parts += [f"### {module}", "Several plug-ins share these params.", *_params(of_module)]
    return "\n\n".join(parts)


def _params(declared: param_defaults.Declared) -> list[str]:
    """Returns a table of a module's own params, and where the others are."""
    table_of_own = [_table(declared.own, declared.texts)] if declared.own else []
    return [*table_of_own, *(
        f"It {'also ' * bool(declared.own)}has the params of"
        f" [{module}](#{slug(module)}){', with the defaults above' * bool(declared.own)}."
        for module in declared.included)]


def _table(values: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    return table(_HEAD, [(code(name), code(json.dumps(value)), text(texts.get(name, "")))
                         for name, value in values.items()])
