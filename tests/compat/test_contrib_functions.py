"""This package's own functions of `tf.contrib` compute the right values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from estimator_trainer.compat.contrib.crf import chain as crf  # Before TensorFlow.
from estimator_trainer.compat.contrib.training import hparams

TAGS, LENGTHS = 3, (4, 1, 3)


@pytest.fixture
def scores():
    random = np.random.RandomState(7)
    return (random.randn(len(LENGTHS), 4, TAGS).astype("float32"),
            random.randn(TAGS, TAGS).astype("float32"))


def _score(unary, transitions, tags):
    return sum(unary[range(len(tags)), tags]) + sum(transitions[a, b]
                                                    for a, b in zip(tags, tags[1:]))


def _all(unary, transitions, length):
    return {tags: _score(unary[:length], transitions, list(tags))
            for tags in itertools.product(range(TAGS), repeat=length)}


def test_a_random_field_is_what_brute_force_finds(scores):
    inputs, transitions = scores
    tags = np.array([[0, 1, 2, 1], [2, 0, 0, 0], [1, 1, 0, 0]])
    norms = crf.crf_log_norm(inputs, LENGTHS, transitions).numpy()
    likelihood, _ = crf.crf_log_likelihood(inputs, tags, LENGTHS, transitions)
    decoded, best = crf.crf_decode(inputs, transitions, LENGTHS)
    for row, length in enumerate(LENGTHS):
        every = _all(inputs[row], transitions, length)
        norm = np.log(sum(np.exp(score) for score in every.values()))
        assert norms[row] == pytest.approx(norm, rel=1e-5)
        chosen = every[tuple(tags[row][:length])]
        assert likelihood[row].numpy() == pytest.approx(chosen - norm, rel=1e-4)
        winner = max(every, key=every.get)
        assert decoded[row].numpy().tolist() == [*winner, *[0] * (4 - length)]
        assert best[row].numpy() == pytest.approx(every[winner], rel=1e-5)
        path, score = crf.viterbi_decode(inputs[row][:length], transitions)
        assert tuple(path) == winner and score == pytest.approx(every[winner], rel=1e-5)


def test_a_random_field_sums_over_the_tags_that_are_allowed(scores):
    inputs, transitions = scores
    allowed = np.ones(inputs.shape, bool)
    allowed[:, 0, 0] = False
    found = crf.crf_multitag_sequence_score(inputs, allowed, LENGTHS, transitions).numpy()
    for row, length in enumerate(LENGTHS):
        every = _all(inputs[row], transitions, length)
        assert found[row] == pytest.approx(
            np.log(sum(np.exp(s) for tags, s in every.items() if tags[0])), rel=1e-5)


def test_sequences_of_length_one_and_none_have_scores():
    one = np.array([[[1.0, 2.0]]], "float32")
    zeros = np.zeros((2, 2), "float32")
    assert crf.crf_decode(one, zeros, [1])[0].numpy().tolist() == [[1]]
    assert crf.crf_log_norm(one, [0], zeros).numpy() == [0]


def test_hparams_keep_their_types():
    params = hparams.HParams(rate=0.1, layers=[8, 4], name="x", deep=True)
    assert params.parse("rate=1,layers=[3,2,1],deep=false,name=y z") is params
    assert params.values() == {"rate": 1.0, "layers": [3, 2, 1], "name": "y z", "deep": False}
    params.parse_json('{"rate": 2}').set_hparam("name", "n")
    assert (params.layers, params.rate, params.get("none", 5)) == ([3, 2, 1], 2.0, 5)
    assert '"layers": [3, 2, 1]' in params.to_json() and "rate" in params
    for text, sentence in (("rte=1", "Unknown hyperparameter type for rte"), ("rate=x", "'rate'"),
                           ("rate", "Malformed"), ("layers[1]=9", "Must pass a list")):
        with pytest.raises(ValueError, match=sentence):
            params.parse(text)


def _minimum(**options):
    """Returns the variables [x, y] that minimize x^2 + (y - 3)^2, as SciPy finds them."""
    pytest.importorskip("scipy")
    import tensorflow as tf

    from estimator_trainer.compat.contrib.opt import external_optimizer
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        both = tf.compat.v1.get_variable("both", initializer=[5., 5.], use_resource=False)
        loss = both[0] ** 2 + (both[1] - 3.) ** 2
        options = {name: make(both) if callable(make) else make for name, make in options.items()}
        optimizer = external_optimizer.ScipyOptimizerInterface(loss, **options)
        session.run(both.initializer)
        optimizer.minimize(session)
        return session.run(both).tolist()


@pytest.mark.parametrize("options, expected", [
    ({}, [0, 3]), ({"method": "CG"}, [0, 3]),
    ({"var_to_bounds": lambda both: {both: ([1., -9.], [9., 2.])}}, [1, 2]),
    ({"equalities": lambda both: [both[0] - both[1]], "method": "SLSQP"}, [1.5, 1.5]),
    ({"inequalities": lambda both: [both[0] - 2.], "method": "SLSQP"}, [2, 3])])
def test_scipy_finds_a_minimum(options, expected):
    assert _minimum(**options) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("options", [{"bounds": [(0, 1)] * 2}, {"jac": False}])
def test_scipy_gets_its_own_arguments_alone(options):
    with pytest.raises(ValueError, match="set"):
        _minimum(**options)


def test_a_signature_is_found_by_its_key():
    import tensorflow as tf

    from estimator_trainer.compat.contrib import saved_model
    meta = tf.compat.v1.MetaGraphDef()
    meta.signature_def["mine"].method_name = "predict"
    assert saved_model.get_signature_def_by_key(meta, "mine").method_name == "predict"
    with pytest.raises(ValueError, match="expected one of .'mine'."):
        saved_model.get_signature_def_by_key(meta, "other")
