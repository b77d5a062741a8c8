"""An input that the user's input_fn iterates itself, turned back into the dataset behind it.

Input_fns of the Estimator era end with `dataset.make_one_shot_iterator().get_next()`, and often
compute more from these tensors. A loop over steps, a strategy and a kept evaluation need a dataset.
So the iterators that an input_fn makes are recorded, and what it computes after `get_next` becomes
a `map` over the datasets that it iterated. Tensors that depend on no iterator, nor on anything else
that keeps its place in the input, are a dataset without end.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple

from absl import logging
import tensorflow as tf

from estimator_trainer.graph import ancestry
from estimator_trainer.input import array_queue
from estimator_trainer.input import batches
from estimator_trainer.input import replay
from estimator_trainer.patches import private_api
from estimator_trainer.patches import upstream


class _Recorded(NamedTuple):
    """An iterator of the input_fn, and what was taken of it."""

    dataset: tf.data.Dataset
    initializer: tf.Operation
    is_one_shot: bool
    pulled: list[list[tf.Tensor]]


class Iterated:
    """What an input_fn iterated while it was called.

    Attributes:
      reason: Why its tensors are no dataset; "" while none is known.
    """

    def __init__(self) -> None:
        self._graph = tf.compat.v1.get_default_graph()
        # While the input_fn runs, this name stands for `iterate`.
        self._initializable = tf.compat.v1.data.make_initializable_iterator
        self._iterators: list[_Recorded] = []
        self._queues = len(self._collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS))
        self.reason = ""

    def dataset(self, result: Any) -> tf.data.Dataset | None:
        """Returns the dataset whose elements are the tensors of `result`.

        Args:
          result: A structure of tensors that the input_fn returned, and made of the iterators.

        Returns:
          The dataset; None, and `reason`, if each session run has to compute the tensors.
        """
        used = [each for each in self._iterators if each.pulled]
        try:
            if len(self._collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)) > self._queues:
                raise replay.Impossible("they come from queues")
            if any(len(each.pulled) > 1 for each in used):
                raise replay.Impossible("they are of several elements of one iterator")
            made = self._replayed(result, used)
        except replay.Impossible as impossible:
            self.reason = str(impossible)
            for each in self._iterators:
                if each.is_one_shot:
                    tf.compat.v1.add_to_collection(
                        tf.compat.v1.GraphKeys.TABLE_INITIALIZERS, each.initializer)
            return None
        self._forget(used)
        return made

    def _replayed(self, result: Any, used: list[_Recorded]) -> tf.data.Dataset:
        for each in used:
            if ancestry.is_fed(tf.data.experimental.to_variant(each.dataset).op):
                raise replay.Impossible("their dataset has placeholders, which a hook feeds")
        again = replay.Replay(result, [tensor for each in used for tensor in each.pulled[0]])
        if not used and again.calls_python:
            raise replay.Impossible("they come from Python functions, which may keep their place")
        if used:
            source = tf.data.Dataset.zip(tuple(each.dataset for each in used))
        else:
            source = tf.data.Dataset.from_tensors(0).repeat()
        try:
            return source.map(batches.as_it_is(lambda *elements: again(elements)))
        except (ValueError, TypeError, NotImplementedError, tf.errors.OpError) as error:
            raise replay.Impossible(f"in a dataset they raise {error}") from error

    def _forget(self, used: list[_Recorded]) -> None:
        """Empties the collections of what would pull from the iterators, which nobody starts."""
        taken = {tensor.op for each in used for tensor in each.pulled[0]}
        for name in self._graph.get_all_collection_keys():
            entries = self._graph.get_collection_ref(name)
            left = [each for each in entries if not taken & _ancestors(each)]
            if len(left) < len(entries):
                logging.info("left out what input_fn adds to %s from its iterator's tensors", name)
                entries[:] = left

    def _collection(self, name: str) -> list[Any]:
        return self._graph.get_collection(name)

    def iterate(self, dataset: tf.data.Dataset, make: Callable[..., Any], is_one_shot: bool,
                *args: Any, **kwargs: Any) -> Any:
        """Makes an iterator as `make` does; one of this graph is recorded."""
        if tf.compat.v1.get_default_graph() is not self._graph:
            return make(dataset, *args, **kwargs)
        if is_one_shot:
            # A one-shot iterator would hold all that the dataset holds a second time. Its number
            # among the random ops of the graph is taken all the same.
            private_api.seeds().get_seed(None)
            make = self._initializable
        return self._observed(dataset, make(dataset, *args, **kwargs), is_one_shot)

    def _observed(self, dataset: tf.data.Dataset, iterator: Any, is_one_shot: bool) -> _Observed:
        recorded = _Recorded(dataset, iterator.initializer, is_one_shot, [])
        self._iterators.append(recorded)
        return _Observed(iterator, recorded.pulled)

    def enqueue(self, make: Callable[..., Any], data: Any, *args: Any, **options: Any) -> Any:
        """Makes a queue of arrays as `make` does, or an iterator in its place."""
        rows = array_queue.rows(data, *args, **options)
        if rows is None:
            return make(data, *args, **options)
        return array_queue.ArrayQueue(rows, lambda dataset: self._observed(
            dataset, self._initializable(dataset), is_one_shot=True).get_next())


class _Observed:
    """An iterator whose `get_next` is recorded; all else is the iterator's own."""

    def __init__(self, iterator: Any, pulled: list[list[tf.Tensor]]):
        self._iterator, self._pulled = iterator, pulled

    def get_next(self, name: str | None = None) -> Any:
        """Returns the next element."""
        element = self._iterator.get_next(name)
        # The user may change the dict.
        self._pulled.append(tf.nest.flatten(element, expand_composites=True))
        return element

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


@contextlib.contextmanager
def recorded() -> Iterator[Iterated]:
    """Records what is iterated in the current graph, within a `with` statement."""
    iterated = Iterated()
    with upstream.iterating_with(iterated.iterate, iterated.enqueue):
        yield iterated


def _ancestors(entry: Any) -> set[tf.Operation]:
    operation = entry if isinstance(entry, tf.Operation) else getattr(entry, "op", None)
    return ancestry.of(operation) if isinstance(operation, tf.Operation) else set()
