"""`predict` into a folder: one part for each input file, by one process or by many at a time.

    DIR/part-00003-of-00010.csv               the answers to one input file, in its order
    DIR/_done/part-00003-of-00010.csv.7-rows  empty; written when the part is whole
    DIR/_files.json                           the files and settings, as the first process saw them
    DIR/_SUCCESS                              written by the process that finds all parts done

A process takes its share of the files, and waits for no other one. A part is written under a new
name, and moved when it is whole, so that a run that was stopped goes on after its last file.
"""

import contextlib
import dataclasses
import json
import posixpath
import re
from typing import Any
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster.share import Share
from estimator_trainer.coordination import shared_files
from estimator_trainer.errors import ConfigError, first_line, Problem, Setting
from estimator_trainer.evaluation import offline
from estimator_trainer.prediction import frames, output_file, predict
from estimator_trainer.prediction.exported_model import ExportedModel

_FILES, _DONE, _SUCCESS, _NEW = "_files.json", "_done", "_SUCCESS", "_new-"
_MARKER = re.compile(r"part-(\d+)-of-\d+.*\.(\d+)-rows")
_OF_IMAGES = "images"


@dataclasses.dataclass(frozen=True)
class _Work:
    """The input files of all processes together, and the settings that matter."""

    folder: str
    files: tuple[tuple[str, int], ...]  # The path and the size, in bytes, of each input file.
    settings: dict[str, Any]

    @property
    def text(self) -> str:
        """The content of the file that shows the other processes what they predict."""
        return json.dumps({"settings": self.settings, "files": self.files}, indent=1) + "\n"

    def name_of(self, number: int, kind: str) -> str:
        """Returns the name of the part of an input file."""
        return f"part-{number:05}-of-{len(self.files):05}.{kind}"


def write(plan: Plan, share: Share) -> str:
    """Predicts this share of the files of --data into the folder of --output.

    Returns a sentence on what is done.

    Raises:
      ConfigError: The data cannot be shared out, or other data or settings began the folder.
      TrainerError: The data have changed meanwhile.
    """
    if not share.count:
        return "this task has no share: the chief and the workers predict"
    folder, kind = output_file.folder_and_kind(plan.config.output)
    work = _Work(folder, _listed(plan, folder), _settings(plan, kind))
    _begin(work)
    own, done = share.of_files([size for _, size in work.files]), _done(work)
    logging.info("share %s has %d of %d files; %d files are done", share, len(own),
                 len(work.files), len(done))
    model = None
    for number in own:
        if number not in done:
            if plan.config.export_dir:
                model = model or ExportedModel(plan.config.export_dir)
            _write_part(plan, work, number, kind, model)
    done = _done(work)
    if len(done) < len(work.files):
        return (f"share {share} of {folder} is done; {len(work.files) - len(done)} of"
                f" {len(work.files)} files are left to others. The same command without a share"
                " does what is left")
    _succeed(work, done)
    return f"complete: {len(done)} files, {sum(done.values())} rows in {folder}"


def _write_part(plan: Plan, work: _Work, number: int, kind: str,
                model: ExportedModel | None) -> None:
    path, _ = work.files[number]
    of_file = frames.reading(plan, path)
    answers = predict.answered(of_file, model=model)
    kind = kind or answers.kind or output_file.JSON
    name = work.name_of(number, kind)
    # Two processes may write the same part, if a scheduler has started one again.
    new = posixpath.join(work.folder, f"{_NEW}{uuid.uuid4().hex[:8]}-{name}")
    with output_file.opened(posixpath.join(work.folder, name), new=new) as write_bytes:
        rows = predict.write_answers(of_file, answers, kind, write_bytes)
        _compare(work)
    _write_new(work.folder, posixpath.join(_DONE, f"{name}.{rows}-rows"), "")
    logging.info("%s has %d rows of %s", name, rows, path)


def _listed(plan: Plan, folder: str) -> tuple[tuple[str, int], ...]:
    """Returns the input files, sorted within each part of --data, and their sizes."""
    data = plan.config.data
    if data in ("", "-"):
        raise ConfigError(Problem("data", data or "", "and each file gets a part in the folder"
                                  f" {folder}", "files", Setting("data", "new/*.csv")))
    paths: list[str] = []
    for part in storage.parts_of(data):
        if tf.io.gfile.isdir(part):
            found = sorted(posixpath.join(part, name) for name in _names_in(part)
                           if not name.startswith(("_", ".")))
        else:
            found = [part] if tf.io.gfile.exists(part) else [
                path.removeprefix("./" * (not part.startswith("./")))
                for path in sorted(tf.io.gfile.glob(part))]
        found = [path for path in found if not tf.io.gfile.isdir(path)]
        if not found:
            raise ConfigError(Problem("data", data, f"and {part} is no file, and matches none",
                                      "files that exist", Setting("data", "new/*.csv")))
        paths += found
    paths = list(dict.fromkeys(paths))
    if plan.data and plan.data.data == _OF_IMAGES and not all(
            path.lower().endswith(".txt") for path in paths):
        raise ConfigError(Problem(
            "data", data, f"and each file gets a part in the folder {folder}",
            "lists of images for it, with the path of one a line", Setting("data", "lists/*.txt")))
    return tuple((path, int(tf.io.gfile.stat(path).length)) for path in paths)


def _settings(plan: Plan, kind: str) -> dict[str, Any]:
    """Returns the settings that decide what is in the parts."""
    config = plan.config
    model = config.export_dir or offline.one_checkpoint(config, "predict")
    return {"export_dir" if config.export_dir else "checkpoint": model, "kind": kind,
            "forward_key": config.forward_key, "with_inputs": config.with_inputs,
            "all": config.all}


def _begin(work: _Work) -> None:
    """Makes the folder, or compares its work with this process's."""
    try:
        shared_files.make_folder(posixpath.join(work.folder, _DONE))
        path = posixpath.join(work.folder, _FILES)
        if shared_files.read_text(path) is None:
            found = [name for name in _names_in(work.folder) if name.startswith("part-")]
            if found and shared_files.read_text(path) is None:
                raise ConfigError(Problem(
                    "output", work.folder, f"which has {found[0]}, and no {_FILES} of `predict`",
                    "an empty folder, or a new one", _new_folder(work)))
            _write_new(work.folder, _FILES, work.text)
    except tf.errors.OpError as error:
        raise ConfigError(Problem(
            "output", work.folder, f"which cannot be written to: {first_line(error)}",
            "a folder with the right to write", _new_folder(work))) from error
    _compare(work)


def _compare(work: _Work) -> None:
    """Raises ConfigError if the folder was begun with other files or settings."""
    text = shared_files.read_text(posixpath.join(work.folder, _FILES))
    if text == work.text:
        return
    try:
        content = json.loads(text or "")
        settings, files = content["settings"], {path: size for path, size in content["files"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(Problem(
            "output", work.folder, f"whose {_FILES} is missing or damaged", "a new folder",
            _new_folder(work))) from error
    raise ConfigError(Problem(
        "output", work.folder, f"which was begun with {_difference(work, settings, files)}",
        "the same files and settings, or a new folder", _new_folder(work)))


def _difference(work: _Work, settings: dict[str, Any], files: dict[str, int]) -> str:
    """Returns the first difference of the folder's work from this process's, in words."""
    for name, value in work.settings.items():
        if settings.get(name) != value:
            return f"{name} {settings.get(name)!r}, and now it is {value!r}"
    now = dict(work.files)
    for path in sorted(now.keys() ^ files.keys()):
        return (f"{len(files)} files of data, and now there are {len(now)}: {path} is"
                f" {'new' if path in now else 'gone'}")
    for path, size in now.items():
        if files[path] != size:
            return f"{path} of {files[path]} bytes, and now it has {size}"
    return "its files in another order"


def _done(work: _Work) -> dict[int, int]:
    """Returns the number of rows of each part that is done, by the number of its file."""
    names = _names_in(posixpath.join(work.folder, _DONE))
    return {int(found[1]): int(found[2]) for found in map(_MARKER.fullmatch, names) if found}


def _succeed(work: _Work, done: dict[int, int]) -> None:
    _compare(work)
    for name in _names_in(work.folder):
        if name.startswith(_NEW) and "-part-" in name:
            # A process that was killed has left a part that is not whole.
            with contextlib.suppress(tf.errors.OpError):
                tf.io.gfile.remove(posixpath.join(work.folder, name))
    _write_new(work.folder, _SUCCESS, json.dumps({"files": len(done), "rows": sum(done.values())}))


def _write_new(folder: str, name: str, text: str) -> None:
    """Writes a small file, which other processes may write too, under a new name, and moves it."""
    path = posixpath.join(folder, name)
    new = posixpath.join(folder, f"{_NEW}{uuid.uuid4().hex[:8]}-{posixpath.basename(name)}")
    with tf.io.gfile.GFile(new, "w") as file:
        file.write(text)
    tf.io.gfile.rename(new, path, overwrite=True)


def _names_in(folder: str) -> list[str]:
    try:
        return list(tf.io.gfile.listdir(folder))
    except tf.errors.NotFoundError:
        return []  # An object store has no empty folders.


def _new_folder(work: _Work) -> Setting:
    return Setting("output", f"{work.folder.rstrip('/')}-2/")
