"""The file of the record in a model_dir, and its copies in exports."""

from __future__ import annotations

import dataclasses
import posixpath

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import shared_files
from estimator_trainer.record import recorded_run, run_record
from estimator_trainer.record.run_record import RunRecord


def read(model_dir: str) -> RunRecord | None:
    """Reads `model_dir/record.json`; None if there is none.

    Raises:
      ConfigError: if it is damaged.
    """
    path = posixpath.join(model_dir, run_record.NAME)
    text = shared_files.read_text(path)
    return None if text is None else run_record.from_json(text, path)


def read_if_whole(model_dir: str,
                  warn_of: shared_files.Warn = shared_files.warn) -> RunRecord | None:
    """Reads the record where nothing depends on it; None if there is none, or it is damaged.

    A job that has trained does not fail for the file.

    Args:
      model_dir: The directory.
      warn_of: Takes the sentence about a damaged file.
    """
    try:
        return read(model_dir)
    except errors.ConfigError as error:
        warn_of(str(error))
        return None


def write(model_dir: str, record: RunRecord) -> None:
    """Writes `model_dir/record.json`."""
    shared_files.write_text(posixpath.join(model_dir, run_record.NAME), run_record.to_json(record))


def copy_into(export: str, model_dir: str, step: int) -> None:
    """Gives an export of the checkpoint of `step` a copy of the record, to be used alone."""
    record = read_if_whole(model_dir)
    if record and tf.io.gfile.isdir(export):
        write(posixpath.join(export, recorded_run.EXTRA), dataclasses.replace(record, step=step))


def copy_of(export: str, warn_of: shared_files.Warn = shared_files.warn) -> RunRecord | None:
    """Reads the copy of the record that lies in an export; None if there is none that is whole."""
    return read_if_whole(posixpath.join(export, recorded_run.EXTRA), warn_of)
