"""Calls the function of TensorFlowOnSpark's MNIST example as a Spark executor would."""

import argparse

import mnist_tf


def main() -> None:
    """Trains in the folder --model_dir and exports to --export_dir."""
    parser = argparse.ArgumentParser()
    for name in ("model_dir", "export_dir"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--buffer_size", type=int, default=64)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=1)
    mnist_tf.main_fun(parser.parse_args(), argparse.Namespace(job_name="chief"))


if __name__ == "__main__":
    main()
