"""The best checkpoint as the model with which a training ends.

After a training until there is no improvement, the best checkpoint is the latest one: the final
evaluation, the exports and every later command take it, and a later training goes on from it.
"""

import contextlib
import dataclasses
import posixpath

from absl import logging
import tensorflow as tf

from estimator_trainer.coordination import checkpoints, shared_files


def ended(model_dir: str) -> checkpoints.Best | None:
    """Returns the best checkpoint if training has ended with it; None if training may go on."""
    # The next evaluation warns of a damaged file, and replaces it.
    best = checkpoints.read_best(model_dir, lambda sentence: None)
    return best if best and best.ended else None


def begin(model_dir: str, is_kept: bool, keep_max: int = 0) -> None:
    """Lets a training of another rule go on from the model with which an earlier one ended.

    The copy of the best checkpoint is removed unless it `is_kept`, by the exporter `best`.
    """
    best = ended(model_dir)
    if best is None:
        return
    make_latest(model_dir, best.ended, best.last_step, keep_max)
    if is_kept:
        checkpoints.write_best_file(model_dir, dataclasses.replace(best, ended="", last_step=0))
    else:
        checkpoints.remove_best(model_dir)


def make_latest(model_dir: str, reason: str, last_step: int,
                keep_max: int = 0) -> checkpoints.Best | None:
    """Makes the best checkpoint the latest one, at the end of training; None: there is none.

    Later checkpoints are removed. A later training goes on with a list of the newest `keep_max`
    ones, 0 for all. A process that was killed meanwhile does the rest when it is started again,
    because `best.json` says first how training ended.
    """
    best, path = checkpoints.read_best(model_dir), checkpoints.latest_best(model_dir)
    if best is None or not path or checkpoints.step_of(path) != best.step:
        return None
    if not best.ended:
        best = dataclasses.replace(best, ended=reason, last_step=last_step)
        checkpoints.write_best_file(model_dir, best)
    latest = posixpath.join(model_dir, posixpath.basename(path))
    if not checkpoints.is_whole(latest):
        _copy(path, latest)
    all_paths = checkpoints.paths_in(model_dir)
    kept = [each for each in all_paths if checkpoints.step_of(each) <= best.step]
    if checkpoints.latest(model_dir) != latest:
        _write_state(model_dir, latest, kept[-keep_max:])
    for later in all_paths[len(kept):]:
        logging.debug("removes %s, which is not the best", later)
        for file in tf.io.gfile.glob(f"{shared_files.escape(later)}.*"):
            with contextlib.suppress(tf.errors.NotFoundError):
                tf.io.gfile.remove(file)
    return best


def _write_state(model_dir: str, latest: str, all_paths: list[str]) -> None:
    """Writes TensorFlow's file, with paths that stay right when model_dir is moved."""
    names = [("model_checkpoint_path", latest),
             *(("all_model_checkpoint_paths", path) for path in all_paths)]
    shared_files.write_text(posixpath.join(model_dir, checkpoints.STATE_FILE), "".join(
        f'{field}: "{posixpath.basename(path)}"\n' for field, path in names))


def _copy(source: str, target: str) -> None:
    """Copies the files of a checkpoint, the index last, by which a checkpoint is found."""
    files = tf.io.gfile.glob(f"{shared_files.escape(source)}.*")
    for file in sorted(files, key=lambda name: name.endswith(".index")):
        tf.io.gfile.copy(file, target + file.removeprefix(source), overwrite=True)
