"""Hints on a model that has learned nothing, or was not tried on every class."""

import numpy as np
import pytest

from estimator_trainer.evaluation import hints
from estimator_trainer.evaluation.classification import Classification
from estimator_trainer.evaluation.regression import Regression

pytestmark = pytest.mark.any_tensorflow


def _classified(labels, probabilities, names=("no", "yes")):
    found = Classification(names)
    for label, probability in zip(labels, probabilities):
        found.add(label, int(np.argmax(probability)), np.array(probability), {})
    return {**found.content(), "evaluated": len(labels)}


def test_a_model_that_always_gives_one_answer_is_named():
    [hint] = hints.of_answers(_classified([0] * 30 + [1] * 10, [[0.7, 0.3]] * 40))
    assert hint.startswith("the model is no better than 'no' as the only answer: 75.0% of the ")


def test_a_rare_class_that_is_ordered_well_gives_no_hint():
    ordered = [[0.9, 0.1]] * 30 + [[0.6, 0.4]] * 10
    assert not hints.of_answers(_classified([0] * 30 + [1] * 10, ordered))


def test_a_class_without_an_example_is_named():
    [hint] = hints.of_answers(_classified(
        [0, 1] * 15, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]] * 15, ("cat", "dog", "emu")))
    assert hint == ("the evaluation has no example of 1 of 3 classes: 'emu'. Its metrics say"
                    " nothing about them")


@pytest.mark.parametrize("predicted, count", [(14.0, 1), (None, 0)])
def test_a_regressor_is_compared_with_the_mean(predicted, count):
    found = Regression()
    for label in range(30):
        found.add(label, predicted or label + 0.5, {})
    assert len(hints.of_answers({**found.content(), "evaluated": 30})) == count


def test_few_examples_give_no_hint():
    assert not hints.of_answers(_classified([0] * 3 + [1] * 2, [[0.7, 0.3]] * 5))


_CHANCE = _classified([0, 1] * 20, [[0.6, 0.4]] * 40)
_GOOD = _classified([0, 1] * 20, [[0.9, 0.1], [0.1, 0.9]] * 20)
_STUCK = [0.7, *[0.71, 0.69, 0.72] * 4]
_GROWING = [0.7, *range(1, 13)]


def test_a_loss_that_does_not_fall_names_the_rate():
    [hint] = hints.of_training(_STUCK, _CHANCE, {"learning_rate": 0.5, "units": 3})
    assert hint == ("the training loss did not fall: 0.7 at the start, 0.715 in the last third of"
                    " training. Try a lower learning rate: --param learning_rate=0.05 (now 0.5)")
    [hint] = hints.of_training(_STUCK, _CHANCE, {"dnn_learning_rate": 0.0})
    assert hint.endswith("a lower learning rate: --param dnn_learning_rate=0.0001")
    [hint] = hints.of_training(_GROWING, _CHANCE, {})
    assert hint.endswith("Try a lower learning rate, or look at the scale of the features")


@pytest.mark.parametrize("losses, content", [
    ([2.3, 1.9, 1.7, 1.8, 1.6, 1.7, 1.6], _CHANCE),  # The loss falls.
    (_STUCK, _GOOD), (_GROWING, _GOOD),  # The model has learned all the same.
    (_STUCK[:6], _CHANCE), ([], _CHANCE),  # Too short a training.
    ([*_STUCK, float("nan")], _CHANCE), ([-1.0, *_GROWING], _CHANCE),  # No loss of this kind.
])
def test_other_trainings_give_no_hint_on_the_loss(losses, content):
    assert not hints.of_training(losses, content, {"learning_rate": 0.5})


def test_a_regressor_whose_loss_grows_is_named():
    found = Regression()
    for label in range(30):
        found.add(label, 14.0, {})
    content = {**found.content(), "evaluated": 30}
    assert len(hints.of_training(_GROWING, content, {"learning_rate": 0.5})) == 1
    assert not hints.of_training(_GROWING, {**content, "r_squared": 0.7}, {})
    assert not hints.of_training(_GROWING, {**content, "r_squared": None}, {})
