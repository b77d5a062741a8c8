"""Picks the best of several iterates of an optimization with constraints.

Follows the API of `tensorflow/contrib/constrained_optimization/python/candidates.py` of TensorFlow
1.15, and Cotter, Jiang and Sridharan, 2019, "Two-player games for efficient non-convex constrained
optimization".
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def find_best_candidate_distribution(objective_vector: Any, constraints_matrix: Any,
                                     epsilon: float = 0.) -> Any:
    """Returns probabilities of n candidates, with the least objective where no constraint breaks.

    If there are none, the largest violation is made as small as it can be, up to `epsilon`.

    Args:
      objective_vector: [n] objectives.
      constraints_matrix: [m, n] constraints, which hold where they are not above 0.
      epsilon: A distance of violations.

    Raises:
      ValueError: Shapes do not match, or `epsilon` is negative.
    """
    if epsilon < 0.:
        raise ValueError("epsilon must be nonnegative")
    best = _probabilities(objective_vector, constraints_matrix, 0.)
    if best is not None:
        return best
    lower, upper = 0., np.min(np.amax(constraints_matrix, axis=0))
    best = _probabilities(objective_vector, constraints_matrix, upper)
    assert best is not None  # The least violation of one candidate is possible.
    while True:
        middle = .5 * (lower + upper)
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        found = _probabilities(objective_vector, constraints_matrix, middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def find_best_candidate_index(objective_vector: Any, constraints_matrix: Any,
                              rank_objectives: bool = False) -> Any:
    """Returns the index of the candidate whose worst rank, of each constraint, is the best.

    Args:
      objective_vector: [n] objectives, which decide between equal ranks.
      constraints_matrix: [m, n] constraints.
      rank_objectives: Whether the rank of the objective counts, too.

    Raises:
      ValueError: Shapes do not match.
    """
    stats = importlib.import_module("scipy.stats")
    _check(objective_vector, constraints_matrix)
    ranks = [stats.rankdata(np.maximum(0., each), method="min")
             for each in np.asarray(constraints_matrix)]
    if rank_objectives:
        ranks.append(stats.rankdata(objective_vector, method="min"))
    worst = np.max(ranks, axis=0) if ranks else np.zeros(len(objective_vector))
    # The last of equal candidates is taken.
    return min(range(len(worst)), key=lambda each: (worst[each], objective_vector[each], -each))


def _probabilities(objectives: Any, constraints: Any, violation: float) -> Any:
    rows, columns = _check(objectives, constraints)
    result = importlib.import_module("scipy.optimize").linprog(
        objectives, A_ub=constraints, b_ub=np.full((rows, 1), violation),
        A_eq=np.ones((1, columns)), b_eq=np.ones((1, 1)), bounds=(0, None))
    return result.x if result.success else None


def _check(objectives: Any, constraints: Any) -> Any:
    shape = np.shape(constraints)
    if len(shape) != 2 or np.shape(objectives) != shape[1:]:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the "
            "number of candidates, and m is the number of constraints")
    return shape
