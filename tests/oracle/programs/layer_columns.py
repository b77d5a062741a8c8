"""tf.contrib.layers: feature columns, their inputs, and embeddings."""

import tempfile

from _ended import errors as _errors
import numpy as np
import tensorflow as tf

SOAK = ("in_a_canned_estimator", "partitioned", "hashed_embedding_sqrtn", "crossed_embedding")
layers = tf.contrib.layers
_RAMP = tf.constant_initializer(np.arange(200, dtype=np.float32) / 10)


def _words():
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], ["cat", "dog", "cat", "emu"], [4, 3])


def _numbers():
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]],
                           tf.constant([1, 12, -1, 7], tf.int64), [4, 3])


def _weights():
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], [.5, 2., 0., -1.], [4, 3])


def _features():
    return {"word": _words(), "number": _numbers(), "weight": _weights(),
            "price": tf.constant([[1.], [20.], [3.], [400.]]),
            "pair": tf.constant([[1., 2.], [3., 4.], [5., 6.], [7., 80.]]),
            "dense": tf.constant([["a", "b"], ["", "a"], ["c", ""], ["", ""]]),
            "ints": tf.constant([[3], [4], [5], [-1]], tf.int32)}


def _word(**options):
    return layers.sparse_column_with_hash_bucket("word", 10, **options)


def _number():
    return layers.sparse_column_with_integerized_feature("number", 10)


def _embedding(column, dimension=3, **options):
    return layers.embedding_column(column, dimension, initializer=_RAMP, **options)


def _input(*columns, **options):
    return layers.input_from_feature_columns(_features(), list(columns), **options)


def _sums(*columns, **options):
    features = _features()
    sums, variables, bias = layers.weighted_sum_from_feature_columns(
        features, list(columns), 2, **options)
    flat = [each for key in sorted(variables, key=lambda column: column.key)
            for each in variables[key]]
    loss = tf.reduce_sum(tf.square(sums - 1.))
    return {"sums": sums, "bias": bias, "names": [each.op.name for each in flat],
            "gradients": [tf.convert_to_tensor(each) for each in tf.gradients(
                loss, flat + [bias])]}


def hashed_embedding():
    return _input(_embedding(_word()))


def hashed_embedding_sum():
    return _input(_embedding(_word(), combiner="sum"))


def hashed_embedding_sqrtn():
    return _input(_embedding(_word(), combiner="sqrtn"))


def hashed_by_two_keys():
    return _input(_embedding(_word(hash_keys=[[1, 2], [3, 4]])))


def hashed_integers():
    return _input(_embedding(layers.sparse_column_with_hash_bucket("number", 10, dtype=tf.int64)))


def integerized():
    return _input(_embedding(_number()))


def keys_one_hot():
    return _input(layers.one_hot_column(layers.sparse_column_with_keys("word", ["dog", "cat"])))


def keys_with_default():
    return _input(layers.one_hot_column(layers.sparse_column_with_keys(
        "word", ["dog", "cat"], default_value=1)))


def keys_of_integers():
    return _input(layers.one_hot_column(layers.sparse_column_with_keys(
        "number", [1, 7, 12], dtype=tf.int64)))


def vocabulary_file():
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write("emu\ncat\ndog\nant\n")
    return [_input(layers.one_hot_column(layers.sparse_column_with_vocabulary_file(
        "word", file.name, num_oov_buckets=oov, vocab_size=2))) for oov in (0, 2)]


def vocabulary_without_size():
    return layers.sparse_column_with_vocabulary_file("word", "no_such_file")


def dense_strings():
    return _input(layers.one_hot_column(layers.sparse_column_with_keys("dense", ["a", "b", "c"])))


def dense_integers():
    column = layers.sparse_column_with_integerized_feature("ints", 6, dtype=tf.int32)
    return _input(layers.one_hot_column(column))


def weighted_one_hot():
    return _input(layers.one_hot_column(layers.weighted_sparse_column(_number(), "weight")))


def weighted_embedding():
    column = layers.weighted_sparse_column(_word(), "weight")
    return [_input(_embedding(column, combiner=each)) for each in ("sum", "mean", "sqrtn")]


def real_values():
    return _input(layers.real_valued_column("price"), layers.real_valued_column("pair", 2))


def real_values_normalized():
    return _input(layers.real_valued_column("pair", 2, normalizer=lambda x: (x - 2) / 3))


def buckets():
    column = layers.bucketized_column(layers.real_valued_column("price"), [2, 3., 3., 100])
    return {"input": _input(column), "boundaries": list(column.boundaries), "name": column.name}


def buckets_of_pairs():
    return _input(layers.bucketized_column(layers.real_valued_column("pair", 2), [3., 5.]))


def shared_embeddings():
    columns = layers.shared_embedding_columns([_word(), layers.sparse_column_with_hash_bucket(
        "dense", 10)], 3, initializer=_RAMP)
    return _input(*columns)


def shared_embeddings_named():
    columns = layers.shared_embedding_columns(
        [_word(), layers.sparse_column_with_hash_bucket("dense", 10)], 3, "sum", "animal",
        initializer=_RAMP)
    return [column.name for column in columns] + [_input(*columns)]


def shared_embedding_of_one():
    columns = layers.shared_embedding_columns([_word()], 3, initializer=_RAMP)
    return [len(columns), columns[0].name, _input(*columns)]


def shared_embeddings_of_many():
    columns = [layers.sparse_column_with_hash_bucket(name, 10) for name in "dbca"]
    return [column.shared_embedding_name for column in layers.shared_embedding_columns(columns, 3)]


def shared_embeddings_incompatible():
    return layers.shared_embedding_columns(
        [_word(), layers.sparse_column_with_hash_bucket("dense", 11)], 3)


def shared_embeddings_of_no_columns():
    return layers.shared_embedding_columns(["word", "dense"], 3)


def scattered_embedding():
    return [_input(layers.scattered_embedding_column(
        "word", 20, 3, hash_key=11, combiner=each, initializer=_RAMP))
            for each in ("sum", "mean", "sqrtn")]


def crossed_in_a_sum():
    return _sums(layers.crossed_column([_word(), layers.sparse_column_with_hash_bucket(
        "dense", 10)], 100))


def crossed_ids():
    column = layers.crossed_column([_word(), layers.sparse_column_with_hash_bucket(
        "dense", 10)], 1000)
    return layers.transform_features(_features(), [column])[column]


def crossed_ids_of_numbers():
    price = layers.bucketized_column(layers.real_valued_column("price"), [2, 30])
    pair = layers.bucketized_column(layers.real_valued_column("pair", 2), [2, 30])
    column = layers.crossed_column([_word(), _number(), price, pair], 1000)
    return layers.transform_features(_features(), [column])[column]


def crossed_ids_by_a_key():
    column = layers.crossed_column(
        [_word(), _number()], 1000, hash_key=layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY)
    return layers.transform_features(_features(), [column])[column]


def crossed_crosses():
    cross = layers.crossed_column([_word(), _number()], 1000)
    column = layers.crossed_column([cross, layers.sparse_column_with_hash_bucket("dense", 5)], 500)
    return [column.name, layers.transform_features(_features(), [column])[column]]


def crossed_embedding():
    return _input(_embedding(layers.crossed_column([_word(), _number()], 20)))


def crossed_real_values():
    return layers.crossed_column([_word(), layers.real_valued_column("price")], 10)


def order_of_columns():
    columns = [layers.real_valued_column("price"), _embedding(_word(), 2),
               layers.one_hot_column(_number()), layers.real_valued_column("pair", 2),
               layers.bucketized_column(layers.real_valued_column("price"), [2, 30])]
    outputs = {}
    values = _input(*columns, cols_to_outs=outputs)
    return {"values": values, "one": outputs[columns[0]],
            "keys": [column.key for column in sorted(columns, key=lambda each: each.name)]}


def keys_of_columns():
    columns = [_word(), _number(), layers.sparse_column_with_keys("word", ["a"]),
               layers.weighted_sparse_column(_word(), "weight"), layers.one_hot_column(_word()),
               _embedding(_word()), layers.crossed_column([_word(), _number()], 10),
               layers.scattered_embedding_column("word", 20, 3, 1),
               layers.real_valued_column("pair", 2, default_value=[1, 2])]
    return [[column.key, column.name] for column in columns]


def scope_and_collections():
    values = _input(_embedding(_word()), weight_collections=["mine"], scope="deep")
    return [values, sorted(each.op.name for each in tf.get_collection("mine")),
            [each.op.name for each in tf.contrib.framework.get_model_variables()],
            [each.op.name for each in tf.trainable_variables()]]


def not_trainable():
    _input(_embedding(_word()), trainable=False)
    _input(_embedding(_word(), trainable=False))
    return [each.op.name for each in tf.trainable_variables()]


def partitioned():
    with tf.variable_scope("x", partitioner=tf.fixed_size_partitioner(2)):
        return _input(layers.embedding_column(
            _word(), 3, initializer=tf.constant_initializer(.5)))


def reused():
    with tf.variable_scope("x"):
        first = _input(_embedding(_word()), scope="deep")
    with tf.variable_scope("x", reuse=True):
        second = _input(_embedding(_word()), scope="deep")
    return [first, second, len(tf.global_variables())]


def default_initializer():
    return _input(layers.embedding_column(_word(), 3))


def max_norm():
    return _input(_embedding(_word(), max_norm=1.))


def embedding_from_a_checkpoint():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("old", initializer=tf.reshape(tf.range(30.), [10, 3]))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, tempfile.mkdtemp() + "/model")
    return _input(_embedding(_word(), ckpt_to_load_from=path, tensor_name_in_ckpt="old"))


def sparse_column_as_input():
    return _input(_word())


def duplicate_columns():
    return _input(_embedding(_word()), _embedding(_word(), 3), layers.embedding_column(_word(), 3))


def missing_feature():
    return layers.input_from_feature_columns({}, [layers.real_valued_column("price")])


def sum_of_hashed():
    return _sums(_word())


def sum_of_means():
    return _sums(_word(combiner="mean"), layers.sparse_column_with_keys(
        "dense", ["a", "b"], combiner="sqrtn"))


def sum_of_weighted():
    return _sums(layers.weighted_sparse_column(_number(), "weight"))


def sum_of_real_values():
    return _sums(layers.real_valued_column("price"), layers.real_valued_column("pair", 2))


def sum_of_buckets():
    return _sums(layers.bucketized_column(layers.real_valued_column("pair", 2), [3., 5.]))


def sum_of_embeddings():
    return _sums(_embedding(_word()))


def sum_trained():
    features = _features()
    sums, _, _ = layers.weighted_sum_from_feature_columns(
        features, [_word(), layers.real_valued_column("pair", 2)], 1, ["mine"], scope="linear")
    loss = tf.reduce_mean(tf.square(sums - tf.constant([[1.], [2.], [3.], [4.]])))
    train = tf.train.AdagradOptimizer(.1).minimize(loss)
    with tf.control_dependencies([train]):
        return {name.op.name: name.read_value() for name in tf.trainable_variables()}


def joint_sum():
    features = _features()
    sums, variables, bias = layers.joint_weighted_sum_from_feature_columns(
        features, [_word(), _number(), layers.bucketized_column(
            layers.real_valued_column("pair", 2), [3., 5.])], 2)
    gradients = tf.gradients(tf.reduce_sum(tf.square(sums - 1.)), variables + [bias])
    return [sums, len(variables), [tf.convert_to_tensor(each) for each in gradients]]


def joint_sum_of_real_values():
    return layers.joint_weighted_sum_from_feature_columns(
        _features(), [layers.real_valued_column("price")], 1)[0]


def sequences():
    features = {"word": tf.SparseTensor([[0, 0, 0], [0, 1, 0], [1, 0, 1]], ["a", "b", "a"],
                                        [2, 3, 2]),
                "price": tf.reshape(tf.range(12.), [2, 3, 2])}
    return layers.sequence_input_from_feature_columns(features, [
        layers.one_hot_column(layers.sparse_column_with_keys("word", ["a", "b"])),
        _embedding(_word()), layers.real_valued_column("price", 2)])


def sequences_of_buckets():
    return layers.sequence_input_from_feature_columns(_features(), [
        layers.bucketized_column(layers.real_valued_column("price"), [1.])])


def _example(**features):
    kinds = {int: lambda value: tf.train.Feature(int64_list=tf.train.Int64List(value=value)),
             float: lambda value: tf.train.Feature(float_list=tf.train.FloatList(value=value)),
             bytes: lambda value: tf.train.Feature(bytes_list=tf.train.BytesList(value=value))}
    return tf.train.Example(features=tf.train.Features(feature={
        key: kinds[type(value[0])](value) for key, value in features.items()})).SerializeToString()


def parsed_examples():
    serialized = tf.constant([_example(word=[b"cat", b"dog"], price=[1.]),
                              _example(price=[2.]), _example(word=[b"emu"])])
    price = layers.real_valued_column("price", default_value=5.)
    columns = [price, _word(), layers.one_hot_column(_word()),
               layers.bucketized_column(price, [1.5])]
    parsed = layers.parse_feature_columns_from_examples(serialized, columns)
    return {"price": parsed["price"], "bucket": parsed[columns[3]], "word": parsed[columns[1]],
            "input": layers.input_from_feature_columns(parsed, [price, columns[2]])}


def specs():
    columns = [layers.real_valued_column("pair", 2, default_value=1), _embedding(_word()),
               layers.weighted_sparse_column(_number(), "weight"),
               layers.crossed_column([_word(), _number()], 10),
               layers.scattered_embedding_column("other", 20, 3, 1)]
    spec = layers.create_feature_spec_for_parsing(columns)
    placeholders = layers.make_place_holder_tensors_for_base_features(columns)
    return [{key: str(value) for key, value in spec.items()}, sorted(placeholders),
            placeholders["pair"].shape, placeholders["pair"].dtype]


def specs_of_another_column():
    return layers.create_feature_spec_for_parsing(["word"])


def inferred():
    columns = layers.infer_real_valued_columns(
        {"a": tf.zeros([3, 2, 2]), "b": tf.zeros([3], tf.int32)})
    one = layers.infer_real_valued_columns(tf.zeros([3, 4], tf.float64))
    return [str(each) for each in sorted(columns)] + [str(one)]


def inferred_of_strings():
    return layers.infer_real_valued_columns({"a": tf.constant(["a"])})


def mistakes():
    wrong = {
        "dimension": lambda: layers.real_valued_column("a", None),
        "zero": lambda: layers.real_valued_column("a", 0),
        "string": lambda: layers.real_valued_column("a", dtype=tf.string),
        "default": lambda: layers.real_valued_column("a", default_value="b"),
        "int_default": lambda: layers.real_valued_column("a", default_value=1.5, dtype=tf.int32),
        "length": lambda: layers.real_valued_column("a", 2, default_value=[1.]),
        "bucket": lambda: layers.sparse_column_with_hash_bucket("a", 0),
        "float": lambda: layers.sparse_column_with_hash_bucket("a", 2, dtype=tf.float32),
        "integer": lambda: layers.sparse_column_with_integerized_feature("a", 2, dtype=tf.string),
        "keys": lambda: layers.sparse_column_with_hash_bucket("a", 2, hash_keys=[[1]]),
        "boundaries": lambda: layers.bucketized_column(layers.real_valued_column("a"), [2, 1]),
        "source": lambda: layers.bucketized_column(_word(), [2, 1]),
        "one": lambda: layers.crossed_column([_word()], 10),
        "few": lambda: layers.crossed_column([_word(), _number()], 1),
        "scattered": lambda: layers.scattered_embedding_column("a", 0, 1, 1),
        "combiner": lambda: layers.scattered_embedding_column("a", 1, 1, 1, combiner="max"),
        "initializer": lambda: layers.embedding_column(_word(), 2, initializer=3),
        "checkpoint": lambda: layers.embedding_column(_word(), 2, ckpt_to_load_from="a"),
        "weights": lambda: layers.weighted_sparse_column(_word(), "a", tf.string),
        "dict": lambda: layers.check_feature_columns({}),
        "twice": lambda: layers.check_feature_columns([_word(), _word()]),
    }
    return _errors(wrong)


def in_tf_feature_column():
    columns = [_embedding(_word()), layers.one_hot_column(_number()),
               layers.real_valued_column("pair", 2),
               layers.bucketized_column(layers.real_valued_column("price"), [2, 30])]
    return tf.feature_column.input_layer(_features(), columns)


def in_tf_feature_column_linear():
    return tf.feature_column.linear_model(_features(), [
        _word(), layers.bucketized_column(layers.real_valued_column("pair", 2), [3., 5.]),
        layers.real_valued_column("pair", 2), layers.crossed_column([_word(), _number()], 10)])


def in_a_canned_estimator():
    columns = [_embedding(_word()), layers.real_valued_column("pair", 2)]
    config = tf.estimator.RunConfig(tf_random_seed=3)
    model = tf.estimator.DNNLinearCombinedClassifier(
        tempfile.mkdtemp(), linear_feature_columns=[_word()], dnn_feature_columns=columns,
        dnn_hidden_units=[2], config=config)

    def input_fn():
        return _features(), tf.constant([[0], [1], [1], [0]])

    model.train(input_fn, steps=2)
    return {name: list(model.get_variable_value(name).shape)
            for name in model.get_variable_names()}


def target_columns():
    logits = tf.constant([[1.], [-2.], [.5]])
    features = {"w": tf.constant([[1.], [2.], [0.]])}
    regression = layers.regression_target(weight_column_name="w")
    classes = layers.multi_class_target(2)
    three = layers.multi_class_target(3, weight_column_name="w")
    labels = tf.constant([[1.], [0.], [2.]])
    many = tf.constant([[1., 2., 3.], [0., 0., 1.], [3., 2., 1.]])
    return [regression.loss(logits, labels, features),
            regression.training_loss(logits, labels, features),
            regression.logits_to_predictions(logits),
            classes.loss(logits, tf.constant([1, 0, 1]), {}),
            classes.logits_to_predictions(logits, proba=True),
            classes.logits_to_predictions(logits),
            three.training_loss(many, tf.constant([[1], [2], [0]]), features),
            three.logits_to_predictions(many, proba=True), three.num_label_columns]


def target_metrics():
    found = layers.multi_class_target(2).get_eval_ops(
        {}, tf.constant([[1.], [-2.], [.5]]), tf.constant([[1], [0], [0]]))
    return {key: update for key, (_, update) in found.items()}


def safe_lookup():
    table = tf.get_variable("table", [10, 2], initializer=_RAMP)
    return [layers.safe_embedding_lookup_sparse(table, _few()),
            layers.safe_embedding_lookup_sparse([table], _few(), _weights(), "sqrtn"),
            layers.safe_embedding_lookup_sparse(table, _few(), combiner="sum", default_id=3)]


def _few():
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]],
                           tf.constant([1, 2, -1, 7], tf.int64), [4, 3])


def safe_lookup_of_nothing():
    return layers.safe_embedding_lookup_sparse(None, _few())


def unique_lookup():
    table = tf.get_variable("table", [10, 2], initializer=_RAMP)
    found = layers.embedding_lookup_unique(table, [[1, 2, 1], [9, 1, 2]])
    return [found, found.shape, tf.convert_to_tensor(tf.gradients(found, table)[0])]


def bow():
    ids = tf.constant([[1, 2, 0], [3, 3, 0], [0, 0, 0]])
    options = {"initializer": _RAMP}
    return [layers.bow_encoder(ids, 5, 2, **options),
            layers.bow_encoder(ids, 5, 2, sparse_lookup=False, scope="dense", **options)]


def bow_reused():
    first = layers.bow_encoder(tf.constant([[1, 2]]), 5, 2, scope="a", initializer=_RAMP)
    return [first, layers.bow_encoder(tf.constant([[3, 0]]), 5, 2, scope="a", reuse=True)]


def embedded_sequence():
    first = layers.embed_sequence(tf.constant([[1, 2], [2, 2]]), 5, 2, scope="a",
                                  initializer=_RAMP)
    second = layers.embed_sequence(tf.constant([[4, 0]]), unique=True, scope="a", reuse=True)
    return [first, second, second.shape]


def embedded_sequence_without_size():
    return layers.embed_sequence(tf.constant([[1]]))


def embedded_sequence_regularized():
    layers.embed_sequence(tf.constant([[1, 2]]), 5, 2, regularizer=layers.l2_regularizer(.5),
                          initializer=_RAMP, trainable=False)
    return tf.losses.get_regularization_losses() + [len(tf.trainable_variables())]
