"""ResNet v1.5 image classifiers: depths 18 to 152, and the small ones of CIFAR.

`variant=imagenet` has the depths 18 and 34, with two 3x3 convolutions per block, and 50, 101 and
152, with bottleneck blocks (1x1, 3x3, 1x1). `variant=cifar` has any depth of 6n + 2 (20, 32, 44,
56, 110, 8 for a test): a 3x3 stem, no pooling, three stages of n blocks with 16, 32 and 64 filters,
and shortcuts without parameters.

`variant=half`, for folders of a few hundred to some thousand images on a CPU, has half the filters
of `imagenet`, a 3x3 convolution as its stem, and no pooling after it for images of less than 64
pixels. Adam trains it, at a rate of 0.002 for a batch of 64, and evaluation uses moving averages
of the weights.

By default images of less than 32 pixels get `cifar`, of less than 192 `half`, and larger ones
`imagenet`; a `depth` that is set is one of `imagenet`.

Sources: He et al., "Deep Residual Learning for Image Recognition" (arXiv:1512.03385), the CIFAR
networks from its section 4.2; v1.5, as in MLPerf and torchvision, halves the image in the 3x3
convolution of a bottleneck instead of the 1x1 before it; Goyal et al., "Accurate, Large Minibatch
SGD" (arXiv:1706.02677): the last batch norm of a block starts at a scale of 0, the rate has a
warm-up and grows in proportion to the batch, and biases and batch norms do not decay; label
smoothing as in Szegedy et al. (arXiv:1512.00567).

The rate falls as half a cosine over 90 epochs of ImageNet, or, as in He et al., in steps:
--param decay=steps --param decay_rate=0.1 --param decay_epochs=1 --param
'decay_boundaries=[30, 60, 80]'.
"""

from __future__ import annotations

from typing import Any, Callable

from absl import logging
import tensorflow as tf

from model_fns.training import classifier
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **classifier.DEFAULT_PARAMS,
    "variant": "",  # imagenet, half or cifar; empty: by the size of the images
    "depth": 0,  # number of layers with weights; 0: 50 for imagenet, 18 for half, 20 for cifar
    "batch_norm_momentum": 0.0,  # decay of the moving mean and variance that evaluation uses;
    # 0: 0.9; 0.95 for half
    "batch_norm_epsilon": 1e-5,  # added to a variance before the square root
    "optimizer": "",  # empty: momentum; adam for half
    "learning_rate": 0.0,  # 0: 0.1; 0.008 for half
    "label_smoothing": 0.1,
    "weight_decay": 1e-4,
    "reference_batch_size": 256,
    "warmup_steps": -1,  # -1: 500; 100 for half
    "moving_average": -1.0,  # -1: none; 0.95 for half
    "decay": "cosine",
    "decay_steps": 450000,  # 90 epochs of ImageNet in batches of 256
}
DATA = "images"
LABELS = ("classes",)
FIRST_PARAMS = ("variant", "depth", "learning_rate")
_RECIPE = {"optimizer": "momentum", "learning_rate": 0.1, "warmup_steps": 500,
           "moving_average": 0.0, "batch_norm_momentum": 0.9}
# The statistics of a batch norm lag behind as much as the moving averages of the weights do.
_RECIPE_OF_HALF = {"optimizer": "adam", "learning_rate": 0.008, "warmup_steps": 100,
                   "moving_average": 0.95, "batch_norm_momentum": 0.95}
_DEPTHS = {"imagenet": 50, "half": 18, "cifar": 20}
_LEAST = {"half": 32, "imagenet": 192}  # pixels of an image
_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3),
           152: (3, 8, 36, 3)}
_LEAST_TO_POOL = 32  # pixels after the stem of `half`
_Block = Callable[[tf.Tensor, int, int, str], tf.Tensor]
_EXPANSION = 4  # a bottleneck's last convolution has this many times the others' filters
# Mean and deviation of ImageNet's RGB images, in the features' range of 0 to 1.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier; with 20 classes or more, the metrics include `top_5_accuracy`.

    Args:
      features: `{"image": float32 [batch, height, width, channels]}` in [0, 1], or the image
        alone. Three channels are standardised by ImageNet's mean and deviation, any other number
        of channels by 0.5 and 0.5.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.

    Raises:
      ParamError: The variant does not have this depth.
    """
    image = classifier.image(features)
    params = _chosen({**DEFAULT_PARAMS, **params}, image)
    if mode == tf.estimator.ModeKeys.TRAIN:
        logging.info("variant=%s depth=%d optimizer=%s learning_rate=%g", params["variant"],
                     params["depth"], params["optimizer"], params["learning_rate"])
    network = _Network(params, mode == tf.estimator.ModeKeys.TRAIN)
    logits = network.logits(_standardised(image))
    spec = classifier.spec(logits, labels, mode, params)
    if mode == tf.estimator.ModeKeys.TRAIN:
        return spec._replace(train_op=tf.group(spec.train_op, *network.updates))
    if mode == tf.estimator.ModeKeys.EVAL and params["num_classes"] >= 20:
        is_in_top = tf.math.in_top_k(labels, tf.cast(logits, tf.float32), 5)
        top_5 = tf.compat.v1.metrics.mean(tf.cast(is_in_top, tf.float32))
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, "top_5_accuracy": top_5})
    return spec


def _chosen(params: dict[str, Any], image: tf.Tensor) -> dict[str, Any]:
    """Returns the params with the network and the recipe that they leave to the images' size."""
    sides = [side for side in image.shape.as_list()[1:3] if side is not None]
    by_size = next((name for name in ("imagenet", "half") if len(sides) < 2 or
                    min(sides) >= _LEAST[name]), "cifar")
    variant = params["variant"] or ("imagenet" if params["depth"] else by_size)
    recipe = _RECIPE_OF_HALF if variant == "half" else _RECIPE
    return classifier.with_recipe({
        **params, "variant": variant, "depth": params["depth"] or _DEPTHS.get(variant, 0),
        "batch_norm_momentum": params["batch_norm_momentum"] or recipe["batch_norm_momentum"],
    }, recipe)


def _standardised(image: tf.Tensor) -> tf.Tensor:
    if image.shape[-1] == 3:
        return (image - _MEAN) / _DEVIATION
    return (image - 0.5) / 0.5


class _Network:
    """Makes the layers and their variables, each in a scope of its name.

    Attributes:
      updates: Operations that update the batch norms' moving averages, for the train_op.
    """

    def __init__(self, params: dict[str, Any], is_training: bool):
        self._params = params
        self._is_training = is_training
        self.updates: list[Any] = []

    def logits(self, x: tf.Tensor) -> tf.Tensor:
        """Returns [batch, classes] for images of [batch, height, width, channels]."""
        variant, depth = self._params["variant"], self._params["depth"]
        if variant in ("imagenet", "half") and depth in _BLOCKS:
            filters, size = (64, 7) if variant == "imagenet" else (32, 3)
            x = tf.nn.relu(self._convolved(x, filters, size, 2, "stem"))
            if variant == "imagenet" or min(x.shape.as_list()[1:3]) >= _LEAST_TO_POOL:
                x = tf.nn.max_pool2d(_padded(x, 3), 3, 2, "VALID")
            x = self._stages(x, self._bottleneck if depth >= 50 else self._basic, filters,
                             _BLOCKS[depth])
        elif variant == "cifar" and depth % 6 == 2 and depth >= 8:
            x = tf.nn.relu(self._convolved(x, 16, 3, 1, "stem"))
            x = self._stages(x, self._small, 16, (depth // 6,) * 3)
        else:
            raise ParamError(
                f"depth is {depth} and variant {variant!r}; expected a depth of"
                f" {', '.join(map(str, _BLOCKS))} of imagenet or half, or of 8, 14, 20 and so on of"
                " cifar. For example: --param variant=cifar --param depth=20")
        return tf.keras.layers.Dense(
            classifier.num_classes(self._params), name="classes",
            kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.01),
        )(tf.reduce_mean(x, axis=[1, 2]))

    def _stages(self, x: tf.Tensor, block: _Block, filters: int,
                counts: tuple[int, ...]) -> tf.Tensor:
        """Applies blocks; each stage but the first halves the image and doubles the filters."""
        for stage, count in enumerate(counts):
            for i in range(count):
                stride = 2 if stage and not i else 1
                x = tf.nn.relu(block(x, filters * 2**stage, stride, f"stage{stage}/block{i}"))
        return x

    def _bottleneck(self, x: tf.Tensor, filters: int, stride: int, name: str) -> tf.Tensor:
        y = tf.nn.relu(self._convolved(x, filters, 1, 1, f"{name}/1"))
        y = tf.nn.relu(self._convolved(y, filters, 3, stride, f"{name}/2"))
        y = self._convolved(y, _EXPANSION * filters, 1, 1, f"{name}/3", scale="zeros")
        return y + self._projected(x, _EXPANSION * filters, stride, name)

    def _basic(self, x: tf.Tensor, filters: int, stride: int, name: str) -> tf.Tensor:
        y = self._two_convolutions(x, filters, stride, name)
        return y + self._projected(x, filters, stride, name)

    def _small(self, x: tf.Tensor, filters: int, stride: int, name: str) -> tf.Tensor:
        y = self._two_convolutions(x, filters, stride, name)
        return y + _widened(x[:, ::stride, ::stride], filters)

    def _two_convolutions(self, x: tf.Tensor, filters: int, stride: int, name: str) -> tf.Tensor:
        y = tf.nn.relu(self._convolved(x, filters, 3, stride, f"{name}/1"))
        return self._convolved(y, filters, 3, 1, f"{name}/2", scale="zeros")

    def _projected(self, x: tf.Tensor, filters: int, stride: int, name: str) -> tf.Tensor:
        """Returns `x`, through a 1x1 convolution where its shape changes (He's option B)."""
        if stride == 1 and x.shape[-1] == filters:
            return x
        return self._convolved(x, filters, 1, stride, f"{name}/shortcut")

    def _convolved(self, x: tf.Tensor, filters: int, size: int, stride: int, name: str,
                   scale: str = "ones") -> tf.Tensor:
        """Returns `x` convolved, without bias, and normalised; `scale` initialises the scale."""
        convolution = tf.keras.layers.Conv2D(
            filters, size, stride, use_bias=False, name=f"{name}/convolution",
            kernel_initializer=tf.keras.initializers.VarianceScaling(
                2.0, "fan_out", "untruncated_normal"))
        norm = tf.keras.layers.BatchNormalization(
            momentum=self._params["batch_norm_momentum"], gamma_initializer=scale,
            epsilon=self._params["batch_norm_epsilon"], name=f"{name}/norm")
        y = norm(convolution(_padded(x, size)), training=self._is_training)
        self.updates += norm.updates
        return y


def _padded(x: tf.Tensor, size: int) -> tf.Tensor:
    """Adds the same zeros on both sides, for a window of odd size: "SAME" would shift by stride.
    """
    edge = [size // 2, size // 2]
    return tf.pad(x, [[0, 0], edge, edge, [0, 0]]) if size > 1 else x


def _widened(x: tf.Tensor, filters: int) -> tf.Tensor:
    """Adds channels of zeros (He's option A)."""
    return tf.pad(x, [[0, 0], [0, 0], [0, 0], [0, filters - x.shape[-1]]])
