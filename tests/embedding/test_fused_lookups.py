"""Lookups of many tables in one operation each train as the single ones do, to the bit."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.communication import ps_packs
from estimator_trainer.embedding import fused_lookups
from tests.support import jobs

_STEPS, _BATCH = 3, 16
_NAMES = ("a", "b", "c")
v1 = tf.compat.v1
columns = tf.feature_column
_OF_TEXT = {name: np.random.default_rng(i).choice(["", "x", "y", "z", "w"], [_STEPS, _BATCH, 2])
            for i, name in enumerate(_NAMES)}
_OF_NUMBERS = {name: np.random.default_rng(i).integers(-1, 9, [_STEPS, _BATCH, 2])
               for i, name in enumerate(_NAMES)}
_LABELS = np.random.default_rng(5).normal(size=[_STEPS, _BATCH, 1]).astype(np.float32)


def _minimized(outputs, labels, optimizer=None, **options):
    units = tf.concat(outputs, 1)
    kernel = v1.get_variable("kernel", [units.shape[1], 1], initializer=v1.ones_initializer())
    loss = tf.reduce_mean((units @ kernel - labels) ** 2)
    optimizer = optimizer or v1.train.AdagradOptimizer(0.1)
    return optimizer.minimize(loss, v1.train.get_or_create_global_step(), **options), loss


def _hashed(name, dtype=tf.string, buckets=20):
    return columns.categorical_column_with_hash_bucket(name, buckets, dtype)


def _layer(features, labels, *columns_, optimizer=None):
    return _minimized([v1.feature_column.input_layer(features, columns_)], labels, optimizer)


def _of_hashed_text(features, labels):
    return _layer(features, labels, *(columns.embedding_column(_hashed(name), 4)
                                      for name in _NAMES))


def _of_other_buckets(features, labels):
    return _layer(features, labels, *(
        columns.embedding_column(_hashed(name, buckets=10 + i), 4, "sum")
        for i, name in enumerate(_NAMES)))


def _of_vocabularies(features, labels):
    return _layer(features, labels, *(columns.embedding_column(
        columns.categorical_column_with_vocabulary_list(name, ["y", "x"], num_oov_buckets=2),
        4, "sqrtn") for name in _NAMES))


def _of_vocabularies_that_lack_words(features, labels):
    return _layer(features, labels, *(columns.embedding_column(
        columns.categorical_column_with_vocabulary_list(name, ["y", "x"]), 4) for name in _NAMES))


def _of_two_dimensions(features, labels):
    return _layer(features, labels, *(columns.embedding_column(_hashed(name), size)
                                      for name, size in zip(_NAMES, (4, 2, 4))))


def _of_a_shared_table(features, labels):
    shared = v1.feature_column.shared_embedding_columns(
        [_hashed(name) for name in _NAMES], 4, shared_embedding_collection_name="shared")
    return _layer(features, labels, *shared)


def _of_a_linear_model(features, labels):
    cat = [_hashed(name) for name in _NAMES]
    wide = v1.feature_column.linear_model(features, cat)
    deep = v1.feature_column.input_layer(
        features, [columns.embedding_column(each, 4) for each in cat])
    return _minimized([wide, deep], labels, v1.train.FtrlOptimizer(0.1))


def _clipped(features, labels):
    layer = v1.feature_column.input_layer(
        features, [columns.embedding_column(_hashed(name), 4) for name in _NAMES])
    loss = tf.reduce_mean((tf.reduce_sum(layer, 1, keepdims=True) - labels) ** 2)
    optimizer = v1.train.AdamOptimizer(0.1)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(gradients, 0.05)
    return optimizer.apply_gradients(zip(clipped, variables),
                                     v1.train.get_or_create_global_step()), loss


def _keras_layer(features, labels):
    layer = tf.compat.v1.keras.layers.DenseFeatures(
        [columns.embedding_column(_hashed(name), 4) for name in _NAMES])
    return _minimized([layer(features)], labels)


_OF_TEXTS = [_of_hashed_text, _of_other_buckets, _of_vocabularies, _of_vocabularies_that_lack_words,
             _of_two_dimensions, _of_a_shared_table, _of_a_linear_model, _clipped, _keras_layer]


def _table(name, rows=9, size=4):
    return v1.get_variable(f"table_{name}", [rows, size], use_resource=True,
                           initializer=v1.random_normal_initializer(seed=3))


def _sparse(numbers):
    """Returns the numbers that are not 0 as a SparseTensor; some rows have none."""
    return tf.sparse.from_dense(tf.where(numbers > 4, numbers, 0))


def _by_hand(features, labels):
    return _minimized([v1.nn.safe_embedding_lookup_sparse(_table(name), _sparse(features[name]))
                       for name in _NAMES], labels)


def _of_identities(features, labels):
    return _layer(features, labels, *(columns.embedding_column(
        columns.categorical_column_with_identity(name, 9), 4) for name in _NAMES))


def _of_hashed_numbers(features, labels):
    return _layer(features, labels, *(columns.embedding_column(_hashed(name, tf.int64), 4)
                                      for name in _NAMES))


def _of_bucketized_numbers(features, labels):
    """Has ids of dtype int32."""
    floats = {name: tf.cast(each, tf.float32) for name, each in features.items()}
    return _layer(floats, labels, *(columns.embedding_column(columns.bucketized_column(
        columns.numeric_column(name, shape=2), [0., 2., 4.]), 4) for name in _NAMES))


def _frozen(features, labels):
    outputs = [tf.stop_gradient(v1.nn.safe_embedding_lookup_sparse(
        _table(name), _sparse(features[name]))) for name in _NAMES]
    return _minimized(outputs, labels)


def _one_after_the_other(features, labels):
    """Finds the ids of a lookup by the one before."""
    outputs, ids = [], _sparse(features["a"])
    for name in _NAMES:
        outputs.append(v1.nn.safe_embedding_lookup_sparse(_table(name), ids))
        ids = tf.sparse.from_dense(tf.argsort(outputs[-1], 1) + 1)
    return _minimized(outputs, labels)


def _trained_one_after_the_other(features, labels):
    """Has a gradient for each table, the later one of what the earlier one has made of the loss."""
    step, optimizer = v1.train.get_or_create_global_step(), v1.train.AdagradOptimizer(0.1)
    outputs = [v1.nn.safe_embedding_lookup_sparse(_table(name), _sparse(features[name]))
               for name in _NAMES]
    loss, updates = tf.zeros([]), []
    for output, table in zip(outputs, v1.trainable_variables()):
        with tf.control_dependencies(updates):
            loss += tf.reduce_mean((output - labels + loss) ** 2)
            updates = [optimizer.minimize(loss, var_list=[table])]
    with tf.control_dependencies(updates):
        return v1.assign_add(step, 1).op, loss


def _crossed(features, labels):
    """Adds and multiplies the outputs of lookups, as a factorization machine does."""
    first, *others = (v1.nn.safe_embedding_lookup_sparse(_table(name), _sparse(features[name]))
                      for name in _NAMES)
    return _minimized([first * other + first for other in others], labels)


def _with_two_losses(features, labels):
    tables = [_table(name) for name in _NAMES]
    units = tf.concat([v1.nn.safe_embedding_lookup_sparse(table, _sparse(features[name]))
                       for table, name in zip(tables, _NAMES)], 1)
    optimizer = v1.train.AdamOptimizer(0.1)
    pairs = optimizer.compute_gradients(tf.reduce_sum(units ** 2), tables)
    train_op, loss = _minimized([units], labels)
    with tf.control_dependencies([train_op]):
        return optimizer.apply_gradients(pairs), loss


def _changed_after_it_is_read(features, labels):
    """Changes a table when its rows have been looked up, and before the other lookups."""
    first, *others = (_table(name) for name in _NAMES)
    units = [v1.nn.safe_embedding_lookup_sparse(first, _sparse(features["a"]))]
    with tf.control_dependencies([units[0]]):
        changed = first.assign_add(tf.ones_like(first), read_value=False)
    with tf.control_dependencies([changed]):
        later = {name: tf.identity(features[name]) for name in _NAMES[1:]}
    units += [v1.nn.safe_embedding_lookup_sparse(table, _sparse(later[name]))
              for table, name in zip(others, _NAMES[1:])]
    return _minimized(units, labels)


def _updated_at_once(features, labels):
    """Updates no table before the gradients of all are known."""
    tables = [_table(name) for name in _NAMES]
    units = [v1.nn.safe_embedding_lookup_sparse(table, _sparse(features[name]))
             for table, name in zip(tables, _NAMES)]
    return _minimized(units, labels, gate_gradients=v1.train.Optimizer.GATE_GRAPH)


def _of_two_layers(features, labels):
    cols = [columns.embedding_column(_hashed(name, tf.int64), 4) for name in _NAMES]
    outputs = []
    for scope in ("first", "second"):
        with v1.variable_scope(scope):
            outputs.append(v1.feature_column.input_layer(features, cols))
    return _minimized(outputs, labels)


_OF_IDS = [_by_hand, _crossed, _with_two_losses, _of_two_layers, _of_identities, _of_hashed_numbers,
           _of_bucketized_numbers, _frozen, _one_after_the_other, _trained_one_after_the_other,
           _changed_after_it_is_read, _updated_at_once]
_STAY = [_with_two_losses, _one_after_the_other, _trained_one_after_the_other, _updated_at_once]


def _is_even():
    return tf.equal(v1.train.get_global_step().read_value() % 2, 0)


def _in_branches(features, labels):
    """Looks up more rows in every second step, and other ones in those between."""
    ids = _sparse(features["a"])
    first, second, *tables = (_table(name) for name in ("first", "second", *_NAMES))
    units = [v1.nn.safe_embedding_lookup_sparse(table, _sparse(features[name]))
             for table, name in zip(tables, _NAMES)]
    units.append(v1.cond(
        _is_even(), lambda: (v1.nn.safe_embedding_lookup_sparse(first, ids) +
                             v1.nn.safe_embedding_lookup_sparse(second, ids) + units[0]),
        lambda: 2 * v1.nn.safe_embedding_lookup_sparse(second, ids)))
    return _minimized(units, labels, colocate_gradients_with_ops=True)


def _in_a_loop(features, labels):
    """Looks up the same rows again and again."""
    ids, tables = _sparse(features["a"]), [_table(name) for name in _NAMES]
    units = [v1.nn.safe_embedding_lookup_sparse(table, ids) for table in tables]

    def body(count, total):
        return count + 1, total / 2 + sum(
            v1.nn.safe_embedding_lookup_sparse(table, ids) for table in tables) * units[1]

    return _minimized([units[2], v1.while_loop(
        lambda count, _: count < 3, body, (0, units[0]))[1]], labels)


def _trained_in_branches(features, labels):
    """Trains some tables in every second step, the others in those between."""
    tables = [_table(name) for name in ("d", *_NAMES)]
    units = [v1.nn.safe_embedding_lookup_sparse(table, _sparse(features[name]))
             for table, name in zip(tables, ("a", *_NAMES))]
    loss = tf.reduce_mean((tf.concat(units, 1) - labels) ** 2)
    optimizer = v1.train.GradientDescentOptimizer(0.5)
    update = v1.cond(_is_even(), *(
        lambda some=some: tf.group(optimizer.minimize(loss, var_list=some))
        for some in (tables[:2], tables[2:])))
    with tf.control_dependencies([update]):
        return v1.assign_add(v1.train.get_global_step(), 1).op, loss


_OF_CONTROL_FLOW = [_in_branches, _in_a_loop, _trained_in_branches]


def _build(model, is_fused, data):
    features = {name: v1.placeholder(tf.dtypes.as_dtype(values.dtype if values.dtype.kind != "U"
                                                        else "string"), [None, values.shape[2]])
                for name, values in data.items()}
    labels = v1.placeholder(tf.float32, [None, 1])
    v1.train.get_or_create_global_step()
    fetches = model(features, labels)
    if is_fused:
        fused_lookups.fuse(fetches[0])
    return fetches, {**features, "labels": labels}


def _train(model, is_fused, data, labels=_LABELS, target="", device=None):
    """Returns the losses, the variables by name, and the number of operations by type."""
    metadata = v1.RunMetadata()
    options = v1.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), v1.device(device):
        v1.set_random_seed(7)
        fetches, fed = _build(model, is_fused, data)
        if device:
            ps_packs.send_in_packs(fetches[0])
        with v1.Session(target, config=v1.ConfigProto(isolate_session_state=True)) as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            losses = [session.run(fetches, {
                fed[name]: values[i] for name, values in {**data, "labels": labels}.items()},
                options, metadata)[1] for i in range(len(labels))]
            values = {each.op.name: session.run(each) for each in v1.global_variables()}
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    kinds = collections.Counter(node.op for node in nodes)
    kinds["calls"] = sum(node.op == "_Recv" and node.attr["send_device"] != node.attr["recv_device"]
                         for node in nodes)
    return losses, values, kinds


def _assert_same(fused, single):
    assert fused[0] == single[0]
    assert fused[1].keys() == single[1].keys()
    for name, value in single[1].items():
        np.testing.assert_array_equal(fused[1][name], value, err_msg=name)


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:`layer.add_variable` is deprecated")
@pytest.mark.parametrize("model", [*_OF_TEXTS, *_OF_IDS], ids=lambda model: model.__name__[1:])
def test_fuse_trains_the_same(model):
    data = _OF_NUMBERS if model in _OF_IDS else _OF_TEXT
    single, fused = (_train(model, is_fused, data) for is_fused in (False, True))
    _assert_same(fused, single)
    if model in _STAY:
        assert fused[2]["SparseFillEmptyRows"] == single[2]["SparseFillEmptyRows"]
    else:
        assert fused[2]["SparseFillEmptyRows"] < single[2]["SparseFillEmptyRows"]


def test_fuse_makes_no_message_that_is_too_large(monkeypatch):
    single = _train(_by_hand, False, _OF_NUMBERS)
    # Two tables of 9 rows of 4 float32 make 288 bytes.
    monkeypatch.setattr(fused_lookups, "_MOST_BYTES", 300)
    fused = _train(_by_hand, True, _OF_NUMBERS)
    _assert_same(fused, single)
    assert fused[2]["SparseFillEmptyRows"] == 2


@pytest.mark.parametrize("num_rows", [0, 1])
def test_fuse_takes_batches_of_any_size(num_rows):
    data = {name: values[:, :num_rows] for name, values in _OF_NUMBERS.items()}
    single, fused = (_train(_by_hand, is_fused, data, _LABELS[:, :num_rows])
                     for is_fused in (False, True))
    np.testing.assert_array_equal(fused[0], single[0])  # The mean of nothing is NaN.


def test_fuse_finds_an_id_that_no_table_has():
    data = {**_OF_NUMBERS, "b": _OF_NUMBERS["b"] + 2}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"10 is not in \[0, 9\)"):
        _train(_by_hand, True, data)


@pytest.fixture(scope="module", name="cluster")
def fixture_cluster():
    """A chief and two ps, as servers of this process."""
    hosts = jobs.cluster(chief=1, ps=2)
    servers = [tf.distribute.Server(hosts, role, index)
               for role in hosts for index in range(len(hosts[role]))]
    return hosts, servers[0].target


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:`layer.add_variable` is deprecated")
@pytest.mark.parametrize("num_ps", [1, pytest.param(2, marks=pytest.mark.soak)])
@pytest.mark.parametrize("model", [
    _of_a_linear_model, _clipped, *(pytest.param(each, marks=pytest.mark.soak) for each in (
        _of_hashed_text, _of_other_buckets, _of_a_shared_table, _keras_layer))],
    ids=lambda model: model.__name__[1:])
def test_fused_lookups_travel_in_packs(model, num_ps, cluster):
    hosts, target = cluster
    device = v1.train.replica_device_setter(
        worker_device="/job:chief/task:0",
        cluster=tf.train.ClusterSpec({**hosts, "ps": hosts["ps"][:num_ps]}))
    single, fused = (_train(model, is_fused, _OF_TEXT, target=target, device=device)
                     for is_fused in (False, True))
    _assert_same(fused, single)
    _assert_same(fused, _train(model, False, _OF_TEXT))
    assert fused[2]["calls"] <= 20 * num_ps


@pytest.fixture(name="control_flow_of_tensorflow_1")
def fixture_control_flow_of_tensorflow_1():
    was_v2 = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    yield
    if was_v2:
        v1.enable_control_flow_v2()


@pytest.mark.cluster
@pytest.mark.usefixtures("control_flow_of_tensorflow_1")
@pytest.mark.parametrize("model", _OF_CONTROL_FLOW, ids=lambda model: model.__name__[1:])
def test_a_branch_that_is_not_taken_holds_up_no_other_lookup(model, cluster):
    hosts, target = cluster
    single = _train(model, False, _OF_NUMBERS)
    _assert_same(_train(model, True, _OF_NUMBERS), single)
    device = v1.train.replica_device_setter(
        worker_device="/job:chief/task:0", cluster=tf.train.ClusterSpec(hosts))
    _assert_same(_train(model, True, _OF_NUMBERS, target=target, device=device), single)
    assert len(set(single[0])) == _STEPS
