"""Completes command lines in bash and zsh: commands, flags, their values, plug-ins and params.

The script of a shell calls this program at each TAB, so plug-ins are read and not imported.
"""

from __future__ import annotations

import dataclasses
import os.path
import shlex
from typing import Any, Iterator

from estimator_trainer.errors import ConfigError
from estimator_trainer.plugins import loader
from estimator_trainer.plugins.plugin import KINDS
from estimator_trainer.record import recorded_run, run_record
from estimator_trainer.settings import conflicts
from estimator_trainer.settings.command_table import COMMANDS, fields_of
from estimator_trainer.settings.flag_file import name_of
from estimator_trainer.settings.trainer_config import TrainerConfig

# This line lets the shell add the names of files.
FILES = ":files"
_REPEATABLE = ("param", "plugin_flag", "eval_set")
_OF_FILES = ("_files", "_file", "_dir")
# The values of flags that have no choices in the settings.
_VALUES = {"checkpoint": ("latest", "best", "all", "step="),
           "exporters": (*conflicts.EXPORTERS, "none"), "track": conflicts.TRACKERS}

SCRIPTS = {"bash": r"""
_estimator_trainer() {
    local word=$2 each found
    mapfile -t found < <("${1/#\~\//$HOME/}" completion --line="${COMP_LINE:0:COMP_POINT}" \
        --word="$word" 2>/dev/null)
    COMPREPLY=()
    if [[ ${found[*]} == ":files" ]]; then
        compopt -o default
        return
    fi
    for each in "${found[@]}"; do
        if [[ $each == ":files" ]]; then
            compopt -o filenames
            while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -f -- "$word")
        else
            COMPREPLY+=("$each")
        fi
    done
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -F _estimator_trainer estimator-trainer
""", "zsh": r"""
_estimator_trainer() {
    local line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    local -a found
    compset -P '*='
    found=("${(@f)$("${~${(Q)words[1]}}" completion --line="$line" --word="$PREFIX" 2>/dev/null)}")
    local -a open=(${(M)found:#*=}) closed=(${found:#(*=|:files)})
    (( $#open )) && compadd -S '' -- $open
    (( $#closed )) && compadd -- $closed
    (( ${found[(Ie):files]} )) && _files
    return 0
}
(( $+functions[compdef] )) || { autoload -Uz compinit; compinit }
compdef _estimator_trainer estimator-trainer
"""}


def candidates(line: str, word: str) -> list[str]:
    """Returns what may stand in place of the last word of a line.

    Args:
      line: The command line up to the cursor.
      word: The part of the last word that the shell replaces: bash begins a word after `=`.
    """
    words = _split(line)
    if len(words) < 2:
        return []
    last = words[-1]
    found = list(dict.fromkeys(_Line(words[1:-1]).endings(last)))
    if not last.endswith(word):
        return [FILES] if FILES in found else []  # The word has quotes.
    start = len(last) - len(word)
    return [each if each == FILES else each[start:] for each in found
            if each == FILES or each.startswith(last)]


def _split(line: str) -> list[str]:
    """Returns the words of a line, of which the last one may be empty or have an open quote."""
    for quote in ("", "'", '"'):
        try:
            *words, last = shlex.split(f"{line}.{quote}")
            return [*words, last[:-1]]
        except ValueError:
            continue
    return []


class _Line:
    """The words of a command line before the one that is to be completed."""

    def __init__(self, words: list[str]):
        self._is_after = "--" in words
        command = next((word for word in words if word in COMMANDS), "")
        if self._is_after and command and COMMANDS[command].is_job:
            # The words behind `--` are those of a task.
            self._is_after = "--" in (words := words[words.index("--") + 1:])
            command = "run" if words[:1] == ["run"] else "train"
        self._words = words
        self._command = command
        self._fields = {field.name: field for field in fields_of(command)}

    def endings(self, last: str) -> Iterator[str]:
        """Yields the words that the last one may become."""
        name, equals, value = last.partition("=")
        before = self._words[-1] if self._words else ""
        if self._is_after:
            yield FILES
        elif before.startswith("-") and "=" not in before and self._takes_value(name_of(before)):
            yield from self._values(name_of(before), last)
        elif name.startswith("-") and equals:
            yield from (each if each == FILES else f"{name}={each}"
                        for each in self._values(name_of(name), value))
        elif last.startswith("-"):
            yield from self._flags()
        else:
            yield from self._plain_words(last)

    def _plain_words(self, last: str) -> Iterator[str]:
        if not self._command or self._words[-1:] == ["help"]:
            yield from COMMANDS
            yield "help"
        elif self._command in ("run", "init", "report"):
            yield FILES
        elif self._command == "completion":
            yield from SCRIPTS
        elif self._command == "list":
            yield from (name for kind in loader.ARGUMENTS for name in loader.available(kind)
                        if name not in self._words)
            yield FILES
        elif not last:
            yield from self._flags()

    def _flags(self) -> Iterator[str]:
        used = {name_of(word) for word in self._words} - {*_REPEATABLE}
        for field in COMMANDS[self._command or "train"].flags:
            if field.name not in used and not isinstance(field.default, bool):
                yield f"--{field.name}="
            elif field.name not in used:
                yield f"--{field.name}"
                if field.default:
                    yield f"--no{field.name}"
        yield from ("--flagfile=", "--help")

    def _takes_value(self, name: str) -> bool:
        return name in ("flagfile", "job_dir") or (
            name in self._fields and not isinstance(self._fields[name].default, bool))

    def _values(self, name: str, value: str) -> Iterator[str]:
        """Yields the values of a flag; those behind the last comma for a list."""
        field = self._fields.get(name)
        if name in ("flagfile", "job_dir") or field and field.metadata["is_path"]:
            yield FILES
        elif name == "param":
            yield from self._params(value)
        elif name in KINDS:
            yield from loader.available(name)
            yield FILES
        elif field is not None:
            first = value[:value.rfind(",") + 1] if isinstance(field.default, tuple) else ""
            words = ("true", "false") if isinstance(field.default, bool) else _VALUES.get(
                name, field.metadata["choices"])
            yield from (first + word for word in words if word)

    def _params(self, value: str) -> Iterator[str]:
        key, equals, _ = value.partition("=")
        defaults = self._defaults()
        if not equals:
            yield from (f"{name}=" for name in sorted(defaults))
        elif isinstance(defaults.get(key), bool):
            yield from (f"{key}=true", f"{key}=false")
        elif key.endswith(_OF_FILES):
            yield FILES

    def _defaults(self) -> dict[str, Any]:
        """Returns the params of the plug-ins on the line, or else of those in the record."""
        chosen = {kind: self._value_of(kind) for kind in KINDS}
        recorded = {} if any(chosen.values()) else _recorded(self._value_of("model_dir"))
        found: dict[str, Any] = {}
        for field in dataclasses.fields(TrainerConfig):
            if field.name not in KINDS:
                continue
            name = chosen[field.name] or recorded.get(field.name) or str(field.default)
            try:
                found |= (loader.find(field.name, name).default_params or {}) if name else {}
            except ConfigError:
                continue
        return found

    def _value_of(self, flag: str) -> str:
        """Returns the value of a flag on the line, or ""."""
        value = ""
        for word, after in zip(self._words, [*self._words[1:], ""]):
            if name_of(word) == flag:
                value = word.partition("=")[2] if "=" in word else after
        return value


def _recorded(model_dir: str) -> dict[str, str]:
    """Returns the names of the plug-ins that trained in a local model_dir, by kind."""
    path = os.path.join(os.path.expanduser(model_dir), run_record.NAME)
    try:
        text = recorded_run.read_local(path) if model_dir else None
        plugins = run_record.from_json(text, path).plugins if text else {}
    except ConfigError:
        return {}
    return {kind: recorded_run.name_of(entry) for kind, entry in plugins.items()}
