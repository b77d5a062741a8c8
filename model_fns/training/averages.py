"""Moving averages of the variables, used in evaluation, prediction and export."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

DEFAULT_PARAMS = {
    "moving_average": 0.0,  # decay of the variables' moving averages, such as 0.999; 0: none
}


def scaffold(params: dict[str, Any]) -> tf.compat.v1.train.Scaffold | None:
    """Returns a Scaffold that restores each variable from its average; None without averages.

    Call it after the model's variables are made, for the EstimatorSpec of modes "eval" and
    "infer".
    """
    params = {**DEFAULT_PARAMS, **params}
    if not params["moving_average"]:
        return None

    def restoring(strategy: tf.distribute.Strategy) -> tf.compat.v1.train.Scaffold:
        average = tf.train.ExponentialMovingAverage(params["moving_average"])
        return tf.compat.v1.train.Scaffold(
            saver=_SaverOfReplicas(average.variables_to_restore(), strategy))

    return tf.distribute.get_replica_context().merge_call(restoring)


class _SaverOfReplicas(tf.compat.v1.train.Saver):
    """Restores variables under other names in every replica; TensorFlow's Saver does so in one."""

    def __init__(self, names: dict[str, tf.Variable], strategy: tf.distribute.Strategy):
        copies = {name: strategy.experimental_local_results(var) for name, var in names.items()}
        first, *others = [{name: of_replicas[i] for name, of_replicas in copies.items()}
                          for i in range(strategy.num_replicas_in_sync)]
        super().__init__(first, sharded=True)
        self._others = [tf.compat.v1.train.Saver(other) for other in others]

    def restore(self, sess: tf.compat.v1.Session, save_path: str) -> None:
        super().restore(sess, save_path)
        for saver in self._others:
            saver.restore(sess, save_path)
