"""Features whose products approximate a Gaussian kernel.

Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007. Source of the
interface: tensorflow/contrib/kernel_methods/python/mappers of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
import tensorflow as tf


class InvalidShapeError(Exception):
    """A tensor of another shape than the mapper's."""


class RandomFourierFeatureMapper:
    """Maps [batch, input_dim] to [batch, output_dim].

    Args:
      input_dim, output_dim: Sizes.
      stddev: The standard deviation of the kernel.
      seed: The seed of the directions and phases.
      name: Name of the mapper.
    """

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1., seed: int = 1,
                 name: Optional[str] = None) -> None:
        self.input_dim, self.output_dim = input_dim, output_dim
        self._stddev, self._seed, self.name = stddev, seed, name or str(id(self))

    def map(self, input_tensor: Any) -> Any:
        """Returns the features of a batch.

        Raises:
          InvalidShapeError: input_tensor is of another rank or size.
        """
        shape = input_tensor.shape.as_list()
        if len(shape) != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {len(shape)} "
                                    "instead.")
        if shape[1] != self.input_dim:
            raise InvalidShapeError(f"Invalid dimension: expected {self.input_dim} input features, "
                                    f"got {shape[1]} instead.")
        np.random.seed(self._seed)
        directions = np.random.normal(scale=1 / self._stddev,
                                      size=[self.input_dim, self.output_dim])
        phases = np.random.uniform(0, 2 * np.pi, [self.output_dim])
        turned = tf.matmul(input_tensor, tf.constant(directions, tf.float32)) + tf.constant(
            phases, tf.float32)
        return math.sqrt(2 / self.output_dim) * tf.cos(turned)
