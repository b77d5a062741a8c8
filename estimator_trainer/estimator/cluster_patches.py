"""Where TensorFlow reads the cluster, patched: RunConfig and strategies that the user's code makes.

A test in `tests/estimator/test_platform_names.py` fails when a TensorFlow no longer needs a patch.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import stop
from estimator_trainer.estimator import user_estimator
from estimator_trainer.patches import replacement


@contextlib.contextmanager
def configs_in_any_cluster(task: Callable[[], TaskConfig]) -> Iterator[None]:
    """Lets the user's code make a `RunConfig` in every cluster of this program, within a `with`.

    RunConfig refuses a cluster of workers alone, an evaluator beside a `master`, and other clusters
    in which this program trains. Such a RunConfig is made of the normal form, and then describes
    the task by the names of its platform. What RunConfig accepts it reads by itself.

    Args:
      task: Returns which task TF_CONFIG describes now.
    """
    kind = tf.estimator.RunConfig
    construct = vars(kind)["__init__"]

    @functools.wraps(construct)
    def construct_anywhere(config: Any, *args: Any, **kwargs: Any) -> None:
        try:
            return construct(config, *args, **kwargs)
        except (AttributeError, TypeError, ValueError):
            pass
        now = task()
        with environment.tf_config(now.tf_config()):
            construct(config, *args, **kwargs)
        vars(config).update(vars(user_estimator.of_platform(config, now)))

    with replacement.attributes([(kind, "__init__", construct_anywhere)]):
        yield


@contextlib.contextmanager
def strategies_reading(tf_config: Callable[[], str],
                       patience_secs: float | None = None) -> Iterator[None]:
    """Makes strategies read another TF_CONFIG when they are made, within a `with` statement.

    Strategies of several tasks refuse a `master`, and `MultiWorkerMirroredStrategy` dies in an
    evaluator with `KeyError: 'evaluator'`, since an evaluator is no part of the cluster. A script
    makes the strategy in every task. TensorFlow 1's `MirroredStrategy` takes every device of a
    cluster, and here spans one process. Their cluster_resolver goes on to read TF_CONFIG, so it
    says what the platform does.

    Args:
      tf_config: Returns the text that a strategy of several tasks is to read now; "" for no
        cluster.
      patience_secs: How long a strategy may wait for the other tasks of its cluster, before the
        kernel kills this process; None: as long as TensorFlow does.
    """
    v1 = tf.compat.v1.distribute

    def reading(kind: type, text: Callable[[], str]) -> tuple[type, str, Callable[..., None]]:
        construct = vars(kind)["__init__"]

        @functools.wraps(construct)
        def construct_so(*args: Any, **kwargs: Any) -> None:
            now = text()
            with environment.tf_config(now), stop.killed_after(patience_secs if now else None):
                construct(*args, **kwargs)

        return kind, "__init__", construct_so

    with replacement.attributes([
            *(reading(kind, tf_config) for kind in (
                tf.distribute.MultiWorkerMirroredStrategy,
                v1.experimental.MultiWorkerMirroredStrategy,
                v1.experimental.ParameterServerStrategy)),
            *(reading(kind, lambda: "") for kind in (
                tf.distribute.MirroredStrategy, v1.MirroredStrategy))]):
        yield
