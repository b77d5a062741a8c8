"""Names of `tf.keras` and `tf.config` that went after TensorFlow 1.15.

Sources: Gers and Schmidhuber 2000, "Recurrent nets that time and count" (peepholes); Bello et al.
2017, "Neural optimizer search with reinforcement learning" (linear cosine decay); the
documentation of TensorFlow 1.15 for the rest
"""

from __future__ import annotations

import importlib
import math
import types
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from estimator_trainer.compat import module_aliases
from estimator_trainer.compat.tensorflow1 import late_names
from estimator_trainer.compat.tensorflow1.stand_in import StandIn

_KERAS: Any = tf.compat.v1.keras


class PeepholeLSTMCell(_KERAS.layers.LSTMCell):  # type: ignore[misc]
    """An LSTM cell whose gates see the state: the old one, and the new one for the output."""

    def build(self, input_shape: Any) -> None:
        """Makes a weight a unit for each gate, besides those of an LSTMCell."""
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            weight = self.add_weight(f"{gate}_gate_peephole_weights", (self.units,),
                                     initializer=self.kernel_initializer)
            setattr(self, f"{gate}_gate_peephole_weights", weight)

    def _compute_carry_and_output(self, x: Any, h_tm1: Any, c_tm1: Any) -> Any:
        sums = [each + tf.matmul(h, kernel) for each, h, kernel in zip(
            x, h_tm1, tf.split(self.recurrent_kernel, 4, axis=1))]
        return self._peep(sums, c_tm1)

    def _compute_carry_and_output_fused(self, z: Any, c_tm1: Any) -> Any:
        return self._peep(z, c_tm1)

    def _peep(self, sums: Any, carry: Any) -> Any:
        i = self.recurrent_activation(sums[0] + self.input_gate_peephole_weights * carry)
        f = self.recurrent_activation(sums[1] + self.forget_gate_peephole_weights * carry)
        c = f * carry + i * self.activation(sums[2])
        return c, self.recurrent_activation(sums[3] + self.output_gate_peephole_weights * c)


class LinearCosineDecay(_KERAS.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc]
    """A rate that falls linearly, times a cosine: (alpha + linear) * cosine + beta.

    Args:
      initial_learning_rate, decay_steps: The first rate, and the steps until it is the last.
      num_periods: How many periods the cosine has.
      alpha, beta: As in the formula.
      name: The name of the operations.
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, num_periods: float = 0.5,
                 alpha: float = 0.0, beta: float = 0.001, name: Optional[str] = None) -> None:
        super().__init__()
        self._config = {"initial_learning_rate": initial_learning_rate,
                        "decay_steps": decay_steps, "num_periods": num_periods, "alpha": alpha,
                        "beta": beta, "name": name}

    def __call__(self, step: Any) -> Any:
        config = self._config
        with tf.name_scope(config["name"] or type(self).__name__):
            rate = tf.convert_to_tensor(config["initial_learning_rate"])
            steps = tf.cast(config["decay_steps"], rate.dtype)
            done = tf.minimum(tf.cast(step, rate.dtype), steps)
            cosine = 0.5 * (1 + tf.cos(2 * math.pi * config["num_periods"] * done / steps))
            linear = self._linear((steps - done) / steps, done)
            return rate * ((config["alpha"] + linear) * cosine + config["beta"])

    def _linear(self, linear: Any, step: Any) -> Any:
        return linear

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments."""
        return dict(self._config)


class NoisyLinearCosineDecay(LinearCosineDecay):
    """A LinearCosineDecay with noise in the linear part, whose variance falls with the steps.

    Args:
      initial_learning_rate, decay_steps, num_periods, alpha, beta, name: As in LinearCosineDecay.
      initial_variance, variance_decay: The variance is the first / (1 + step) ** the second.
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any,
                 initial_variance: float = 1.0, variance_decay: float = 0.55,
                 num_periods: float = 0.5, alpha: float = 0.0, beta: float = 0.001,
                 name: Optional[str] = None) -> None:
        super().__init__(initial_learning_rate, decay_steps, num_periods, alpha, beta, name)
        self._config.update(initial_variance=initial_variance, variance_decay=variance_decay)

    def _linear(self, linear: Any, step: Any) -> Any:
        variance = self._config["initial_variance"] / (1 + step) ** self._config["variance_decay"]
        return linear + tf.compat.v1.random_normal(linear.shape, stddev=tf.sqrt(variance))


def multi_gpu_model(model: Any, gpus: Any, cpu_merge: bool = True,
                    cpu_relocation: bool = False) -> Any:
    """Returns a model that computes a part of each batch on each GPU.

    Args:
      model: The model, whose weights the copies share.
      gpus: How many GPUs, or their numbers.
      cpu_merge: Whether the CPU joins the outputs.
      cpu_relocation: Whether the weights are made anew on the CPU.

    Raises:
      ValueError: There are fewer than two GPUs, or not those that are named.
    """
    numbers = list(gpus) if isinstance(gpus, (list, tuple)) else list(range(gpus))
    if len(numbers) < 2:
        raise ValueError(f"multi_gpu_model was given gpus={gpus!r}; expected two or more.")
    present = [each.name for each in tf.config.list_logical_devices("GPU")]
    missing = [number for number in numbers if number >= len(present)]
    if missing:
        raise ValueError(f"multi_gpu_model was given gpus={gpus!r}; expected GPUs of this machine,"
                         f" which has {len(present)}.")
    if cpu_relocation:
        with tf.device("/cpu:0"):
            model = _KERAS.models.clone_model(model)
    parts = [_part(model, place, len(numbers), present[number])
             for place, number in enumerate(numbers)]
    with tf.device("/cpu:0" if cpu_merge else present[numbers[0]]):
        outputs = [_KERAS.layers.concatenate(list(each), axis=0, name=name)
                   for name, each in zip(model.output_names, zip(*parts))]
    return _KERAS.Model(model.inputs, outputs)


def _part(model: Any, place: int, count: int, device: str) -> Any:
    """Returns the outputs of a model on a device for one of `count` parts of its inputs."""
    def take(whole: Any) -> Any:
        size = tf.shape(whole)[0] // count
        end = tf.shape(whole)[0] if place == count - 1 else size * (place + 1)
        return whole[size * place:end]

    with tf.device(device), tf.name_scope(f"replica_{place}"):
        inputs = [_KERAS.layers.Lambda(take)(each) for each in model.inputs]
        outputs = model(inputs if len(inputs) > 1 else inputs[0])
    return outputs if isinstance(outputs, list) else [outputs]


def convert_all_kernels_in_model(model: Any) -> None:
    """Turns the kernels of all convolutions of a model, as Theano has them the other way round."""
    for layer in model.layers:
        if isinstance(layer, (_KERAS.layers.Conv1D, _KERAS.layers.Conv2D, _KERAS.layers.Conv3D)):
            kernel = _KERAS.backend.get_value(layer.kernel)
            turned = np.flip(kernel, tuple(range(kernel.ndim - 2)))
            _KERAS.backend.set_value(layer.kernel, turned)


class HDF5Matrix:
    """Rows of a data set of an HDF5 file, read when they are used.

    Args:
      datapath, dataset: The file and the name in it.
      start, end: The first row, and the one after the last; all rows without.
      normalizer: Changes the rows that are read.
    """

    def __init__(self, datapath: str, dataset: str, start: int = 0, end: Optional[int] = None,
                 normalizer: Optional[Callable[[Any], Any]] = None) -> None:
        self.data = importlib.import_module("h5py").File(datapath, "r")[dataset]
        self.start, self.end = start, self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        rows = np.arange(self.start, self.end)[key]
        found = (self.data[int(rows)] if np.ndim(rows) == 0
                 else np.stack([self.data[int(row)] for row in rows]))
        return found if self.normalizer is None else self.normalizer(found)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the rows."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        """Their type."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.data.ndim)

    @property
    def size(self) -> int:
        """The number of numbers."""
        return int(np.prod(self.shape))


def list_devices() -> list[str]:
    """Returns the names of all devices, which end as in "/device:GPU:0"."""
    return [f"/job:localhost/replica:0/task:0{each.name}" if each.name.startswith("/device:")
            else each.name for each in tf.config.list_logical_devices()]


_WRAPPERS = "estimator_trainer.compat.tensorflow1.keras_wrappers"
NAMES: dict[str, dict[str, Any]] = {
    "config": {"experimental_list_devices": list_devices},
    "keras": {"wrappers": _WRAPPERS},
    "keras.experimental": {
        **{each.__name__: each for each in (
            PeepholeLSTMCell, LinearCosineDecay, NoisyLinearCosineDecay)},
        **{name: f"estimator_trainer.compat.contrib.saved_model.keras_models.{name}"
           for name in ("export_saved_model", "load_from_saved_model")}},
    "keras.mixed_precision": {"experimental": types.SimpleNamespace(
        Policy=tf.keras.mixed_precision.Policy,
        LossScaleOptimizer=tf.keras.mixed_precision.LossScaleOptimizer,
        global_policy=tf.keras.mixed_precision.global_policy,
        set_policy=tf.keras.mixed_precision.set_global_policy)},
    "keras.utils": {each.__name__: each for each in (
        HDF5Matrix, convert_all_kernels_in_model, multi_gpu_model)},
}
_TREES = "the gradient boosted trees of tensorflow_decision_forests"
# Names that are gone, and what to use instead.
GONE = {
    "estimator": {name: _TREES for name in (
        "BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor")},
    "lite.experimental": {"nn": "tf.nn.rnn_cell, whose cells TFLiteConverter converts"},
}


def supply() -> None:
    """Puts the names back; those that are gone say so when they are used."""
    keras = _module("keras")
    keras.__version__ = "2.2.4-tf"
    # By its path, an import would make a second module of the same file, without the names.
    module_aliases.add("tensorflow.compat.v1.keras", keras.__name__)
    for package in ("tensorflow", "tensorflow.python"):
        module_aliases.add(f"{package}.keras.wrappers", _WRAPPERS)
    for package, names in NAMES.items():
        late_names.offer(_module(package), names, "")
    for package, replacements in GONE.items():
        shown = {name: f"tf.{package}.{name}" for name in replacements}
        late_names.offer(_module(package), {
            name: StandIn(shown[name], f"{shown[name]} went with TensorFlow 1, and nothing here "
                                       f"replaces it; instead, use {instead}.")
            for name, instead in replacements.items()}, "")


def _module(package: str) -> Any:
    value: Any = tf.compat.v1
    for part in package.split("."):
        value = getattr(value, part)
    return importlib.import_module(value.__name__) if package.startswith("keras") else value
