"""Turns tensors of an input_fn that iterates its dataset itself back into a dataset.

Many input_fns end with `dataset.make_one_shot_iterator().get_next()`, and compute more from these
tensors, but a loop over steps, a strategy and a kept evaluation need a dataset. So the iterators of
an input_fn are recorded, and its operations after `get_next` become a `map` over their datasets.
Tensors that depend neither on an iterator nor on another position in the input are an endless
dataset.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer.graph import operations
from estimator_trainer.input import array_queue, batches
from estimator_trainer.patches import op_seeds, private_api, training_patches

# Operations of the Estimator's iterator of a dataset, as TensorFlow 1.15 made them. An input_fn
# that returns tensors has none of them there, nor those of each sparse tensor.
_ITERATING, _OF_SPARSE = 7, 2


class _Recorded(NamedTuple):
    """An iterator of the input_fn, and the elements taken from it."""

    dataset: tf.data.Dataset
    initializer: tf.Operation
    is_one_shot: bool
    pulled: list[list[tf.Tensor]]


class Iterated:
    """The iterators of an input_fn's call, and the `reason` why none becomes a dataset, or ""."""

    def __init__(self) -> None:
        self._graph = tf.compat.v1.get_default_graph()
        # While the input_fn runs, this name is patched.
        self._initializable = tf.compat.v1.data.make_initializable_iterator
        self._iterators: list[_Recorded] = []
        self._queues = self._count_queues()
        self.reason = ""

    def dataset(self, result: Any) -> tf.data.Dataset | None:
        """Returns the dataset whose elements are the tensors of an input_fn's result.

        There is none, but a `reason`, if each session run has to compute the tensors.
        """
        used = [each for each in self._iterators if each.pulled]
        try:
            if self._count_queues() > self._queues:
                raise Impossible("they come from queues")
            if any(len(each.pulled) > 1 for each in used):
                raise Impossible("they are of several elements of one iterator")
            sparse = [each for each in tf.nest.flatten(result) if isinstance(each, tf.SparseTensor)]
            op_seeds.count(-_ITERATING - _OF_SPARSE * len(sparse))
            with op_seeds.uncounted():
                made = self._replayed(result, used)
        except Impossible as impossible:
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
            if operations.is_fed(tf.data.experimental.to_variant(each.dataset).op):
                raise Impossible("their dataset has placeholders, which a hook feeds")
        again = Replay(result, [tensor for each in used for tensor in each.pulled[0]])
        if not used and again.calls_python:
            raise Impossible("they come from Python functions, which may keep their place")
        source = (tf.data.Dataset.zip(tuple(each.dataset for each in used)) if used else
                  tf.data.Dataset.from_tensors(0).repeat())
        try:
            return source.map(batches.as_it_is(lambda *elements: again(elements)))
        except (ValueError, TypeError, NotImplementedError, tf.errors.OpError) as error:
            raise Impossible(f"in a dataset they raise {error}") from error

    def _forget(self, used: list[_Recorded]) -> None:
        """Removes from collections what would read from the iterators, which nothing starts."""
        taken = {tensor.op for each in used for tensor in each.pulled[0]}
        for name in self._graph.get_all_collection_keys():
            entries = self._graph.get_collection_ref(name)
            ops = [each if isinstance(each, tf.Operation) else getattr(each, "op", None)
                   for each in entries]
            left = [each for each, op in zip(entries, ops)
                    if not isinstance(op, tf.Operation) or not taken & operations.up_to(op)]
            if len(left) < len(entries):
                logging.info("left out what input_fn adds to %s from its iterator's tensors", name)
                entries[:] = left

    def _count_queues(self) -> int:
        return len(self._graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS))

    def iterate(self, dataset: tf.data.Dataset, make: Callable[..., Any], is_one_shot: bool,
                *args: Any, **kwargs: Any) -> Any:
        """Makes an iterator as `make` does; one of this graph is recorded."""
        if tf.compat.v1.get_default_graph() is not self._graph:
            return make(dataset, *args, **kwargs)
        if is_one_shot:
            # A one-shot iterator would hold its dataset's data again, but its number among the
            # graph's random ops has to be used.
            private_api.seeds().get_seed(None)
            op_seeds.count(2)  # The iterator, and its handle.
            with op_seeds.uncounted():
                return self._observed(dataset, self._initializable(dataset), is_one_shot)
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
        if op_seeds.is_installed():
            with tf.Graph().as_default() as alone:
                make(data, *args, **options)
            op_seeds.count(alone.num_operations())
        return array_queue.ArrayQueue(rows, lambda dataset: self._observed(
            dataset, self._initializable(dataset), is_one_shot=True).get_next())


class _Observed:
    """An iterator whose `get_next` is recorded."""

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
    """Records the iterators of the current graph, within a `with` statement."""
    iterated = Iterated()
    with training_patches.iterating_with(iterated.iterate, iterated.enqueue):
        yield iterated


# The beginnings of types of ops that keep a position in the input, are fed, or fit in no function.
_IN_SESSION = ("Iterator", "OneShotIterator", "Queue", "Reader", "Placeholder", "Variable", "Enter",
               "Barrier", "Stage", "Unstage")


class Impossible(Exception):
    """The reason why tensors cannot be computed in a dataset's `map`."""


class Replay:
    """The operations between some tensors and a result, to compute the result from other tensors.

    The operations are copied, so the user's code is called once; the copies use the graph's tables.
    """

    def __init__(self, result: Any, pulled: Sequence[tf.Tensor]):
        """Finds the operations in the current graph, from the tensors `pulled` to the `result`.

        Raises:
          Impossible: if the operations cannot be copied.
        """
        self._result, self._pulled = tf.nest.map_structure(
            lambda value: value if isinstance(value, batches.TENSORS)
            else tf.convert_to_tensor(value), result), pulled
        self._wanted = tf.nest.flatten(self._result, expand_composites=True)
        self._operations, self._resources = _between(pulled, self._wanted)
        self.calls_python = any(each.type in operations.IN_PYTHON for each in self._operations)
        self._definition = _definition(self._operations)

    def __call__(self, elements: Any) -> Any:
        """Returns the result, in the current graph, from `elements` in place of `pulled`."""
        known = dict(zip((tensor.name for tensor in self._pulled),
                         tf.nest.flatten(elements, expand_composites=True)))
        if self._operations:
            known |= self._copied(known)
        tensors = [known[tensor.name] for tensor in self._wanted]
        for tensor, wanted in zip(tensors, self._wanted):
            # The user may have set a shape by hand.
            tensor.set_shape(wanted.shape)
        return tf.nest.pack_sequence_as(self._result, tensors, expand_composites=True)

    def _copied(self, known: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        names = [tensor.name for tensor in self._wanted if tensor.name not in known]
        # Tensors of the graph around become inputs of the function.
        resources = {tensor.name: tf.identity(tensor) for tensor in self._resources}
        used = {name for node in self._definition.node for name in map(_with_output, node.input)}
        tensors = tf.import_graph_def(
            self._definition, name="input_fn", return_elements=names,
            input_map={name: tensor for name, tensor in {**known, **resources}.items()
                       if name in used})
        return dict(zip(names, tensors))


def _between(pulled: Sequence[tf.Tensor], wanted: Iterable[tf.Tensor]
             ) -> tuple[list[tf.Operation], list[tf.Tensor]]:
    """Returns the operations that compute `wanted` from `pulled`, and the resources they use."""
    cut = {tensor.ref() for tensor in pulled}
    found: dict[tf.Operation, None] = {}
    resources: dict[str, tf.Tensor] = {}
    open_ends = [tensor.op for tensor in wanted if tensor.ref() not in cut]
    # An operation that only waits for an element need not wait.
    sources = {tensor.op for tensor in pulled}
    while open_ends:
        each = open_ends.pop()
        if each in found:
            continue
        if each.type.startswith(_IN_SESSION):
            raise Impossible(f"they depend on {each.name!r}, of type {each.type}")
        found[each] = None
        open_ends += [control for control in each.control_inputs if control not in sources]
        for tensor in each.inputs:
            if tensor.op.type == "VarHandleOp":
                # A dataset cannot read a variable on a ps.
                raise Impossible(f"they depend on {tensor.op.name!r}, a variable")
            if tensor.dtype == tf.resource and not tensor.op.inputs:
                resources[tensor.name] = tensor
            elif tensor.ref() not in cut:
                open_ends.append(tensor.op)
    return list(found), list(resources.values())


def _definition(ops: list[tf.Operation]) -> tf.compat.v1.GraphDef:
    """Returns the operations and the functions of their graph, without other operations' names."""
    if not ops:
        return tf.compat.v1.GraphDef()
    whole = ops[0].graph.as_graph_def()
    names = {op.name for op in ops}
    definition = tf.compat.v1.GraphDef(versions=whole.versions, library=whole.library)
    for node in whole.node:
        if node.name in names:
            copy = definition.node.add()
            copy.CopyFrom(node)
            copy.device = ""
            copy.attr.pop("_class", None)
            del copy.input[:]
            copy.input.extend(name for name in node.input
                              if not name.startswith("^") or name[1:] in names)
    return definition


def _with_output(name: str) -> str:
    """Returns the tensor's name of an input, which leaves out the output 0."""
    return name if ":" in name or name.startswith("^") else f"{name}:0"
