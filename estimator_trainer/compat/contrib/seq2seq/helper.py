"""Helpers: what a decoder samples from its outputs, and what its next inputs are.

The API is that of `tensorflow/contrib/seq2seq/python/ops/helper.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import sampling, tensors

v1 = tf.compat.v1


class Helper(abc.ABC):
    """Samples ids of a step's outputs, and chooses the inputs of the next step."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences, an integer tensor."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of a sequence's sample."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The samples' type."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    @abc.abstractmethod
    def initialize(self, name: Any = None) -> Any:
        """Returns which sequences are finished, [batch] booleans, and the first inputs."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        """Returns the samples."""

    @abc.abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any,
                    name: Any = None) -> Any:
        """Returns which sequences are finished, the next inputs and the state."""


class _Ids(Helper):
    """A helper that samples an id, int32, for each sequence."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32


class CustomHelper(Helper):
    """A helper of three functions."""

    def __init__(self, initialize_fn: Any, sample_fn: Any, next_inputs_fn: Any,
                 sample_ids_shape: Any = None, sample_ids_dtype: Any = None) -> None:
        """Keeps the functions.

        Args:
          initialize_fn: Called without arguments, returns `(finished, next_inputs)`.
          sample_fn: Called with time, outputs and state, returns the samples.
          next_inputs_fn: Called with time, outputs, state and sample_ids, returns
            `(finished, next_inputs, next_state)`.
          sample_ids_shape: Shape of a sequence's sample; a scalar by default.
          sample_ids_dtype: Type of the samples; int32 by default.
        """
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: Any = None) -> Any:
        with v1.name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        with v1.name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any,
                    name: Any = None) -> Any:
        with v1.name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state,
                                        sample_ids=sample_ids)


class TrainingHelper(_Ids):
    """Reads the inputs of each step from a batch of sequences."""

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False,
                 name: Any = None) -> None:
        """Prepares the inputs.

        Args:
          inputs: [batch, time, ...], or [time, batch, ...].
          sequence_length: [batch] integers.
          time_major: Whether time is the first axis of `inputs`.
          name: A name for the ops.

        Raises:
          ValueError: when `sequence_length` is not a vector.
        """
        with v1.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = tf.convert_to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = tensors.transpose_batch_time(inputs)
            self._input_tas = tensors.unstacked(inputs)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: "
                                 f"{self._sequence_length.shape}")
            self._zero_inputs = v1.zeros_like(inputs[0, :])
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs, as they were given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths, [batch] integers."""
        return self._sequence_length

    def initialize(self, name: Any = None) -> Any:
        with v1.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            inputs = v1.cond(tf.reduce_all(finished), lambda: self._zero_inputs,
                             lambda: self._input_tas.read(0))
            return finished, inputs

    def sample(self, time: Any, outputs: Any, name: Any = None,  # type: ignore[override]
               **unused_kwargs: Any) -> Any:
        with v1.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any,  # type: ignore[override]
                    name: Any = None, **unused_kwargs: Any) -> Any:
        with v1.name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            inputs = v1.cond(tf.reduce_all(finished), lambda: self._zero_inputs,
                             lambda: self._input_tas.read(next_time))
            return finished, inputs, state


class GreedyEmbeddingHelper(_Ids):
    """Takes the most probable id, and gives its embedding to the next step."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        """Prepares the first inputs.

        Args:
          embedding: [ids, size], or a function from ids to vectors.
          start_tokens: [batch] integers.
          end_token: The id that ends a sequence.

        Raises:
          ValueError: when `start_tokens` is not a vector or `end_token` not a scalar.
        """
        self._embedding_fn = tensors.lookup_function(embedding)
        self._start_tokens, self._end_token = tensors.start_and_end(start_tokens, end_token)
        self._batch_size = tf.size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: Any = None) -> Any:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        _check_is_tensor(outputs)
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any,
                    name: Any = None) -> Any:
        finished = tf.equal(sample_ids, self._end_token)
        inputs = v1.cond(tf.reduce_all(finished), lambda: self._start_inputs,
                         lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Draws an id from the outputs, which are logits, and gives its embedding to the next step."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any,
                 softmax_temperature: Any = None, seed: Any = None) -> None:
        """Prepares the first inputs.

        Args:
          embedding, start_tokens, end_token: As for GreedyEmbeddingHelper.
          softmax_temperature: Divides the logits; above 1, draws are more random.
          seed: The draws' seed.
        """
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        _check_is_tensor(outputs)
        if self._softmax_temperature is not None:
            outputs = outputs / self._softmax_temperature
        return sampling.categorical_sample(outputs, seed=self._seed)


class InferenceHelper(Helper):
    """Samples with a function, and makes the next inputs of the samples."""

    def __init__(self, sample_fn: Any, sample_shape: Any, sample_dtype: Any, start_inputs: Any,
                 end_fn: Any, next_inputs_fn: Any = None) -> None:
        """Keeps the functions.

        Args:
          sample_fn: A function from outputs to samples.
          sample_shape: Shape of a sequence's sample.
          sample_dtype: Type of the samples.
          start_inputs: The first inputs, [batch, ...].
          end_fn: A function from samples to the finished sequences, [batch] booleans.
          next_inputs_fn: A function from samples to inputs; the samples themselves by default.
        """
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = tf.TensorShape(sample_shape), sample_dtype
        self._batch_size = tf.shape(start_inputs)[0]
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def initialize(self, name: Any = None) -> Any:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any,
                    name: Any = None) -> Any:
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state


def _check_is_tensor(outputs: Any) -> None:
    if not tf.is_tensor(outputs):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
