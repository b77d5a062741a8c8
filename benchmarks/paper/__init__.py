"""Predicts speed on paper, from costs that benchmarks.scaling measured."""

import benchmarks

MEASURED = benchmarks.REPO / "benchmarks" / "scaling" / "scaling.json"
