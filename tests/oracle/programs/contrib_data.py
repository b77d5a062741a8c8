"""tf.contrib.data."""

import os
import tempfile

from _ended import outcome as _error
import numpy as np
import tensorflow as tf

data = tf.contrib.data
Dataset = tf.data.Dataset
SOAK = ("input_pipeline_is_saved", "reads_csv", "reads_features")


def _all(dataset, most=30):
    """Returns the elements of a dataset."""
    iterator = dataset.make_initializable_iterator()
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        try:
            while len(found) < most:
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            pass
    return found


def sliding_windows():
    return [_all(Dataset.range(7).apply(data.sliding_window_batch(**kwargs))) for kwargs in (
        {"window_size": 3}, {"window_size": 3, "window_shift": 2}, {"window_size": 3, "stride": 3},
        {"window_size": 2, "window_stride": 3}, {"window_size": 8}, {"window_size": 1})]


def sliding_windows_of_structures():
    dataset = Dataset.from_tensor_slices({"a": np.arange(8).reshape(4, 2), "b": np.arange(4.)})
    dataset = dataset.apply(data.sliding_window_batch(2))
    return [_all(dataset), str(dataset.output_shapes), str(dataset.output_types)]


def sliding_windows_of_sparse():
    dataset = Dataset.range(4).map(lambda x: tf.SparseTensor([[0]], [x], [1]))
    return _all(dataset.apply(data.sliding_window_batch(2)))


def sliding_window_mistakes():
    def run(**kwargs):
        return _all(Dataset.range(4).apply(data.sliding_window_batch(**kwargs)))
    return [_error(run, window_size=2, stride=1, window_shift=1), _error(run, window_size=0),
            _error(run, window_size=2, window_shift=0), _error(run, window_size=2, window_stride=0)]


def sliding_window_of_a_tensor():
    size = tf.placeholder_with_default(np.int64(2), [])
    dataset = Dataset.range(4).apply(data.sliding_window_batch(size, window_shift=size))
    return [_all(dataset), str(dataset.output_shapes)]


def interleaved_sloppily():
    dataset = Dataset.range(4).apply(data.sloppy_interleave(
        lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2))
    return sorted(int(each) for each in _all(dataset))


def interleaved():
    dataset = Dataset.range(4).apply(data.parallel_interleave(
        lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2))
    return _all(dataset)


def element_shapes():
    dataset = Dataset.range(3).map(lambda x: tf.py_func(
        lambda y: np.zeros([2, 3], np.float32), [x], tf.float32))
    known = dataset.apply(data.assert_element_shape(tf.TensorShape([2, None])))
    wrong = dataset.apply(data.assert_element_shape(tf.TensorShape([3, 2])))
    return [str(dataset.output_shapes), str(known.output_shapes), _all(known),
            _error(_all, wrong)]


def element_shapes_of_structures():
    dataset = Dataset.from_tensor_slices((np.zeros([4, 2]), {"a": np.zeros([4, 3, 1])}))
    apply = data.assert_element_shape
    fine = dataset.apply(apply((tf.TensorShape([2]), {"a": tf.TensorShape([None, 1])})))
    return [str(fine.output_shapes), len(_all(fine)),
            _error(dataset.apply, apply((tf.TensorShape([3]), {"a": tf.TensorShape([3, 1])}))),
            _error(dataset.apply, apply((tf.TensorShape([2]), {"a": tf.TensorShape([3])})))]


def reduced():
    reducer = data.Reducer(lambda _: (0, 1), lambda state, x: (state[0] + x, state[1] * 2),
                           lambda *state: state)
    reducer = data.Reducer(lambda _: np.int64(0), lambda state, x: state + x, lambda x: x)
    return [data.reduce_dataset(Dataset.range(5), reducer),
            _error(data.reduce_dataset, 3, reducer)]


def dropped_remainders():
    ragged = Dataset.range(5).map(lambda x: tf.fill([x], x))
    whole = Dataset.range(5).apply(data.batch_and_drop_remainder(2))
    padded = ragged.apply(data.padded_batch_and_drop_remainder(2, [None], np.int64(-1)))
    return [_all(whole), str(whole.output_shapes), _all(padded), str(padded.output_shapes)]


def sparse_batches():
    ragged = Dataset.range(4).map(lambda x: tf.fill([x], x))
    return _all(ragged.apply(data.dense_to_sparse_batch(3, [4])))


def enumerated_and_unbatched():
    return [_all(Dataset.range(6).batch(4).apply(data.unbatch())),
            _all(Dataset.range(3).apply(data.enumerate_dataset(start=5)))]


def grouped_by_window():
    return _all(Dataset.range(10).apply(data.group_by_window(
        lambda x: x % 3, lambda key, window: window.batch(2), 2)))


def grouped_by_reducer():
    reducer = data.Reducer(lambda key: (key, np.int64(0)),
                           lambda state, x: (state[0], state[1] + x), lambda *state: state)
    return _all(Dataset.range(10).apply(data.group_by_reducer(lambda x: x % 3, reducer)))


def bucketed():
    ragged = Dataset.from_tensor_slices([1, 5, 2, 6, 1, 7]).map(lambda x: tf.fill([x], x))
    return _all(ragged.apply(data.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [4], [2, 2])))


def mapped_and_batched():
    dataset = Dataset.range(7)
    double = lambda x: x * 2  # noqa: E731
    return [_all(dataset.apply(data.map_and_batch(double, 3))),
            _all(dataset.apply(data.map_and_batch(double, 3, drop_remainder=True))),
            _all(dataset.apply(data.map_and_batch(double, 2, num_parallel_calls=2)))]


def shuffled_and_repeated():
    found = _all(Dataset.range(4).apply(data.shuffle_and_repeat(4, count=3, seed=5)))
    return [sorted(int(each) for each in found[at:at + 4]) for at in (0, 4, 8)]


def counted():
    return [_all(data.Counter(), 3), _all(data.Counter(2, -3), 3),
            _all(data.Counter(dtype=tf.int32).take(2)), data.Counter().output_types]


def single_element():
    return [data.get_single_element(Dataset.range(1)),
            data.get_single_element(Dataset.from_tensors({"a": [1, 2]})),
            _error(data.get_single_element, 3)]


def scanned_and_unique():
    return [_all(Dataset.range(5).apply(data.scan(np.int64(1), lambda state, x: (
        state + x, state * x)))),
            _all(Dataset.from_tensor_slices([1, 2, 1, 3, 2]).apply(data.unique()))]


def errors_are_ignored():
    dataset = Dataset.from_tensor_slices([1., 0., 2.]).map(
        lambda x: tf.check_numerics(1. / x, "error"))
    return _all(dataset.apply(data.ignore_errors()))


def sampled_and_chosen():
    both = [Dataset.from_tensors(value).repeat(3) for value in (0, 1)]
    return [sorted(int(each) for each in _all(data.sample_from_datasets(both, seed=3))),
            _all(data.choose_from_datasets(both, Dataset.from_tensor_slices(
                np.array([0, 1, 1, 0], np.int64))))]


def resampled_by_rejection():
    dataset = Dataset.from_tensor_slices([0, 1] * 20).apply(data.rejection_resample(
        lambda x: x, [0., 1.], [.5, .5], seed=4))
    return [{int(label) for label, _ in _all(dataset)} == {1}, str(dataset.output_types)]


def parsed_examples():
    example = tf.train.Example(features=tf.train.Features(feature={
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])),
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x", b"y"]))}))
    features = {"a": tf.FixedLenFeature([], tf.int64), "b": tf.VarLenFeature(tf.string)}
    dataset = Dataset.from_tensors([example.SerializeToString()] * 2)
    return _all(dataset.apply(data.parse_example_dataset(features)))


def _examples():
    path = os.path.join(tempfile.mkdtemp(), "examples")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(5):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
            })).SerializeToString())
    return path


def reads_features():
    features = {"a": tf.FixedLenFeature([], tf.int64)}
    batch = data.read_batch_features(_examples(), 2, features, randomize_input=False)
    made = data.make_batched_features_dataset(_examples(), 2, features, shuffle=False, num_epochs=1)
    found = [batch["a"].shape, _all(made)]
    with tf.Session() as session:
        return found + [session.run(batch) for _ in range(4)]


def reads_csv():
    path = os.path.join(tempfile.mkdtemp(), "a.csv")
    with open(path, "w") as file:
        file.write("a,b,c\n1,2.5,x\n2,3.5,y\n3,4.5,z\n")
    dataset = data.make_csv_dataset(path, 2, label_name="c", num_epochs=1, shuffle=False)
    plain = data.CsvDataset(path, [tf.int32, tf.float32], header=True, select_cols=[0, 1])
    return [[[sorted(x), {key: x[key] for key in x}, y] for x, y in _all(dataset)], _all(plain)]


def writes_records():
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.Session() as session:
        session.run(data.TFRecordWriter(path).write(Dataset.from_tensor_slices(["a", "b"])))
    return _all(tf.data.TFRecordDataset(path))


def iterator_is_saved():
    folder = tempfile.mkdtemp()
    iterator = Dataset.range(10).make_initializable_iterator()
    following = iterator.get_next()
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, data.make_saveable_from_iterator(iterator))
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(iterator.initializer)
        first = [session.run(following) for _ in range(3)]
        path = saver.save(session, os.path.join(folder, "it"))
        session.run(following)
        saver.restore(session, path)
        return [first, session.run(following)]


def input_pipeline_is_saved():
    folder, seen = tempfile.mkdtemp(), []

    def model_fn(features, mode):
        loss = tf.py_func(lambda x: seen.append(int(x)) or np.float32(0), [features], tf.float32)
        weight = tf.get_variable("w", initializer=0.)
        loss = tf.reshape(loss, []) + weight
        train_op = tf.group(tf.assign_add(tf.train.get_global_step(), 1), loss)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn, folder)
    for _ in range(2):
        estimator.train(lambda: Dataset.range(20), steps=3,
                        hooks=[data.CheckpointInputPipelineHook(estimator)])
    return [seen, sorted(name for name in os.listdir(folder) if name.startswith("checkpoint")),
            sorted(name.split(".data")[0] for name in os.listdir(folder)
                   if name.startswith("input"))]


def names_of_modules():
    from tensorflow.contrib.data.python.ops import get_single_element, sliding
    from tensorflow.contrib.data.python.ops.unique import unique
    return [sliding.sliding_window_batch is data.sliding_window_batch, unique is data.unique,
            get_single_element.get_single_element is data.get_single_element,
            tf.data.experimental.CheckpointInputPipelineHook.__name__]
