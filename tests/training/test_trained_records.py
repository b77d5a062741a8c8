"""The sentence on the records of a training set that is handed out."""

import pytest
import tensorflow as tf

from estimator_trainer.coordination.job_state import Trained
from estimator_trainer.input import batches, splits
from estimator_trainer.training import trained_records


@pytest.mark.parametrize("reports, steps, size, is_at_end, sentence", [
    ([Trained(60, 6, 10), Trained(35, 4, 10)], 10, (95, 1), True,
     "trained on all 95 records, 1 pass over 95"),
    ([Trained(60, 6, 10)], 9, (100, 1), True,
     "trained on about 90 of 100 records, 1 pass over 100; 10 were lost with tasks that ended, or"
     " cut off with an incomplete batch"),
    ([Trained(60, 6, 10)], 6, (40, -1), False, "trained on 60 records, 1.5 passes over 40"),
    ([Trained(60, 6, 10)], 6, (0, 2), True,
     "trained on 60 records; how many were lost is unknown, unless data_params of the input_fn"
     " returns train_examples"),
])
def test_a_sentence_has_the_numbers_of_records(reports, steps, size, is_at_end, sentence):
    assert trained_records.described(reports, steps, size, is_at_end) == sentence


_RANGE = tf.data.Dataset.range


@pytest.mark.parametrize("make, size", [
    (lambda: _RANGE(95).map(lambda i: i + 1).cache().shuffle(9).batch(10).repeat(3), (95, 3)),
    (lambda: tf.data.Dataset.from_tensor_slices([1, 2, 3]).repeat().batch(2), (3, -1)),
    (lambda: _RANGE(95).filter(lambda i: i > 3).batch(10), (0, 1)),
    (lambda: _RANGE(9).flat_map(lambda i: _RANGE(10)).batch(10).repeat(2).repeat(2), (0, 4)),
    (lambda: _RANGE(9).map(lambda i: tf.range(10)), (0, 1)),
])
def test_the_number_of_records_is_known_where_no_operation_changes_it(make, size):
    with tf.Graph().as_default():
        dataset = make()
        with tf.Graph().as_default():
            assert splits.of_copy(
                batches.copied(tf.data.experimental.to_variant(dataset))).size == size
