"""tf.contrib.opt and tf.contrib.optimizer_v2: rare methods, optimizers of a program, mistakes."""

import os
import tempfile

from _ended import error as _error
import tensorflow as tf

_O = tf.contrib.opt
_V2 = tf.contrib.optimizer_v2
_M = tf.contrib.mixed_precision
SOAK = (
    "swapped_averages", "swapped_centers", "workers_wait", "shampoo_of_one_number",
    "wrapped_optimizers", "ggt_keeps", "moving_average_of_parts", "scaled_sparse_gradients",
    "unfinished_optimizers", "v2_losses", "v2_slots", "own_optimizer",
    "own_optimizer_of_resources", "again_in_a_scope")


class _Own(_V2.OptimizerV2 if hasattr(_V2, "OptimizerV2") else object):
    """An optimizer of a program, with slots of all kinds."""

    def __init__(self, rate=.1, name="Own"):
        super(_Own, self).__init__(False, name)
        self._set_hyper("rate", rate)

    def _create_vars(self, var_list, state):
        for var in var_list:
            state.create_slot(var, tf.ones_like(var.initialized_value()) * 2., "twos")
            state.create_slot_with_initializer(var, tf.zeros_initializer(), tf.TensorShape([2]),
                                               tf.float32, "pair")
            state.zeros_slot(var, "zeros")
        state.create_non_slot(3., "count")

    def _step(self, grad, var, state):
        rate = state.get_hyper("rate", var.dtype.base_dtype)
        return var.assign_sub(rate * grad * state.get_slot(var, "twos"))

    def _apply_dense(self, grad, var, state):
        return self._step(grad, var, state)

    def _resource_apply_dense(self, grad, var, state):
        return self._step(grad, var, state)

    def _finish(self, state):
        return state.get_non_slot("count").assign_add(1.)


def _names():
    return sorted(each.op.name for each in tf.global_variables())


def _own(resource):
    var = tf.get_variable("a", initializer=[1., 2.], use_resource=resource)
    optimizer = _Own()
    train = optimizer.minimize(tf.reduce_sum(tf.square(var)))
    with tf.control_dependencies([train]):
        after = var.read_value()
    return [after, optimizer.get_slot_names(), optimizer.get_slot(var, "twos"),
            optimizer.get_slot(var, "pair"), optimizer.get_slot(var, "zeros"),
            sorted(each.op.name for each in optimizer.variables()), optimizer.get_name(),
            optimizer.get_slot(var, "other") is None]


def own_optimizer():
    return _own(False)


def own_optimizer_of_resources():
    return _own(True)


def unfinished_optimizers():
    class Bare(_V2.OptimizerV2 if hasattr(_V2, "OptimizerV2") else object):
        pass

    class Old(Bare):
        def _create_slots(self, var_list):
            pass

    plain = tf.get_variable("plain", initializer=[1., 2.], use_resource=False)
    table = tf.get_variable("table", initializer=[[1.], [2.]], use_resource=True)
    old = tf.get_variable("old", initializer=[[1.], [2.]], use_resource=False)

    def rows(var):
        return tf.reduce_sum(tf.nn.embedding_lookup(var, [0]))

    return [_error(lambda: Bare(False, "bare").minimize(tf.reduce_sum(plain))),
            _error(lambda: Bare(False, "bare").minimize(rows(table))),
            _error(lambda: Bare(False, "bare").minimize(tf.reduce_sum(table))),
            _error(lambda: Bare(False, "bare").minimize(rows(old))),
            _error(lambda: Old(False, "old"))]


def v2_losses():
    var = tf.get_variable("a", initializer=[1., 2.], use_resource=True)
    optimizer = _V2.GradientDescentOptimizer(.1)
    loss = tf.reduce_sum(tf.square(var))
    return [optimizer.compute_gradients(loss, scale_loss_by_num_replicas=True)[0][0],
            optimizer.compute_gradients(loss, [var], scale_loss_by_num_replicas=False)[0][0],
            _error(lambda: optimizer.minimize(tf.constant(1.))),
            _error(lambda: optimizer.compute_gradients(lambda: loss)),
            optimizer.compute_gradients(loss * var[0], stop_gradients=[var[0]])[0][0] is None]


def v2_slots():
    var = tf.get_variable("a", initializer=[1., 2.])
    optimizer = _V2.MomentumOptimizer(.1, .9)
    train = optimizer.minimize(tf.reduce_sum(tf.square(var)))
    with tf.control_dependencies([train]):
        return [tf.identity(optimizer.get_slot(var, "momentum")), optimizer.get_slot_names(),
                [each.op.name for each in optimizer.variables()]]


def wrapped_optimizers():
    def one(make, **options):
        with tf.Graph().as_default():
            var = tf.get_variable("a", initializer=[1., 2.])
            optimizer = make(tf.train.MomentumOptimizer(.1, .9))
            optimizer.minimize(tf.reduce_sum(tf.square(var)),
                               **{key: make() for key, make in options.items()})
            return [optimizer.get_slot(var, "momentum").op.name, optimizer.get_slot_names(),
                    sorted(each.op.name for each in optimizer.variables())]

    return [one(_O.MultitaskOptimizerWrapper),
            one(lambda opt: _O.VariableClippingOptimizer(opt, {}, 1.)),
            one(lambda opt: _O.DropStaleGradientOptimizer(opt, 1),
                global_step=tf.train.get_or_create_global_step)]


def scaled_sparse_gradients():
    table = tf.get_variable("table", initializer=[[1.], [2.], [3.]])
    optimizer = _M.LossScaleOptimizer(tf.train.GradientDescentOptimizer(.1),
                                      _M.FixedLossScaleManager(8.))
    grads = optimizer.compute_gradients(tf.reduce_sum(tf.square(tf.gather(table, [0, 2, 0]))))
    train = optimizer.apply_gradients(grads)
    with tf.control_dependencies([train]):
        return [grads[0][0], table.read_value()]


def ggt_keeps():
    var = tf.get_variable("a", initializer=[1., 2.])
    optimizer = _O.GGTOptimizer(.1, window=2)
    train = optimizer.minimize(tf.reduce_sum(tf.square(var)))
    with tf.control_dependencies([train]):
        return [tf.identity(optimizer._get_moment1()), tf.identity(optimizer._get_flat_grad()),
                tf.identity(optimizer._get_grad_buffer())]


def shampoo_of_one_number():
    var = tf.get_variable("a", initializer=[[2.]])
    train = _O.ShampooOptimizer(learning_rate=.1).minimize(tf.reduce_sum(tf.square(var)))
    with tf.control_dependencies([train]):
        return var.read_value()


def averages_without_variables():
    step, opt = tf.train.get_or_create_global_step(), tf.train.GradientDescentOptimizer(.1)
    elastic, agn, mean = (_O.ElasticAverageCustomGetter(""), _O.AGNCustomGetter(""),
                          _O.ModelAverageCustomGetter(""))
    average = _O.ModelAverageOptimizer(opt, 1, True, mean)
    return [_error(lambda: _O.ElasticAverageOptimizer(opt, 1, elastic).get_init_op(0)),
            _error(lambda: _O.ElasticAverageOptimizer(opt, 1, elastic).swapping_saver()),
            _error(lambda: _O.AGNOptimizer(opt, 1, agn).get_init_op()),
            _error(lambda: average.apply_gradients([], step)), _error(average.get_init_op)]


def _trained_and_saved(session, optimizer, train):
    """Returns what a checkpoint holds after one step, averages in the variables' places."""
    saver, path = optimizer.swapping_saver(), os.path.join(tempfile.mkdtemp(), "model")
    session.run(tf.global_variables_initializer())
    session.run(train)
    saver.save(session, path)
    reader = tf.train.load_checkpoint(path)
    return {name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())}


def swapped_averages():
    var = tf.get_variable("a", initializer=[1., 2.])
    other = tf.get_variable("other", initializer=3., trainable=False)
    optimizer = _O.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(.1), .5)
    early = _error(optimizer.swapping_saver)
    train = optimizer.minimize(tf.reduce_sum(tf.square(var)))
    with tf.Session() as session:
        return [early, _trained_and_saved(session, optimizer, train), session.run([var, other]),
                _error(lambda: optimizer.swapping_saver([other]))]


def moving_average_of_parts():
    var = tf.get_variable("a", [4, 1], initializer=tf.ones_initializer(),
                          partitioner=tf.fixed_size_partitioner(2))
    optimizer = _O.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(.1), .5)
    train = optimizer.minimize(tf.reduce_sum(tf.square(tf.convert_to_tensor(var))))
    with tf.Session() as session:
        return _trained_and_saved(session, optimizer, train)


def swapped_centers():
    getter = _O.ElasticAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        var = tf.get_variable("a", initializer=tf.constant([1., 2.]))
    optimizer = _O.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(.1), 1, getter,
                                           communication_period=2)
    train = optimizer.apply_gradients(optimizer.compute_gradients(
        tf.reduce_sum(tf.square(var))), tf.train.get_or_create_global_step())
    hook, folder = optimizer.make_session_run_hook(True, 0), tempfile.mkdtemp()
    hook.begin()
    savers = [optimizer.swapping_saver(), optimizer.swapping_saver([var]),
              optimizer.swapping_saver({"mine": var})]
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        hook.after_create_session(session, None)
        for _ in range(3):
            session.run(train)
        for index, saver in enumerate(savers):
            saver.save(session, os.path.join(folder, str(index)))
            reader = tf.train.load_checkpoint(os.path.join(folder, str(index)))
            found.append({name: reader.get_tensor(name)
                          for name in sorted(reader.get_variable_to_shape_map())})
        found.append(session.run(var))
    return found


def workers_wait():
    getter = _O.ElasticAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        var = tf.get_variable("a", initializer=tf.constant([1., 2.]))
    optimizer = _O.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(.1), 2, getter,
                                           synchronous=True)
    first, second = optimizer.get_init_op(0), optimizer.get_init_op(1)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([first, second])
        return [session.run(var), sorted(
            op.get_attr("shared_name") for op in tf.get_default_graph().get_operations()
            if op.type == "FIFOQueueV2")]


def again_in_a_scope():
    found = []
    for getter in (_O.ElasticAverageCustomGetter(""), _O.AGNCustomGetter(""),
                   _O.ModelAverageCustomGetter("")):
        with tf.variable_scope(type(getter).__name__, custom_getter=getter):
            first = tf.get_variable("a", initializer=tf.constant([1., 2.]))
        with tf.variable_scope(type(getter).__name__, custom_getter=getter, reuse=True):
            found.append(tf.get_variable("a", shape=[2]) is first)
    return [found, sorted(each.op.name for each in tf.local_variables())]
