"""tf.train's optimizers, decays and the operations that they leave before a later random op."""

import tensorflow as tf

SOAK = (
    "adadelta", "adagrad", "adagrad_da", "adam", "adam_options", "decays", "ftrl",
    "gradient_descent", "gradients", "momentum", "nesterov", "of_a_decayed_rate", "proximal",
    "proximal_adagrad", "rmsprop", "rmsprop_centered", "two_optimizers",
    "numbers_of_operations",)


def _trained(optimizer, steps=3):
    w = tf.get_variable("w", [2, 2])
    table = tf.get_variable("table", [4, 2])
    rows = tf.nn.embedding_lookup(table, [1, 1, 3])
    loss = tf.reduce_mean(tf.square(tf.matmul(rows, w) - 1.0))
    later = tf.get_variable("later", [2])
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(steps)]
        return losses + session.run([w, table, later, tf.train.get_global_step()])


def gradient_descent():
    return _trained(tf.train.GradientDescentOptimizer(0.1))


def momentum():
    return _trained(tf.train.MomentumOptimizer(0.1, 0.9))


def nesterov():
    return _trained(tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True))


def adam():
    return _trained(tf.train.AdamOptimizer(0.1))


def adam_options():
    return _trained(tf.train.AdamOptimizer(0.1, 0.5, 0.9, 1e-3, name="Mine"))


def adagrad():
    return _trained(tf.train.AdagradOptimizer(0.1))


def adagrad_da():
    return _trained(tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()))


def adadelta():
    return _trained(tf.train.AdadeltaOptimizer(1.0))


def rmsprop():
    return _trained(tf.train.RMSPropOptimizer(0.1))


def rmsprop_centered():
    return _trained(tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True))


def ftrl():
    return _trained(tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01))


def proximal():
    return _trained(tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01))


def proximal_adagrad():
    return _trained(tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.1))


def of_a_decayed_rate():
    step = tf.train.get_or_create_global_step()
    return _trained(tf.train.AdamOptimizer(tf.train.exponential_decay(0.1, step, 2, 0.5)))


def decays():
    step = tf.constant(7)
    t = tf.train
    return [
        t.exponential_decay(0.1, step, 3, 0.5),
        t.exponential_decay(0.1, step, 3, 0.5, True),
        t.piecewise_constant(step, [3, 6], [1.0, 2.0, 3.0]),
        t.polynomial_decay(1.0, step, 10, 0.1, 2.0),
        t.polynomial_decay(1.0, step, 3, 0.1, cycle=True),
        t.natural_exp_decay(1.0, step, 3, 0.5),
        t.inverse_time_decay(1.0, step, 3, 0.5),
        t.cosine_decay(1.0, step, 10),
        t.cosine_decay_restarts(1.0, step, 4),
        t.linear_cosine_decay(1.0, step, 10),
    ]


def noisy_decay():
    return [
        tf.train.noisy_linear_cosine_decay(1.0, tf.constant(7), 10),
        tf.train.linear_cosine_decay(1.0, tf.constant(7), 10), tf.random_normal([2])]


def clipped():
    w = tf.get_variable("w", [3])
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(tf.reduce_sum(w * w * 10.0))
    gradients, norm = tf.clip_by_global_norm([pair[0] for pair in pairs], 1.0)
    train = optimizer.apply_gradients(zip(gradients, [pair[1] for pair in pairs]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([norm, train])[0] for _ in range(3)] + [session.run(w), train.name]


def clips():
    x = tf.constant([-3.0, 1.0, 4.0])
    return [
        tf.clip_by_value(x, -1.0, 2.0),
        tf.clip_by_norm(x, 2.0),
        tf.clip_by_average_norm(x, 1.0),
        tf.clip_by_global_norm([x, x], 3.0),
        tf.global_norm([x, x]),
        tf.random_normal([2]),
    ]


def slots():
    w = tf.get_variable("w", [2])
    optimizer = tf.train.AdamOptimizer()
    train = optimizer.minimize(tf.reduce_sum(w**2))
    return [
        optimizer.get_slot_names(),
        optimizer.get_slot(w, "m").name,
        optimizer.get_name(),
        [v.name for v in optimizer.variables()],
        train.name,
    ]


def gradients():
    x = tf.Variable([1.0, 2.0])
    y = tf.reduce_sum(x**3)
    first = tf.gradients(y, x)
    return [
        first,
        tf.gradients(first, x),
        tf.hessians(y, x),
        tf.gradients([y, y], [x], [2.0, 3.0]),
        tf.gradients(y * 2, [x, y]),
        tf.gradients(y, tf.constant(1.0)),
    ]


def stopped_gradients():
    x = tf.Variable(2.0)
    a = tf.stop_gradient(x * x)
    b = x * 3
    return [tf.gradients(a * x, x), tf.gradients(b * x, x, stop_gradients=[b])]


def accumulated():
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    total = tf.Variable(tf.zeros([2]), trainable=False)
    gradient = tf.gradients(tf.reduce_sum(w * [1.0, 2.0]), w)[0]
    add = total.assign_add(gradient)
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(total, w)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(add)
        session.run(add)
        session.run(train)
        return session.run([w, total])


def without_gradients():
    tf.get_variable("w", [2])
    return tf.train.AdamOptimizer().minimize(tf.constant(1.0))


def two_optimizers():
    a, b = tf.get_variable("a", [2]), tf.get_variable("b", [2])
    loss = tf.reduce_sum((a - b) ** 2)
    one = tf.train.AdagradOptimizer(0.1).minimize(loss, var_list=[a])
    two = tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=[b])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([one, two])
        session.run([one, two])
        return session.run([a, b])


def numbers_of_operations():
    found = {}
    for name, rate in (("Ftrl", 0.1), ("GradientDescent", 0.1), ("GradientDescent", tf.constant)):
        for resource in (False, True):
            with tf.Graph().as_default(), tf.variable_scope("s", use_resource=resource):
                tf.set_random_seed(7)
                rows = tf.nn.embedding_lookup(tf.get_variable("table", [4, 2]), [1, 3])
                kind = getattr(tf.train, name + "Optimizer")
                optimizer = kind(rate if isinstance(rate, float) else rate(0.1))
                gradients = optimizer.compute_gradients(rows * tf.get_variable("scale", [2]))
                before = tf.get_seed(None)[1]
                optimizer.apply_gradients(gradients)
                case = "{} {} {}".format(name, resource, callable(rate))
                found[case] = tf.get_seed(None)[1] - before
    return found
