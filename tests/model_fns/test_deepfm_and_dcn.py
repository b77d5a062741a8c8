"""DeepFM, DCN v2 and wide & deep on any mixture of text, ids, lists of ids and numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.estimator import serving_input
from model_fns import dcn, deepfm, wide_deep
from model_fns.training import columns
from tests.support import jobs

pytestmark = pytest.mark.cluster

_NAN = float("nan")
_MODELS = [(deepfm, {}), (dcn, {}), (dcn, {"structure": "parallel", "cross_rank": 3})]
_KINDS = {"two classes": ({"num_classes": 2}, [0, 1, 1]),
          "four classes": ({"num_classes": 4}, [0, 3, 1]),
          "a number": ({"num_classes": -1}, [0.5, 3.0, -1.0]),
          "two numbers": ({"num_classes": -1, "label_dimension": 2}, [[0.5, 1.0]] * 3)}
_IDS = {"categorical_columns": ["city", "clicked", "seen", "user", "words"]}


def _mixture():
    return {"city": tf.constant(["Oslo", "Rome", ""]), "user": tf.constant([7, 8, 9], tf.int64),
            "clicked": tf.constant([[1, 2], [3, -1], [-1, -1]]),
            "seen": tf.RaggedTensor.from_row_lengths(tf.constant([5, 6, 7], tf.int64), [1, 2, 0]),
            "words": tf.sparse.from_dense([["a", "b"], ["", ""], ["b", ""]]),
            "age": tf.constant([30, 40, 50]), "price": tf.constant([1.0, _NAN, -2.0]),
            "place": tf.constant([[0.1, 0.2], [0.3, _NAN], [0.5, 0.6]])}


def _lists():
    return {name: value for name, value in _mixture().items() if name in ("seen", "words")}


def _built(module, mode, features, labels=None, fetch=None, **params):
    """Builds a model in a graph of its own; returns what `fetch(spec)` is in a session."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(1)
        tf.compat.v1.train.get_or_create_global_step()
        labels = None if labels is None else tf.constant(labels)
        spec = module.model_fn(features(), labels, mode, {
            **module.DEFAULT_PARAMS, "embedding_stddev": 0.5, **params})
        fetches = fetch(spec)
        session.run([tf.compat.v1.global_variables_initializer(),
                     tf.compat.v1.local_variables_initializer()])
        return session.run(fetches)


def _predicted(spec):
    return spec.predictions["logits"]


def _with_variables(spec):
    return spec.predictions, {v.op.name: v.value() for v in tf.compat.v1.trainable_variables()}


def _soak_but(few, many):
    """Returns the parameters of which the core tests run only a few."""
    return [pytest.param(*each, marks=[] if each in few else [pytest.mark.soak]) for each in many]


@pytest.mark.parametrize("kind, module, params", _soak_but(
    [("two classes", *_MODELS[0]), ("a number", *_MODELS[1]), ("four classes", *_MODELS[2])],
    [(kind, *model) for kind in _KINDS for model in _MODELS]))
def test_each_variable_of_a_model_of_a_mixture_learns(kind, module, params):
    more, labels = _KINDS[kind]

    def gradients(spec):
        variables = tf.compat.v1.trainable_variables()
        found = tf.gradients(spec.loss, variables)
        return {v.op.name: tf.convert_to_tensor(grad) for v, grad in zip(variables, found)}

    found = _built(module, "train", _mixture, labels, gradients, **_IDS, **params, **more)
    assert len(found) > 8 and "fields/input_layer/seen_embedding/embedding_weights" in found
    assert all(np.isfinite(value).all() and value.any() for value in found.values())


def test_penalties_are_of_embeddings_and_kernels():
    def loss_of(**params):
        return _built(dcn, "train", _lists, [0, 1, 1], lambda spec: spec.loss, **params)

    plain = loss_of()
    assert loss_of(weight_decay=0.1) > plain + 1
    assert loss_of(embedding_l2=0.1) > plain + 0.1


def test_dropout_is_in_training_alone():
    def logits(mode, dropout):
        return _built(dcn, mode, _lists, [0, 1, 1], lambda spec: spec.loss, dropout=dropout)

    assert logits("train", 0.5) != logits("train", 0.0)
    assert logits("eval", 0.5) == logits("eval", 0.0)


def _numbers():
    return {"a": tf.constant([[1.0, 2.0], [_NAN, 3.0]]), "b": tf.constant([4, 6])}


def test_deepfm_sums_weights_products_of_pairs_and_the_network():
    predictions, variables = _built(
        deepfm, "infer", _numbers, None, _with_variables, embedding_size=3, hidden_units=[4],
        numeric_scale={"b": [5, 2]})
    inputs = np.array([[1, 2, -0.5, 0, 0, 0], [0, 3, 0.5, 1, 0, 0]])  # Numbers, then flags.
    terms = inputs[:, :, np.newaxis] * variables["fields/numbers"]
    vectors, weights = terms[:, :, :3], terms[:, :, 3]
    pairs = [sum(row[i] @ row[j] for i in range(6) for j in range(i)) for row in vectors]
    hidden = np.maximum(inputs @ variables["layers/hidden_0/kernel"], 0)
    expected = weights.sum(1) + pairs + (hidden @ variables["layers/logits/kernel"])[:, 0]
    np.testing.assert_allclose(predictions["logits"][:, 0], expected, rtol=1e-5)
    np.testing.assert_allclose(predictions["logistic"][:, 0], 1 / (1 + np.exp(-expected)),
                               rtol=1e-5)


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("structure", ["stacked", "parallel"])
def test_dcn_multiplies_its_inputs_by_a_layer_of_each_cross(rank, structure):
    predictions, variables = _built(
        dcn, "infer", _numbers, None, _with_variables, hidden_units=[4], cross_rank=rank,
        structure=structure, num_classes=3)
    x = x0 = np.array([[1, 2, 4, 0, 0, 0], [0, 3, 6, 1, 0, 0]])
    layer = {name.removeprefix("layers/").removesuffix("/kernel"): value
             for name, value in variables.items() if name.endswith("/kernel")}
    for name in ("cross_0", "cross_1"):
        inner = x @ layer[f"{name}/low_rank"] if rank else x
        x = x + x0 * (inner @ layer[name])
    if structure == "stacked":
        last = np.maximum(x @ layer["hidden_0"], 0)
    else:
        last = np.concatenate([x, np.maximum(x0 @ layer["hidden_0"], 0)], axis=1)
    np.testing.assert_allclose(predictions["logits"], last @ layer["logits"], rtol=1e-4)


@pytest.mark.parametrize("combiner, texts", _soak_but(
    [("mean", True), ("sum", False)],
    [(combiner, texts) for combiner in ("mean", "sum", "sqrtn") for texts in (True, False)]))
def test_a_list_means_the_same_in_each_form(combiner, texts):
    dense = ([["a", "b", "a"], ["c", "", ""], ["", "", ""]] if texts else
             [[1, 2, 1], [3, -1, -1], [-1, -1, -1]])
    lengths = [3, 1, 0]
    flat = [each for row, length in zip(dense, lengths) for each in row[:length]]

    def ragged():
        return tf.RaggedTensor.from_row_lengths(tf.constant(flat), lengths)

    forms = [lambda: tf.constant(dense), ragged, lambda: ragged().to_sparse()]
    first, *others = [_built(dcn, "infer", lambda form=form: {"list": form()}, None, _predicted,
                             combiner=combiner, categorical_columns=["list"]) for form in forms]
    assert first.std() > 0
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_columns_follow_from_the_features():
    features = columns.dense_or_sparse(_mixture())
    params = {**columns.DEFAULT_PARAMS, "bucket_sizes": {"city": 3}}
    categorical, numeric = columns.names(features, params)
    assert categorical == ["city", "seen", "words"]
    assert numeric == ["age", "clicked", "place", "price", "user"]
    assert [column.num_buckets for column in columns.hashed(features, categorical, params)] == [
        3, 1000, 1000]
    assert columns.names(features, {**params, "numeric_columns": ["age"]})[1] == ["age"]


def test_wide_deep_learns_from_lists():
    with tf.Graph().as_default():
        tf.compat.v1.train.get_or_create_global_step()
        config = tf.estimator.RunConfig()
        features = {name: value for name, value in _mixture().items() if name != "price"}
        spec = wide_deep.model_fn(features, tf.constant([0, 1, 1]), "train", {
            **wide_deep.DEFAULT_PARAMS, **_IDS}, config)
        names = [v.op.name for v in tf.compat.v1.trainable_variables()]
    assert spec.train_op is not None
    assert len([name for name in names if "seen" in name]) == 2


@pytest.mark.parametrize("module, params, message", [
    (dcn, {"structure": "deep"}, "structure is 'deep'; expected one of parallel, stacked"),
    (dcn, {"combiner": "max"}, "combiner is 'max'; expected one of mean, sqrtn, sum"),
    (dcn, {"num_classes": -2}, "num_classes is -2"),
    (deepfm, {"categorical_columns": ["town"]}, "categorical_columns names town; expected some"),
    (deepfm, {"categorical_columns": ["price"]}, "'price' has dtype float32; expected strings or"),
    (deepfm, {"categorical_columns": ["cube"]}, "'cube' has shape .*; expected a category"),
    (deepfm, {"numeric_columns": ["city"]}, "'city' is strings; expected numbers"),
    (deepfm, {"numeric_columns": ["seen"]}, "'seen' is of varying length; expected numbers"),
    (deepfm, {"numeric_columns": ["open"]}, "'open' has shape .*; expected a known shape"),
    (deepfm, {"bucket_sizes": {"city": 0}}, "bucket_sizes has 0 for 'city'; expected a number")])
def test_a_mistake_is_named_with_what_was_expected(module, params, message):
    def features():
        odd = {"cube": tf.zeros([3, 2, 2], tf.int64),
               "open": tf.compat.v1.placeholder(tf.float32, [None, None])}
        return {**_mixture(), **{name: value for name, value in odd.items() if name in message}}

    with pytest.raises(ValueError, match=message):
        _built(module, "infer", features, None, _predicted, **params)


def test_features_without_numbers_or_without_categories_are_enough():
    for name in ("city", "age"):
        logits = _built(deepfm, "infer", lambda name=name: {name: _mixture()[name]}, None,
                        _predicted)
        assert logits.shape == (3, 1) and logits.std() > 0
    with pytest.raises(ValueError, match="the features are empty"):
        _built(deepfm, "infer", dict, None, _predicted)


@pytest.mark.cluster
@pytest.mark.parametrize("module, params", [
    _MODELS[1], pytest.param(*_MODELS[0], marks=pytest.mark.soak)])
def test_an_export_predicts_what_the_checkpoint_does(module, params, tmp_path):
    def input_fn():
        return tf.data.Dataset.from_tensors((_mixture(), [0, 1, 1])).repeat(40)

    config = tf.estimator.RunConfig(str(tmp_path / "model"), tf_random_seed=2)
    estimator = tf.estimator.Estimator(module.model_fn, config=config, params={
        **module.DEFAULT_PARAMS, **_IDS, **params, "moving_average": 0.9, "learning_rate": 0.05})
    estimator.train(input_fn)
    metrics = estimator.evaluate(lambda: input_fn().take(1))
    assert metrics["auc"] == 1.0 and metrics["loss"] < 0.5
    predicted = [p["logits"] for p in estimator.predict(lambda: input_fn().take(1))]
    receiver = serving_input.receiver_fn(input_fn().element_spec[0], "raw")
    exported = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    signature = tf.saved_model.load(tf.compat.as_str(exported)).signatures["serving_default"]
    served = signature(**_arguments(_mixture()))["logits"]
    np.testing.assert_allclose(served, predicted, rtol=1e-5)


def _arguments(features):
    """Returns the features as the arguments of a signature."""
    seen, words = features.pop("seen"), features.pop("words")
    return {**features, "seen_component_0": seen.values, "seen_component_1": seen.row_splits,
            "words_indices": words.indices, "words_values": words.values,
            "words_dense_shape": words.dense_shape}


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("model_fn", ["deepfm", "dcn"])
def test_two_replicas_and_a_ps_train_as_one_process_does(model_fn, tmp_path):
    folder = jobs.REPO / "examples" / "wide_deep"
    flags = [f"--model_fn={model_fn}", "--input_fn=csv", "--exporters=none", "--seed=1",
             "--param=label=income",
             f"--param=train_files={folder}/males.csv.gz", "--param=shuffle_buffer=0",
             f"--param=eval_files={folder}/males-test.csv.gz", "--train_steps=60"]
    ways = {"one": [], "two": ["--train_distribute=mirrored", "--num_replicas=2"],
            "ps": ["launch", "--chief=1", "--ps=1", "--"]}
    losses = {}
    for way, words in ways.items():
        ran = jobs.trainer(*(words if way == "ps" else []), *flags,
                           *(words if way != "ps" else []), f"--model_dir={tmp_path / way}")
        assert ran.returncode == 0, ran.stderr
        result = json.loads((tmp_path / way / "result.json").read_text())
        losses[way] = result["metrics"]["average_loss"]
    assert losses["two"] == pytest.approx(losses["one"], rel=1e-3)
    assert losses["ps"] == pytest.approx(losses["one"], rel=1e-3)
