"""An id that is not in its table: the message names the table, its column and its ids."""

from __future__ import annotations

import pytest
import tensorflow as tf

from estimator_trainer.graph import table_ids

v1 = tf.compat.v1
column = tf.feature_column


def _ids(last=12):
    return v1.placeholder_with_default(tf.constant([1, last]), [None])


def _table(**options):
    return v1.get_variable("table", [10, 4], **options)


def _item():
    return column.embedding_column(column.categorical_column_with_identity("item", 10), 4)


def _in_a_loop():
    table = _table()
    return tf.while_loop(lambda count, _: count < 2, lambda count, _: (
        count + 1, tf.cond(count > 0, lambda: tf.reduce_sum(tf.gather(table, _ids())),
                           lambda: 0.0)), (0, 0.0))


def _trained():
    """The update of the rows, and not their lookup, may find that one is missing."""
    rows = tf.gather(_table(), _ids())
    return v1.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows))


def _problem(build):
    with tf.Graph().as_default():
        fetched = build()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                session.run(fetched)
    return table_ids.problem(raised.value)


_TOO_LARGE = "which has the ids 0 to 9 (operation"
_ADVICE = "Correct the data, or give the table at least 13 rows."


@pytest.mark.filterwarnings("ignore:.*add_variable")
@pytest.mark.parametrize("build, named", [
    (lambda: tf.gather(_table(), _ids()), "the id 12 is not in the table 'table',"),
    (lambda: tf.gather(_table(use_resource=False), _ids()), "the table 'table',"),
    (lambda: tf.gather_nd(_table(), tf.expand_dims(_ids(), 1)), "the table 'table',"),
    (_trained, "the table 'table',"),
    (_in_a_loop, "the table 'table',"),
    (lambda: tf.nn.safe_embedding_lookup_sparse(
        _table(), tf.sparse.from_dense(tf.expand_dims(_ids(), 1))), "the table 'table',"),
    (lambda: tf.keras.layers.DenseFeatures([_item()])({"item": _ids()}),
     "the table 'dense_features/item_embedding/embedding_weights' of the column 'item',"),
    (lambda: v1.feature_column.input_layer({"item": _ids()}, [_item()]), "the column 'item',"),
    (lambda: v1.feature_column.linear_model({"item": _ids()}, [_item().categorical_column]),
     "the table 'linear_model/item/weights' of the column 'item',"),
])
def test_an_id_that_is_too_large_names_table_and_column(build, named):
    text = _problem(build)
    assert named in text and _TOO_LARGE in text and text.endswith(_ADVICE)


def test_a_negative_id_needs_no_larger_table():
    text = _problem(lambda: tf.gather(_table(), _ids(-1)))
    assert text.startswith("the id -1 is not in the table 'table'")
    assert text.endswith("Correct the data.")


def test_a_table_in_parts_is_named_as_a_whole():
    text = _problem(lambda: tf.nn.embedding_lookup(
        _table(partitioner=v1.fixed_size_partitioner(2)), _ids()))
    assert text.startswith("an id is not in the table 'table', which has the ids 0 to 9")


@pytest.mark.parametrize("build", [
    lambda: tf.gather(_table(), _ids(), axis=1),  # Not a row.
    lambda: tf.gather(_table() * 2, _ids()),  # Not of a table.
    lambda: tf.debugging.assert_less(_ids(), 10),
])
def test_another_error_is_left_as_it_is(build):
    assert _problem(build) == ""
