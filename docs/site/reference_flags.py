"""The commands and the flags of the reference, from the tables that the program itself uses."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, Iterable

from docs.site.reference_markdown import code, table, text
from estimator_trainer.settings.command_table import (AverageConfig, COMMANDS, CompletionConfig,
                                                      OutputConfig, PageConfig, ProjectConfig,
                                                      ServeConfig)
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import RankConfig, TrainerConfig

Field = dataclasses.Field[Any]
# The groups of flags of what is trained, and how.
_OF_RUN = tuple(dict.fromkeys(
    field.metadata["group"] for field in dataclasses.fields(TrainerConfig)
    if field not in dataclasses.fields(RankConfig)))

_INTRO = """\
`N` is an integer, `TEXT` is any text, `A,B` is a list with commas, and `WORD` is one of the words that the last column lists. A flag without `=` is true or false: `--tf1` is true, `--notf1` is false. A `-` in a name may stand for `_`: `--model-dir`.

The flags of a run are those from [What to train](#what-to-train) to [Export and prediction](#export-and-prediction). `launch` and `manifest` take them too, after `--`, for every task. After `-- run SCRIPT` they take those of `run`. `evaluate`, `predict` and `export` take all of them, so that one line serves several commands, and leave those of training alone."""  # noqa: E501


def commands() -> str:
    """Returns the table of the commands."""
    rows = [(f'<a id="command-{name}"></a>{code(f"{name} {command.usage}")}',
             _help(name, command.help), ", ".join(_taken(command.flags)) or "none")
            for name, command in COMMANDS.items()]
    return table(("usage", "what it does", "flags"), rows)


def flags() -> str:
    """Returns a section for each group of flags."""
    taken: set[str] = set()
    return "\n\n".join([_INTRO, *(_group(name, fields, taken)
                                  for name, fields in _grouped(_fields()).items())])


def _fields() -> list[Field]:
    """Returns the field of each flag, those of a run first."""
    ranks = dataclasses.fields(RankConfig)
    of_run = [field for field in dataclasses.fields(TrainerConfig) if field not in ranks]
    others = (HostLists, JobConfig, OutputConfig, AverageConfig, PageConfig, CompletionConfig,
              ProjectConfig, ServeConfig)
    return [*of_run, *ranks,
            *(field for config in others for field in dataclasses.fields(config))]


def _group(name: str, fields: list[Field], taken: set[str]) -> str:
    """Returns the section of a group; a flag of a name in `taken` gets an anchor of its own."""
    counts = collections.Counter(command for field in fields for command in _commands(field))
    usual = [command for command in COMMANDS if counts[command] * 2 >= len(fields)]
    title, _, more = name.partition(", ")
    rows = []
    for field in fields:
        place = f"{usual[0]}-" if field.name in taken else ""
        taken.add(field.name)
        rows.append((f'<a id="flag-{place}{field.name}"></a>`--{field.name}{_value(field)}`',
                     _default(field), _meaning(field, usual)))
    addition = "" if not more or more.startswith("for ") else f", {more}"
    return "\n\n".join([f"### {title}", f"Used by {_listed(usual)}{addition}.",
                        table(("flag", "default", "what it does"), rows)])


def _commands(field: Field) -> list[str]:
    return [name for name, command in COMMANDS.items()
            if any(field is each for each in command.flags)]


def _grouped(fields: Iterable[Field]) -> dict[str, list[Field]]:
    groups: dict[str, list[Field]] = {}
    for field in fields:
        groups.setdefault(field.metadata["group"], []).append(field)
    return groups


def _taken(fields: tuple[Field, ...]) -> list[str]:
    """Returns links to the groups of a command's flags; of few in a group, to each of them."""
    groups, wholes = _grouped(fields), _grouped(_fields())
    names = [name for name in wholes if name in groups]
    links = []
    if names[:len(_OF_RUN)] == list(_OF_RUN) and all(groups[n] == wholes[n] for n in _OF_RUN):
        links, names = [f"[all of a run](#{slug('Flags')})"], names[len(_OF_RUN):]
    for name in names:
        title = name.partition(",")[0]
        links += [f"[{title}](#{slug(title)})"] if 2 * len(groups[name]) > len(wholes[name]) else [
            f"[{code(f'--{field.name}')}](#flag-{field.name})" for field in groups[name]]
    return links


def slug(heading: str) -> str:
    """Returns the anchor of a heading, as GitHub and the site make it."""
    kept = "".join(sign for sign in heading.lower() if sign.isalnum() or sign in " -_")
    return kept.replace(" ", "-")


def _value(field: Field) -> str:
    if isinstance(field.default, bool):
        return ""
    if isinstance(field.default, int):
        return "=N"
    if isinstance(field.default, tuple):
        return "=TEXT" if "Repeatable" in field.metadata["help"] else "=A,B"
    return "=WORD" if field.metadata["choices"] else "=TEXT"


def _default(field: Field) -> str:
    if isinstance(field.default, bool):
        return code(str(field.default).lower())
    if isinstance(field.default, tuple):
        return code(",".join(field.default))
    return code(str(field.default))


def _meaning(field: Field, usual: list[str]) -> str:
    """Returns the help of a flag, its values, and where it does not go with its group."""
    metadata, takers = field.metadata, _commands(field)
    parts = [text(metadata["help"])]
    if words := [code(choice) for choice in metadata["choices"] if choice]:
        parts.append(f"One of {', '.join(words)}.")
    if metadata["minimum"]:
        parts.append(f"At least {metadata['minimum']}.")
    if more := [name for name in takers if name not in usual]:
        parts.append(f"Also used by {_listed(more)}.")
    if without := [name for name in usual if name not in takers]:
        parts.append(f"Not used by {_listed(without)}.")
    return " ".join(parts)


def _help(name: str, sentence: str) -> str:
    """Returns the help of a command; the example at its end, if there is one, becomes code."""
    words, _, example = sentence.partition(f": {name} ")
    return f"{text(words)}: {code(f'{name} {example}')}" if example else text(words)


def _listed(names: list[str]) -> str:
    words = [code(name) for name in names]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
