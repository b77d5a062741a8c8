"""A copy of a program's checkout, in which it may write."""

from __future__ import annotations

import pathlib
import shutil

from benchmarks.published.program import Program


def folder(checkouts: pathlib.Path, source: str) -> pathlib.Path:
    """Returns the checkout of OWNER/NAME, the folder OWNER+NAME."""
    return checkouts / source.replace("/", "+")


def commit(checkouts: pathlib.Path, source: str) -> str:
    """Returns the commit of a checkout, from the file OWNER+NAME.commit."""
    return (checkouts / (source.replace("/", "+") + ".commit")).read_text().split()[0]


def problem(program: Program, checkouts: pathlib.Path) -> str:
    """Returns which checkout is missing, "" if none."""
    sources = [] if program.is_package else [program.source]
    for source in [*sources, *program.beside]:
        if not folder(checkouts, source).is_dir():
            return f"{folder(checkouts, source)} is missing: a checkout of github.com/{source}"
    return ""


def copy(program: Program, checkouts: pathlib.Path, work: pathlib.Path,
         data: pathlib.Path) -> pathlib.Path:
    """Copies the program below `work`, with its tiny data; returns the copy.

    The copy has the name of the repository, which is the name of a package for some of them.
    """
    if program.is_package:
        root = work / program.source
        root.mkdir(parents=True)
    else:
        root = work / program.source.split("/")[1]
        shutil.copytree(folder(checkouts, program.source), root,
                        ignore=shutil.ignore_patterns(".git"))
    for source, place in program.places:
        shutil.copytree(data / source, root / place, dirs_exist_ok=True)
    return root
