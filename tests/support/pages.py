"""The manual's pages as a test reads them: blocks that run, that are written, or that need more."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys

from tests.support import jobs

DOCS = jobs.REPO / "docs"
# Pages that a person reads to do something; each begins with a command that runs.
MANUAL = sorted(DOCS.glob("*.md"))
_BLOCK = re.compile(r"^( *)```(\w*)(?: title=\"([^\"\n]*)\")?\n(.*?)^\1```$", re.M | re.S)
_FILE_NAME = re.compile(r"[\w./-]+\.\w+")
_COMMANDS = ("sh", "python")


@dataclasses.dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
      language: The word behind the fence, such as "sh"; "" if there is none.
      title: The block's title, which the site shows: a file name, "Needs ...", "Sketch", or "".
      text: Content of the block.
      before: The page's text above the block.
    """

    language: str
    title: str
    text: str
    before: str = dataclasses.field(repr=False)

    @property
    def is_file(self) -> bool:
        """Whether the block is the content of the file that its title names."""
        return bool(_FILE_NAME.fullmatch(self.title))

    @property
    def is_run(self) -> bool:
        """Whether the block is a command, or a script, that runs on any machine."""
        return not self.title and self.language in _COMMANDS

    @property
    def lines(self) -> list[str]:
        """The block's commands, each with the lines that continue it."""
        return self.text.replace("\\\n", " ").splitlines()


def blocks(path: pathlib.Path) -> list[Block]:
    """Returns the fenced blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    return [Block(found[2], found[3] or "", found[4], text[:found.start()])
            for found in _BLOCK.finditer(text)]


def run(path: pathlib.Path, folder: pathlib.Path, timeout_secs: float, **variables: str) -> str:
    """Does what a page says, in `folder`: writes its files and runs its commands.

    Returns:
      All that the commands printed.

    Raises:
      AssertionError: if a block fails or takes too long, with the block and what it printed.
    """
    reader = Reader(folder, timeout_secs, **variables)
    return "".join(map(reader.do, blocks(path)))


class Reader:
    """A person in a folder of their own, who does what a page says.

    Attributes:
      work: The folder, where `examples` is a link.
    """

    def __init__(self, folder: pathlib.Path, timeout_secs: float, **variables: str) -> None:
        self._folder, self._timeout_secs = folder, timeout_secs
        self._environment = _environment(folder, **variables)
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / "examples").symlink_to(jobs.REPO / "examples")

    def do(self, block: Block) -> str:
        """Writes the file of a block, or runs its commands; returns what these printed."""
        text = block.text.replace("/tmp/", f"{self._folder}/tmp/")
        if block.is_file:
            target = self.work / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        elif block.is_run:
            words = ["-euo", "pipefail", "-c", text] if block.language == "sh" else [
                "-W", "ignore", "-c", text]
            program = "bash" if block.language == "sh" else sys.executable
            return _output([program, *words], self.work, self._environment, self._timeout_secs)
        return ""


def _environment(folder: pathlib.Path, **variables: str) -> dict[str, str]:
    """Returns an environment in which `estimator-trainer` and `python` are those of the test."""
    programs = folder / "bin"
    programs.mkdir()
    (folder / "tmp").mkdir()
    for name, words in {"estimator-trainer": "-m estimator_trainer", "python": ""}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (programs / name).chmod(0o755)
    return jobs.environment(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", **variables)


def _output(words: list[str], work: pathlib.Path, environment: dict[str, str],
            timeout_secs: float) -> str:
    with subprocess.Popen(words, cwd=work, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            printed, _ = process.communicate(timeout=timeout_secs)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            raise AssertionError(f"still running: {words[-1]}\n{printed[-6000:]}") from None
    assert process.returncode == 0, f"{words[-1]}\n{printed[-6000:]}"
    return printed
