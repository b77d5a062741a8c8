"""Checkpoints for the tests, without a training."""

from __future__ import annotations

import pathlib

import tensorflow as tf


def checkpoints(folder: pathlib.Path, *steps: int) -> None:
    """Saves checkpoints whose only variable is the step."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        step = tf.compat.v1.train.create_global_step()
        saver = tf.compat.v1.train.Saver(save_relative_paths=True)
        for number in steps:
            session.run(step.assign(number))
            saver.save(session, str(folder / "model.ckpt"), number)
