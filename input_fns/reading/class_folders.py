"""Finds the classes and their images in folders, one folder a class, and logs oddities."""

from __future__ import annotations

import difflib
import functools
import os.path
import shlex
from typing import Any, Mapping, NamedTuple, Optional

from absl import logging

from input_fns.reading import file_system, image_files
from input_fns.reading.errors import DataFileError, DataParamError

_TRAINING = ("train", "training")
# A validation set comes before a test set, which is for the end.
_EVALUATION = ("val", "valid", "validation", "dev", "eval", "evaluation", "test", "testing")
_SHOWN = 5


class Part(NamedTuple):
    """A folder with a folder for each class.

    Attributes:
      param: Name of the param that names the folder.
      folder: Path of the folder.
      images: Paths of the images of each class, relative to the class's folder.
    """

    param: str
    folder: str
    images: dict[str, list[str]]


class Folders(NamedTuple):
    """The classes in their order, and the images to train on and to evaluate.

    Attributes:
      evaluation: None if some of the images of `training` are for evaluation.
    """

    classes: list[str]
    training: Part
    evaluation: Optional[Part]


class Image(NamedTuple):
    """A file that holds an image.

    Attributes:
      path: Path of the file.
      name: CLASS/FILE, for the param `file_name`.
      label: Number of its class.
    """

    path: str
    name: str
    label: int


def images(params: Mapping[str, Any], folders: Folders, training: bool) -> list[Image]:
    """Returns the files that all pipelines together read, in order."""
    part = folders.training if training else folders.evaluation or folders.training
    every = 0 if folders.evaluation else params["eval_every"]
    images = [Image(os.path.join(part.folder, kind, file), f"{kind}/{file}",
                    folders.classes.index(kind))
              for kind, files in part.images.items() for i, file in enumerate(files, 1)
              if not every or (i % every != 0) == training]
    most = max(map(len, part.images.values()), default=0)
    if not images and every > most > 0:
        example = f"eval_every={min(5, most)}" if most > 1 else "eval_dir=FOLDER"
        raise DataFileError(
            f"train_dir is {part.folder!r}, where no class has more than {most} "
            f"image{'s' * (most > 1)}, and of every {every} (eval_every) one is for evaluation; "
            f"expected more images, or others to evaluate. For example: --param {example}")
    if not images:
        raise DataFileError(
            f"{part.param} is {part.folder!r}, where the folders of the classes "
            f"{', '.join(folders.classes)} hold no {', '.join(image_files.ENDINGS)} for "
            f"{'training' if training else 'evaluation'}")
    return images


def found(params: Mapping[str, Any]) -> Folders:
    """Returns the classes and images that the params of `input_fns/image_folder.py` name.

    Raises:
      DataParamError, DataFileError: A param or a folder is wrong.
    """
    if not params["train_dir"]:
        raise DataParamError("train_dir is ''; expected a folder with one folder of images a "
                             "class. For example: --param train_dir=/data/pets/train")
    train_dir, eval_dir = _places(params)
    if not eval_dir and params["eval_every"] < 2:
        raise DataParamError(
            f"eval_every is {params['eval_every']} and eval_dir is ''; expected 2 or more, or a "
            "folder. For example: --param eval_every=5")
    training = _part("train_dir", train_dir)
    evaluation = _part("eval_dir", eval_dir) if eval_dir else None
    classes = list(params["class_names"]) or list(training.images)
    if len(classes) < 2:
        raise _one_class(train_dir, classes)
    for part in (training, evaluation) if evaluation else (training,):
        other = next((kind for kind in part.images if kind not in classes), None)
        if other is not None:
            near = difflib.get_close_matches(other.lower(), map(str.lower, classes), n=1)
            name = next((kind for kind in classes if near and kind.lower() == near[0]), "")
            raise DataFileError(
                f"{part.param} {part.folder!r} holds a folder {other!r} that train_dir "
                f"{train_dir!r} does not, or class_names do not; expected no other than "
                f"{', '.join(classes)}." + (f" Did you mean {name!r}? Rename it" if name else
                                            " Move it elsewhere"))
        missing = [kind for kind in classes if kind not in part.images]
        if missing:
            _warn(f"{part.param} {part.folder!r} has no image of {_some(missing)}, of "
                  f"{len(classes)} classes")
    return Folders(classes, training, evaluation)


def classes_of(train_dir: str) -> list[str]:
    """Returns the classes of a folder; none if there is no such folder."""
    train_dir = os.path.expanduser(train_dir)
    if not file_system.is_folder(train_dir):
        return []
    folder = _splits(train_dir).get("train_dir", train_dir)
    return [kind for kind in image_files.folders(folder)
            if image_files.found_in(os.path.join(folder, kind)).images]


def _places(params: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the folders of training and evaluation, which may lie in one folder."""
    train_dir, eval_dir = (os.path.expanduser(params[name]) for name in ("train_dir", "eval_dir"))
    for name, folder in (("train_dir", train_dir), ("eval_dir", eval_dir)):
        if folder and not file_system.is_folder(folder):
            raise DataFileError(_no_folder(name, folder))
    splits = _splits(train_dir)
    if eval_dir:
        return (splits.get("train_dir", train_dir), _splits(eval_dir).get("eval_dir", eval_dir))
    if not splits:
        return train_dir, ""
    train, evaluation = splits["train_dir"], splits.get("eval_dir", "")
    _warn(f"train_dir {train_dir!r} holds {_some(image_files.folders(train_dir))}: trains on "
          f"{train}, and evaluates {evaluation or 'a part of it'}; another choice is made by "
          f"--param train_dir={train} --param eval_dir=FOLDER")
    return train, evaluation


def _no_folder(param: str, folder: str) -> str:
    parent = os.path.dirname(folder.rstrip("/")) or "."
    beside = image_files.folders(parent) if file_system.is_folder(parent) else []
    near = difflib.get_close_matches(os.path.basename(folder), beside, n=1, cutoff=0.0)
    example = (os.path.join(parent, near[0]) if near else
               f"{'/mnt' * folder.startswith('/data')}/data")
    held = f", and {parent!r} holds {_some(beside)}" if near else ""
    return (f"{param} is {folder!r}, and there is no such folder; expected one that this machine "
            f"can read{held}. For example: --param {param}={shlex.quote(example)}")


def _splits(folder: str) -> dict[str, str]:
    """Returns the folders of training and evaluation within a folder, by param, if it has such."""
    names = {name.lower(): name for name in image_files.folders(folder)}
    train = next((names[name] for name in _TRAINING if name in names), "")
    # The images of a competition's test have no classes.
    evaluation = next((names[name] for name in _EVALUATION if name in names and
                       image_files.folders(os.path.join(folder, names[name]))), "")
    if not train or names.keys() - {*_TRAINING, *_EVALUATION}:
        return {}
    if not image_files.folders(os.path.join(folder, train)):
        return {}
    return {param: os.path.join(folder, name)
            for param, name in (("train_dir", train), ("eval_dir", evaluation)) if name}


def _part(param: str, folder: str) -> Part:
    kinds = {kind: image_files.found_in(os.path.join(folder, kind))
             for kind in image_files.folders(folder)}
    if not kinds:
        held = sorted(file_system.names_in(folder))
        loose = [name for name in held if image_files.is_image(name)]
        advice = (f". Move the images of each class into a folder of its name, such as "
                  f"{loose[0]} into {os.path.join(folder, 'CLASS')}" if loose else "")
        raise DataFileError(f"{param} is {folder!r}, which holds no folder, but "
                            f"{_some(held) or 'nothing'}; expected one folder a class{advice}")
    images = {kind: each.images for kind, each in kinds.items() if each.images}
    if not images:
        raise DataFileError(
            f"{param} is {folder!r}, where the folders {_some(list(kinds))} hold no "
            f"{', '.join(image_files.ENDINGS)}; expected images. {_advice(kinds)}".strip())
    _log_oddities(param, folder, kinds)
    return Part(param, folder, images)


def _advice(kinds: Mapping[str, image_files.Found]) -> str:
    others = [os.path.join(kind, path) for kind, each in kinds.items() for path in each.others]
    unread = next((path for path in others if path.lower().endswith(image_files.UNREAD)), "")
    return (f"TensorFlow {image_files.TENSORFLOW} does not read {unread}: convert it" if unread
            else "")


def _log_oddities(param: str, folder: str, kinds: Mapping[str, image_files.Found]) -> None:
    """Logs what in a folder is read in a way that the user may not expect, or not read."""
    others = [os.path.join(kind, path) for kind, each in kinds.items() for path in each.others]
    total = len(others) + sum(len(each.images) for each in kinds.values())
    line = image_files.passed_over(param, folder, others, total)
    if line:
        _warn(line)
    empty = [kind for kind, each in kinds.items() if not each.images]
    if empty:
        _warn(f"{param} {folder!r} has folders without images, which are no classes: "
              f"{_some(empty)}")
    nested = next((os.path.join(kind, path) for kind, each in kinds.items()
                   for path in each.images if os.sep in path), "")
    if nested:
        _warn(f"images in folders within a class's folder are of this class, such as "
              f"{os.path.join(folder, nested)}")
    loose = [name for name in image_files.entries(folder) if image_files.is_image(name)]
    if loose:
        _warn(f"{len(loose):,} images that lie in {param} {folder!r} itself have no class, and are "
              f"passed over, such as {loose[0]}")


def _one_class(folder: str, classes: list[str]) -> DataFileError:
    inner = os.path.join(folder, *classes)
    within = image_files.folders(inner) if classes and file_system.is_folder(inner) else []
    while len(within) == 1 and image_files.folders(os.path.join(inner, *within)):
        inner = os.path.join(inner, *within)
        within = image_files.folders(inner)
    example = (f"a folder for each class, such as those in {inner}: {_some(within)}. For example: "
               f"--param train_dir={inner}" if len(within) > 1 else "a folder for each class")
    return DataFileError(f"train_dir {folder!r} has the images of one class, {_some(classes)}; "
                         f"expected two or more: {example}")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


@functools.lru_cache(maxsize=256)
def _warn(line: str) -> None:
    """Logs a line once in a process: the folders are looked at several times."""
    logging.warning("%s", line)
