"""Rare arguments, and mistakes, of several packages of tf.contrib."""

import os
import tempfile

from _ended import error as _error
import numpy as np
import tensorflow as tf

contrib = tf.contrib
_E = contrib.estimator
seq2seq = contrib.seq2seq
DIFFERENT = {
    "windows_out_of_order": "TensorFlow 1.15 sorts along a wrong axis, which ends in an error."}
SOAK = (
    "towers_of_sparse_features", "tower_of_two_optimizers", "examples_of_records",
    "windows_out_of_order", "annotated_regressor", "layers_quantized", "trained_by_a_monitor",
    "forwarded_odd_features", "replicated_everywhere", "decoded_in_a_condition",
    "image_warp_mistakes", "lanczos_from_anywhere", "integrate_mistakes", "sequence_columns",
    "kernel_mistakes", "attention_states", "memories_of_masks", "head_mistakes", "beam_mistakes",
    "bias_of_a_checkpoint", "clipped_gradients", "eager_metrics")


def bias_of_a_checkpoint():
    folder = tempfile.mkdtemp()
    tf.get_variable("bias", initializer=[[1.], [2.], [3.]])
    tf.get_variable("slot", initializer=[[1., 10.], [2., 20.], [3., 30.]])
    for name, words in (("old", "a\nb\nc\n"), ("new", "c\nx\na\n")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(words)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, os.path.join(folder, "model"))
    old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
    load = contrib.framework.load_linear_multiclass_bias_initializer(
        path, "bias", 3, old, new, num_class_oov_buckets=1)
    one = contrib.framework.load_linear_multiclass_bias_initializer(
        path, "bias", 3, old, new, initializer=tf.ones_initializer(), max_rows_in_memory=2)
    part = tf.contrib.framework.load_variable_slot_initializer(
        path, "slot", _partition([5, 2], [1, 0]), 3, 2, old, new, None, None,
        num_row_oov_buckets=2, initializer=tf.zeros_initializer())
    return [load([4, 1]), one([3, 1]), part([2, 2])]


def _partition(shape, offset):
    from tensorflow.python.ops.variable_scope import _PartitionInfo
    return _PartitionInfo(full_shape=shape, var_offset=offset)


def deprecated_summaries():
    made = [contrib.deprecated.histogram_summary("h", [1., 2.]),
            contrib.deprecated.image_summary("i", tf.zeros([2, 3, 3, 1])),
            contrib.deprecated.audio_summary("a", tf.zeros([2, 8]), 8)]
    return [[each.op.type, each.op.name] for each in made] + [
        len(tf.get_collection(tf.GraphKeys.SUMMARIES))]


def embeddings_for_the_projector():
    from tensorflow.contrib.tensorboard.plugins import projector
    folder = tempfile.mkdtemp()
    config = projector.ProjectorConfig()
    config.embeddings.add().tensor_name = "table"
    projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
    with open(os.path.join(folder, "projector_config.pbtxt")) as file:
        return file.read()


def eager_devices():
    tfe = contrib.eager
    return [tfe.num_gpus(), isinstance(tfe.list_devices(), list)]


def eager_metrics():
    class Bare(contrib.eager.metrics.Metric):
        pass

    class Largest(contrib.eager.metrics.Metric):
        def build(self, values):
            self.largest = self.add_variable("largest", [], values.dtype, tf.zeros_initializer())

        def call(self, values):
            return tf.assign(self.largest, tf.maximum(self.largest, tf.reduce_max(values)))

        def result(self):
            return tf.identity(self.largest)

    largest = Largest("mine")
    updated = largest(tf.constant([1., 5., 2.]))
    with tf.Session() as session:
        session.run(largest.init_variables())
        first = session.run(updated)
        second = session.run(largest.result())
        session.run(largest.init_variables())
        return [first, second, session.run(largest.result()), largest.name,
                [each.op.name for each in largest.variables], _error(lambda: Bare()(1.)),
                _error(lambda: Bare().result())]


def mirrored_strategies():
    with tf.Graph().as_default():
        one = contrib.distribute.MirroredStrategy(devices=["/cpu:0"])
        with one.scope():
            return [one.num_replicas_in_sync, contrib.distribute.has_strategy(),
                    bool(_error(lambda: contrib.distribute.MirroredStrategy(
                        ["/cpu:0"], num_gpus=2)))]


def strategies_of_workers():
    return [contrib.distribute.ParameterServerStrategy().num_replicas_in_sync,
            contrib.distribute.CollectiveAllReduceStrategy().num_replicas_in_sync]


def trained_by_a_monitor():
    strategy = contrib.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        def loss(context, x):
            with tf.variable_scope("", reuse=tf.AUTO_REUSE):
                return tf.square(tf.get_variable("a", initializer=2.) * x)

        step = contrib.distribute.StandardSingleLossStep(
            lambda: tf.data.Dataset.from_tensors(1.).repeat(5), loss,
            tf.train.GradientDescentOptimizer(.1), strategy)
        with tf.Session() as session:
            monitor = contrib.distribute.Monitor(step, session)
            monitor.run_steps(2)
            first = session.run(tf.global_variables()[0])
            monitor.run_steps()
            return [first, session.run(tf.global_variables()[0])]


def forwarded_odd_features():
    def estimator(predictions):
        return tf.estimator.Estimator(lambda features, labels, mode: tf.estimator.EstimatorSpec(
            mode, predictions=predictions(features), loss=tf.constant(1.),
            train_op=tf.train.get_or_create_global_step().assign_add(1)))

    def spec(predictions, features, *args, **options):
        with tf.Graph().as_default():
            made = contrib.estimator.forward_features(estimator(predictions), *args, **options)
            found = made.model_fn(features(), None, options.pop("mode", "infer"), made.config)
            return sorted(found.predictions) if found.predictions else None

    def dense():
        return {"x": tf.zeros([2, 1]), "id": tf.constant([1, 2])}

    return [_error(lambda: spec(lambda features: features["x"], dense)),
            _error(lambda: spec(lambda features: {"x": features["x"]}, dense)),
            _error(lambda: spec(lambda features: {"y": features["x"]}, dense, ["id", 3])),
            _error(lambda: spec(lambda features: {"y": features["x"]}, dense, "id",
                                sparse_default_values={"id": 0})),
            spec(lambda features: {"y": features["x"]}, dense, "id")]


def head_mistakes():
    head = contrib.estimator.multi_label_head
    two = contrib.estimator.multi_head([
        contrib.estimator.regression_head(name="a"), contrib.estimator.regression_head(name="b")])
    one = contrib.estimator.multi_head([contrib.estimator.regression_head(name="a")])
    loss, logits = tf.constant(1.), {"a": tf.zeros([2, 1]), "b": tf.zeros([2, 1])}
    labels = {"a": tf.zeros([2, 1])}
    return [_error(lambda: head(2, label_vocabulary="xy")),
            _error(lambda: head(2, classes_for_class_based_metrics=["a"])),
            _error(lambda: head(2, classes_for_class_based_metrics=[5])),
            _error(lambda: two.create_estimator_spec({}, "odd", logits)),
            sorted(one.create_estimator_spec({}, "infer", {"a": logits["a"]}).export_outputs),
            _error(lambda: one.create_estimator_spec(
                {}, "train", {"a": logits["a"]}, labels,
                optimizer=tf.train.GradientDescentOptimizer(.1), train_op_fn=lambda loss: loss)),
            _error(lambda: head(2).create_estimator_spec(
                {}, "train", tf.zeros([2, 2]), tf.zeros([2, 2], tf.int64),
                optimizer=tf.train.GradientDescentOptimizer(.1), train_op_fn=lambda loss: loss)),
            loss]


def rnn_mistakes():
    columns = [contrib.feature_column.sequence_numeric_column("x")]
    estimator = _E.RNNClassifier(columns, num_units=[2], cell_type="basic_rnn")
    other = _E.RNNClassifier(columns, num_units=[2], cell_type=dict)
    return [_error(lambda: estimator.model_fn(tf.zeros([2, 1]), tf.zeros([2, 1]), "train",
                                              estimator.config)),
            _error(lambda: other.model_fn({"x": _rows()}, tf.zeros([2, 1], tf.int64), "train",
                                          other.config))]


def _rows():
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1., 2., 3.], [2, 2])


def sequence_columns():
    column = contrib.feature_column
    words = os.path.join(tempfile.mkdtemp(), "words")
    with open(words, "w") as file:
        file.write("x\ny\nz\n")
    text = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "z", "q"], [2, 2])
    columns = [tf.feature_column.indicator_column(each) for each in (
        column.sequence_categorical_column_with_hash_bucket("w", 4),
        column.sequence_categorical_column_with_vocabulary_file("w", words, num_oov_buckets=1))]
    layer, lengths = column.sequence_input_layer({"w": text}, [columns[0]])
    other, _ = column.sequence_input_layer({"w": text}, [columns[1]])
    number = column.sequence_numeric_column("x", shape=(2,))
    return [layer, lengths, other,
            sorted(map(str, tf.feature_column.make_parse_example_spec([number] + columns).items())),
            _error(lambda: column.sequence_numeric_column("x", dtype=tf.string)),
            _error(lambda: column.sequence_numeric_column("x", normalizer_fn=3))]


def annotated_regressor():
    estimator = _E.DNNRegressorWithLayerAnnotations(
        [2], [tf.feature_column.numeric_column("x")], model_dir=tempfile.mkdtemp(),
        optimizer=tf.train.GradientDescentOptimizer(0.1))
    estimator.train(lambda: ({"x": tf.ones([2, 1])}, tf.ones([2, 1])), steps=1)
    return sorted(estimator.get_variable_names())


def _towered(features, labels, mode, params):
    total = tf.sparse.reduce_sum(features["x"], 1, keep_dims=True)
    a = tf.get_variable("a", initializer=1.)
    table = tf.get_variable("table", initializer=[[1.], [2.], [3.]])
    predicted = tf.reshape(a * tf.reshape(total, [-1]), [-1]) + tf.reduce_sum(
        tf.nn.embedding_lookup(table, [0, 2]))
    loss = tf.reduce_mean(tf.square(predicted - tf.cast(tf.reshape(labels, [-1]), tf.float32)))
    optimizer = _E.TowerOptimizer(tf.train.MomentumOptimizer(0.01, 0.9))
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    params["made"].append(optimizer)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=predicted)


def towers_of_sparse_features():
    rows = tf.SparseTensor([[0, 0], [1, 1], [2, 0], [3, 1]], [1., 2., 3., 4.], [4, 2])
    tf.train.create_global_step()
    model_fn = _E.replicate_model_fn(_towered, devices=["/cpu:0", "/cpu:0"])

    class Made(list):
        def __deepcopy__(self, memo):
            return self

    made = Made()
    spec = model_fn({"x": rows}, tf.constant([1., 2., 3., 4.]), "train", {"made": made})
    optimizer, var = made[0], tf.trainable_variables()[0]
    with tf.control_dependencies([spec.train_op]):
        after = [each.read_value() for each in tf.trainable_variables()]
    return [after, spec.loss, _E.TowerOptimizer.has_been_used(), optimizer.get_slot_names(),
            optimizer.get_slot(var, "momentum") is None, optimizer.get_name(),
            sorted(each.op.name for each in optimizer.variables())]


def _unequal(features, labels, mode, params):
    a = tf.get_variable("a", initializer=1.)
    optimizer = _E.TowerOptimizer(tf.train.GradientDescentOptimizer(0.01))
    loss = tf.reduce_sum(a * features["x"])
    train_op = optimizer.minimize(loss)
    if params.pop("first", None):
        train_op = tf.group(train_op, optimizer.minimize(loss * 2.))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def tower_of_two_optimizers():
    first = [1]

    def unequal(features, labels, mode):
        params = {"first": first.pop() if first else None}
        return _unequal(features, labels, mode, params)

    model_fn = _E.replicate_model_fn(unequal, devices=["/cpu:0", "/cpu:0"])
    return _error(lambda: model_fn({"x": tf.ones([4])}, None, "train"))


def replicated_everywhere():
    found = {}

    def model_fn(features, labels, mode):
        scores = tf.nn.softmax(tf.tile(features["x"], [1, 2]))
        outputs = {"serving_default": tf.estimator.export.ClassificationOutput(
            scores, tf.as_string(tf.argmax(scores, 1)))}
        return tf.estimator.EstimatorSpec(mode, predictions={"s": scores}, export_outputs=outputs,
                                          loss=tf.reduce_sum(scores))

    for devices in (None, ["/cpu:0", "/cpu:0"]):
        made = _E.replicate_model_fn(model_fn, devices=devices)
        spec = made({"x": tf.ones([4, 1])}, None, "infer")
        found[str(devices)] = [spec.predictions, spec.export_outputs["serving_default"].scores]
    return found


def image_warp_mistakes():
    from tensorflow.contrib.image.python.ops.dense_image_warp import _interpolate_bilinear
    grid, points = tf.zeros([1, 3, 3, 1]), tf.zeros([1, 2, 2])
    return [_error(lambda: _interpolate_bilinear(grid, points, indexing="odd")),
            _error(lambda: _interpolate_bilinear(grid[0], points)),
            _error(lambda: _interpolate_bilinear(grid, points[0])),
            _interpolate_bilinear(grid, points, indexing="xy")]


def integrate_mistakes():
    odeint = contrib.integrate.odeint_fixed
    start, times = tf.constant(1.), tf.constant([0., 1., 2.])
    return [_error(lambda: odeint(lambda y, t: y, start, times, dt=tf.constant(1))),
            _error(lambda: odeint(lambda y, t: y, start, times, dt=tf.constant([1.]))),
            odeint(lambda y, t: y, start, times, dt=tf.constant([1., 1.]))]


def kernel_mistakes():
    kernel = contrib.kernel_methods
    column = contrib.layers.real_valued_column("x")
    mapper = kernel.RandomFourierFeatureMapper(2, 3)
    return [_error(lambda: mapper.map(tf.zeros([2, 2, 2]))),
            _error(lambda: kernel.KernelLinearClassifier([column], kernel_mappers={column: 3})),
            _error(lambda: kernel.KernelLinearClassifier([column], kernel_mappers={column: [3]})),
            _error(lambda: kernel.sparse_multiclass_hinge_loss(
                tf.zeros([2], tf.int64), tf.zeros([2, 3]), tf.ones([1, 1, 1])))]


def shapes_of_tensors():
    unknown = tf.placeholder_with_default(np.zeros([2, 3], np.float32), None)
    function = contrib.framework.with_shape
    return [_error(lambda: function(tf.TensorShape([None, 3]), tf.zeros([2, 3]))),
            _error(lambda: function(tf.TensorShape([2, 3]), tf.zeros([2, 2]))),
            function([2, 3], unknown), function(tf.TensorShape([2, 3]), unknown),
            _error(lambda: contrib.framework.py_func(len, 3)),
            _error(lambda: contrib.framework.py_func(len, [3], kwargs=[3]))]


def lanczos_from_anywhere():
    from tensorflow.contrib.solvers.python.ops import lanczos, util
    operator = util.create_operator(tf.constant([[2., 1.], [1., 3.], [0., 1.]]))
    found = lanczos.lanczos_bidiag(operator, 2)
    square = tf.matmul(found.u, found.u, transpose_a=True)
    return [tf.shape(found.u), tf.shape(found.v), tf.abs(square - tf.eye(3)) < 1e-3]


def clipped_gradients():
    clip = contrib.training.clip_gradient_norms_fn(1.)
    a = tf.get_variable("a", initializer=[3., 4.])
    table = tf.get_variable("table", initializer=[[3.], [4.]])
    unused = tf.get_variable("unused", initializer=1.)
    grads = tf.train.GradientDescentOptimizer(.1).compute_gradients(
        tf.reduce_sum(tf.square(a)) + tf.reduce_sum(tf.square(tf.gather(table, [0, 1]))))
    clipped = clip([each for each in grads if each[1] is not unused])
    return [clipped[0][0], clipped[1][0].values, _error(lambda: clip([(None, unused)])),
            _error(lambda: list(contrib.training.HParams(a=1)))]


def attention_states():
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), seq2seq.LuongAttention(
        3, tf.ones([2, 4, 3])))
    state = cell.zero_state(2, tf.float32)
    unknown = tf.placeholder_with_default(np.ones([2, 3], np.float32), [None, None])
    cloned = state.clone(attention=unknown, time=3)
    return [cloned.attention, str(cloned.attention.shape), cloned.time,
            _error(lambda: state.clone(attention=tf.ones([2, 4]))),
            _error(lambda: cell(tf.ones([2, 3]), tf.zeros([2, 3]))),
            _error(lambda: seq2seq.LuongAttention(3, tf.ones([2, 4, 3]), probability_fn=3)),
            _error(lambda: seq2seq.BahdanauAttention(3, tf.ones([2, 4, 3]), probability_fn="x")),
            seq2seq.LuongAttention(3, tf.ones([2, 4, 3])).memory_layer.name,
            _error(lambda: state.clone(attention=tf.placeholder_with_default(
                np.ones([2, 4], np.float32), [None, 4])))]


def unfinished_decoders():
    found = []
    for base, names in ((seq2seq.Decoder, ("batch_size", "output_size", "output_dtype")),
                        (seq2seq.Helper, ("batch_size", "sample_ids_shape", "sample_ids_dtype"))):
        methods = ("initialize", "step") if base is seq2seq.Decoder else (
            "initialize", "sample", "next_inputs")

        def call(self, *args, **kwargs):
            return getattr(super(type(self), self), "initialize")(*args, **kwargs)

        own = {name: property(lambda self, name=name, base=base: getattr(base, name).fget(self))
               for name in names}
        own.update({name: lambda self, *args, **kwargs: None for name in methods})
        own["asked"] = lambda self, *args: base.initialize(self, *args)
        kind = type("Own", (base,), own)
        found += [_error(lambda name=name: getattr(kind(), name)) for name in names]
        found.append(_error(lambda: kind().asked()))
        found.append(_error(base))
        if base is seq2seq.Decoder:
            found += [_error(lambda: base.step(kind(), 0, 0, 0)),
                      _error(lambda: base.finalize(kind(), 0, 0, 0)), kind().tracks_own_finished]
    return found


def decoded_in_a_condition():
    helper = seq2seq.TrainingHelper(tf.ones([2, 3, 4]), [3, 2])
    cell = tf.nn.rnn_cell.BasicRNNCell(2)

    def decode():
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        return tf.shape(seq2seq.dynamic_decode(decoder)[0].rnn_output)

    return tf.cond(tf.constant(True), decode, lambda: tf.constant([0, 0, 0]))


def beam_mistakes():
    helper = seq2seq.InferenceHelper(
        lambda outputs: outputs, [2], tf.float32, tf.zeros([1, 2]), lambda ids: tf.equal(ids, 1))
    embedding = tf.ones([3, 2])
    cell = tf.nn.rnn_cell.BasicRNNCell(3)

    def decode(**options):
        start = seq2seq.tile_batch(cell.zero_state(2, tf.float32), 2)
        return seq2seq.dynamic_decode(seq2seq.BeamSearchDecoder(
            cell, embedding, [0, 0], 1, start, 2, **options), maximum_iterations=2)

    def greedy():
        return seq2seq.GreedyEmbeddingHelper(embedding, [0], 1).sample(0, (1, 2), None)

    return [_error(lambda: decode(coverage_penalty_weight=[1., 2.])),
            _error(lambda: decode(coverage_penalty_weight=.5)), _error(greedy), helper.batch_size]


def memories_of_masks():
    memory = tf.ones([2, 3, 2])
    options = [{}, dict(memory_sequence_length=[2, 3]),
               dict(memory_sequence_length=tf.constant([2, 3], tf.int64))]
    return [seq2seq.LuongAttention(2, memory, **each).values for each in options]


def examples_of_records():
    from tensorflow.contrib.timeseries.python.timeseries.input_pipeline import TFExampleReader
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for index in range(6):
            example = tf.train.Example()
            example.features.feature["times"].int64_list.value.append(index)
            example.features.feature["values"].float_list.value.extend([index * 2., 1.])
            writer.write(example.SerializeToString())
    features = {"times": tf.FixedLenFeature([], tf.int64),
                "values": tf.FixedLenFeature([2], tf.float32)}
    reader = TFExampleReader(path, features)
    whole, some = reader.read_full(), TFExampleReader([path], features).read()
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found.append(session.run(whole))
        found.append(sorted(set(session.run(some)["times"].ravel().tolist())))
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return [found, _error(lambda: TFExampleReader(path, {"times": features["times"]}))]


def windows_out_of_order():
    series = contrib.timeseries
    input_fn = series.RandomWindowInputFn(series.NumpyReader({
        "times": np.arange(7), "values": np.arange(7.).astype("float32")}), window_size=4,
        batch_size=3, discard_out_of_order=False)
    features = input_fn()[0]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(features) for _ in range(10)]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    times = np.concatenate([each["times"] for each in found])
    values = np.concatenate([each["values"] for each in found])
    return [times.shape, values.shape, bool((np.diff(times) >= 0).all()),
            bool((values[..., 0] == times).all()), bool((np.diff(times) > 1).any())]


def predictors():
    folder = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": x * 2.})
    made = contrib.predictor.from_saved_model(folder)
    return [made({"x": [1., 2.]}), repr(made).split("{")[0]]


def databases():
    return _error(lambda: contrib.data.LMDBDataset([__file__ + "absent"]).output_types)


def layers_quantized():
    """A depthwise layer without batch norm, and outputs that are quantized already."""
    from _ended import outcome
    x = tf.constant(np.cos(np.arange(72) * .9).reshape([2, 6, 6, 1]) * 2, tf.float32)
    options = dict(weights_initializer=tf.constant_initializer(.5), activation_fn=tf.nn.relu)
    net = contrib.layers.separable_conv2d(x, None, 3, 1, scope="depthwise", **options)
    both = net + contrib.layers.conv2d(net, 1, 1, scope="conv", weights_initializer=(
        tf.constant_initializer(.5)), activation_fn=None)
    net = tf.nn.relu(both)
    net = tf.reshape(tf.fake_quant_with_min_max_args(tf.identity(net)), [2, -1])
    net = contrib.layers.fully_connected(net, 2, scope="out", **options)
    outcome(contrib.quantize.create_training_graph)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(net), sorted(op.name for op in tf.get_default_graph().get_operations()
                                         if op.type.startswith("FakeQuant"))]
