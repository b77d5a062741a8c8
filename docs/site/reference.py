"""Makes docs/reference.md from the program's own data: `python -m docs.site.reference --write`.

Without --write it prints the page. It imports no TensorFlow.
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from typing import Sequence

from docs.site import reference_flags, reference_params, reference_words as words
from docs.site.reference_markdown import code, table, text
from estimator_trainer import errors, result

COMMAND = "python -m docs.site.reference --write"
_REPO = pathlib.Path(__file__).resolve().parents[2]
PAGE = _REPO / "docs" / "reference.md"
_PACKAGE = _REPO / "estimator_trainer"

_PAGE = """\
# Reference

This page lists every command, flag, environment variable, param, file of model_dir, field of a result and exit code.

```sh
estimator-trainer --help
estimator-trainer train --helpfull
estimator-trainer list
```

These print the commands, the flags of one command, and the plug-ins with their params. `{command}` makes this page from the same tables of the program.

## Commands

`estimator-trainer` stands before each. `estimator-trainer COMMAND --help` names the flags of one command, and `--helpfull` in its place describes each.

{commands}

## Flags

{flags}

## Other words for flags

{aliases}

## Environment variables

{variables}

## Params of the plug-ins

`--param KEY=VALUE` sets a param of the model_fn or the input_fn, and `--params_file` several. The default tells the type. A list or an object is JSON: `--param hidden_units=[64,32]`. `model_fn NAME` below is what `--model_fn=NAME` means, and `input_fn NAME` what `--input_fn=NAME` means.

{params}

## Files in model_dir

A word in capitals stands for any text: `STEP` is a global step, `TIME` is a time in seconds since 1970, `TASK` is a task such as `worker-0`. A training in one process has that process as its chief.

{files}

## What a run tells

### The last line

```text
role=worker:1 status=done step=1000 reason=train_steps
```

Every task of a training ends with this line on standard error. A mistake in flags, TF_CONFIG or plug-ins that is found before has its own sentence instead, and exit code 2.

{last_line}

A reason that is not one word is in quotes, as JSON has it. These are the reasons:

{reasons}

### result.json

The task that makes the final evaluation writes this file. A chief that is stopped or fails writes it too, if there is a checkpoint. NaN and infinity are `null`.

{result}

### best.json

{best}

### history.jsonl

Each line is a JSON object with `task`, `kind`, `time` and the fields of its kind. [report](report.md) tells how often lines are written, and how many are kept.

{history}

{history_fields}

## Exit codes

{exit_codes}

- `launch` ends with the code of the job. If a task is killed by the signal N more often than `--max_restarts`, it ends with 128 + N.
- `check` ends with 2 if it finds a problem, else with 0.
- `run` ends with the script's own code, if that is not 0.
- A second SIGTERM or SIGINT ends a training at once with 143. No checkpoint is saved then.
"""  # noqa: E501


def page() -> str:
    """Returns the page."""
    attributes = _attributes("result.py", "Result")
    ended = {"role": attributes.pop("task"), **attributes}  # The name in the line and the file.
    last_line = {name: ended[name] for name in ("role", "status", "step", "reason")}
    for name in ("history", "model_dir", "returned"):
        del ended[name]  # For Python alone.
    return _PAGE.format(
        command=COMMAND, commands=reference_flags.commands(), flags=reference_flags.flags(),
        aliases=table(("what you write", "what it means"), words.ALIASES),
        variables=table(("variable", "meaning"), words.VARIABLES),
        params=reference_params.of_plugins(), files=_files(), last_line=_fields(last_line),
        reasons=table(("reason", "status", "what happened"), words.REASONS),
        result=_fields(ended), best=_fields(_attributes("coordination/checkpoints.py", "Best")),
        history=table(("kind", "when", "fields"), [
            (code(kind), when, ", ".join(map(code, names.split())))
            for kind, (when, names) in words.HISTORY.items()]),
        history_fields=_fields(words.HISTORY_FIELDS), exit_codes=_exit_codes())


def main(argv: Sequence[str]) -> None:
    """Prints the page, or writes it."""
    if "--write" in argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")


def _files() -> str:
    return "\n\n".join(
        f"### {title}\n\n" + table(("file", "written by", "when", "holds"), [
            (code(file.path), file.by, file.when, file.holds)
            for file in words.FILES if file.left_by == left_by])
        for left_by, title in words.LEFT_BY.items())


def _exit_codes() -> str:
    statuses = {number: status for status, number in result.EXIT_CODES.items()}
    statuses[errors.ConfigError.exit_code] = "failed"
    return table(("exit code", "status", "meaning", "a scheduler should"),
                 [(str(number), status, *words.EXIT_CODES[number])
                  for number, status in sorted(statuses.items())])


def _fields(meanings: dict[str, str]) -> str:
    return table(("field", "meaning"), [(code(name), text(what))
                                        for name, what in meanings.items()])


def _attributes(path: str, name: str) -> dict[str, str]:
    """Returns what the docstring of a class says of its attributes, without importing it.

    Args:
      path: A source below estimator_trainer/.
      name: The class.
    """
    tree = ast.parse((_PACKAGE / path).read_text(encoding="utf-8"))
    [found] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    listed = (ast.get_docstring(found) or "").partition("Attributes:\n")[2]
    entries = re.findall(r"^  (\w+): (.*(?:\n    .*)*)", listed, re.MULTILINE)
    return {field: re.sub(r"\s+", " ", what) for field, what in entries}


if __name__ == "__main__":
    main(sys.argv[1:])
