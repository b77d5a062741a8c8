"""Updates that a train_op leaves out stay out, as in the plain Estimator, and a warning tells."""

from __future__ import annotations

import pytest
import tensorflow as tf

from estimator_trainer.cluster import task_config
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import train_op

v1 = tf.compat.v1


def _spec(chosen):
    """Returns a spec whose train_op runs the updates that `chosen` takes from the layer's."""
    w = v1.get_variable("w", [])
    norm = tf.keras.layers.BatchNormalization(name="norm")
    loss = tf.reduce_mean(w * norm(tf.ones([2, 1]), training=True))
    update = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        "train", loss=loss, train_op=tf.group(update, *chosen(norm.updates)))


@pytest.mark.parametrize("chosen, left_out", [
    (lambda updates: updates, 0), (lambda updates: updates[:1], 1), (lambda updates: [], 2)],
    ids=["all", "one of two", "none"])
def test_complete_warns_of_updates_that_a_train_op_leaves_out(chosen, left_out, caplog):
    with tf.Graph().as_default():
        v1.train.create_global_step()
        spec = _spec(chosen)
        with caplog.at_level("WARNING"):
            completed = train_op.complete(spec, TrainerConfig(), task_config.parse(None))
        assert completed.train_op is spec.train_op
    warned = [record.getMessage() for record in caplog.records
              if record.name == "absl" and "train_op" in record.getMessage()]
    assert [line.split()[0] for line in warned] == [str(left_out)] * bool(left_out)
