"""Datasets that draw and count as in TensorFlow 1.15.

There `shuffle` and a `repeat` after it became one operation, whose first pass drew by the seeds
themselves. Today each pass draws by other seeds, which `shuffle` derives. The first pass is as it
was, if there are seeds; later passes have other orders.

Source: tensorflow/python/data/ops/dataset_ops.py and
tensorflow/core/kernels/data/shuffle_dataset_op.cc of TensorFlow 1.15
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple
import weakref

import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make, more
from estimator_trainer.patches import op_seeds


class _Shuffled(NamedTuple):
    data: Any
    size: Any
    seed: int


_SHUFFLED: weakref.WeakKeyDictionary[Any, _Shuffled] = weakref.WeakKeyDictionary()


def _shuffle(newer: Callable[..., Any]) -> Callable[..., Any]:
    def shuffle(self: Any, buffer_size: Any, seed: Any = None,
                reshuffle_each_iteration: bool | None = None, name: str | None = None) -> Any:
        op_seed = seed
        if seed is None and op_seeds.is_installed():
            graph = tf.compat.v1.get_default_graph()
            size = 0 if tf.is_tensor(buffer_size) else 1  # An operation before the seed is taken.
            op_seed = None if graph.seed is None else op_seeds.number(graph) + size
        shuffled = newer(self, buffer_size, seed, reshuffle_each_iteration, name=name)
        if isinstance(op_seed, int) and reshuffle_each_iteration in (None, True):
            _SHUFFLED[shuffled] = _Shuffled(self, buffer_size, op_seed)
        return shuffled

    return shuffle


def _repeat(newer: Callable[..., Any]) -> Callable[..., Any]:
    def repeat(self: Any, count: Any = None, name: str | None = None) -> Any:
        found = _SHUFFLED.get(self)
        if found is None or tf.is_tensor(count) or count in (0, 1):
            return newer(self, count, name)
        op_seeds.count(2)  # The number of passes, and their operation.
        with op_seeds.uncounted():
            first = found.data.shuffle(found.size, found.seed, reshuffle_each_iteration=False)
            return first.concatenate(newer(self, None if count in (None, -1) else count - 1))

    return repeat


def _enumerate(newer: Callable[..., Any]) -> Callable[..., Any]:
    def numbered(*args: Any, **kwargs: Any) -> Any:
        op_seeds.count(-2)  # A strategy's copies of the numbers.
        return newer(*args, **kwargs)

    return numbered


def _make_iterator(newer: Callable[..., Any]) -> Callable[..., Any]:
    def make_initializable_iterator(*args: Any, **kwargs: Any) -> Any:
        op_seeds.count(3)  # The dataset was optimized and modelled in the graph.
        return newer(*args, **kwargs)

    return make_initializable_iterator


def _shuffle_and_repeat(newer: Callable[..., Any]) -> Callable[..., Any]:
    def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
        def apply(dataset: Any) -> Any:
            op_seeds.count(1)  # The number of passes came before the seed.
            repeated = dataset.shuffle(buffer_size, seed).repeat(count)
            op_seeds.count(-2)  # One operation was both.
            return repeated

        return apply

    return shuffle_and_repeat


def _interleave(newer: Callable[..., Any]) -> Callable[..., Any]:
    def interleave(self: Any, map_func: Any, cycle_length: Any = None, block_length: Any = None,
                   num_parallel_calls: Any = None, *args: Any, **kwargs: Any) -> Any:
        if num_parallel_calls is not None:
            op_seeds.count(-2)  # Today sizes of buffers are operations.
        return newer(self, map_func, cycle_length, block_length, num_parallel_calls, *args,
                     **kwargs)

    return interleave


def _records(newer: Callable[..., Any]) -> Callable[..., Any]:
    def __init__(self: Any, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, *args: Any, **kwargs: Any) -> None:
        op_seeds.count(num_parallel_reads is not None)
        newer(self, filenames, compression_type, buffer_size, num_parallel_reads, *args, **kwargs)

    return __init__


def _described(newer: Callable[..., Any]) -> Callable[..., Any]:
    def __repr__(self: Any) -> str:
        data = tf.compat.v1.data
        shapes = tf.nest.map_structure(str, data.get_output_shapes(self))
        types = tf.nest.map_structure(repr, data.get_output_types(self))
        texts = (str(each).replace("'", "") for each in (shapes, types))
        return "<{} shapes: {}, types: {}>".format(type(self).__name__, *texts)

    return __repr__


METHODS: dict[str, Make] = {
    "tf.data.Dataset.shuffle": _shuffle,
    "tf.data.Dataset.repeat": _repeat,
    "tf.data.Dataset.enumerate": _enumerate,
    "tf.data.Dataset.interleave": _interleave,
    "tf.data.TFRecordDataset.__init__": _records,
    "tf.data.experimental.CsvDataset.__init__": more(-1),
    "tf.data.Dataset.with_options": more(-1),
    "tensorflow.python.data.ops.dataset_ops.DatasetV1Adapter.__repr__": _described,
    "tf.data.Dataset.make_initializable_iterator": _make_iterator,
}
FUNCTIONS: dict[str, Make] = {
    "tf.data.make_initializable_iterator": _make_iterator,
    "tf.data.experimental.shuffle_and_repeat": _shuffle_and_repeat,
    # Whether the order may change was an operation.
    "tf.data.experimental.parallel_interleave": more(1),
    "tf.data.experimental.choose_from_datasets": more(-2),
}
