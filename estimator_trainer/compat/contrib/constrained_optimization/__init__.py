"""`tf.contrib.constrained_optimization`: an objective that is minimized under constraints."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.constrained_optimization"
_OWN = {
    "candidates": "find_best_candidate_distribution find_best_candidate_index",
    "optimizer": "ConstrainedMinimizationProblem ConstrainedOptimizer",
    "regret": """
        AdditiveExternalRegretOptimizer AdditiveSwapRegretOptimizer
        MultiplicativeSwapRegretOptimizer""",
}
NAMES = {name: f"{_HERE}.{module}.{name}"
         for module, names in _OWN.items() for name in names.split()}
