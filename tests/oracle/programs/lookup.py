"""tf.contrib.lookup, and names of predictor, cluster_resolver and distribute."""

import tempfile

import tensorflow as tf

lookup = tf.contrib.lookup
SOAK = ("a_predictor_of_a_canned_estimator", "a_predictor_of_an_estimator", "a_monitor")


def _ran(table, keys):
    with tf.Session() as session:
        found = table.lookup(tf.constant(keys))
        session.run(tf.tables_initializer())
        return session.run(found)


def a_hash_table():
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1,
                             shared_name="shared", name="mine")
    attributes = table.resource_handle.op.node_def.attr
    return [_ran(table, ["b", "x"]), table.name, attributes["shared_name"].s, table.init.name,
            table.initializer is table.init, str(table.key_dtype), str(table.value_dtype),
            len(tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS))]


def a_hash_table_without_names():
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(
        ["a"], [1], tf.string, tf.int64), 5)
    return [_ran(table, ["a", "b"]), table.name, table.init.name,
            table.resource_handle.op.node_def.attr["shared_name"].s]


def the_operation_that_fills_a_table():
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [7]), 0)
    with tf.Session() as session:
        table.init.run()
        return [session.run(table.lookup(tf.constant(["a"]))), session.run(table.size())]


def a_table_from_a_file():
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write("a\nb\nc\n")
    table = lookup.index_table_from_file(file.name, 1, default_value=-1)
    old = lookup.string_to_index_table_from_file(file.name, 0, 2, 9)
    text = lookup.index_to_string_table_from_file(file.name, 2, "?")
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        words = session.run(text.lookup(tf.constant([1, 2], tf.int64)))
    return [_ran(table, ["c", "zz"]), _ran(old, ["b", "c"]), words]


def indices_of_strings():
    table = lookup.index_table_from_tensor(["a", "b"], 2, -1)
    numbers = lookup.index_table_from_tensor(tf.constant([5, 7]), dtype=tf.int32,
                                             default_value=-2, name="numbers")
    return [_ran(table, ["b", "other", "third"]), _ran(numbers, [7, 8])]


def indices_of_strings_by_place():
    table = lookup.index_table_from_tensor(["a", "b"], 0, -3, lookup.FastHashSpec, tf.string, "n")
    old = lookup.string_to_index_table_from_tensor(["a", "b"], 0, -4)
    return [_ran(table, ["b", "other"]), _ran(old, ["a", "other"])]


def a_mapping_that_is_none():
    return lookup.index_table_from_tensor(None)


def strings_of_indices():
    table = lookup.index_to_string_table_from_tensor(["a", "b"], "none")
    found = [table.lookup(tf.constant([1, 5], tf.int64)),
             lookup.index_to_string(tf.constant([0, 9], tf.int64), ["x", "y"], "UNK"),
             lookup.string_to_index(tf.constant(["y", "z"]), ["x", "y"], -7)]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(found)


def a_table_that_changes():
    table = lookup.MutableHashTable(tf.string, tf.int64, -1, name="changing")
    with tf.Session() as session:
        session.run(table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)))
        return [session.run(table.lookup(tf.constant(["b", "c"]))), session.run(table.size()),
                sorted(session.run(table.export()[1]).tolist())]


def a_dense_table():
    table = lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, -2, 8, "dense", False)
    with tf.Session() as session:
        session.run(table.insert(tf.constant([11, 12], tf.int64), tf.constant([1, 2], tf.int64)))
        session.run(table.remove(tf.constant([11], tf.int64)))
        return [session.run(table.lookup(tf.constant([11, 12], tf.int64))),
                session.run(table.size())]


def hashes_of_strings():
    spec = lookup.StrongHashSpec([3, 4])
    table = lookup.IdTableWithHashBuckets(None, 10, spec, name="buckets")
    fast = lookup.IdTableWithHashBuckets(None, 10)
    return [_ran(table, ["a", "b", "c"]), _ran(fast, ["a", "b", "c"])]


def _model_fn(features, labels, mode):
    found = features["x"] * tf.get_variable("w", initializer=2.)
    step = tf.train.get_or_create_global_step()
    outputs = tf.estimator.export.PredictOutput
    return tf.estimator.EstimatorSpec(
        mode, {"found": found}, tf.reduce_sum(found), tf.assign_add(step, 1), export_outputs={
            "named": outputs({"q": found}), "serving_default": outputs(found)})


def a_predictor_of_an_estimator():
    estimator = tf.estimator.Estimator(_model_fn, tempfile.mkdtemp())
    estimator.train(lambda: ({"x": tf.constant([1.])}, tf.constant([1.])), steps=1)

    def receiver():
        x = tf.placeholder(tf.float32, [None])
        return tf.estimator.export.ServingInputReceiver({"x": x}, x)

    default = tf.contrib.predictor.from_estimator(estimator, receiver)
    named = tf.contrib.predictor.from_estimator(estimator, receiver, output_key="named")
    found = [default({"input": [3.]}), named({"input": [4.]}), sorted(default.feed_tensors)]
    for call in (lambda: default({"nope": 1}), lambda: tf.contrib.predictor.from_estimator(
            estimator, receiver, "nope")):
        try:
            call()
        except Exception as error:  # pylint: disable=broad-except
            found.append(type(error).__name__)
    return found


def a_predictor_of_a_canned_estimator():
    columns = [tf.feature_column.numeric_column("x")]
    estimator = tf.estimator.LinearClassifier(columns, tempfile.mkdtemp())
    estimator.train(lambda: ({"x": tf.constant([1., 2.])}, tf.constant([0, 1])), steps=1)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(columns))
    default = tf.contrib.predictor.from_estimator(estimator, receiver)
    predict = tf.contrib.predictor.from_estimator(estimator, receiver, output_key="predict")
    return [sorted(each) for predictor in (default, predict)
            for each in (predictor.feed_tensors, predictor.fetch_tensors)]


def tensors_in_two_ways():
    return tf.contrib.predictor.from_saved_model("/nowhere", "a", input_names={}, output_names={})


def no_tpu():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("")
    local = tf.contrib.cluster_resolver.TPUClusterResolver("local")
    config = tf.contrib.tpu.RunConfig(cluster=resolver)
    return [resolver.master(), resolver.cluster_spec() is None, local.master(),
            local.get_master(), config.master]


def a_tpu_without_a_name():
    return tf.contrib.cluster_resolver.TPUClusterResolver()


def a_tpu_by_its_address():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.1.2.3:8470")
    return [resolver.master(), resolver.cluster_spec().as_dict()]


def resolvers_of_plain_clusters():
    cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:2", "c:3"]})
    simple = tf.contrib.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker",
                                                               task_id=1)
    return [simple.master(), simple.cluster_spec().as_dict(), hasattr(
        tf.contrib.cluster_resolver, "GCEClusterResolver")]


def names_of_distribute():
    distribute = tf.contrib.distribute
    strategy = distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        inside = [distribute.has_distribution_strategy(),
                  distribute.get_distribution_strategy() is strategy,
                  distribute.get_cross_replica_context() is strategy]
    return inside + [distribute.has_distribution_strategy(), issubclass(
        distribute.StandardSingleLossStep, distribute.Step)]


def a_monitor():
    x = tf.get_variable("x", initializer=1.)

    class Step(object):

        def initialize(self):
            return tf.no_op()

        def __call__(self):
            return tf.assign_add(x, 2.)

    with tf.Session() as session:
        tf.contrib.distribute.Monitor(Step(), session).run_steps(3)
        return [session.run(x)]


def a_monitor_without_a_session():
    return tf.contrib.distribute.Monitor(None)
