"""Cheap session runs: what TensorFlow does anew in each run is done once.

With a step of half a millisecond a tenth of the time goes into looking at the fetches, which are
the same in nearly every run, and each hook takes more.
"""

from typing import Any, Callable, Sequence

import tensorflow as tf

from estimator_trainer.patches import private_api

# Fetches that differ in each run are not worth keeping; hooks fetch in a few ways alone.
_MOST_KEPT = 64


class HookGroup(tf.estimator.SessionRunHook):
    """Calls several hooks in their order, in a session run only those that take part in it.

    The hooks feed different tensors, and at most one sets RunOptions. While they train, the session
    prepares its runs.
    """

    def __init__(self, hooks: Sequence[tf.estimator.SessionRunHook]):
        """Makes the hook of `hooks`."""
        none = tf.estimator.SessionRunHook
        self._hooks = list(hooks)
        self._before = [each for each in hooks if type(each).before_run is not none.before_run]
        self._after = [each for each in hooks if type(each).after_run is not none.after_run]
        self._runs: PreparedRuns | None = None

    def begin(self) -> None:
        for each in self._hooks:
            each.begin()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        for each in self._hooks:
            each.after_create_session(session, coord)
        self._stop_preparing()  # The runs of a session that is lost.
        self._runs = PreparedRuns(session)

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        fetches, feed_dict, options = {}, {}, None
        for each in self._before:
            args = each.before_run(run_context)
            if args is not None:
                if args.fetches is not None:
                    fetches[each] = args.fetches
                if args.feed_dict:
                    feed_dict.update(args.feed_dict)
                options = args.options or options
        return tf.estimator.SessionRunArgs(fetches, feed_dict, options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        results = run_values.results
        for each in self._after:
            each.after_run(run_context, run_values._replace(results=results.get(each)))

    def end(self, session: tf.compat.v1.Session) -> None:
        self._stop_preparing()
        for each in self._hooks:
            each.end(session)

    def _stop_preparing(self) -> None:
        if self._runs:
            self._runs.end()
            self._runs = None


class PreparedRuns:
    """Makes a session prepare what it fetches without feeding, once for all runs that fetch it.

    Results and errors are those of `Session.run`.
    """

    def __init__(self, session: tf.compat.v1.Session):
        """Replaces `run` of this one session, until `end`."""
        self._session, self._run = session, session.run
        # The fetches beside each callable are kept, so that no other tensor gets their ids.
        self._prepared: dict[Any, tuple[Callable[..., Any], Any]] = {}
        session.run = self.run

    def end(self) -> None:
        """Gives the session its own `run` back."""
        self._prepared.clear()
        if vars(self._session).get("run") == self.run:
            del self._session.run

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None,
            run_metadata: Any = None) -> Any:
        """Returns what `Session.run` returns."""
        key = None if feed_dict else _key(fetches)
        if key is None:
            return self._run(fetches, feed_dict, options, run_metadata)
        known = self._prepared.get(key)
        if known is None:
            if len(self._prepared) >= _MOST_KEPT:
                self._prepared.clear()
            known = self._session.make_callable(fetches, accept_options=True), fetches
            self._prepared[key] = known
        return private_api.call_in_session(self._session, known[0], options, run_metadata)


def _key(fetches: Any) -> Any:
    """Returns what tells fetches apart; None for none, and for those that may change unseen.

    A tensor stands for itself by its id, because it cannot be compared.
    """
    if isinstance(fetches, (tf.Tensor, tf.Operation, tf.Variable)):
        return id(fetches)
    kind = type(fetches)
    if kind is str:
        return fetches
    if kind is dict:
        return _key_of_all(dict, fetches, fetches.values())
    if isinstance(fetches, (list, tuple)):
        return _key_of_all(kind, (), fetches)
    return None


def _key_of_all(kind: type, names: Any, values: Any) -> Any:
    keys = [_key(each) for each in values]
    return (kind, *names, *keys) if keys and None not in keys else None
