"""Large tables are divided among the ps; checkpoints do not depend on the number of ps."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import table_parts

pytestmark = pytest.mark.cluster

v1 = tf.compat.v1
_ROWS = 300_000  # 4.8 MB of 4 floats, so that a part is larger than 1 MB, too.


def _features():
    return {"item": tf.constant([[3], [299_999]])}


def _item():
    column = tf.feature_column
    return column.categorical_column_with_identity("item", _ROWS)


def _embedded():
    return tf.feature_column.embedding_column(_item(), 4)


def _minimized(rows):
    v1.train.AdagradOptimizer(0.1).minimize(
        tf.reduce_sum(rows), v1.train.get_or_create_global_step())


def _canned(kind, **options):
    estimator = kind(**options)
    estimator.model_fn(_features(), tf.constant([[1], [0]]), "train", estimator.config)


def _wide_and_deep():
    _canned(tf.estimator.DNNLinearCombinedClassifier, linear_feature_columns=[_item()],
            dnn_feature_columns=[_embedded()], dnn_hidden_units=[2])


def _by_keras():
    layer = tf.keras.layers.DenseFeatures([_embedded()])
    loss = tf.reduce_sum(layer(_features()))
    optimizer = tf.keras.optimizers.legacy.Adam()
    optimizer.iterations = v1.train.get_or_create_global_step()
    optimizer.get_updates(loss, layer.trainable_variables)


def _table(name="table", **options):
    return v1.get_variable(name, [_ROWS, 4], **options)


def _rows():
    return tf.nn.embedding_lookup(_table(), [3, 299_999])


MODELS = {
    "get_variable": lambda: _minimized(_rows()),
    "in_scope": lambda: _minimized(v1.feature_column.input_layer(_features(), [_embedded()])),
    "canned": lambda: _canned(tf.estimator.DNNClassifier, feature_columns=[_embedded()],
                              hidden_units=[2]),
    "wide_and_deep": _wide_and_deep,
    "keras": _by_keras,
    "keras_layer": lambda: _minimized(
        tf.keras.layers.Embedding(_ROWS, 4)(tf.constant([3])) + _rows()),
}


def _run(build, num_ps, path, is_saved):
    """Saves or restores the model; returns its variables as wholes, and the names of parts."""
    with tf.Graph().as_default():
        v1.train.create_global_step()
        with table_parts.spread(1, num_ps):
            build()
        saver = v1.train.Saver(sharded=True)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            if is_saved:
                saver.save(session, path)
            else:
                saver.restore(session, path)
            found = {each.name: session.run(each) for each in v1.global_variables()}
    whole = {}
    for name, value in sorted(found.items()):
        before, _, after = name.partition("/part_")
        whole.setdefault(before + after[1:], []).append(value)
    return ({name: np.concatenate(values) if values[0].ndim else values[0]
             for name, values in whole.items()}, {name for name in found if "/part_" in name})


@pytest.mark.parametrize("model", MODELS)
def test_a_checkpoint_of_two_ps_is_restored_on_any_number_of_ps(model, tmp_path):
    build, path = MODELS[model], str(tmp_path / "model.ckpt")
    saved, parts = _run(build, 2, path, is_saved=True)
    assert any("/part_1" in name and name.count("/") >= 2 for name in parts)
    # Plain TensorFlow reads a table, and its slots, under the names of one that is whole.
    reader = tf.train.load_checkpoint(path)
    assert all(reader.has_tensor(name.partition(":")[0]) for name in saved)
    assert len(reader.get_variable_to_shape_map()) == len(saved)
    for num_ps in (1, 3):
        restored, names = _run(build, num_ps, path, is_saved=False)
        assert bool(names) == (num_ps > 1)
        assert restored.keys() == saved.keys()
        for name, value in saved.items():
            np.testing.assert_array_equal(restored[name], value, name)


def _names(build, partition_mb=1):
    with tf.Graph().as_default():
        with table_parts.spread(partition_mb, 2):
            build()
        return [each.op.name for each in v1.global_variables()]


def test_small_tables_and_the_programs_own_parts_stay_as_they_are():
    def build():
        v1.get_variable("small", [100, 4])
        v1.get_variable("kernel", [10, 100, 400])
        _table("own", partitioner=v1.fixed_size_partitioner(4))

    assert _names(build) == ["small", "kernel", *(f"own/part_{i}" for i in range(4))]
    assert _names(_table, partition_mb=0) == ["table"]
    assert _names(_table) == ["table/part_0", "table/part_1"]


def test_a_getter_of_the_program_is_still_called():
    def build():
        seen = []

        def getter(get, name, *args, **kwargs):
            seen.append(name)
            return get(name, *args, **kwargs)

        with v1.variable_scope("model", custom_getter=getter):
            _table()
        assert seen == ["model/table"]

    assert _names(build) == ["model/table/part_0", "model/table/part_1"]


def test_rows_by_the_remainder_of_their_ids_are_refused():
    with pytest.raises(errors.ConfigError) as raised:
        _names(lambda: v1.nn.embedding_lookup(_table(), [3, 4]))
    text = str(raised.value)
    assert "rows of 'table' with partition_strategy='mod'" in text and "--partition_mb" in text


def test_a_table_that_is_read_as_a_whole_gets_a_warning(caplog):
    _names(lambda: tf.gather(_table(), [3, 4]))
    assert "reads table as a whole" in caplog.text
