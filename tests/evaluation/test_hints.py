"""Hints on a model that has learned nothing, or was not tried on every class."""

import numpy as np
import pytest

from estimator_trainer.evaluation import hints
from estimator_trainer.evaluation.evaluated_examples import Classification, Regression

pytestmark = pytest.mark.any_tensorflow


def _classified(labels, probabilities, names=("no", "yes")):
    found = Classification(names)
    for label, probability in zip(labels, probabilities):
        found.add(label, int(np.argmax(probability)), np.array(probability), {})
    return {**found.content(), "evaluated": len(labels)}


def test_a_model_that_always_gives_one_answer_is_named():
    [hint] = hints.of_evaluation(_classified([0] * 30 + [1] * 10, [[0.7, 0.3]] * 40))
    assert hint.startswith("the model is no better than 'no' as the only answer: 75.0% of the ")


def test_a_rare_class_that_is_ordered_well_gives_no_hint():
    ordered = [[0.9, 0.1]] * 30 + [[0.6, 0.4]] * 10
    assert not hints.of_evaluation(_classified([0] * 30 + [1] * 10, ordered))


def test_a_class_without_an_example_is_named():
    [hint] = hints.of_evaluation(_classified(
        [0, 1] * 15, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]] * 15, ("cat", "dog", "emu")))
    assert hint == ("the evaluation has no example of 1 of 3 classes: 'emu'. Its metrics say"
                    " nothing about them")


@pytest.mark.parametrize("predicted, count", [(14.0, 1), (None, 0)])
def test_a_regressor_is_compared_with_the_mean(predicted, count):
    found = Regression()
    for label in range(30):
        found.add(label, predicted or label + 0.5, {})
    assert len(hints.of_evaluation({**found.content(), "evaluated": 30})) == count


def test_few_examples_give_no_hint():
    assert not hints.of_evaluation(_classified([0] * 3 + [1] * 2, [[0.7, 0.3]] * 5))
