"""Functions that make the operations that TensorFlow 1.15 made, in its number and order."""

# A random op without a seed of its own takes it from the number of operations before it
# (`patches/op_seeds.py`), and programs fetch tensors by name. Where another operation makes no
# other name that a program would fetch, its number is only counted.

from __future__ import annotations

from estimator_trainer.compat.tensorflow1 import keras_methods
from estimator_trainer.compat.tensorflow1.operations import (arrays, columns, data, drawn, images,
                                                             layers, optimizers, regularizers,
                                                             replaced)


def install() -> None:
    """Gives every program of this process the functions."""
    replaced.functions({**drawn.FUNCTIONS, **arrays.FUNCTIONS, **data.FUNCTIONS,
                        **images.FUNCTIONS, **keras_methods.functions()})
    replaced.methods({**arrays.METHODS, **columns.METHODS, **data.METHODS, **layers.METHODS,
                      **optimizers.METHODS, **regularizers.METHODS})
