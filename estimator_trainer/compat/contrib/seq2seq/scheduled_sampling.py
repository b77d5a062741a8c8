"""Helpers that read a step's input from a batch, or now and then from the step before.

Bengio et al., "Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks", 2015.
The API is that of `tensorflow/contrib/seq2seq/python/ops/helper.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.seq2seq import sampling, tensors
from estimator_trainer.compat.contrib.seq2seq.helper import TrainingHelper

v1 = tf.compat.v1


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads inputs from a batch, or takes the embedding of an id drawn from the outputs."""

    def __init__(self, inputs: Any, sequence_length: Any, embedding: Any,
                 sampling_probability: Any, time_major: bool = False, seed: Any = None,
                 scheduling_seed: Any = None, name: Any = None) -> None:
        """Prepares the inputs.

        Args:
          inputs, sequence_length, time_major, name: As for TrainingHelper.
          embedding: [ids, size], or a function from ids to vectors.
          sampling_probability: With which an id is drawn, a float or [batch].
          seed: The seed of the drawn ids.
          scheduling_seed: The seed of whether an id is drawn.

        Raises:
          ValueError: when `sampling_probability` is neither a scalar nor a vector.
        """
        with v1.name_scope(name, "ScheduledEmbeddingSamplingWrapper",
                           [embedding, sampling_probability]):
            self._embedding_fn = tensors.lookup_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any,  # type: ignore[override]
               name: Any = None) -> Any:
        with v1.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            is_drawn = sampling.bernoulli_sample(
                self._sampling_probability, dtype=tf.bool, sample_shape=self.batch_size,
                seed=self._scheduling_seed)
            return v1.where(is_drawn, sampling.categorical_sample(outputs, seed=self._seed),
                            tf.fill([self.batch_size], -1))

    def next_inputs(self, time: Any, outputs: Any, state: Any,  # type: ignore[override]
                    sample_ids: Any, name: Any = None) -> Any:
        with v1.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs",
                           [time, outputs, state, sample_ids]):
            finished, read, state = super().next_inputs(time, outputs, state, name=name)

            def mixed() -> Any:
                drawn = tf.cast(v1.where(sample_ids > -1), tf.int32)
                others = tf.cast(v1.where(sample_ids <= -1), tf.int32)
                ids = tf.gather_nd(sample_ids, drawn)
                kept = tf.gather_nd(read, others)
                return _scattered(drawn, self._embedding_fn(ids), others, kept, tf.shape(read))

            return finished, v1.cond(tf.reduce_all(finished), lambda: read, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads inputs from a batch, or takes the outputs of the step before."""

    def __init__(self, inputs: Any, sequence_length: Any, sampling_probability: Any,
                 time_major: bool = False, seed: Any = None, next_inputs_fn: Any = None,
                 auxiliary_inputs: Any = None, name: Any = None) -> None:
        """Prepares the inputs.

        Args:
          inputs, sequence_length, time_major, name: As for TrainingHelper.
          sampling_probability: With which outputs are taken, a float or [batch].
          seed: The seed of whether they are.
          next_inputs_fn: A function from outputs to inputs; the outputs themselves by default.
          auxiliary_inputs: [batch, time, ...] as `inputs`, appended to each step's inputs.

        Raises:
          ValueError: when `sampling_probability` is neither a scalar nor a vector.
        """
        with v1.name_scope(name, "ScheduledOutputTrainingHelper",
                           [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary: Any = None
            if auxiliary_inputs is not None:
                inputs = tf.convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = tf.convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = tf.concat((inputs, auxiliary_inputs), -1)
                if not time_major:
                    auxiliary_inputs = tensors.transpose_batch_time(auxiliary_inputs)
                self._auxiliary = tensors.unstacked(auxiliary_inputs)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any,  # type: ignore[override]
               name: Any = None) -> Any:
        with v1.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return sampling.bernoulli_sample(
                self._sampling_probability, sample_shape=self.batch_size, seed=self._seed)

    def next_inputs(self, time: Any, outputs: Any, state: Any,  # type: ignore[override]
                    sample_ids: Any, name: Any = None) -> Any:
        with v1.name_scope(name, "ScheduledOutputTrainingHelperNextInputs",
                           [time, outputs, state, sample_ids]):
            finished, read, state = super().next_inputs(time, outputs, state, name=name)
            is_taken = tf.cast(sample_ids, tf.bool)
            all_finished = tf.reduce_all(finished)
            is_none_taken = tf.logical_not(tf.reduce_any(is_taken))
            inputs = v1.cond(tf.logical_or(all_finished, is_none_taken), lambda: read,
                             lambda: self._mixed(time, outputs, read, is_taken))
            return finished, inputs, state

    def _mixed(self, time: Any, outputs: Any, read: Any, is_taken: Any) -> Any:
        if self._next_inputs_fn is None:
            return v1.where(is_taken, self._completed(time, outputs), read)
        taken = tf.cast(v1.where(is_taken), tf.int32)
        others = tf.cast(v1.where(tf.logical_not(is_taken)), tf.int32)
        outputs = tf.gather_nd(outputs, taken)
        kept = tf.gather_nd(read, others)
        inputs = self._completed(time, self._next_inputs_fn(outputs), taken)
        return _scattered(taken, inputs, others, kept, tf.shape(read))

    def _completed(self, time: Any, outputs: Any, rows: Any = None) -> Any:
        """Returns outputs with the auxiliary inputs of the next step, of some rows."""
        if self._auxiliary is None:
            return outputs
        auxiliary = self._auxiliary.read(time + 1)
        if rows is not None:
            auxiliary = tf.gather_nd(auxiliary, rows)
        return tf.nest.map_structure(lambda x, y: tf.concat((x, y), -1), outputs, auxiliary)


def _probability(value: Any) -> Any:
    tensor = tf.convert_to_tensor(value, name="sampling_probability")
    if tensor.shape.ndims not in (0, 1):
        raise ValueError("sampling_probability must be either a scalar or a vector. saw shape: "
                         f"{tensor.shape}")
    return tensor


def _scattered(drawn: Any, drawn_rows: Any, others: Any, other_rows: Any, shape: Any) -> Any:
    return (tf.scatter_nd(indices=drawn, updates=drawn_rows, shape=shape)
            + tf.scatter_nd(indices=others, updates=other_rows, shape=shape))
