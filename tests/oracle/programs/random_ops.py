"""Random ops of tf, tf.random and tf.nn under the graph's seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "after_control_flow", "after_gradients", "crop_too_large", "distributions",
    "distributions_functions", "distributions_with_seeds", "dropout_gradient", "dropout_names",
    "dropout_of_all_kept", "dropout_of_integers", "dropout_of_wrong_rate", "in_a_branch",
    "in_a_function", "in_a_loop", "in_map_fn", "in_scan_and_foldl", "in_scopes",
    "layers_dropout", "log_uniform_candidates", "multinomial", "noise_layer", "normal",
    "poisson", "seed_of_an_op_alone", "seeds_in_a_loop_of_sessions", "shuffle",
    "truncated_normal", "uniform_names", "uniform_of_a_dynamic_shape", "uniform_of_a_tensor",
    "uniform_of_integers", "uniform_of_integers_without_maximum",
    "after_arrays",)


def normal():
    return [
        tf.random_normal([2, 3]),
        tf.random_normal([4], 1.0, 2.0),
        tf.random.normal([2], seed=3),
        tf.random_normal([2], dtype=tf.float64),
        tf.random_normal([2], dtype=tf.float16),
    ]


def uniform():
    return [
        tf.random_uniform([2, 3]),
        tf.random_uniform([4], -1, 1),
        tf.random.uniform([2], seed=3),
        tf.random_uniform([2], dtype=tf.float64),
        tf.random_uniform([3], maxval=5.0),
        tf.random_uniform([3], minval=0.5),
        tf.random_normal([2]),
    ]


def uniform_of_integers():
    return [
        tf.random_uniform([5], maxval=10, dtype=tf.int32),
        tf.random_uniform([5], -3, 3, tf.int64),
        tf.random_normal([2]),
    ]


def uniform_of_integers_without_maximum():
    return tf.random_uniform([5], dtype=tf.int32)


def uniform_of_a_tensor():
    n = tf.placeholder_with_default(3.0, [])
    return [tf.random_uniform([3], 0, n), tf.random_uniform([3], n, 2 * n), tf.random_normal([2])]


def uniform_of_a_dynamic_shape():
    x = tf.placeholder_with_default(tf.ones([2, 3]), [None, 3])
    return [
        tf.random_uniform(tf.shape(x)),
        tf.random_normal([tf.shape(x)[0], 2]),
        tf.random_uniform([tf.shape(x)[0], 2], -1.0, 1.0),
        tf.truncated_normal(tf.shape(x)),
    ]


def uniform_names():
    return [
        tf.random_uniform([2]).name,
        tf.random_uniform([2], name="noise").name,
        tf.random_uniform([2], maxval=3, dtype=tf.int32).name,
        tf.random_normal([2]).name,
        tf.truncated_normal([2]).name,
        tf.random_shuffle([1, 2]).name,
        tf.random_crop(tf.ones([3, 3]), [2, 2]).name,
        tf.multinomial([[1.0, 2.0]], 2).name,
        tf.random_gamma([2], 1.0).name,
        tf.random_poisson(1.0, [2]).name,
    ]


def truncated_normal():
    return [
        tf.truncated_normal([2, 3]),
        tf.truncated_normal([4], 1.0, 2.0),
        tf.random.truncated_normal([2], seed=3),
    ]


def shuffle():
    return [
        tf.random_shuffle(tf.range(8)),
        tf.random.shuffle(tf.range(6), seed=1),
        tf.random_shuffle([[1, 2], [3, 4], [5, 6]]),
        tf.random_normal([2]),
    ]


def crop():
    image = tf.reshape(tf.range(48), [4, 4, 3])
    return [
        tf.random_crop(image, [2, 2, 3]),
        tf.random_crop(image, [3, 2, 1], seed=5),
        tf.image.random_crop(image, [2, 2, 3]),
        tf.random_normal([2]),
    ]


def crop_too_large():
    return tf.random_crop(tf.ones([2, 2]), [3, 3])


def multinomial():
    logits = tf.log([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]])
    return [
        tf.multinomial(logits, 6),
        tf.random.multinomial(logits, 3, seed=4),
        tf.random.categorical(logits, 4),
        tf.multinomial(logits, 2, output_dtype=tf.int32),
        tf.random_normal([2]),
    ]


def gamma():
    return [
        tf.random_gamma([3], 2.0),
        tf.random.gamma([2], [0.5, 1.5], beta=2.0),
        tf.random_gamma([2], 1.0, seed=8),
        tf.random_normal([2]),
    ]


def poisson():
    return [
        tf.random_poisson(3.0, [4]),
        tf.random.poisson([2.0], [3], seed=2),
        tf.random_poisson([1.0, 5.0], [2], dtype=tf.float64),
        tf.random_normal([2]),
    ]


def log_uniform_candidates():
    return [
        tf.nn.log_uniform_candidate_sampler([[1], [2]], 1, 4, True, 20),
        tf.nn.uniform_candidate_sampler([[1]], 1, 3, False, 9, seed=3),
        tf.nn.learned_unigram_candidate_sampler([[1]], 1, 3, True, 9),
        tf.nn.fixed_unigram_candidate_sampler([[1]], 1, 3, True, 4, unigrams=[1.0, 2.0, 3.0, 4.0]),
        tf.nn.all_candidate_sampler([[1]], 1, 4, True),
        tf.random_normal([2]),
    ]


def stateless():
    s = tf.random
    return [
        s.stateless_uniform([3], [1, 2]),
        s.stateless_normal([3], [1, 2]),
        s.stateless_truncated_normal([3], [1, 2]),
        s.stateless_uniform([3], [1, 2], -1.0, 3.0),
        s.stateless_uniform([3], [1, 2], 0, 10, tf.int32),
        tf.random_normal([2]),
        s.stateless_categorical([[0.1, 0.9]], 4, [3, 4]),
    ]


def dropout():
    x = tf.ones([3, 4])
    return [
        tf.nn.dropout(x, 0.5),
        tf.nn.dropout(x, keep_prob=0.8),
        tf.nn.dropout(x, rate=0.3),
        tf.nn.dropout(x, 0.5, seed=2),
        tf.nn.dropout(x, 0.5, noise_shape=[3, 1]),
        tf.random_normal([2]),
    ]


def dropout_of_all_kept():
    x = tf.ones([2, 2])
    return [tf.nn.dropout(x, 1.0), tf.nn.dropout(x, rate=0.0), tf.random_normal([2])]


def dropout_of_a_placeholder():
    keep = tf.placeholder_with_default(0.6, [], name="keep")
    x = tf.placeholder_with_default(tf.ones([4, 5]), [None, 5])
    return [
        tf.nn.dropout(x, keep),
        tf.nn.dropout(x, keep, noise_shape=[tf.shape(x)[0], 1]),
        tf.random_normal([2]),
    ]


def dropout_names():
    x = tf.ones([2, 2])
    return [
        tf.nn.dropout(x, 0.5).name,
        tf.nn.dropout(x, 0.5, name="drop").name,
        tf.layers.dropout(x, training=True).name,
        tf.layers.dropout(x).name,
    ]


def dropout_gradient():
    x = tf.ones([3, 3])
    return tf.gradients(tf.nn.dropout(x, 0.5), x)


def dropout_of_wrong_rate():
    return tf.nn.dropout(tf.ones([2]), 1.5)


def dropout_of_integers():
    return tf.nn.dropout(tf.ones([2], tf.int32), 0.5)


def layers_dropout():
    x = tf.ones([3, 4])
    flag = tf.placeholder_with_default(True, [])
    return [
        tf.layers.dropout(x, training=True),
        tf.layers.dropout(x, 0.2, training=flag),
        tf.layers.dropout(x, 0.5, noise_shape=[1, 4], training=True),
        tf.layers.dropout(x),
        tf.layers.dropout(x, 0.5, seed=3, training=True),
        tf.random_normal([2]),
    ]


def in_a_loop():
    def body(i, total):
        return i + 1, total + tf.random_normal([2])

    return list(
        tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])], parallel_iterations=1)
    ) + [tf.random_normal([2])]


def in_a_branch():
    flag = tf.placeholder_with_default(True, [])
    return [
        tf.cond(flag, lambda: tf.random_normal([2]), lambda: tf.zeros([2])),
        tf.cond(flag, lambda: tf.random_uniform([2]), lambda: tf.random_normal([2])),
        tf.random_normal([2]),
    ]


def in_a_function():
    @tf.contrib.eager.defun
    def made(x):
        return x + tf.random_normal([2]), tf.random_uniform([2])

    return [made(tf.ones([2])), tf.random_normal([2])]


def in_map_fn():
    x = tf.reshape(tf.range(6.0), [3, 2])
    return [
        tf.map_fn(lambda row: row + tf.random_uniform([2]), x, parallel_iterations=1),
        tf.random_normal([2]),
    ]


def in_scan_and_foldl():
    x = tf.range(4.0)
    return [
        tf.scan(lambda a, b: a + b + tf.random_uniform([]), x, parallel_iterations=1),
        tf.foldl(lambda a, b: a + b * tf.random_normal([]), x, parallel_iterations=1),
        tf.foldr(lambda a, b: a - b, x),
        tf.random_normal([2]),
    ]


def in_scopes():
    with tf.name_scope("one"):
        a = tf.random_normal([2])
        with tf.name_scope("two"):
            b = tf.random_uniform([2])
    with tf.variable_scope("three"):
        c = tf.truncated_normal([2])
    return [a, b, c]


def after_control_flow():
    x = tf.placeholder_with_default([1.0, 2.0], [2])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)
    z = tf.case(
        [(tf.reduce_sum(x) > 5, lambda: x), (tf.reduce_sum(x) > 1, lambda: -x)],
        default=lambda: x * 0,
    )
    w = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    return [y, z, w, tf.random_normal([2])]


def after_gradients():
    w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.ones([3, 2]), w)))
    return [tf.gradients(loss, w), tf.random_normal([2])]


def seeds_in_a_loop_of_sessions():
    x, y = tf.random_normal([2]), tf.random_uniform([2])
    found = []
    for _ in range(2):
        with tf.Session() as session:
            found.append([session.run([x, y]), session.run([x, y])])
    return found


def seed_of_an_op_alone():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.random_normal([2], seed=5)
        return [session.run(x), session.run(x)]


def noise_layer():
    x = tf.constant(np.ones((2, 3), "float32"))
    return [
        x + tf.random_normal(tf.shape(x), stddev=0.1),
        x * tf.random_uniform(tf.shape(x)),
        tf.where(tf.random_uniform([2, 3]) < 0.5, x, -x),
        tf.random_normal([2]),
    ]


def distributions():
    d = tf.distributions
    return [
        d.Normal(0.0, 1.0).sample(3),
        d.Bernoulli(probs=0.4).sample(5),
        d.Uniform(0.0, 2.0).sample(2),
        d.Categorical([0.1, 0.2, 0.7]).sample(4),
        d.Gamma(2.0, 1.0).sample(2),
        d.Beta(1.0, 2.0).sample(2),
        d.Exponential(1.0).sample(2),
        d.Laplace(0.0, 1.0).sample(2),
        d.StudentT(3.0, 0.0, 1.0).sample(2),
        d.Dirichlet([1.0, 2.0]).sample(2),
        d.Multinomial(3.0, [1.0, 2.0]).sample(2),
        tf.random_normal([2]),
    ]


def distributions_with_seeds():
    d = tf.distributions
    return [
        d.Normal(0.0, 1.0).sample(3, seed=1),
        d.Bernoulli(probs=0.4).sample(5, seed=2),
        d.Beta(1.0, 2.0).sample(2, seed=3),
        d.Dirichlet([1.0, 2.0]).sample(2, seed=4),
    ]


def distributions_functions():
    d = tf.distributions
    n, m = d.Normal(0.0, 1.0), d.Normal(1.0, 2.0)
    return [
        n.log_prob([0.5]),
        n.cdf(0.3),
        n.entropy(),
        m.mean(),
        m.stddev(),
        m.variance(),
        d.kl_divergence(n, m),
        n.cross_entropy(m),
        m.mode(),
        m.prob(0.0),
        m.quantile(0.3),
        d.Bernoulli(logits=[0.3]).prob(1),
        d.Categorical([[0.1, 0.9]]).entropy(),
        d.Dirichlet([1.0, 2.0]).mean(),
        tf.random_normal([2]),
    ]


def after_arrays():
    x = tf.ones([2, 2])
    found = [tf.lin_space(0.0, 1.0, 3), tf.eye(2), tf.linalg.diag([1.0, 2.0]),
             tf.matrix_diag_part(tf.matrix_set_diag(x, [3.0, 4.0])),
             tf.saturate_cast(x * 300.0, tf.uint8), tf.confusion_matrix([0, 1], [1, 1]),
             tf.tensordot(x, np.ones([2, 3], "float32"), 1)]
    return [found, tf.get_seed(None)[1], [each.name for each in found[:5]]]
