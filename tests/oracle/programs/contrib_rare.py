"""Packages of tf.contrib that few programs use: model_pruning, grid_rnn, bayesflow and others."""

import tempfile

from _ended import errors as _errors
import numpy as np
import tensorflow as tf

SOAK = ("grid_cells", "grid_cells_over_time", "masked_cells", "masked_layers", "masks_of_blocks",
        "networks_of_learn", "players_of_constraints", "stripped_of_masks")
contrib = tf.contrib


def _numbers(*shape):
    return tf.constant(np.random.RandomState(6).randn(*shape).astype("f"))


def masked_layers():
    pruning = contrib.model_pruning
    dense = pruning.masked_fully_connected(_numbers(2, 4), 3, scope="fc")
    images = pruning.masked_conv2d(_numbers(1, 4, 4, 1), 2, 3,
                                   normalizer_fn=contrib.layers.layer_norm)
    deep = pruning.masked_fully_connected(_numbers(2, 3, 4), 2, activation_fn=None,
                                          variables_collections={"weights": ["mine"]})
    return [dense, images, deep] + [[each.op.name for each in found] for found in (
        pruning.get_masks(), pruning.get_thresholds(), pruning.get_masked_weights(),
        pruning.get_weights(), tf.get_collection("mine"), contrib.framework.get_model_variables())]


def masked_cells():
    basic, _ = tf.nn.dynamic_rnn(contrib.model_pruning.MaskedBasicLSTMCell(3), _numbers(2, 3, 4),
                                 dtype=tf.float32)
    cell = contrib.model_pruning.MaskedLSTMCell(3, use_peepholes=True, cell_clip=.5)
    outputs, _ = tf.nn.dynamic_rnn(cell, _numbers(2, 3, 4), dtype=tf.float32, scope="peep")
    return [basic, outputs] + tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables()[2:])


def _pruning(options):
    spec = contrib.model_pruning.get_pruning_hparams().parse(
        "pruning_frequency=1,sparsity_function_end_step=2," + options)
    step = tf.train.get_or_create_global_step()
    pruning = contrib.model_pruning.Pruning(spec, step)
    update = pruning.conditional_mask_update_op()
    pruning.add_pruning_summaries()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(update)
            session.run(tf.assign_add(step, 1))
        return session.run([
            contrib.model_pruning.get_masks(), contrib.model_pruning.get_thresholds(),
            contrib.model_pruning.get_weight_sparsity()])


def masked_weights():
    weights = tf.get_variable("w", initializer=tf.constant([[1., 2., 3.], [4., -5., 6.]]))
    other = tf.get_variable("other", initializer=tf.constant([1., 2., 3., 4.]))
    contrib.model_pruning.apply_mask(weights, "x")
    contrib.model_pruning.apply_mask(other, "y")
    return _pruning("threshold_decay=.1,initial_sparsity=.1,weight_sparsity_map=[other:.25]")


def masks_of_blocks():
    weights = tf.get_variable("w", initializer=tf.reshape(tf.range(20.), [4, 5]) - 9.)
    contrib.model_pruning.apply_mask(weights, "x")
    return [_pruning("block_height=2,block_width=2,block_pooling_function='MAX'"),
            [each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)]]


def pruning_mistakes():
    def spec(**options):
        found = contrib.model_pruning.get_pruning_hparams()
        for name, value in options.items():
            found.set_hparam(name, value)
        return lambda: contrib.model_pruning.Pruning(found, tf.constant(0))

    return _errors({
        "begin": spec(begin_pruning_step=-1), "end": spec(begin_pruning_step=5, end_pruning_step=3),
        "function": spec(sparsity_function_begin_step=200), "sparsity": spec(target_sparsity=1.),
        "blocks": spec(block_dims_map=["a:1"]), "map": spec(weight_sparsity_map=["a:1.5"]),
        "units": lambda: contrib.model_pruning.masked_fully_connected(_numbers(2, 3), 1.5),
        "rank": lambda: contrib.model_pruning.masked_conv2d(_numbers(2, 3), 2, 3)})


def stripped_of_masks():
    inputs = tf.placeholder(tf.float32, [None, 4], name="inputs")
    outputs = contrib.model_pruning.masked_fully_connected(inputs, 3, scope="fc")
    folder = tempfile.mkdtemp()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, folder + "/model", 1)
    tf.reset_default_graph()
    graph = contrib.model_pruning.graph_def_from_checkpoint(folder, [outputs.op.name])
    stripped = contrib.model_pruning.strip_pruning_vars_fn(graph, [outputs.op.name])
    return [sorted(each.name for each in stripped.node),
            _errors({"none": lambda: contrib.model_pruning.graph_def_from_checkpoint(
                tempfile.mkdtemp(), [])})]


def grid_cells():
    found, grid = [], contrib.grid_rnn
    for number, kind in enumerate((
            grid.Grid1BasicRNNCell, grid.Grid2BasicRNNCell, grid.Grid1BasicLSTMCell,
            grid.Grid2BasicLSTMCell, grid.Grid1LSTMCell, grid.Grid2LSTMCell, grid.Grid3LSTMCell,
            grid.Grid2GRUCell)):
        with tf.variable_scope("cell%d" % number):
            cell = kind(2)
            found.append([cell(_numbers(2, 2), cell.zero_state(2, tf.float32)),
                          str(cell.state_size), str(cell.output_size)])
    return found


def grid_cells_over_time():
    cell = contrib.grid_rnn.Grid2LSTMCell(2, tied=True, use_peepholes=True)
    outputs, state = tf.nn.dynamic_rnn(cell, _numbers(2, 3, 4), dtype=tf.float32)
    return [outputs, state] + tf.gradients(tf.reduce_sum(outputs[0]), tf.trainable_variables())


def grid_of_several_inputs():
    cell = contrib.grid_rnn.GridRNNCell(3, num_dims=2, input_dims=[0, 1], output_dims=[0, 1],
                                        priority_dims=1, cell_fn=tf.nn.rnn_cell.GRUCell,
                                        output_is_tuple=False)
    return cell(_numbers(2, 4), (tf.ones([2, 3]), tf.zeros([2, 3])))


def grid_mistakes():
    grid = contrib.grid_rnn.GridRNNCell
    return _errors({"dims": lambda: grid(2, num_dims=0), "input": lambda: grid(2, 2, input_dims=3),
                    "cell": lambda: grid(2, cell_fn=lambda size: size),
                    "state": lambda: grid(2, 2)(_numbers(2, 2), (tf.ones([2, 2]),))})


def players_of_constraints():
    tfco, found = contrib.constrained_optimization, []
    plain = tf.train.GradientDescentOptimizer

    class Problem(tfco.ConstrainedMinimizationProblem):
        def __init__(self, weights, has_proxy):
            self._weights, self._has_proxy = weights, has_proxy

        @property
        def objective(self):
            return tf.reduce_sum((self._weights - 2.) ** 2)

        @property
        def constraints(self):
            one, two = tf.unstack(self._weights)
            return tf.stack([one - .5, .3 - two, one + two - 1.])

        @property
        def proxy_constraints(self):
            return 2. * self.constraints if self._has_proxy else None

    for name, optimizer, options in (
            ("external", tfco.AdditiveExternalRegretOptimizer(
                plain(.1), plain(.5), maximum_multiplier_radius=.6), {"unconstrained_steps": 2}),
            ("swap", tfco.AdditiveSwapRegretOptimizer(plain(.1), plain(.2)), {}),
            ("product", tfco.MultiplicativeSwapRegretOptimizer(
                tf.train.AdamOptimizer(.1), plain(1.), initial_multiplier_radius=.5), {})):
        with tf.variable_scope(name):
            weights = tf.get_variable("w", initializer=tf.constant([1.5, -.5]))
            step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
            train = optimizer.minimize(Problem(weights, name == "swap"), global_step=step,
                                       **options)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(6):
                session.run(train)
            found.append(session.run([weights, step]))
    return found


def constraint_mistakes():
    tfco, plain = contrib.constrained_optimization, tf.train.GradientDescentOptimizer(.1)
    return _errors({
        "abstract": lambda: tfco.ConstrainedMinimizationProblem(),
        "radius": lambda: tfco.AdditiveExternalRegretOptimizer(plain, None, -1.),
        "least": lambda: tfco.MultiplicativeSwapRegretOptimizer(plain, None, 2.),
        "first": lambda: tfco.MultiplicativeSwapRegretOptimizer(plain, None, .5, .1)})


def expectations():
    monte_carlo, normal = contrib.bayesflow.monte_carlo, contrib.distributions.Normal
    p, q = normal(1., 2.), normal(0., 3.)
    z = q.sample(50, seed=2)
    mean = monte_carlo.expectation(tf.square, z, q.log_prob, use_reparametrization=False)
    return [mean, tf.gradients(mean, q.loc), monte_carlo.expectation(tf.square, z, axis=None),
            monte_carlo.expectation_importance_sampler(lambda x: x, p.log_prob, q, z=z),
            monte_carlo.expectation_importance_sampler(lambda x: x, p.log_prob, q, n=20, seed=4),
            monte_carlo.expectation_importance_sampler_logspace(
                lambda x: -x ** 2, p.log_prob, q, z=z),
            _errors({"function": lambda: monte_carlo.expectation(1, z),
                     "density": lambda: monte_carlo.expectation(
                         tf.square, z, use_reparametrization=False),
                     "both": lambda: monte_carlo.expectation_importance_sampler(
                         tf.square, p.log_prob, q, z=z, n=3)})]


def copies_of_a_graph():
    product = tf.multiply(tf.constant(2., name="two"), 3., name="product")
    variable = tf.get_variable("v", initializer=4.)
    total = tf.add(product, variable, name="total")
    graph, copy = tf.Graph(), contrib.copy_graph
    one = copy.copy_variable_to_graph(variable, graph, "scope")
    found = copy.copy_op_to_graph(product, graph, [one], "scope")
    with tf.Session(graph=graph) as session:
        session.run(one.initializer)
        return [session.run([found, one]), found.name, one.op.name, one in graph.get_collection(
                    tf.GraphKeys.TRAINABLE_VARIABLES),
                copy.get_copied_op(product, graph, "scope").name, total.name,
                _errors({"op": lambda: copy.copy_op_to_graph("x", graph, []),
                         "variable": lambda: copy.copy_variable_to_graph(product, graph)})]


def objects_of_checkpoints():
    checkpoint = contrib.checkpoint
    tracker, arrays = checkpoint.UniqueNameTracker(), checkpoint.NumpyState()
    for number in range(3):
        tracker.track(tf.Variable(float(number)), "x")
    arrays.x = np.ones([2])
    objects = tf.train.Checkpoint(tracker=tracker, arrays=arrays)
    with tf.Session().as_default() as session:
        session.run(tf.global_variables_initializer())
        path = objects.save(tempfile.mkdtemp() + "/model", session=session)
    arrays.x[1] = 5.
    objects.restore(path)
    again = checkpoint.NumpyState()
    tf.train.Checkpoint(arrays=again).restore(path)
    return [[name for name, _ in tf.train.list_variables(path)], arrays.x, again.x,
            type(checkpoint.list_objects(objects)[0]).__name__,
            _errors({"text": lambda: setattr(arrays, "y", "z"), "number": lambda: tracker.track(
                3, "x")})]


def models_of_learn():
    models, ops = contrib.learn.models, contrib.learn.ops
    x, y = _numbers(4, 3), tf.constant([1., 2., 3., 4.])
    one_hot = tf.one_hot([0, 1, 2, 0], 3)
    with tf.variable_scope("drawn"):
        drawn = [models.linear_regression(x, y),
                 models.logistic_regression(x, one_hot, None, 0., .5)]
    return [drawn, models.linear_regression_zero_init(x, y),
            models.logistic_regression_zero_init(x, one_hot),
            ops.categorical_variable(tf.constant([[0, 1], [2, 0]]), 3, 2, "words")]


def networks_of_learn():
    found = []
    for cell, is_both_ways in (("gru", False), ("lstm", True)):
        model = contrib.learn.models.get_rnn_model(
            3, cell, 2, lambda x: tf.unstack(x, axis=1), is_both_ways,
            lambda x, y: [x, y], None, None, None, None, None)
        with tf.variable_scope(cell):
            found.append(model(_numbers(2, 3, 4), tf.constant([1., 2.])))
    return found


def python_in_a_graph():
    def absolute(x):
        if x > 0:
            y = x * 2
        else:
            y = -x
        return y

    @contrib.autograph.convert()
    def doubled(x):
        while x < 10:
            x = x * 2
        return x

    return [contrib.autograph.to_graph(absolute)(tf.constant(-3)), doubled(tf.constant(3)),
            hasattr(contrib.autograph, "set_loop_options"), hasattr(contrib.autograph, "nope")]


def names_of_packages_by_dir():
    return {name: [each for each in dir(getattr(contrib, name)) if each in (
        "CFNCell", "concatenate_context_input", "HParamDef", "HParams",
        "GRUBlockCell", "sequence_input_layer", "model_variable")] for name in (
            "rnn", "framework", "feature_column", "training")}
