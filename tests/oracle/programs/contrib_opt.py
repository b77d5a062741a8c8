"""The optimizers of tf.contrib.opt, tf.contrib.optimizer_v2 and tf.contrib.mixed_precision."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.opt.python.training import matrix_functions, sign_decay
from tensorflow.contrib.opt.python.training.weight_decay_optimizers import ShampooWOptimizer

SOAK = ("adam_gs", "adam_gs_resource", "adamax_resource", "adamw", "adamw_tensor_decay",
        "add_sign", "agn", "changing_loss_scale_ratios", "elastic_average",
        "extended_adagrad_resource", "extended_gradient_descent", "extended_rmsprop",
        "extension_of_a_program", "external_without_a_method", "lars", "lazy_adam_gs",
        "lazy_adam_resource", "momentumw", "momentumw_nesterov_resource", "moving_average",
        "moving_average_parallel", "moving_average_saved_partitioned", "multitask", "nadam",
        "nadam_resource", "power_sign", "power_sign_decayed", "reg_adagrad",
        "reg_adagrad_resource", "shampoo", "shampoo_diagonal", "shampoo_iterative",
        "shampoo_of_long_dimensions", "shampoo_options", "shampoow", "sign_decays", "v2_adadelta",
        "v2_adagrad", "v2_adam", "v2_adam_resource", "v2_gradient_descent", "v2_momentum",
        "v2_rmsprop", "v2_rmsprop_centered")

_O = tf.contrib.opt
_V2 = tf.contrib.optimizer_v2
_M = tf.contrib.mixed_precision


def _variables(resource=False):
    dense = tf.get_variable("dense", initializer=np.array([[1., -2.], [3., 0.5]], "float32"),
                            use_resource=resource)
    table = tf.get_variable("table", initializer=np.arange(1., 9.).reshape(4, 2).astype("float32"),
                            use_resource=resource)
    return dense, table


def _loss(dense, table):
    rows = tf.nn.embedding_lookup(table, [1, 3, 1])
    return (tf.reduce_sum(tf.square(dense) * [[1., 2.], [-1., 0.5]])
            + tf.reduce_sum(tf.square(rows) * [[1., -1.], [0.5, 2.], [3., 1.]]))


def _steady(dense, table):
    """Returns a loss whose gradients are the same whether a decay comes before or after them.

    TensorFlow 1.15 does not say which of them comes first.
    """
    rows = tf.nn.embedding_lookup(table, [1, 3, 1])
    return (tf.reduce_sum(dense * [[1., 2.], [-1., 0.5]])
            + tf.reduce_sum(rows * [[1., -1.], [0.5, 2.], [3., 1.]]))


def _trained(make, resource=False, steps=3, after=None, loss=_loss, **options):
    """Returns all variables after some steps on a dense variable and rows of a table."""
    dense, table = _variables(resource)
    step = tf.train.get_or_create_global_step()
    optimizer = make()
    train = optimizer.minimize(loss(dense, table), global_step=step, **options)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(steps):
            session.run(train)
        found = {each.op.name: session.run(each) for each in tf.global_variables()}
        found["slots"] = optimizer.get_slot_names() if after is None else after(session)
        return found


def adamw():
    return _trained(lambda: _O.AdamWOptimizer(0.1, 0.01), loss=_steady)


def adamw_resource():
    return _trained(lambda: _O.AdamWOptimizer(weight_decay=0.1, learning_rate=0.01), True,
                    loss=_steady)


def adamw_tensor_decay():
    return _trained(lambda: _O.AdamWOptimizer(tf.constant(0.05), name="Mine"), loss=_steady)


def adamw_only_some_minimize():
    dense, table = _variables()
    train = _O.AdamWOptimizer(0.1).minimize(_steady(dense, table), decay_var_list=[dense])
    with tf.control_dependencies([train]):
        return [dense.read_value(), table.read_value()]


def adamw_only_some_apply():
    dense, table = _variables()
    optimizer = _O.AdamWOptimizer(0.1)
    train = optimizer.apply_gradients(optimizer.compute_gradients(_steady(dense, table)),
                                      decay_var_list=[dense])
    with tf.control_dependencies([train]):
        return [dense.read_value(), table.read_value()]


def momentumw():
    return _trained(lambda: _O.MomentumWOptimizer(0.1, 0.01, 0.9), loss=_steady)


def momentumw_nesterov_resource():
    return _trained(lambda: _O.MomentumWOptimizer(0.1, 0.01, 0.9, use_nesterov=True), True,
                    loss=_steady)


def extended_gradient_descent():
    optimizer = _O.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    return _trained(lambda: optimizer(0.1, learning_rate=0.01), loss=_steady)


def extended_adagrad_resource():
    optimizer = _O.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
    return _trained(lambda: optimizer(weight_decay=0.1, learning_rate=0.01), True,
                    loss=_steady)


def extended_rmsprop():
    optimizer = _O.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer)
    return _trained(lambda: optimizer(weight_decay=0.1, learning_rate=0.01), loss=_steady)


def extension_of_a_program():
    class Mine(_O.DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
        def __init__(self, weight_decay, *args, **kwargs):
            super(Mine, self).__init__(weight_decay, *args, **kwargs)

    return _trained(lambda: Mine(0.1, learning_rate=0.01, momentum=0.9, name="Mine"), loss=_steady)


def shampoow():
    return _trained(lambda: ShampooWOptimizer(0.1, tf.train.get_global_step(),
                                              learning_rate=0.1), loss=_steady)


def lazy_adam():
    return _trained(lambda: _O.LazyAdamOptimizer(0.01))


def lazy_adam_resource():
    return _trained(lambda: _O.LazyAdamOptimizer(0.01), True)


def adam_gs():
    return _trained(lambda: _O.AdamGSOptimizer(tf.train.get_global_step(), 0.01))


def adam_gs_resource():
    return _trained(lambda: _O.AdamGSOptimizer(tf.train.get_global_step(), 0.01), True)


def lazy_adam_gs():
    return _trained(lambda: _O.LazyAdamGSOptimizer(tf.train.get_global_step(), 0.01))


def adamax():
    return _trained(lambda: _O.AdaMaxOptimizer(0.01))


def adamax_resource():
    return _trained(lambda: _O.AdaMaxOptimizer(0.01), True)


def nadam():
    return _trained(lambda: _O.NadamOptimizer(0.01))


def nadam_resource():
    return _trained(lambda: _O.NadamOptimizer(0.01), True)


def reg_adagrad():
    return _trained(lambda: _O.RegAdagradOptimizer(0.1))


def reg_adagrad_resource():
    return _trained(lambda: _O.RegAdagradOptimizer(0.1, 0.2), True)


def reg_adagrad_without_slots():
    dense, table = _variables()
    optimizer = _O.RegAdagradOptimizer(0.1)
    with optimizer.avoid_updating_slots():
        train = optimizer.minimize(_loss(dense, table))
    with tf.control_dependencies([train]):
        return [dense.read_value(), table.read_value(),
                optimizer.get_slot(dense, "accumulator").read_value(),
                optimizer.get_slot(table, "accumulator").read_value()]


def lars():
    return _trained(lambda: _O.LARSOptimizer(0.1))


def lars_resource_nesterov_skipped():
    return _trained(lambda: _O.LARSOptimizer(0.1, 0.8, skip_list=["dense"], use_nesterov=True,
                                             epsilon=1e-3), True)


def lars_negative_momentum():
    _O.LARSOptimizer(0.1, momentum=-1.)


def add_sign():
    return _trained(lambda: _O.AddSignOptimizer(0.1))


def add_sign_decayed():
    return _trained(lambda: _O.AddSignOptimizer(
        0.1, alpha=0.5, sign_decay_fn=sign_decay.get_linear_decay_fn(5)))


def power_sign():
    return _trained(lambda: _O.PowerSignOptimizer(0.1))


def power_sign_decayed():
    return _trained(lambda: _O.PowerSignOptimizer(
        0.1, base=2., sign_decay_fn=sign_decay.get_cosine_decay_fn(5)))


def power_sign_without_a_step():
    dense, table = _variables()
    _O.PowerSignOptimizer(0.1, sign_decay_fn=sign_decay.get_cosine_decay_fn(5)).minimize(
        _loss(dense, table))


def sign_decays():
    decay = sign_decay
    functions = [decay.get_linear_decay_fn(10), decay.get_cosine_decay_fn(10),
                 decay.get_cosine_decay_fn(10, num_periods=3, zero_after=2),
                 decay.get_restart_decay_fn(10, num_periods=2),
                 decay.get_restart_decay_fn(10, num_periods=5, zero_after=3)]
    return [[function(tf.constant(step)) for step in (0, 1, 3, 5, 8, 10, 12)]
            for function in functions]


def moving_average():
    return _trained(lambda: _O.MovingAverageOptimizer(
        tf.train.MomentumOptimizer(0.01, 0.9), average_decay=0.5), after=lambda session: None)


def moving_average_parallel():
    step = tf.train.get_or_create_global_step()
    return _trained(lambda: _O.MovingAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.01), 0.9, num_updates=step,
        sequential_update=True), True, after=lambda session: None)


def moving_average_saved():
    dense, table = _variables()
    optimizer = _O.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.01), 0.5)
    train = optimizer.minimize(_loss(dense, table))
    saver, folder = optimizer.swapping_saver(), tempfile.mkdtemp()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        path = saver.save(session, os.path.join(folder, "model"))
        reader = tf.train.load_checkpoint(path)
        return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def moving_average_saved_partitioned():
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable("t", initializer=np.arange(8.).reshape(4, 2).astype("float32"))
    optimizer = _O.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.5)
    train = optimizer.minimize(tf.reduce_sum(tf.square(tf.convert_to_tensor(table))))
    saver, folder = optimizer.swapping_saver(), tempfile.mkdtemp()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = saver.save(session, os.path.join(folder, "model"))
        reader = tf.train.load_checkpoint(path)
        return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def moving_average_saver_too_soon():
    _O.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.01)).swapping_saver()


def moving_average_saver_lacks_a_variable():
    dense, table = _variables()
    optimizer = _O.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.01))
    optimizer.minimize(_loss(dense, table))
    optimizer.swapping_saver([dense])


def variable_clipping():
    dense, table = _variables()
    optimizer = _O.VariableClippingOptimizer(
        tf.train.GradientDescentOptimizer(0.01), {dense: [0], table: [1]}, 2.)
    train = optimizer.minimize(_loss(dense, table))
    with tf.control_dependencies([train]):
        return [dense.read_value(), table.read_value()]


def variable_clipping_of_all_rows():
    dense, table = _variables(True)
    optimizer = _O.VariableClippingOptimizer(
        tf.train.GradientDescentOptimizer(0.01), {table: [0]}, 2.,
        colocate_clip_ops_with_vars=True)
    train = optimizer.minimize(_loss(dense, table))
    with tf.control_dependencies([train]):
        return [dense.read_value(), table.read_value()]


def drop_stale():
    return _trained(lambda: _O.DropStaleGradientOptimizer(
        tf.train.MomentumOptimizer(0.01, 0.9), staleness=0))


def drop_stale_gradients_of_an_old_step():
    dense, table = _variables()
    step = tf.train.get_or_create_global_step()
    optimizer = _O.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.01), -1)
    train = optimizer.minimize(_loss(dense, table), global_step=step)
    with tf.control_dependencies([train]):
        return [train, dense.read_value(), step.read_value()]


def multitask():
    wrapper = _O.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))
    a, b = tf.get_variable("a", initializer=[1., 2.]), tf.get_variable("b", initializer=[3., 4.])
    task = tf.placeholder(tf.float32, [])
    train = wrapper.minimize(tf.reduce_sum(task * a + (1. - task) * tf.square(b)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for value in (1., 0., 0., 1.):
            session.run(train, {task: value})
            found.append(session.run(tf.global_variables()))
        return found


def multitask_of_something_else():
    _O.MultitaskOptimizerWrapper(3)


def clipped_by_the_norm_of_what_is_not_zero():
    a, b, c = (tf.get_variable(name, initializer=[1., 2.]) for name in "abc")
    pairs, norm = _O.clip_gradients_by_global_norm(
        [(tf.constant([3., 4.]), a), (tf.constant([0., 0.]), b), (None, c)], clip_norm=2.)
    return [pairs[0][0], pairs[1][0], pairs[2][0], norm]


def shampoo():
    return _trained(lambda: _O.ShampooOptimizer(tf.train.get_global_step(), learning_rate=0.1))


def shampoo_options():
    return _trained(lambda: _O.ShampooOptimizer(
        tf.train.get_global_step(), gbar_decay=0.5, gbar_weight=0.5, mat_gbar_decay=0.9,
        mat_gbar_weight=0.1, learning_rate=lambda step: 0.1 / step, svd_interval=2, epsilon=1e-3),
        steps=4)


def shampoo_of_long_dimensions():
    return _trained(lambda: _O.ShampooOptimizer(
        tf.train.get_global_step(), max_matrix_size=3, learning_rate=0.1), True)


def shampoo_diagonal():
    return _trained(lambda: _O.ShampooOptimizer(
        tf.train.get_global_step(), max_matrix_size=1, learning_rate=0.1, gbar_decay=0.9,
        mat_gbar_decay=0.9))


def shampoo_iterative():
    return _trained(lambda: _O.ShampooOptimizer(
        tf.train.get_global_step(), learning_rate=0.1, use_iterative_root=True))


def matrix_roots():
    functions = matrix_functions
    matrix = tf.constant([[4., 1., 0.], [1., 3., 0.5], [0., 0.5, 2.]])
    return [functions.matrix_square_root(matrix, 3),
            functions.matrix_inverse_pth_root(matrix, 3, -0.25),
            functions.matrix_inverse_pth_root(tf.constant([[4.]]), 1, -0.5)]


def ggt():
    dense = tf.get_variable("dense", initializer=[1., -2., 3.])
    other = tf.get_variable("a/other", initializer=[[0.5, 1.]])
    train = _O.GGTOptimizer(0.1, window=3, svd_eps=1e-2).minimize(
        tf.reduce_sum(tf.square(dense)) + tf.reduce_sum(other * [[1., 2.]]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(train)
        return {each.op.name: session.run(each) for each in tf.global_variables()}


def external_without_a_method():
    a = tf.get_variable("a", initializer=1.)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _O.ExternalOptimizerInterface(tf.square(a)).minimize(session)


def external():
    class Steps(_O.ExternalOptimizerInterface):
        def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs,
                      inequality_funcs, inequality_grad_funcs, packed_bounds, step_callback,
                      optimizer_kwargs):
            x = initial_val
            for _ in range(optimizer_kwargs["steps"]):
                loss, grad = loss_grad_func(x)
                x = x - 0.1 * grad
                step_callback(x)
            self.seen = [loss, [each(x) for each in equality_funcs + equality_grad_funcs],
                         [each(x) for each in inequality_funcs], packed_bounds]
            return x

    a = tf.get_variable("a", initializer=[1., 2.])
    b = tf.get_variable("b", initializer=[[3.]])
    fed = tf.placeholder(tf.float32, [])
    loss = tf.reduce_sum(tf.square(a)) + fed * tf.reduce_sum(b)
    optimizer = Steps(loss, equalities=[tf.reduce_sum(a) - 1.], inequalities=[a[0] - 0.5],
                      var_to_bounds={a: ([-1., 0.], np.inf)}, steps=3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses, points = [], []
        optimizer.minimize(session, {fed: 2.}, [loss], points.append,
                           lambda value: losses.append(float(value)))
        return [session.run([a, b]), losses, points, optimizer.seen]


class _Single(object):
    """The one worker of three optimizers."""

    def __init__(self, getter, make):
        self._getter, self._make = getter, make

    def trained(self, steps=4):
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("", custom_getter=self._getter):
            a = tf.get_variable("a", initializer=tf.constant([1., 2.]))
            frozen = tf.get_variable("frozen", initializer=tf.constant(0.5), trainable=False,
                                     collections=[tf.GraphKeys.GLOBAL_VARIABLES])
        optimizer = self._make(self._getter)
        loss = tf.reduce_sum(tf.square(a) * frozen)
        train = optimizer.apply_gradients(optimizer.compute_gradients(loss), step)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            hook = (optimizer.make_session_run_hook() if isinstance(
                optimizer, _O.ModelAverageOptimizer) else optimizer.make_session_run_hook(True, 0))
            hook.begin()
            session.run(hook._variable_init_op)
            for _ in range(steps):
                session.run(train)
            everything = tf.global_variables() + tf.local_variables()
            return {"global": sorted(each.op.name for each in tf.global_variables()),
                    "values": {each.op.name: session.run(each) for each in everything}}


def elastic_average():
    return _Single(_O.ElasticAverageCustomGetter(""), lambda getter: _O.ElasticAverageOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), 1, getter, communication_period=3)).trained()


def elastic_average_by_rates():
    return _Single(_O.ElasticAverageCustomGetter(""), lambda getter: _O.ElasticAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 2, getter, communication_period=2,
        moving_rate=0.25, rho=0.5)).trained()


def agn():
    return _Single(_O.AGNCustomGetter(""), lambda getter: _O.AGNOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), 1, getter, communication_period=3)).trained()


def model_average():
    return _Single(_O.ModelAverageCustomGetter(""), lambda getter: _O.ModelAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 1, True, getter, interval_steps=3)).trained()


def model_average_without_a_step():
    getter = _O.ModelAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter):
        a = tf.get_variable("a", initializer=tf.constant([1., 2.]))
    _O.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, True, getter).minimize(
        tf.reduce_sum(a))


def v2_adam():
    return _trained(lambda: _V2.AdamOptimizer(0.01))


def v2_adam_resource():
    return _trained(lambda: _V2.AdamOptimizer(lambda: 0.01), True)


def v2_adadelta():
    return _trained(lambda: _V2.AdadeltaOptimizer(0.1))


def v2_adagrad():
    return _trained(lambda: _V2.AdagradOptimizer(0.1))


def v2_gradient_descent():
    return _trained(lambda: _V2.GradientDescentOptimizer(0.01), scale_loss_by_num_replicas=True)


def v2_momentum():
    return _trained(lambda: _V2.MomentumOptimizer(0.01, 0.9, use_nesterov=True))


def v2_rmsprop():
    return _trained(lambda: _V2.RMSPropOptimizer(0.01, momentum=0.5))


def v2_rmsprop_centered():
    return _trained(lambda: _V2.RMSPropOptimizer(0.01, centered=True), True)


def v2_stopped_gradients():
    a = tf.get_variable("a", initializer=2.)
    square = tf.square(a)
    pairs = _V2.GradientDescentOptimizer(0.1).compute_gradients(
        square * a, stop_gradients=[square])
    return [grad for grad, _ in pairs]


def v2_without_gradients():
    a = tf.get_variable("a", initializer=2.)
    _V2.GradientDescentOptimizer(0.1).minimize(tf.constant(1.), var_list=[a])


def v2_of_a_program():
    class Mine(_V2.OptimizerV2):
        def __init__(self, rate):
            super(Mine, self).__init__(False, "Mine")
            self._set_hyper("rate", rate)

        def _create_vars(self, var_list, state):
            state.create_non_slot(tf.constant(1.), "count")
            for each in var_list:
                state.zeros_slot(each, "sum")

        def _apply_dense(self, grad, var, state):
            total = tf.assign_add(state.get_slot(var, "sum"), grad)
            return tf.assign_sub(var, state.get_hyper("rate", var.dtype.base_dtype) * total)

        def _finish(self, state):
            return tf.assign_add(state.get_non_slot("count"), 1.)

    a = tf.get_variable("a", initializer=[1., 2.])
    optimizer = Mine(0.1)
    train = optimizer.minimize(tf.reduce_sum(tf.square(a)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        return [session.run({each.op.name: each for each in optimizer.variables()}),
                optimizer.get_slot_names(), session.run(a)]


def _scaled(manager, values):
    a = tf.get_variable("a", initializer=1.)
    x = tf.placeholder(tf.float32, [])
    optimizer = _M.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager())
    train = optimizer.minimize(x * a)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for value in values:
            session.run(train, {x: value})
            found.append(session.run(tf.global_variables()))
        return found


def fixed_loss_scale():
    return _scaled(lambda: _M.FixedLossScaleManager(128.), [1., np.inf, 2.])


def changing_loss_scale():
    return _scaled(lambda: _M.ExponentialUpdateLossScaleManager(8., 2), [
        1., 1., 1., np.nan, 1., np.inf, 1., 1., 1.])


def changing_loss_scale_ratios():
    return _scaled(lambda: _M.ExponentialUpdateLossScaleManager(
        8., 1, decr_every_n_nan_or_inf=1, incr_ratio=3., decr_ratio=0.1), [1., np.nan, np.nan, 1.])


def loss_scale_below_one():
    _M.FixedLossScaleManager(0.5)


def clipped_by_the_estimators_norm():
    dense, table = _variables()
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(
        tf.train.AdagradOptimizer(0.1), 1.)
    train = optimizer.minimize(_loss(dense, table))
    with tf.control_dependencies([train]):
        return [dense.read_value(), table.read_value(), optimizer.get_name(),
                optimizer.get_slot_names(), optimizer.get_slot(dense, "accumulator").op.name]
