"""Patches of what reads the cluster: RunConfigs and strategies that the user's code makes."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, ContextManager, Iterator, Protocol, TypeVar

import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer.patches import replacement


class _Task(Protocol):
    def tf_config(self) -> str:
        """Returns the TF_CONFIG of the task in its normal form."""


_T = TypeVar("_T", bound=_Task)


@contextlib.contextmanager
def configs_in_any_cluster(
        task: Callable[[], _T],
        as_platform: Callable[[tf.estimator.RunConfig, _T], tf.estimator.RunConfig],
) -> Iterator[None]:
    """Lets the user's code make a `RunConfig` in every cluster of this program, within a `with`.

    RunConfig refuses a cluster of workers alone, an evaluator beside a `master`, and other clusters
    in which this program trains. Such a RunConfig is made from the normal form of the cluster, and
    then `as_platform` describes its task, the one of the current TF_CONFIG, by its platform's
    names. The other clusters RunConfig reads by itself.
    """
    construct = vars(tf.estimator.RunConfig)["__init__"]

    @functools.wraps(construct)
    def construct_anywhere(config: Any, *args: Any, **kwargs: Any) -> None:
        try:
            return construct(config, *args, **kwargs)
        except (AttributeError, TypeError, ValueError):
            pass
        now = task()
        with environment.tf_config(now.tf_config()):
            construct(config, *args, **kwargs)
        vars(config).update(vars(as_platform(config, now)))

    with replacement.attributes([(tf.estimator.RunConfig, "__init__", construct_anywhere)]):
        yield


@contextlib.contextmanager
def strategies_reading(tf_config: Callable[[], str],
                       waiting: Callable[[], ContextManager[None]] = contextlib.nullcontext,
                       ) -> Iterator[None]:
    """Makes strategies read another TF_CONFIG when they are made, within a `with` statement.

    A script makes its strategy in every task, but strategies of several tasks refuse a `master`,
    and `MultiWorkerMirroredStrategy` dies in an evaluator with `KeyError: 'evaluator'`, which the
    cluster does not list. TensorFlow 1's `MirroredStrategy` takes every device of a cluster, and
    here spans one process. Their cluster_resolver still reads TF_CONFIG, so it has the platform's
    names. `tf_config` returns what a strategy of several tasks reads now, "" for no cluster, and
    `waiting` the context in which it waits for the other tasks of its cluster.
    """
    v1 = tf.compat.v1.distribute

    def reading(kind: type, text: Callable[[], str]) -> tuple[type, str, Callable[..., None]]:
        construct = vars(kind)["__init__"]

        @functools.wraps(construct)
        def construct_reading(*args: Any, **kwargs: Any) -> None:
            now = text()
            with environment.tf_config(now), waiting() if now else contextlib.nullcontext():
                construct(*args, **kwargs)

        return kind, "__init__", construct_reading

    with replacement.attributes([
            *(reading(kind, tf_config) for kind in (
                tf.distribute.MultiWorkerMirroredStrategy,
                v1.experimental.MultiWorkerMirroredStrategy,
                v1.experimental.ParameterServerStrategy)),
            *(reading(kind, lambda: "") for kind in (
                tf.distribute.MirroredStrategy, v1.MirroredStrategy))]):
        yield
