"""Runs published Estimator programs, unchanged, and makes the table of docs/compatibility.md."""
