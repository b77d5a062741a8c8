"""tf.contrib.layers: scattered embeddings, columns of sequences, rare columns and targets."""

from _ended import errors as _errors
import numpy as np
import tensorflow as tf

layers = tf.contrib.layers

SOAK = ("columns_of_any_length", "examples_of_sequences", "scattered_embeddings_of_sparse",
        "scattered_embeddings_of_strings", "targets_evaluated", "targets_metrics",
        "targets_of_many_classes")


def _ids():
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant(["a", "b", "a"]), [3, 2])


def scattered_embeddings_of_strings():
    params = tf.constant(np.arange(10.), tf.float32)
    return [_lookup()(params, tf.constant([["a", "b"], ["c", "a"]]), 3),
            _lookup()(params, tf.constant(["a", "b"]), 4),
            _lookup()([params[:5], params[5:]], tf.constant([3, 7], tf.int64), 2),
            _lookup()(params, tf.constant(["a", "b"]), 2, hash_key=77)]


def _lookup():
    from tensorflow.contrib.layers.python.layers import embedding_ops
    return embedding_ops.scattered_embedding_lookup


def scattered_embeddings_of_sparse():
    params = tf.constant(np.arange(10.), tf.float32)
    from tensorflow.contrib.layers.python.layers import embedding_ops
    sparse = embedding_ops.scattered_embedding_lookup_sparse
    numbers = tf.SparseTensor([[0, 0], [2, 0]], tf.constant([3, 5], tf.int64), [3, 2])
    return [sparse(params, _ids(), 3), sparse(params, _ids(), 3, combiner="sum"),
            sparse(params, _ids(), 3, combiner="sqrtn", default_value="z"),
            sparse([params[:5], params[5:]], numbers, 2, hash_key=5)]


def scattered_mistakes():
    params = tf.constant(np.arange(10.), tf.float32)
    from tensorflow.contrib.layers.python.layers import embedding_ops
    sparse = embedding_ops.scattered_embedding_lookup_sparse
    values = tf.constant(["a"])
    return _errors({
        "dimension": lambda: _lookup()(params, values, 0),
        "none": lambda: _lookup()(params, values, None),
        "uneven": lambda: _lookup()([params[:3], params[3:]], values, 2),
        "rank": lambda: _lookup()(tf.zeros([2, 2]), values, 2),
        "dense": lambda: sparse(params, values, 2),
        "combiner": lambda: sparse(params, _ids(), 2, combiner="max"),
        "empty": lambda: layers.safe_embedding_lookup_sparse([], _ids()),
        "nothing": lambda: layers.safe_embedding_lookup_sparse(None, _ids()),
    })


def aggregated_where_partitions_are():
    from tensorflow.contrib.layers.python.layers import embedding_ops
    lookup = embedding_ops.embedding_lookup_sparse_with_distributed_aggregation
    parts = [tf.constant(np.arange(6.).reshape(3, 2), tf.float32),
             tf.constant(np.arange(6., 12.).reshape(3, 2), tf.float32)]
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 5, 3], tf.int64), [2, 2])
    weights = tf.SparseTensor(ids.indices, tf.constant([1., 2., .5]), ids.dense_shape)
    return [lookup(parts, ids, None, combiner=combiner) for combiner in ("mean", "sum", "sqrtn")
            ] + [lookup(parts, ids, weights, combiner=combiner)
                 for combiner in ("mean", "sum", "sqrtn")] + [
        lookup(parts, ids, None, "div", combiner="sum")]


def examples_of_sequences():
    columns = [layers.real_valued_column("n", dimension=2),
               layers.sparse_column_with_hash_bucket("w", 7)]
    context = [layers.real_valued_column("c")]
    floats = lambda *values: tf.train.Feature(  # noqa: E731
        float_list=tf.train.FloatList(value=values))
    words = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
             for value in (b"a", b"b")]
    example = tf.train.SequenceExample(
        context=tf.train.Features(feature={"c": floats(3.)}),
        feature_lists=tf.train.FeatureLists(feature_list={
            "n": tf.train.FeatureList(feature=[floats(1., 2.), floats(3., 4.)]),
            "w": tf.train.FeatureList(feature=words)}))
    found, steps = layers.parse_feature_columns_from_sequence_examples(
        tf.constant(example.SerializeToString()), context, columns, "name")
    return [found["c"], steps["n"], tf.sparse_tensor_to_dense(steps["w"], ""), _errors({
        "same": lambda: layers.parse_feature_columns_from_sequence_examples(
            tf.constant(b""), context + context, columns)})]


def specs_of_sequences():
    spec = layers.create_feature_spec_for_parsing
    columns = {"a": layers.real_valued_column("n", default_value=3.),
               "b": layers.sparse_column_with_hash_bucket("w", 7)}
    return sorted((key, type(value).__name__) for key, value in spec(columns).items())


def columns_of_any_length():
    from tensorflow.contrib.layers.python.layers import feature_column
    make = feature_column._real_valued_var_len_column
    dense, sparse = make("d", default_value=0.), make("s", is_sparse=True)
    normal = make("d", default_value=1, normalizer=lambda each: each + 1)
    spec = layers.create_feature_spec_for_parsing([dense, sparse])
    return [{key: type(value).__name__ for key, value in sorted(spec.items())},
            spec["d"].default_value, dense.key, normal.name, _errors({
                "type": lambda: make("d", 0., tf.string), "default": lambda: make("d"),
                "list": lambda: make("d", [0.])})]


def sequences_mistakes():
    words = layers.sparse_column_with_hash_bucket("w", 7)
    crossed = layers.embedding_column(layers.crossed_column(
        [words, layers.sparse_column_with_hash_bucket("v", 7)], 9), 2)
    strings = tf.constant([["a", "b"]])
    unknown = tf.placeholder(tf.float32)
    run = layers.sequence_input_from_feature_columns
    return _errors({
        "sparse": lambda: run({"w": strings}, [words]),
        "crossed": lambda: run({"w": strings, "v": strings}, [crossed]),
        "rank": lambda: run({"n": tf.constant([1.])}, [layers.real_valued_column("n")]),
        "unknown": lambda: run({"n": unknown}, [layers.real_valued_column("n")]),
        "outputs": lambda: layers.input_from_feature_columns(
            {"n": tf.constant([[1.]])}, [layers.real_valued_column("n")], cols_to_outs=[]),
    })


def buckets_mistakes():
    number = layers.real_valued_column("n")
    return _errors({
        "source": lambda: layers.bucketized_column(
            layers.sparse_column_with_hash_bucket("w", 7), [1., 2.]),
        "empty": lambda: layers.bucketized_column(number, []),
        "number": lambda: layers.bucketized_column(number, 3.),
        "unsorted": lambda: layers.bucketized_column(number, [2., 1.]),
    })


def bags_of_words():
    ids = tf.constant([[0, 1], [1, 2]])
    ones = tf.constant_initializer(np.arange(6.).reshape(3, 2))
    dense = layers.bow_encoder(ids, 3, 2, sparse_lookup=False, initializer=ones, scope="a")
    sparse = layers.bow_encoder(tf.SparseTensor([[0, 0], [1, 0]], tf.constant([1, 2], tf.int64),
                                                [2, 2]), 3, 2, initializer=ones, scope="b")
    return [dense, sparse, _errors({"sparse": lambda: layers.bow_encoder(
        tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1]), 3, 2,
        sparse_lookup=False)})]


def _targets():
    from tensorflow.contrib.layers.python.layers import target_column
    return target_column


def targets_of_many_classes():
    logits, labels = tf.constant([[1., 2., 3.], [0., 3., 1.]]), tf.constant([[2], [0]])
    target = _targets().multi_class_target(3, "y", "w")
    features = {"w": tf.constant([1., 2.])}
    return [target.loss(logits, {"y": labels}, features),
            target.training_loss(logits, {"y": labels}, features),
            target.logits_to_predictions(logits), target.logits_to_predictions(logits, True),
            target.num_label_columns, target.label_name, target.weight_column_name]


def targets_evaluated():
    logits, labels = tf.constant([[1.], [-2.], [.5]]), tf.constant([[1], [0], [0]])
    found = {}
    for name, target, truth in (
            ("regression", _targets().regression_target(), tf.to_float(labels)),
            ("two", _targets().multi_class_target(2), labels),
            ("svm", _targets().binary_svm_target(), labels)):
        ops = target.get_eval_ops({}, logits, truth)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run([value[1] for value in ops.values()])
            found[name] = session.run({key: value[0] for key, value in ops.items()})
    return found


def targets_metrics():
    target, labels = _targets().multi_class_target(2), tf.constant([[1], [0]])
    logits = tf.constant([[1.], [2.]])
    mean = lambda predictions, labels: tf.reduce_mean(tf.to_float(predictions))  # noqa: E731
    found = target.get_eval_ops({}, logits, labels, {
        "a": mean, ("b", "probabilities"): mean, ("c", "classes"): mean})
    return [sorted(found), found["a"], found["b"], found["c"], _errors({
        "name": lambda: target.get_eval_ops({}, logits, labels, {3: mean}),
        "kind": lambda: target.get_eval_ops({}, logits, labels, {("a", "b"): mean}),
        "triple": lambda: target.get_eval_ops({}, logits, labels, {("a", "b", "c"): mean}),
        "floats": lambda: _targets().multi_class_target(3).loss(
            tf.zeros([2, 3]), tf.constant([[1.], [2.]]), {}),
        "svm": lambda: _targets().binary_svm_target().logits_to_predictions(logits, True),
        "few": lambda: _targets().multi_class_target(1)})]
