"""Crosses of features: the ids of all combinations of the values that an example has.

Source: tensorflow/contrib/layers/python/ops/sparse_feature_cross_op.py of TensorFlow 1.15, and its
kernel, whose hash of a combination TensorFlow no longer has where no `hash_key` is given.
"""

from __future__ import annotations

from typing import Any, Sequence

import tensorflow as tf

# Both the first value of the chain without a key, and the key that a program may choose.
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE
# 0x9e3779b97f4a7800 as a signed number.
_GOLDEN = 0x9e3779b97f4a7800 - 2 ** 64


def sparse_feature_cross(inputs: Any, hashed_output: bool = False, num_buckets: int = 0,
                         name: Any = None, hash_key: Any = None) -> Any:
    """Crosses a list of tensors.

    Args:
      inputs: SparseTensors, or tensors [batch, n], of strings or integers.
      hashed_output: Whether the values are int64 ids, rather than strings as "a_X_b".
      num_buckets: The number of ids; 0 for all.
      name: Name of the operations.
      hash_key: Chooses the hash of a combination; None for TensorFlow 1's first one.

    Returns:
      A SparseTensor [batch, m].

    Raises:
      TypeError: inputs is no list of tensors.
    """
    if not isinstance(inputs, list):
        raise TypeError(f"inputs is {inputs!r} (from sparse_feature_cross); expected a list.")
    if not all(isinstance(each, (tf.Tensor, tf.sparse.SparseTensor)) for each in inputs):
        raise TypeError(f"inputs is {inputs!r} (from sparse_feature_cross); expected tensors and "
                        "SparseTensors.")
    sparse = [each for each in inputs if isinstance(each, tf.sparse.SparseTensor)]
    dense = [_int64_unless_string(each) for each in inputs if isinstance(each, tf.Tensor)]
    values = [_int64_unless_string(each.values) for each in sparse]
    with tf.compat.v1.name_scope(name, "SparseFeatureCross"):
        if hashed_output and not hash_key:
            return _first_hash(sparse, values, dense, num_buckets)
        out_type = tf.int64 if hashed_output else tf.string
        return _cross(sparse, values, dense, out_type, num_buckets, hash_key or 0)


def _int64_unless_string(values: Any) -> Any:
    return values if values.dtype == tf.string else tf.cast(values, tf.int64)


def _cross(sparse: Sequence[Any], values: Sequence[Any], dense: Sequence[Any], out_type: Any,
           num_buckets: int = 0, hash_key: int = 0) -> Any:
    strings = all(each.dtype == tf.string for each in (*values, *dense))
    found = tf.raw_ops.SparseCross(
        indices=[each.indices for each in sparse], values=list(values),
        shapes=[each.dense_shape for each in sparse], dense_inputs=list(dense),
        hashed_output=out_type == tf.int64, num_buckets=num_buckets, hash_key=hash_key,
        out_type=out_type, internal_type=tf.string if strings else tf.int64)
    return tf.sparse.SparseTensor(*found)


def _first_hash(sparse: Sequence[Any], values: Sequence[Any], dense: Sequence[Any],
                num_buckets: int) -> Any:
    # The values' positions are crossed, so that the kernel says which values belong together.
    positions = [tf.as_string(tf.range(tf.size(each))) for each in values]
    places = [tf.as_string(tf.reshape(tf.range(tf.size(each)), tf.shape(each))) for each in dense]
    crossed = _cross(sparse, positions, places, tf.string)
    parts = tf.strings.split(crossed.values, "_X_").to_tensor(
        "0", shape=[None, len(values) + len(dense)])
    chosen = tf.strings.to_number(parts, tf.int64)
    hashed: Any = tf.constant(SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY, tf.int64)
    for number, each in enumerate((*values, *dense)):
        prints = _fingerprints(tf.reshape(each, [-1]))
        hashed = _combine(hashed, tf.gather(prints, chosen[:, number]))
    modulus = num_buckets or 2 ** 63 - 1
    ids = tf.math.floormod(tf.bitcast(hashed, tf.uint64), tf.constant(modulus, tf.uint64))
    return tf.sparse.SparseTensor(crossed.indices, tf.cast(ids, tf.int64), crossed.dense_shape)


def _fingerprints(values: Any) -> Any:
    if values.dtype != tf.string:
        return values
    return tf.bitcast(tf.fingerprint(values), tf.int64)


def _combine(first: Any, second: Any) -> Any:
    shifted = tf.bitwise.left_shift(first, tf.constant(10, tf.int64)) + tf.bitwise.right_shift(
        first, tf.constant(4, tf.int64))
    return tf.bitwise.bitwise_xor(first, second + _GOLDEN + shifted)
