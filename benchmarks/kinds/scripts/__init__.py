"""Estimator programs of several kinds, which this project runs unchanged."""
