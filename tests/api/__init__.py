"""Tests of the Python functions."""
