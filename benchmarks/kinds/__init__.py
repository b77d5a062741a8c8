"""Compares kinds of Estimator programs, each run by plain Estimator and by this project."""
