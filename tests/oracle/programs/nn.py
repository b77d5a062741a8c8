"""tf.nn beyond layers: embeddings, sampled losses, normalization, convolutions, top_k."""

import numpy as np
import tensorflow as tf

SOAK = (
    "autoencoder", "convolutions", "cross_entropies", "ctc", "embedding_lookup",
    "embedding_lookup_gradient", "gan", "moving_averages", "normalizations", "pools", "tops",
    "variational_autoencoder", "word2vec",)


def _x(*shape):
    return tf.constant(np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape).astype("float32"))


def _of(*values):
    return list(values) + [tf.random_normal([2])]


def activations():
    x, n = _x(2, 3), tf.nn
    return _of(
        n.relu(x),
        n.relu6(x),
        n.elu(x),
        n.selu(x),
        n.crelu(x),
        n.softplus(x),
        n.softsign(x),
        n.leaky_relu(x),
        n.sigmoid(x),
        n.tanh(x),
        n.swish(x),
        n.log_softmax(x),
        n.softmax(x),
        n.softmax(x, dim=0),
        n.l2_normalize(x, 1),
        n.l2_normalize(x, dim=0),
        n.l2_loss(x),
    )


def cross_entropies():
    x, y = _x(2, 3), tf.constant([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    return _of(
        tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=x),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
        tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0),
        tf.nn.log_poisson_loss(y, x),
        tf.nn.log_poisson_loss(y, x, compute_full_loss=True),
    )


def embedding_lookup():
    table = tf.get_variable("t", [5, 3])
    parts = [tf.get_variable("p%d" % i, [3, 2]) for i in range(2)]
    return _of(
        tf.nn.embedding_lookup(table, [[1, 2], [3, 4]]),
        tf.nn.embedding_lookup(parts, [0, 3, 5]),
        tf.nn.embedding_lookup(parts, [0, 3, 5], "div"),
        tf.nn.embedding_lookup(table, [0, 1], max_norm=0.5),
    )


def embedding_lookup_of_resource():
    table = tf.get_variable("t", [5, 3], use_resource=True)
    return _of(tf.nn.embedding_lookup(table, [[1, 2], [3, 4]]))


def embedding_lookup_sparse():
    table = tf.get_variable("t", [5, 3])
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 2], [2, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 0.5], [2, 2])
    return _of(
        tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean"),
        tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sum"),
        tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sqrtn"),
        tf.nn.safe_embedding_lookup_sparse(table, ids),
    )


def embedding_lookup_gradient():
    table = tf.get_variable("t", [5, 3])
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 2]) ** 2)
    slices = tf.gradients(loss, table)[0]
    return _of(slices.indices, slices.values, tf.convert_to_tensor(slices))[:3]


def nce_loss():
    w, b = tf.get_variable("w", [10, 3]), tf.get_variable("b", [10])
    return _of(tf.nn.nce_loss(w, b, [[1], [2]], _x(2, 3), 4, 10))


def sampled_softmax_loss():
    w, b = tf.get_variable("w", [10, 3]), tf.get_variable("b", [10])
    return _of(
        tf.nn.sampled_softmax_loss(w, b, [[1], [2]], _x(2, 3), 4, 10),
        tf.nn.sampled_softmax_loss(w, b, [[1], [2]], _x(2, 3), 4, 10, seed=3),
    )


def sampled_losses_with_samples():
    w, b = tf.get_variable("w", [10, 3]), tf.get_variable("b", [10])
    sampled = tf.nn.log_uniform_candidate_sampler(
        tf.constant([[1], [2]], tf.int64), 1, 4, True, 10, seed=5
    )
    return _of(
        tf.nn.nce_loss(w, b, [[1], [2]], _x(2, 3), 4, 10, sampled_values=sampled),
        tf.nn.sampled_softmax_loss(
            w, b, [[1], [2]], _x(2, 3), 4, 10, sampled_values=sampled, remove_accidental_hits=False
        ),
    )


def normalizations():
    x = _x(2, 3, 3, 2)
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    return _of(
        mean,
        variance,
        tf.nn.batch_normalization(x, mean, variance, None, 1.0, 1e-3),
        tf.nn.fused_batch_norm(x, [1.0, 1.0], [0.0, 0.0])[0],
        tf.nn.lrn(x, 2),
        tf.nn.weighted_moments(x, [0, 1], tf.ones([2, 3, 1, 1])),
        tf.nn.normalize_moments(3.0, [1.0, 2.0], [2.0, 4.0], None),
        tf.nn.sufficient_statistics(x, [0, 1])[1:3],
        tf.nn.moments(x, [1], keep_dims=True),
    )


def convolutions():
    x, k = _x(1, 5, 5, 2), _x(2, 2, 2, 3)
    return _of(
        tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"),
        tf.nn.conv2d(x, filter=k, strides=[1, 2, 2, 1], padding="VALID"),
        tf.nn.convolution(x, k, "VALID"),
        tf.nn.convolution(x, k, "SAME", dilation_rate=[2, 2]),
        tf.nn.atrous_conv2d(x, k, 2, "VALID"),
        tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"),
        tf.nn.separable_conv2d(x, k, _x(1, 1, 6, 2), [1, 1, 1, 1], "VALID"),
        tf.nn.conv1d(_x(1, 5, 2), _x(2, 2, 3), 1, "SAME"),
        tf.nn.conv2d_transpose(x, _x(2, 2, 3, 2), [1, 10, 10, 3], [1, 2, 2, 1]),
        tf.nn.conv3d(_x(1, 3, 3, 3, 1), _x(2, 2, 2, 1, 2), [1] * 5, "VALID"),
        tf.nn.dilation2d(x, _x(2, 2, 2), [1] * 4, [1] * 4, "SAME"),
    )


def pools():
    x = _x(1, 4, 4, 2)
    return _of(
        tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
        tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        tf.nn.pool(x, [2, 2], "MAX", "VALID"),
        tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
        tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.4, 1.0], seed=3)[0],
    )


def tops():
    x = tf.constant([[1.0, 5.0, 3.0], [2.0, 2.0, 9.0]])
    return _of(
        tf.nn.top_k(x, 2),
        tf.nn.in_top_k(x, [1, 0], 1),
        tf.nn.zero_fraction(x - 2.0),
        tf.nn.bias_add(x, [1.0, 2.0, 3.0]),
        tf.nn.xw_plus_b(x, tf.ones([3, 2]), [1.0, 2.0]),
        tf.nn.relu_layer(x, -tf.ones([3, 2]), [1.0, 20.0]),
    )


def ctc():
    logits = tf.constant(np.random.RandomState(0).randn(4, 2, 3).astype("float32"))
    labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0, 1, 0], [2, 2])
    decoded, score = tf.nn.ctc_greedy_decoder(logits, [4, 3])
    beams, beam_scores = tf.nn.ctc_beam_search_decoder(logits, [4, 3], 3)
    return _of(tf.nn.ctc_loss(labels, logits, [4, 3]), decoded, score, beams, beam_scores)


def moving_averages():
    v = tf.get_variable("v", initializer=1.0)
    average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    op = average.apply([v])
    later = tf.random_normal([2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op)
        session.run(v.assign(3.0))
        session.run(op)
        return session.run([average.average(v), v, later]) + [average.average_name(v)]


def tensordots():
    a, b = _x(2, 3, 4), _x(4, 3, 2)
    d = tf.placeholder_with_default(a, [None, 3, 4])
    return _of(
        tf.tensordot(a, b, 1),
        tf.tensordot(a, b, [[1, 2], [1, 0]]),
        tf.tensordot(d, b, 1),
        tf.tensordot(d, b, [[2], [0]]),
    )


def einsums():
    a, b = _x(2, 3, 4), _x(4, 3, 2)
    return [
        tf.einsum("ijk,kjl->il", a, b),
        tf.einsum("ijk->ki", a),
        tf.einsum("ij,jk->ik", a[0], b[:, 0]),
    ]


def word2vec():
    words, labels = tf.constant([1, 2, 3, 4]), tf.constant([[2], [1], [4], [3]])
    table = tf.Variable(tf.random_uniform([8, 4], -1.0, 1.0))
    embedded = tf.nn.embedding_lookup(table, words)
    w = tf.Variable(tf.truncated_normal([8, 4], stddev=0.5))
    b = tf.Variable(tf.zeros([8]))
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=w, biases=b, labels=labels, inputs=embedded, num_sampled=3, num_classes=8
        )
    )
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train])[0] for _ in range(3)] + [session.run(table)]


def autoencoder():
    x = tf.placeholder_with_default(_x(4, 6), [None, 6])
    w = {
        name: tf.Variable(tf.random_normal(shape))
        for name, shape in (("encode", [6, 3]), ("decode", [3, 6]))
    }
    h = tf.nn.sigmoid(tf.matmul(x + 0.1 * tf.random_normal(tf.shape(x)), w["encode"]))
    y = tf.nn.sigmoid(tf.matmul(h, w["decode"]))
    loss = tf.reduce_mean(tf.pow(x - y, 2))
    train = tf.train.RMSPropOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train])[0] for _ in range(3)]


def gan():
    def generator(z):
        with tf.variable_scope("generator", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(tf.layers.dense(z, 8, tf.nn.leaky_relu), 4, tf.tanh)

    def discriminator(x):
        with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(tf.layers.dense(x, 8, tf.nn.relu), 1)

    fake = generator(tf.random_uniform([6, 3], -1.0, 1.0))
    real, fooled = discriminator(_x(6, 4)), discriminator(fake)
    d_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(real), logits=real)
    ) + tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros_like(fooled), logits=fooled)
    )
    g_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(fooled), logits=fooled)
    )
    steps = [
        tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(
            loss, var_list=tf.trainable_variables(scope)
        )
        for loss, scope in ((d_loss, "discriminator"), (g_loss, "generator"))
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for _ in range(3):
            session.run(steps[0])
            session.run(steps[1])
        found.extend(session.run(tf.trainable_variables()))
        return found


def variational_autoencoder():
    x = tf.sigmoid(_x(4, 6))
    h = tf.layers.dense(x, 5, tf.nn.relu)
    mean, log_variance = tf.layers.dense(h, 2), tf.layers.dense(h, 2)
    z = mean + tf.exp(0.5 * log_variance) * tf.random_normal(tf.shape(mean))
    logits = tf.layers.dense(tf.layers.dense(z, 5, tf.nn.relu), 6)
    loss = tf.reduce_mean(
        tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
        - 0.5 * tf.reduce_sum(1 + log_variance - mean**2 - tf.exp(log_variance), 1)
    )
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train])[0] for _ in range(3)]
