"""Steps along a linear-chain conditional random field, as RNN cells.

The API is that of `tensorflow/contrib/crf/python/ops/crf.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_RNNCell: Any = tf.compat.v1.nn.rnn_cell.RNNCell


class _TagsCell(_RNNCell):
    """A cell whose state and output have a number for each tag."""

    def __init__(self, transition_params: Any) -> None:
        """Keeps the scores.

        Args:
          transition_params: [tags, tags], from the row's tag to the column's.
        """
        super().__init__()
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = tf.compat.dimension_value(transition_params.shape[0])

    @property
    def state_size(self) -> Any:
        return self._num_tags

    @property
    def output_size(self) -> Any:
        return self._num_tags

    def _scores(self, state: Any) -> Any:
        """Returns the scores of all pairs of tags, [batch, from, to]."""
        return tf.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_TagsCell):
    """Sums, in logarithms, over all sequences that end with each tag."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the sums after a step, [batch, tags], twice.

        Args:
          inputs: The step's unary scores, [batch, tags].
          state: The sums before.
          scope: Not used.
        """
        sums = inputs + tf.reduce_logsumexp(self._scores(state), [1])
        return sums, sums


class CrfDecodeForwardRnnCell(_TagsCell):
    """Finds the best sequence that ends with each tag."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the best tag before each tag, [batch, tags] int32, and the best scores.

        Args:
          inputs: The step's unary scores, [batch, tags].
          state: The best scores before.
          scope: Not used.
        """
        scores = self._scores(state)
        best = inputs + tf.reduce_max(scores, [1])
        return tf.cast(tf.argmax(scores, 1), tf.int32), best


class CrfDecodeBackwardRnnCell(_RNNCell):
    """Follows the best tags back from the last one."""

    def __init__(self, num_tags: int) -> None:
        """Keeps the number of tags."""
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> Any:
        return 1

    @property
    def output_size(self) -> Any:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the tag before, [batch, 1] int32, twice.

        Args:
          inputs: The best tag before each tag, [batch, tags] int32.
          state: The tag, [batch, 1] int32.
          scope: Not used.
        """
        tags = tf.expand_dims(tf.gather(inputs, tf.squeeze(state, axis=[1]), batch_dims=1), -1)
        return tags, tags
