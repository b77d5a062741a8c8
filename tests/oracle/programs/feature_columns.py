"""tf.feature_column: input_layer, linear_model and each column, with the errors of odd inputs."""

import tensorflow as tf

SOAK = (
    "crossed", "crossed_buckets", "dense_features_of_keras", "embedding_options",
    "identity_negative", "identity_out_of_range_embedded", "indicator_of_words", "linear_model",
    "linear_model_options", "linear_model_trained", "order_and_variables", "shared_embeddings",
    "two_input_layers", "weighted",)
DIFFERENT = {
    "dense_features_of_keras": "Keras's learning phase is made, so later random ops differ",
    "linear_model": "variables are reference variables, so later random ops differ",
    "linear_model_options": "variables are reference variables, so later random ops differ",
}

_C = tf.feature_column


def _of(columns, features, **options):
    return [_C.input_layer(features, columns, **options), tf.random_normal([2])]


def numeric():
    return _of(
        [_C.numeric_column("a"), _C.numeric_column("b", 2, normalizer_fn=lambda x: x / 2.0)],
        {"a": [[1.0], [2.0]], "b": [[3.0, 4.0], [5.0, 6.0]]},
    )


def numeric_of_one_dimension():
    return _of([_C.numeric_column("a")], {"a": [1.0, 2.0]})


def bucketized():
    return _of(
        [_C.bucketized_column(_C.numeric_column("a"), [0.0, 1.5])],
        {"a": [[-1.0], [0.0], [1.0], [2.0]]},
    )


def indicator_of_words():
    words = _C.categorical_column_with_vocabulary_list("w", ["a", "b", "c"], num_oov_buckets=1)
    return _of([_C.indicator_column(words)], {"w": [["a"], ["c"], ["z"]]})


def indicator_of_default():
    words = _C.categorical_column_with_vocabulary_list("w", ["a", "b"], default_value=1)
    return _of([_C.indicator_column(words)], {"w": [["a", "b"], ["z", "z"]]})


def indicator_of_hash():
    return _of(
        [_C.indicator_column(_C.categorical_column_with_hash_bucket("w", 4))],
        {"w": [["a"], ["c"], ["z"]]},
    )


def indicator_of_numbers_hash():
    return _of(
        [_C.indicator_column(_C.categorical_column_with_hash_bucket("w", 4, tf.int64))],
        {"w": [[1], [2], [7]]},
    )


def identity():
    return _of(
        [_C.indicator_column(_C.categorical_column_with_identity("i", 3))], {"i": [[0], [2]]}
    )


def identity_out_of_range():
    return _of(
        [_C.indicator_column(_C.categorical_column_with_identity("i", 3))], {"i": [[0], [5]]}
    )


def identity_negative():
    return _of(
        [_C.indicator_column(_C.categorical_column_with_identity("i", 3))], {"i": [[0], [-2]]}
    )


def identity_with_default():
    column = _C.categorical_column_with_identity("i", 3, default_value=0)
    return _of([_C.indicator_column(column)], {"i": [[1], [5], [-1]]})


def identity_out_of_range_embedded():
    column = _C.embedding_column(_C.categorical_column_with_identity("i", 3), 2)
    return _of([column], {"i": [[0], [5]]})


def embedding():
    words = _C.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    return _of([_C.embedding_column(words, 4)], {"w": [["a"], ["c"], ["z"]]})


def embedding_options():
    words = _C.categorical_column_with_hash_bucket("w", 6)
    return _of(
        [
            _C.embedding_column(words, 2, "sqrtn", max_norm=0.5),
            _C.embedding_column(
                _C.categorical_column_with_identity("i", 4),
                3,
                "sum",
                initializer=tf.random_normal_initializer(),
            ),
        ],
        {"w": [["a", "b"], ["c", "a"]], "i": [[1], [3]]},
    )


def shared_embeddings():
    one = _C.categorical_column_with_identity("a", 4)
    two = _C.categorical_column_with_identity("b", 4)
    return _of(_C.shared_embedding_columns([one, two], 3), {"a": [[1], [2]], "b": [[3], [1]]})


def weighted():
    words = _C.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    column = _C.weighted_categorical_column(words, "p")
    return _of(
        [_C.indicator_column(column), _C.embedding_column(column, 2)],
        {
            "w": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]),
            "p": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1.0, 2.0, 0.5], [2, 2]),
        },
    )


def crossed():
    crossed = _C.crossed_column(["a", "b"], 7)
    return _of(
        [_C.indicator_column(crossed), _C.embedding_column(crossed, 2)],
        {"a": [["x"], ["y"]], "b": [["1"], ["2"]]},
    )


def crossed_buckets():
    bucket = _C.bucketized_column(_C.numeric_column("n"), [1.0, 2.0])
    words = _C.categorical_column_with_vocabulary_list("a", ["x", "y"])
    return _of(
        [_C.indicator_column(_C.crossed_column([bucket, words], 5, hash_key=3))],
        {"a": [["x"], ["y"]], "n": [[0.0], [1.5]]},
    )


def order_and_variables():
    columns = [
        _C.numeric_column("z"),
        _C.embedding_column(_C.categorical_column_with_identity("m", 3), 2),
        _C.numeric_column("a"),
    ]
    variables = []
    layer = _C.input_layer(
        {"z": [[1.0]], "m": [[2]], "a": [[3.0]]}, columns, cols_to_vars={}, trainable=True
    )
    variables.extend(v.name for v in tf.trainable_variables())
    return [layer, variables, layer.name]


def cols_to_vars():
    column = _C.embedding_column(_C.categorical_column_with_identity("m", 3), 2)
    found = {}
    _C.input_layer({"m": [[2]]}, [column], cols_to_vars=found)
    return [[v.name for v in each] for each in found.values()]


def linear_model():
    words = _C.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    features = {"w": [["a"], ["c"]], "n": [[1.0], [2.0]]}
    return [_C.linear_model(features, [words, _C.numeric_column("n")]), tf.random_normal([2])]


def linear_model_options():
    words = _C.categorical_column_with_hash_bucket("w", 5)
    features = {"w": [["a", "b"], ["c", "c"]], "n": [[1.0], [2.0]]}
    return [
        _C.linear_model(
            features,
            (
                [words, _C.numeric_column("n"), _C.crossed_column(["w", "v"], 4)]
                if False
                else [words, _C.numeric_column("n")]
            ),
            units=2,
            sparse_combiner="mean",
        ),
        tf.random_normal([2]),
    ]


def linear_model_trained():
    bucket = _C.bucketized_column(_C.numeric_column("n"), [1.5])
    y = _C.linear_model({"n": [[1.0], [2.0]]}, [bucket])
    train = tf.train.FtrlOptimizer(0.5).minimize(tf.reduce_mean(tf.square(y - 1.0)))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(3):
            session.run(train)
        return session.run([y] + tf.global_variables())


def vocabulary_file():
    path = "words.txt"
    with open(path, "w") as file:
        file.write("x\ny\nz\n")
    column = _C.categorical_column_with_vocabulary_file("w", path, 3)
    return _of([_C.indicator_column(column)], {"w": [["y"], ["q"], ["x"]]})


def parse_spec():
    words = _C.categorical_column_with_hash_bucket("w", 5)
    spec = _C.make_parse_example_spec([_C.numeric_column("n", 2), _C.embedding_column(words, 2)])
    return sorted((name, type(each).__name__, each.dtype) for name, each in spec.items())


def missing_feature():
    return _C.input_layer({"a": [[1.0]]}, [_C.numeric_column("b")])


def categorical_in_input_layer():
    return _C.input_layer({"a": [["x"]]}, [_C.categorical_column_with_hash_bucket("a", 3)])


def no_columns():
    return _C.input_layer({"a": [[1.0]]}, [])


def doubled_columns():
    return _C.input_layer({"a": [[1.0]]}, [_C.numeric_column("a"), _C.numeric_column("a")])


def wrong_buckets():
    return _C.bucketized_column(_C.numeric_column("a"), [2.0, 1.0])


def dense_features_of_keras():
    words = _C.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    layer = tf.keras.layers.DenseFeatures([_C.embedding_column(words, 2), _C.numeric_column("n")])
    return [layer({"w": [["a"], ["c"]], "n": [[1.0], [2.0]]}), tf.random_normal([2])]


def two_input_layers():
    words = _C.embedding_column(_C.categorical_column_with_identity("i", 3), 2)
    features = {"i": [[1], [2]]}
    return [
        _C.input_layer(features, [words]),
        _C.input_layer(features, [words]),
        [v.name for v in tf.global_variables()],
    ]


def names():
    words = _C.categorical_column_with_hash_bucket("w", 5)
    return [
        each.name
        for each in (
            words,
            _C.embedding_column(words, 2),
            _C.indicator_column(words),
            _C.numeric_column("n"),
            _C.bucketized_column(_C.numeric_column("n"), [1.0]),
            _C.crossed_column([words, "v"], 3),
        )
    ]
