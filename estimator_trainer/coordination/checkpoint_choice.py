"""The choice of the checkpoints that a command uses, and repairs after a crash."""

import posixpath
import re
import shlex

from absl import logging
from google.protobuf import text_format  # type: ignore[import-untyped]
import tensorflow as tf

from estimator_trainer import errors, storage
from estimator_trainer.coordination import checkpoints

_CHECKSUM = re.compile(r"TensorBundle at (\S.*) shard \d+ .*Checksum does not match")
# TensorFlow first writes a checkpoint, and each text beside it, under one of these names.
_UNFINISHED = re.compile(
    r"model\.ckpt-\d+(?:_temp|.*\.tempstate|\..*\.tmp).*|(?:checkpoint|graph\.pbtxt)\.tmp.*")
_FIND = {"latest": checkpoints.latest, "best": checkpoints.latest_best,
         "average": checkpoints.latest_average}
_PIECE = re.compile(r"(model\.ckpt-\d+)\.(?:meta|data-\d+-of-\d+)")


def remove_unfinished(model_dir: str) -> None:
    """Removes the files of a process that was killed while it saved or deleted a checkpoint.

    Pieces of a checkpoint are removed if its index is missing and the latest one is newer.
    """
    try:
        names = {name.rstrip("/") for name in tf.io.gfile.listdir(model_dir)}
    except tf.errors.OpError:
        return  # The next access of the folder raises the error.
    newest = checkpoints.latest_step(model_dir)
    for name in sorted(names):
        path, piece = posixpath.join(model_dir, name), _PIECE.fullmatch(name)
        if _UNFINISHED.fullmatch(name):
            _remove(path)
        elif piece and checkpoints.step_of(piece[1]) < newest:
            index = f"{piece[1]}.index"
            # A listing of a shared disk may be old.
            if index not in names and not tf.io.gfile.exists(posixpath.join(model_dir, index)):
                _remove(path)


def _remove(path: str) -> None:
    logging.info("removes %s, left by a process that was killed", path)
    try:
        (tf.io.gfile.rmtree if tf.io.gfile.isdir(path) else tf.io.gfile.remove)(path)
    except tf.errors.OpError as error:
        logging.warning("cannot remove %s: %s", path, errors.first_line(error))


def fall_back(model_dir: str, keep_max: int = 0) -> None:
    """Makes the newest whole checkpoint the latest, if the latest is damaged.

    Training goes on with a list of the newest `keep_max` ones, 0 for all, and so keeps older ones.

    A process that was killed while it saved, or a full disk, leaves a part of a checkpoint; a
    machine that crashed leaves an empty file `checkpoint`, which TensorFlow cannot read.

    Raises:
      TrainerError: if no checkpoint is whole, or the latest is missing.
    """
    is_state_damaged = False
    try:
        checkpoints.named(model_dir)
    except text_format.ParseError:
        is_state_damaged = True
    except tf.errors.OpError:
        pass  # The next read raises the error.
    if is_state_damaged:
        _repair_state(model_dir, keep_max)
    newest = checkpoints.latest(model_dir)
    if not newest:
        _refuse_lost(model_dir)
    if not newest or checkpoints.is_whole(newest):
        return
    whole = [path for path in _whole(model_dir) if path != newest]
    if not whole:
        raise errors.TrainerError(
            f"the only checkpoint of {model_dir}, {newest}, is damaged: its files are shorter than"
            " its variables need. Restore it, or train with another"
            f" {errors.Setting('model_dir')}.")
    logging.warning("the checkpoint of step %d is damaged; falls back to step %d",
                    checkpoints.step_of(newest), checkpoints.step_of(whole[-1]))
    tf.compat.v1.train.update_checkpoint_state(model_dir, whole[-1], whole[-keep_max:])


def _repair_state(model_dir: str, keep_max: int) -> None:
    """Writes TensorFlow's file again, or removes it where there is no checkpoint at all."""
    file, whole = _state_file(model_dir), _whole(model_dir)
    if not whole and checkpoints.paths_in(model_dir):
        raise errors.TrainerError(
            f"the file {file} is damaged, and so is every checkpoint beside it. Restore them, or"
            f" train with another {errors.Setting('model_dir')}.")
    if whole:
        logging.warning("the file %s is damaged; falls back to the newest whole checkpoint, of step"
                        " %d", file, checkpoints.step_of(whole[-1]))
    else:
        logging.warning("the file %s is damaged, and there is no checkpoint: starts from step 0",
                        file)
    tf.io.gfile.remove(file)
    if whole:
        tf.compat.v1.train.update_checkpoint_state(model_dir, whole[-1], whole[-keep_max:])


def select(model_dir: str, which: str) -> list[str]:
    """Returns the paths of a choice: "latest", "best", "average", "all" or "step=N", oldest first.

    Raises:
      ConfigError: if there is no such checkpoint, or one is damaged; it lists the whole ones.
    """
    found = _found(model_dir, which)
    broken = [path for path in found if not checkpoints.is_whole(path)]
    if found and not broken:
        return found
    whole = _whole(model_dir)
    lost = _lost(model_dir) if which == "latest" else ""
    problem = f"{model_dir} has no such checkpoint"
    if which == "best":
        problem += f" (`best` needs a run with {errors.Setting('exporters', ['best'])})"
    if which == "average":
        problem += " (`estimator-trainer average` makes it)"
    if broken:
        problem = f"{', '.join(broken)} is damaged: its files are cut off, or some are missing"
    elif lost:
        problem = f"{_state_file(model_dir)} names {lost}, which is not there"
    example = ""
    advice = ""
    if whole:
        example = str(errors.Setting("checkpoint", f"step={checkpoints.step_of(whole[-1])}"))
    elif broken or lost:
        example = ""
        advice = f"Restore its files, or train in another {errors.Setting('model_dir')}."
    elif which not in ("average", "best") and not found:
        raise errors.ConfigError(errors.Problem(
            "model_dir", model_dir, "which holds no checkpoint", "the directory of a training",
            errors.Setting("model_dir", "/tmp/digits")))
    steps = ", ".join(str(checkpoints.step_of(path)) for path in whole) or "(none)"
    raise errors.ConfigError(errors.Problem(
        "checkpoint", which, f"and {problem}; it has {'whole ones' if broken else 'those'} of"
        f" steps: {steps}", example=example, advice=advice))


def damage(error: BaseException, model_dir: str) -> str:
    """Returns a sentence if `error` means that a checkpoint's bytes have changed, else ""."""
    found = _CHECKSUM.search(str(error)) if isinstance(error, tf.errors.DataLossError) else None
    if not found:
        return ""
    others = [path for path in _whole(model_dir) if path != found[1]]
    remedy = f"Restore its files, or train in another {errors.Setting('model_dir')}."
    if others:
        step = errors.Setting("checkpoint", f"step={checkpoints.step_of(others[-1])}")
        remedy = f"To use the one before: {step}; {_to_go_on(model_dir, others[-1])}"
    return (f"the checkpoint {found[1]} is damaged: its files hold other bytes than were written."
            f" {remedy}")


def _found(model_dir: str, which: str) -> list[str]:
    if which in _FIND:
        return list(filter(None, [_FIND[which](model_dir)]))
    return [path for path in checkpoints.paths_in(model_dir)
            if which == "all" or checkpoints.step_of(path) == int(which.removeprefix("step="))]


def _whole(model_dir: str) -> list[str]:
    return [path for path in checkpoints.paths_in(model_dir) if checkpoints.is_whole(path)]


def _refuse_lost(model_dir: str) -> None:
    """Raises TrainerError for a missing checkpoint, which TensorFlow would try to restore."""
    lost = _lost(model_dir)
    if not lost:
        return
    whole = _whole(model_dir)
    remedy = _to_go_on(model_dir, whole[-1]) if whole else (
        f"to start from step 0: rm {shlex.quote(_state_file(model_dir))}")
    raise errors.TrainerError(
        f"the file {_state_file(model_dir)} names the checkpoint {lost}, which is not there."
        f" Restore its files, or, {remedy}")


def _to_go_on(model_dir: str, path: str) -> str:
    """Returns how to continue training from a checkpoint that is not the latest."""
    file, line = _state_file(model_dir), f'model_checkpoint_path: "{posixpath.basename(path)}"'
    step = checkpoints.step_of(path)
    if storage.scheme(file):
        return f"to train on from step {step}, write into {file}: {line}"
    return f"to train on from step {step}: echo '{line}' > {shlex.quote(file)}"


def _lost(model_dir: str) -> str:
    """Returns the checkpoint that TensorFlow's file names if it is missing, else ""."""
    try:
        return "" if checkpoints.latest(model_dir) else checkpoints.named(model_dir) or ""
    except (text_format.ParseError, tf.errors.OpError):
        return ""


def _state_file(model_dir: str) -> str:
    return posixpath.join(model_dir, checkpoints.STATE_FILE)
