"""Under --tf1 the seed of a random op is the number of operations before it."""

from __future__ import annotations

import pytest

from estimator_trainer.patches import op_seeds, private_api, training_patches

# isort: split
import tensorflow as tf


@pytest.fixture(autouse=True)
def installed():
    op_seeds.install()
    yield
    op_seeds.remove()


def _seeds(*makers):
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(5)
        return [make() for make in makers]


def _seed():
    return tf.compat.v1.get_seed(None)


def test_the_number_of_operations_is_the_seed():
    def constant():
        return tf.constant(1).shape

    assert _seeds(_seed, constant, constant, _seed)[::3] == [(5, 0), (5, 2)]
    op_seeds.install()  # A second time.
    assert _seeds(_seed, constant, _seed, _seed)[2:] == [(5, 1), (5, 1)]
    op_seeds.remove()
    assert _seeds(_seed, constant, _seed, _seed)[2:] == [(5, 1), (5, 2)]
    op_seeds.remove()


def test_operations_that_are_missing_are_counted_in_their_graph():
    assert _seeds(_seed, lambda: op_seeds.count(3), _seed)[::2] == [(5, 0), (5, 3)]
    assert _seeds(_seed) == [(5, 0)]


def test_a_seed_of_an_op_or_no_seed_of_the_graph_stay():
    assert _seeds(lambda: tf.compat.v1.get_seed(8)) == [(5, 8)]
    with tf.Graph().as_default():
        assert tf.compat.v1.get_seed(None) == (None, None)
        assert tf.compat.v1.get_seed(8) == (private_api.seeds().DEFAULT_GRAPH_SEED, 8)


def test_a_body_of_a_loop_counts_on():
    with tf.Graph().as_default() as around:
        tf.compat.v1.set_random_seed(5)
        tf.constant(1)
        tf.constant(2)
        made = []

        def body(i):
            with training_patches.seeding_as(lambda graph: around):
                made.append(tf.compat.v1.get_seed(None)[1])
                tf.constant(3)
                made.append(tf.compat.v1.get_seed(None)[1])
            return i + 1

        tf.while_loop(lambda i: i < 3, body, [0])
    first, second = made
    assert second == first + 1 and first > 2
