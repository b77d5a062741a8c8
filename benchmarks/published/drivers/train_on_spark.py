"""Calls the function of TensorFlowOnSpark's MNIST example as a Spark executor would."""

import types

from absl import app, flags
import mnist_tf

_MODEL_DIR = flags.DEFINE_string("model_dir", None, "where it trains")
_EXPORT_DIR = flags.DEFINE_string("export_dir", None, "where it exports to")


def main(_) -> None:
    """Trains in the folder --model_dir and exports to --export_dir."""
    arguments = types.SimpleNamespace(
        model_dir=_MODEL_DIR.value, export_dir=_EXPORT_DIR.value, buffer_size=64, batch_size=16,
        learning_rate=1e-3, epochs=1)
    mnist_tf.main_fun(arguments, types.SimpleNamespace(job_name="chief"))


if __name__ == "__main__":
    app.run(main)
