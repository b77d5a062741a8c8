"""Trains a Keras model with a plain tf.function; benchmarks.gpu compares this project with it.

The environment has Keras 2 or 3. Keras' ResNet-50 halves an image in the first convolution of a
bottleneck, this project's (v1.5) in the second. A step of v1.5 is 6% more work: 4.1 instead of 3.9
billion multiplications for an image of 224 pixels.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, Callable

import tensorflow as tf

from benchmarks import synthetic


def main() -> None:
    """Trains; prints a JSON line: images/s after the warm-up, and the last loss."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("resnet50", "cnn"), required=True)
    for name in ("image_size", "channels", "classes", "batch_size", "warm_up", "steps",
                 "steps_per_call"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--xla", action="store_true")
    todo = parser.parse_args()
    tf.keras.mixed_precision.set_global_policy(todo.precision)
    call = _call(_model(todo), todo)
    for _ in range(-(-todo.warm_up // todo.steps_per_call)):
        float(call())
    calls = -(-todo.steps // todo.steps_per_call)
    start = time.perf_counter()
    for _ in range(calls):
        loss = call()
    loss = float(loss)
    secs = time.perf_counter() - start
    print(json.dumps({"images_per_sec": calls * todo.steps_per_call * todo.batch_size / secs,
                      "loss": loss}))


def _model(todo: argparse.Namespace) -> Any:
    shape = (todo.image_size, todo.image_size, todo.channels)
    if todo.model == "resnet50":
        return tf.keras.applications.ResNet50(weights=None, input_shape=shape,
                                              classes=todo.classes, classifier_activation=None)
    layer = tf.keras.layers
    return tf.keras.Sequential([
        tf.keras.Input(shape), layer.Conv2D(32, 3, activation="relu"), layer.MaxPooling2D(),
        layer.Flatten(), layer.Dense(64, activation="relu"), layer.Dense(todo.classes)])


def _call(model: Any, todo: argparse.Namespace) -> Callable[[], tf.Tensor]:
    """Returns a function of `steps_per_call` steps that returns the last loss, float32 []."""
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9 if todo.model == "resnet50" else 0.0)
    if todo.precision == "mixed_float16":
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    optimizer.build(model.trainable_variables)
    iterator = iter(synthetic.input_fn("train", vars(todo)))

    @tf.function(jit_compile=todo.xla)
    def step(image: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = tf.cast(model(image, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, logits))
            scaled = _scaled(optimizer, loss)
        gradients = tape.gradient(scaled, model.trainable_variables)
        if hasattr(optimizer, "get_unscaled_gradients"):
            gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def steps() -> tf.Tensor:
        loss = 0.0
        for _ in tf.range(todo.steps_per_call):
            features, label = next(iterator)
            loss = step(features["image"], label)
        return loss

    return steps


def _scaled(optimizer: Any, loss: tf.Tensor) -> tf.Tensor:
    """Returns the loss scaled for 16 bit; Keras 2 and 3 have different names for this."""
    if hasattr(optimizer, "get_scaled_loss"):
        return optimizer.get_scaled_loss(loss)
    return optimizer.scale_loss(loss) if hasattr(optimizer, "scale_loss") else loss


if __name__ == "__main__":
    main()
