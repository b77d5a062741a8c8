"""Trains the Estimator of tf-yarn's example of an identity, without a YARN cluster."""

import tensorflow as tf
from tf_yarn.examples import id_estimator_example


def main() -> None:
    """Trains in a folder that the example's Estimator chooses."""
    experiment = id_estimator_example.experiment_fn()
    tf.estimator.train_and_evaluate(*experiment)


if __name__ == "__main__":
    main()
