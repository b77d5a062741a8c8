"""Trains and evaluates TensorFlow GAN's GANEstimator on random numbers."""

from absl import app, flags
import tensorflow as tf
import tensorflow_gan as tfgan

_MODEL_DIR = flags.DEFINE_string("model_dir", None, "where it trains")
_BATCH = 16


def _input_fn():
    noise = tf.random.stateless_normal([64, 2], seed=(1, 2))
    numbers = tf.random.stateless_normal([64, 2], seed=(3, 4))
    return tf.data.Dataset.from_tensor_slices((noise, numbers)).batch(_BATCH)


def main(_) -> None:
    """Trains in the folder --model_dir."""
    dense, adam = tf.compat.v1.layers.dense, tf.compat.v1.train.AdamOptimizer
    gan = tfgan.estimator.GANEstimator(
        model_dir=_MODEL_DIR.value,
        generator_fn=lambda noise, mode: dense(noise, 2),
        discriminator_fn=lambda numbers, condition, mode: dense(numbers, 1),
        generator_loss_fn=tfgan.losses.wasserstein_generator_loss,
        discriminator_loss_fn=tfgan.losses.wasserstein_discriminator_loss,
        generator_optimizer=adam(0.01), discriminator_optimizer=adam(0.01))
    tf.estimator.train_and_evaluate(
        gan, tf.estimator.TrainSpec(lambda: _input_fn().repeat(), max_steps=8),
        tf.estimator.EvalSpec(_input_fn))


if __name__ == "__main__":
    app.run(main)
