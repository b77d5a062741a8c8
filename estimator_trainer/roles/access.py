"""Access asks whether the storage that a run names is there, before anything is done with it.

TensorFlow waits without end for a bucket of a wrong name: it makes the folders of a path one by
one, and tries again whatever fails.
"""

from __future__ import annotations

import posixpath

import tensorflow as tf

from estimator_trainer import errors, storage
from estimator_trainer.settings.trainer_config import TrainerConfig

# To list what is not there takes one short request, and no right on the bucket itself.
_NOWHERE = ".estimator_trainer-looks-for-the-bucket/*"


def check(config: TrainerConfig, tensorflow: str | None) -> None:
    """Looks whether there are the file systems and the buckets of the settings.

    Args:
      config: The settings.
      tensorflow: TensorFlow's version, for the message.

    Raises:
      ConfigError: if one is not there, or may not be read; one sentence each.
    """
    found = [text for name, path in config.paths.items()
             if (text := _problem(name, path, tensorflow))]
    if found:
        raise errors.ConfigError("\n".join(found))


def _problem(name: str, path: str, tensorflow: str | None) -> str:
    if storage.scheme(path) not in tf.io.gfile.get_registered_schemes():
        return storage.problem(name, path, tensorflow, plugin=None)
    bucket = storage.bucket(path)
    if not bucket:
        return ""
    given = f"{name} is {path!r} (from --{name})"
    try:
        tf.io.gfile.glob(posixpath.join(bucket, _NOWHERE))
    except tf.errors.NotFoundError:
        example = f" For example: gcloud storage buckets create {bucket}"
        return (f"{given}, and there is no bucket {bucket}; expected one that exists. Correct the"
                f" name, or make it.{example if storage.scheme(path) == 'gs' else ''}")
    except (tf.errors.PermissionDeniedError, tf.errors.UnauthenticatedError) as error:
        return (f"{given}, and {bucket} may not be read: {errors.first_line(error)}. Grant this"
                " task the right to list, read and write objects there, on Google Cloud the role"
                " roles/storage.objectUser.")
    except tf.errors.OpError as error:
        return (f"{given}, and {bucket} cannot be reached: {errors.first_line(error)}. Look at"
                " this machine's network and credentials, or choose another directory.")
    return ""
